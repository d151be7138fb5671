// Source → Ground: every instance of every rule that can ever happen, found by delete-relaxed reachability.
// Facts that never change vanish; facts that do become flags; the player's place becomes one variable.
#include <algorithm>
#include <unordered_map>

#include "logic/formula.h"
#include "logic/reach.h"

namespace ae::logic {
namespace {

// ---- Translation: what was found, in variables ----------------------------------------------------------------------
class Translation {
 public:
  Translation(const Source& source, const GroundLimits& limits, const Budget& budget, Reachable reachable)
      : s_(source), limits_(limits), budget_(budget), reachable_(std::move(reachable)), facts_(reachable_.facts) {}

  Ground run() {
    mark_deleted();
    number_facts();
    number_places();
    number_quests();
    copy_plain_parts();
    actions();
    merge_equal_actions();
    quests();
    texts();
    tree();
    return std::move(out_);
  }

 private:
  const Rule& rule_of(const Instance& instance) const { return s_.rules[instance.rule]; }
  const uint16_t* binding_of(const Instance& instance) const { return reachable_.objects.data() + instance.binding; }

  uint32_t lookup(const Rule& rule, const Atom& atom, const uint16_t* binding) const {
    budget_.step(rule);
    return facts_.find(predicate_of(atom), bound(atom, binding));
  }
  bool adds(const Rule& rule, const uint16_t* binding, uint32_t fact) const {
    return std::any_of(rule.adds.begin(), rule.adds.end(),
                       [&](const Atom& a) { return lookup(rule, a, binding) == fact; });
  }
  void mark_deleted() {
    for (const Instance& instance : reachable_.instances) {
      const Rule& rule = rule_of(instance);
      for (const Atom& atom : rule.deletes) {
        const uint32_t id = lookup(rule, atom, binding_of(instance));
        if (id != kNoFact && !adds(rule, binding_of(instance), id)) facts_[id].deleted = true;
      }
    }
  }

  // -- variables
  bool is_place(const Fact& fact) const {
    return s_.place_predicate >= 0 && fact.predicate == s_.place_predicate && fact.args[0] == s_.player;
  }
  bool is_place(const Atom& atom, const uint16_t* binding) const {
    return atom.predicate == s_.place_predicate && binding[static_cast<size_t>(atom.args[0])] == s_.player;
  }
  int32_t place_var() const { return out_.num_flags; }  // final once the quests are counted

  std::string name_of(const Fact& fact) const {
    std::string text = s_.predicates[fact.predicate].name + "(";
    for (size_t i = 0; i < facts_.arity(fact); ++i) text += (i > 0 ? ", " : "") + s_.objects[fact.args[i]].id;
    budget_.text(text.size() + 1);
    return text + ")";
  }
  int32_t new_flag(const std::string& name, bool set) {
    out_.init_values.push_back(set ? 1 : 0);
    out_.fluent_names.push_back(name);
    return out_.num_flags++;
  }

  void number_facts() {
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      Fact& fact = facts_[id];
      if (is_place(fact)) continue;
      if (fact.in_init && !fact.deleted) out_.static_facts.push_back(name_of(fact));
      else fact.flag = new_flag(name_of(fact), fact.in_init);
    }
    if (static_cast<uint32_t>(out_.num_flags) > limits_.max_fluents)
      fail(std::to_string(out_.num_flags) + " changing facts, at most " + std::to_string(limits_.max_fluents));
  }
  void number_places() {
    place_index_.assign(s_.objects.size(), -1);
    uint16_t first = 0;
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      if (!is_place(facts_[id])) continue;
      out_.places.push_back(facts_[id].args[1]);
      if (facts_[id].in_init) first = facts_[id].args[1];
    }
    if (s_.place_predicate < 0) return;
    std::sort(out_.places.begin(), out_.places.end());
    for (size_t i = 0; i < out_.places.size(); ++i)
      place_index_[static_cast<size_t>(out_.places[i])] = static_cast<int32_t>(i);
    if (out_.places.size() > 32767) fail(std::to_string(out_.places.size()) + " places, at most 32767");
    out_.has_place = true;
    first_place_ = place_index_[first];
  }
  void number_quests() {
    for (const Quest& quest : s_.quests) {
      GroundQuest g;
      g.done_var = new_flag("done(quest" + std::to_string(out_.quests.size()) + ")", false);
      g.reward = quest.reward;
      g.optional = quest.optional;
      g.repeatable = quest.repeatable;
      g.has_win_events = !quest.win_events.empty();
      out_.quests.push_back(g);
    }
    if (!out_.has_place) return;
    out_.num_vars = 1;
    out_.init_values.push_back(first_place_);
  }

  void copy_plain_parts() {
    out_.name = s_.name;
    out_.family = s_.family;
    out_.extra_json = s_.extra_json;
    out_.objects = s_.objects;
    out_.types = s_.types;
    for (const Rule& rule : s_.rules) out_.rule_names.push_back(rule.name);
    out_.player = s_.player;
    out_.inventory = s_.inventory;
    out_.literals = s_.literals;
    out_.refusals = s_.refusals;
    out_.texts = s_.texts;
    out_.max_score = s_.max_score;
    out_.max_episode_steps = s_.max_episode_steps;
  }

  // -- conditions: an atom is true, false, or a condition on a variable
  enum class Truth { kTrue, kFalse, kDepends };
  Truth condition(uint32_t id, bool negated, Condition& out) const {
    if (id == kNoFact) return negated ? Truth::kTrue : Truth::kFalse;
    const Fact& fact = facts_[id];
    if (is_place(fact)) {
      out = {place_var(), negated ? CompareOp::kNotEqual : CompareOp::kEqual, place_index_[fact.args[1]]};
      return Truth::kDepends;
    }
    if (fact.flag < 0) return negated ? Truth::kFalse : Truth::kTrue;
    out = {fact.flag, negated ? CompareOp::kClear : CompareOp::kSet, 0};
    return Truth::kDepends;
  }
  // Appends one more condition to a conjunction. False: it can never hold.
  bool add_condition(uint32_t id, bool negated, Conjunction& all) const {
    Condition one;
    switch (condition(id, negated, one)) {
      case Truth::kFalse: return false;
      case Truth::kTrue: return true;
      case Truth::kDepends: break;
    }
    for (const Condition& other : all) {
      if (other == one) return true;
      if (excludes(other, one)) return false;
    }
    all.push_back(one);
    return true;
  }
  static bool excludes(const Condition& a, const Condition& b) {
    if (a.var != b.var) return false;
    if (a.op == CompareOp::kEqual && b.op == CompareOp::kEqual) return a.value != b.value;
    return a.op != b.op && (a.op == CompareOp::kSet || a.op == CompareOp::kClear || a.value == b.value);
  }
  bool conjunction(const Rule& rule, const std::vector<Atom>& atoms, const uint16_t* binding, Conjunction& out) const {
    budget_.parts(atoms.size(), rule);
    return std::all_of(atoms.begin(), atoms.end(),
                       [&](const Atom& atom) { return add_condition(lookup(rule, atom, binding), atom.negated, out); });
  }
  uint32_t find(const Atom& atom) const { return facts_.find(predicate_of(atom), packed(atom.args)); }

  // -- actions
  void actions() {
    for (const Instance& instance : reachable_.instances) {
      const Rule& rule = rule_of(instance);
      const uint16_t* binding = binding_of(instance);
      Conjunction all;
      if (!conjunction(rule, rule.preconditions, binding, all)) continue;
      GroundAction action;
      action.rule = static_cast<int32_t>(instance.rule);
      take_place(all, action);
      action.when = {std::move(all)};
      action.command = command(rule, binding);
      for (const int32_t p : rule.operands) action.operands.push_back(binding[static_cast<size_t>(p)]);
      outcomes(rule, binding, action);
      out_.actions.push_back(std::move(action));
    }
  }
  // A condition "the player is at p" is what sorts the action by place; it decides every other condition on the place.
  void take_place(Conjunction& all, GroundAction& action) const {
    if (!out_.has_place) return;
    for (const Condition& c : all)
      if (c.var == place_var() && c.op == CompareOp::kEqual) action.place = c.value;
    if (action.place >= 0) std::erase_if(all, [&](const Condition& c) { return c.var == place_var(); });
  }
  std::string command(const Rule& rule, const uint16_t* binding) const {
    std::string text;
    for (const Rule::Piece& piece : rule.command) {
      text += piece.parameter < 0 ? piece.literal : s_.objects[binding[static_cast<size_t>(piece.parameter)]].name;
      if (text.size() > kMaxTextBytes) break;
    }
    budget_.text(text.size());
    return text;
  }
  void outcomes(const Rule& rule, const uint16_t* binding, GroundAction& action) {
    static const std::vector<Outcome> kPlain{Outcome{}};
    const std::vector<Outcome>& list = rule.outcomes.empty() ? kPlain : rule.outcomes;
    for (const Outcome& outcome : list) {
      Conjunction when;
      if (!conjunction(rule, outcome.conditions, binding, when)) continue;
      const bool always = when.empty();
      GroundOutcome g;
      g.when = {std::move(when)};
      g.turn_passes = outcome.turn_passes;
      g.counts_as_move = outcome.applies && outcome.counts_as_move;
      g.text = outcome.text;
      if (outcome.applies) effects(rule, binding, g);
      action.outcomes.push_back(std::move(g));
      if (always) return;
    }
    if (action.outcomes.empty())
      fail("rule " + rule.name + ": '" + action.command + "' has no outcome that can happen");
  }
  void effects(const Rule& rule, const uint16_t* binding, GroundOutcome& out) const {
    budget_.parts(8 + 2 * (rule.adds.size() + rule.deletes.size()), rule);
    bool leaves = false;
    for (const Atom& atom : rule.deletes) {
      const uint32_t id = lookup(rule, atom, binding);
      if (id == kNoFact || adds(rule, binding, id)) continue;
      leaves = leaves || is_place(facts_[id]);
      if (facts_[id].flag >= 0) out.effects.push_back({facts_[id].flag, false, 0, {}});
    }
    int32_t place = -1;
    for (const Atom& atom : rule.adds) {
      const Fact& fact = facts_[lookup(rule, atom, binding)];
      if (is_place(fact)) enter(rule, place_index_[fact.args[1]], place);
      else if (fact.flag >= 0) out.effects.push_back({fact.flag, false, 1, {}});
    }
    if (place >= 0) out.effects.push_back({place_var(), false, place, {}});
    else if (leaves) fail("rule " + rule.name + " takes the player from a place and puts it nowhere");
    moves(rule, binding, out);
  }
  void enter(const Rule& rule, int32_t place, int32_t& entered) const {
    if (entered >= 0 && entered != place) fail("rule " + rule.name + " puts the player at two places");
    entered = place;
  }
  // Placements as moves of the object tree: a child that is deleted here and added there goes from here to there.
  void moves(const Rule& rule, const uint16_t* binding, GroundOutcome& out) const {
    const auto object = [&](const Atom& atom, size_t i) {
      return static_cast<int32_t>(binding[static_cast<size_t>(atom.args[i])]);
    };
    for (const Atom& atom : rule.deletes)
      if (is_placement(atom, binding) && !adds(rule, binding, lookup(rule, atom, binding)))
        out.moves.push_back({object(atom, 0), object(atom, 1), -1});
    for (const Atom& atom : rule.adds) {
      if (!is_placement(atom, binding)) continue;
      const auto from = std::find_if(out.moves.begin(), out.moves.end(),
                                     [&](const Move& m) { return m.object == object(atom, 0) && m.to < 0; });
      if (from != out.moves.end()) from->to = object(atom, 1);
      else out.moves.push_back({object(atom, 0), -1, object(atom, 1)});
    }
  }
  bool is_placement(const Atom& atom, const uint16_t* binding) const {
    return s_.predicates[predicate_of(atom)].placement && !is_place(atom, binding);
  }

  // Two bindings that differ in nothing that is left are one action.
  void merge_equal_actions() {
    std::unordered_map<uint64_t, size_t> first;
    first.reserve(out_.actions.size());
    size_t kept = 0;
    for (size_t i = 0; i < out_.actions.size(); ++i) {
      const auto [at, is_new] = first.try_emplace(hash(out_.actions[i]), kept);
      if (!is_new && out_.actions[at->second] == out_.actions[i]) continue;
      if (kept != i) out_.actions[kept] = std::move(out_.actions[i]);
      ++kept;
    }
    out_.actions.resize(kept);
  }
  static uint64_t hash(const GroundAction& action) {
    uint64_t h = std::hash<std::string>{}(action.command);
    const auto mix = [&h](int64_t value) { h = mix64(h ^ static_cast<uint64_t>(value)); };
    mix(action.rule * int64_t{65536} + action.place);
    for (const Conjunction& all : action.when)
      for (const Condition& c : all) mix(c.var * int64_t{65536} + c.value);
    for (const int32_t operand : action.operands) mix(operand);
    for (const GroundOutcome& outcome : action.outcomes)
      for (const Effect& effect : outcome.effects) mix(effect.var * int64_t{65536} + effect.value);
    return h;
  }

  // -- quests, texts, tree
  void quests() {
    for (size_t i = 0; i < s_.quests.size(); ++i) {
      events(s_.quests[i].fail_events, out_.quests[i].fail);
      events(s_.quests[i].win_events, out_.quests[i].win);
    }
  }
  void events(const std::vector<std::vector<Atom>>& from, Disjunction& out) const {
    for (const std::vector<Atom>& event : from) {
      Conjunction all;
      if (std::all_of(event.begin(), event.end(),
                      [&](const Atom& atom) { return add_condition(find(atom), atom.negated, all); }))
        out.push_back(std::move(all));
    }
  }

  // Instructions are replaced one for one, so jumps stay where they were.
  void texts() {
    for (const TextProgram& text : s_.programs) {
      GroundTextProgram g;
      for (const Instruction& code : text.code)
        g.code.push_back(code.op == Op::kUnlessFact ? resolved(text, code, static_cast<int32_t>(g.code.size())) : code);
      out_.programs.push_back(std::move(g));
    }
  }
  Instruction resolved(const TextProgram& text, const Instruction& code, int32_t at) const {
    const Atom& atom = text.facts[static_cast<size_t>(code.a)];
    Condition c;
    switch (condition(find(atom), atom.negated, c)) {
      case Truth::kTrue: return {Op::kJump, 0, 0, at + 1, 0};
      case Truth::kFalse: return {Op::kJump, 0, 0, code.c, 0};
      case Truth::kDepends: break;
    }
    return {Op::kUnless, c.var, static_cast<int32_t>(c.op), code.c, c.value};
  }

  void tree() {
    std::vector<bool> movable(s_.objects.size()), container(s_.objects.size());
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      const Fact& fact = facts_[id];
      if (!s_.predicates[fact.predicate].placement || is_place(fact)) continue;
      movable[fact.args[0]] = container[fact.args[1]] = true;
      if (fact.in_init)
        out_.init_children.push_back({fact.args[0], fact.args[1]});  // facts of init come first, in its order
    }
    for (size_t o = 0; o < s_.objects.size(); ++o) {
      if (movable[o]) out_.movables.push_back(static_cast<int32_t>(o));
      if (container[o]) out_.containers.push_back(static_cast<int32_t>(o));
    }
  }

  [[noreturn]] void fail(const std::string& what) const { throw CompileError{s_.name + ": " + what}; }

  const Source& s_;
  const GroundLimits& limits_;
  const Budget& budget_;
  Reachable reachable_;
  FactTable& facts_;
  std::vector<int32_t> place_index_;  // [objects] → index of the place, -1: the player never gets there
  int32_t first_place_ = 0;
  Ground out_;
};

}  // namespace

Ground ground(const Source& source, const GroundLimits& limits) {
  check_source(source);
  if (is_first_order(source)) return ground_formulas(source, limits);
  const Budget budget(source, limits);
  return Translation(source, limits, budget, Reachability(source, budget).run()).run();
}

}  // namespace ae::logic
