// Source → Ground: every instance of every rule that can ever happen, found by delete-relaxed reachability.
// Facts that never change vanish; facts that do become flags; the player's place becomes one variable.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "logic/facts.h"
#include "logic/source_check.h"

namespace ae::logic {
namespace {

using Args = std::array<uint16_t, kMaxArity>;
constexpr uint16_t kUnbound = 0xFFFF;
constexpr size_t kMaxTextBytes = size_t{1} << 26;  // of all commands and names of facts together
constexpr size_t kMaxParts = 8'000'000;            // conditions, effects and moves of all ground actions together

// Work and memory that a source may cost before it is refused.
class Budget {
 public:
  Budget(const Source& source, const GroundLimits& limits) : source_(source), limits_(limits) {}
  void step(const Rule& rule) const {
    if (++steps_ > limits_.max_join_steps) over("grounding took more than", limits_.max_join_steps, "steps", rule);
  }
  void instances(size_t count, const Rule& rule) const {
    if (count > limits_.max_actions) over("more than", limits_.max_actions, "ground actions", rule);
  }
  void facts(size_t count, const Rule& rule) const {
    const size_t most = 4 * size_t{limits_.max_fluents} + 100'000;
    if (count > most) over("more than", most, "facts", rule);
  }
  void parts(size_t count, const Rule& rule) const {
    if ((parts_ += count) > kMaxParts) over("more than", kMaxParts, "conditions and effects", rule);
  }
  void text(size_t bytes) const {
    if ((text_ += bytes) > kMaxTextBytes)
      throw CompileError{source_.name + ": commands and names of facts take more than " +
                         std::to_string(kMaxTextBytes) + " bytes"};
  }

 private:
  [[noreturn]] void over(const char* how, size_t limit, const char* what, const Rule& rule) const {
    throw CompileError{source_.name + ": " + how + " " + std::to_string(limit) + " " + what + ", the last in rule " +
                       rule.name};
  }
  const Source& source_;
  const GroundLimits& limits_;
  mutable uint64_t steps_ = 0, parts_ = 0, text_ = 0;
};

// Which type is a kind of which: a row of bits per type.
class TypeTable {
 public:
  explicit TypeTable(const Source& source)
      : words_((source.types.size() + 63) / 64), bits_(source.types.size() * words_) {
    std::vector<bool> done(source.types.size());
    for (size_t t = 0; t < source.types.size(); ++t) close(source, t, done);
  }
  bool is_a(int32_t type, int32_t other) const {
    return (row(static_cast<size_t>(type))[static_cast<size_t>(other) / 64] >> (other % 64)) & 1;
  }

 private:
  uint64_t* row(size_t type) { return bits_.data() + type * words_; }
  const uint64_t* row(size_t type) const { return bits_.data() + type * words_; }

  // Parents first; check_source() has made sure that this ends.
  void close(const Source& source, size_t root, std::vector<bool>& done) {
    std::vector<std::pair<size_t, size_t>> path{{root, 0}};
    while (!path.empty()) {
      auto& [type, next] = path.back();
      const std::vector<int32_t>& parents = source.types[type].parents;
      if (done[type] || next == parents.size()) {
        if (!done[type]) finish(type, parents);
        done[type] = true;
        path.pop_back();
      } else {
        path.push_back({static_cast<size_t>(parents[next++]), 0});
      }
    }
  }
  void finish(size_t type, const std::vector<int32_t>& parents) {
    row(type)[type / 64] |= uint64_t{1} << (type % 64);
    for (const int32_t parent : parents)
      for (size_t w = 0; w < words_; ++w) row(type)[w] |= row(static_cast<size_t>(parent))[w];
  }

  size_t words_;
  std::vector<uint64_t> bits_;
};

Args packed(const std::vector<int32_t>& args) {
  Args out{};
  for (size_t i = 0; i < args.size(); ++i) out[i] = static_cast<uint16_t>(args[i]);
  return out;
}
Args bound(const Atom& atom, const uint16_t* binding) {
  Args out{};
  for (size_t i = 0; i < atom.args.size(); ++i) out[i] = binding[static_cast<size_t>(atom.args[i])];
  return out;
}
uint16_t predicate_of(const Atom& atom) { return static_cast<uint16_t>(atom.predicate); }

struct Instance {
  uint32_t rule;
  uint32_t binding;  // the first of its objects in Reachable::objects
};

struct Reachable {
  FactTable facts;
  std::vector<Instance> instances;  // by rule, then by the objects bound, in order of declaration
  std::vector<uint16_t> objects;
};

// ---- Reachability: semi-naive joins ---------------------------------------------------------------------------------
// An instance is found once: when the newest of its changing facts is taken from the queue (facts are the queue).
class Reachability {
 public:
  Reachability(const Source& source, const Budget& budget)
      : s_(source),
        budget_(budget),
        types_(source),
        changes_(source.predicates.size()),
        triggers_(source.predicates.size()) {}

  Reachable run() {
    found_.facts.prepare(s_);
    find_changing_predicates();
    plan_joins();
    for (const Atom& atom : s_.init)
      found_.facts[found_.facts.add(predicate_of(atom), packed(atom.args), atom.args.size())].in_init = true;
    for (const Join& join : joins_)
      if (join.trigger == kNoTrigger) start(join, kNoFact);
    for (uint32_t id = 0; id < found_.facts.size(); ++id)
      for (const uint32_t join : triggers_[found_.facts[id].predicate]) start(joins_[join], id);
    sort_instances();
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kNoTrigger = 0xFFFFFFFFu;
  struct Join {
    uint32_t rule;
    uint32_t trigger;             // precondition that the new fact matches
    std::vector<uint32_t> order;  // the other positive preconditions, most bound first
  };

  void find_changing_predicates() {
    for (const Rule& rule : s_.rules)
      for (const auto* effects : {&rule.adds, &rule.deletes})
        for (const Atom& atom : *effects) changes_[predicate_of(atom)] = true;
  }
  bool changes(const Atom& atom) const { return changes_[predicate_of(atom)]; }

  void plan_joins() {
    for (uint32_t r = 0; r < s_.rules.size(); ++r) {
      const Rule& rule = s_.rules[r];
      bool triggered = false;
      for (uint32_t j = 0; j < rule.preconditions.size(); ++j) {
        const Atom& atom = rule.preconditions[j];
        if (atom.negated || !changes(atom)) continue;
        triggered = true;
        triggers_[predicate_of(atom)].push_back(static_cast<uint32_t>(joins_.size()));
        joins_.push_back({r, j, order(rule, j)});
      }
      if (!triggered) joins_.push_back({r, kNoTrigger, order(rule, kNoTrigger)});
    }
  }

  std::vector<uint32_t> order(const Rule& rule, uint32_t trigger) const {
    std::vector<bool> known(rule.parameters.size()), used(rule.preconditions.size());
    for (size_t p = 0; p < rule.parameters.size(); ++p) known[p] = rule.parameters[p].constant >= 0;
    const auto use = [&](uint32_t j) {
      used[j] = true;
      for (const int32_t arg : rule.preconditions[j].args) known[static_cast<size_t>(arg)] = true;
    };
    if (trigger != kNoTrigger) use(trigger);
    std::vector<uint32_t> out;
    for (;;) {
      const uint32_t best = most_bound(rule, known, used);
      if (best == kNoTrigger) return out;
      use(best);
      out.push_back(best);
    }
  }
  // The precondition to match next: one that is bound altogether, else few free arguments, else a static one.
  uint32_t most_bound(const Rule& rule, const std::vector<bool>& known, const std::vector<bool>& used) const {
    uint32_t best = kNoTrigger;
    int best_score = 0;
    for (uint32_t j = 0; j < rule.preconditions.size(); ++j) {
      const Atom& atom = rule.preconditions[j];
      budget_.step(rule);
      if (used[j] || atom.negated) continue;
      int free = 0, have = 0;
      for (const int32_t arg : atom.args) ++(known[static_cast<size_t>(arg)] ? have : free);
      const int score = (free == 0 ? 1000 : 100) + 10 * have - 3 * free + (changes(atom) ? 0 : 4);
      if (score > best_score) {
        best_score = score;
        best = j;
      }
    }
    return best;
  }

  void start(const Join& join, uint32_t fact) {
    const Rule& rule = s_.rules[join.rule];
    binding_.fill(kUnbound);
    for (size_t p = 0; p < rule.parameters.size(); ++p)
      if (rule.parameters[p].constant >= 0) binding_[p] = static_cast<uint16_t>(rule.parameters[p].constant);
    uint64_t bound_here = 0;
    if (join.trigger == kNoTrigger || unify(rule, rule.preconditions[join.trigger], fact, bound_here))
      extend(join, rule, 0, fact);
  }

  // Binds the atom's arguments to the fact's; bit p of `bound_here`: parameter p was free before.
  bool unify(const Rule& rule, const Atom& atom, uint32_t id, uint64_t& bound_here) {
    const Args objects = found_.facts[id].args;
    for (size_t i = 0; i < atom.args.size(); ++i) {
      const auto p = static_cast<size_t>(atom.args[i]);
      if (binding_[p] == objects[i]) continue;
      if (binding_[p] != kUnbound || !fits(rule.parameters[p], objects[i]) || taken(rule, objects[i])) return false;
      binding_[p] = objects[i];
      bound_here |= uint64_t{1} << p;
    }
    return true;
  }
  bool fits(const Parameter& parameter, uint16_t object) const {
    return types_.is_a(s_.objects[object].type, parameter.type);
  }
  bool taken(const Rule& rule, uint16_t object) const {
    return std::find(binding_.begin(), binding_.begin() + static_cast<std::ptrdiff_t>(rule.parameters.size()),
                     object) != binding_.begin() + static_cast<std::ptrdiff_t>(rule.parameters.size());
  }
  void unbind(uint64_t parameters) {
    for (; parameters != 0; parameters &= parameters - 1)
      binding_[static_cast<size_t>(__builtin_ctzll(parameters))] = kUnbound;
  }

  void extend(const Join& join, const Rule& rule, size_t depth, uint32_t newest) {
    budget_.step(rule);
    if (depth == join.order.size()) return bind_free(rule, join.rule, 0);
    const uint32_t j = join.order[depth];
    const Atom& atom = rule.preconditions[j];
    const FactTable::Chain* chain = &found_.facts.of(predicate_of(atom));
    size_t position = kMaxArity;
    bool all_bound = true;
    for (size_t i = 0; i < atom.args.size(); ++i) {
      const uint16_t object = binding_[static_cast<size_t>(atom.args[i])];
      if (object == kUnbound) {
        all_bound = false;
      } else if (const auto& other = found_.facts.with(predicate_of(atom), i, object); other.count < chain->count) {
        chain = &other;
        position = i;
      }
    }
    if (all_bound) {
      const uint32_t id = found_.facts.find(predicate_of(atom), bound(atom, binding_.data()));
      if (id != kNoFact && in_time(join, rule, j, id, newest)) extend(join, rule, depth + 1, newest);
      return;
    }
    for (uint32_t id = chain->first; id != kNoFact; id = found_.facts.next(id, position)) {
      budget_.step(rule);
      uint64_t bound_here = 0;
      if (in_time(join, rule, j, id, newest) && unify(rule, atom, id, bound_here))
        extend(join, rule, depth + 1, newest);
      unbind(bound_here);
    }
  }

  // Facts newer than the trigger wait for their own turn; a precondition before the trigger's may not repeat it.
  bool in_time(const Join& join, const Rule& rule, uint32_t j, uint32_t id, uint32_t newest) const {
    if (join.trigger == kNoTrigger || !changes(rule.preconditions[j])) return true;
    return j < join.trigger ? id < newest : id <= newest;
  }

  // Parameters that no positive precondition binds range over the objects of their type.
  void bind_free(const Rule& rule, uint32_t r, size_t from) {
    while (from < rule.parameters.size() && binding_[from] != kUnbound) ++from;
    if (from == rule.parameters.size()) return found(rule, r);
    for (uint16_t object = 0; object < s_.objects.size(); ++object) {
      budget_.step(rule);
      if (!fits(rule.parameters[from], object) || taken(rule, object)) continue;
      binding_[from] = object;
      bind_free(rule, r, from + 1);
      binding_[from] = kUnbound;
    }
  }

  void found(const Rule& rule, uint32_t r) {
    for (const Atom& atom : rule.preconditions)  // a negated fact that can never be false
      if (atom.negated && !changes(atom) &&
          found_.facts.find(predicate_of(atom), bound(atom, binding_.data())) != kNoFact)
        return;
    budget_.instances(found_.instances.size() + 1, rule);
    found_.instances.push_back({r, static_cast<uint32_t>(found_.objects.size())});
    found_.objects.insert(found_.objects.end(), binding_.begin(),
                          binding_.begin() + static_cast<std::ptrdiff_t>(rule.parameters.size()));
    for (const Atom& atom : rule.adds) {
      budget_.step(rule);
      found_.facts.add(predicate_of(atom), bound(atom, binding_.data()), atom.args.size());
    }
    budget_.facts(found_.facts.size(), rule);
  }

  void sort_instances() {
    const uint16_t* objects = found_.objects.data();
    std::sort(found_.instances.begin(), found_.instances.end(), [&](const Instance& a, const Instance& b) {
      if (a.rule != b.rule) return a.rule < b.rule;
      const size_t count = s_.rules[a.rule].parameters.size();
      return std::lexicographical_compare(objects + a.binding, objects + a.binding + count, objects + b.binding,
                                          objects + b.binding + count);
    });
  }

  const Source& s_;
  const Budget& budget_;
  TypeTable types_;
  std::vector<bool> changes_;  // predicates that some rule adds or deletes
  std::vector<Join> joins_;
  std::vector<std::vector<uint32_t>> triggers_;  // joins by the predicate of their trigger
  std::array<uint16_t, kMaxParameters> binding_{};
  Reachable found_;
};

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
  const Budget budget(source, limits);
  return Translation(source, limits, budget, Reachability(source, budget).run()).run();
}

}  // namespace ae::logic
