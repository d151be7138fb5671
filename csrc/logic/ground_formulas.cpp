// First-order Source → Ground. Applicable actions are those of Fast Downward, operators that do nothing included (it
// drops them): reached are the facts that it explores, and whether an operator does something is decided as it does.
#include <algorithm>
#include <unordered_map>

#include "logic/formula.h"

namespace ae::logic {
namespace {

constexpr size_t kMaxParts = 8'000'000;  // literals of all conditions together
constexpr size_t kMaxSettling = 200'000'000;  // literals looked at to find out what never changes
constexpr size_t kMaxSplit = 64;         // conjunctions of one action that become candidates of their own
constexpr size_t kMaxTerms = 1024;       // that a precondition or the condition of an effect may multiply out into
constexpr size_t kMaxOtherTerms = 8;     // the same of goals, derived facts, and what a `forall` stands for

using Truth = Instantiation::Truth;

struct GroundEffect {
  uint32_t fact = kNoFact;
  bool adds = true;
  Normal when;
};

struct Operator {
  uint32_t rule = 0;
  std::vector<uint16_t> binding;
  Normal when;
  std::vector<GroundEffect> effects;
};

// A derived fact or an auxiliary condition: what it depends on, and its flag.
struct Definition {
  Normal when;
  Truth truth = Truth::kDepends;
  int32_t flag = -1;
};

class FormulaGrounder {
 public:
  FormulaGrounder(const Source& source, const GroundLimits& limits)
      : s_(source),
        limits_(limits),
        budget_(source, limits),
        relaxed_(relax(source)),
        types_(source),
        reachable_(Reachability(relaxed_.source, budget_, relaxed_.actions()).run()),
        facts_(reachable_.facts),
        current_(&nothing_),
        bind_(
            source, facts_, types_, [this](uint32_t id) { return reached(id); }, [this] { budget_.step(*current_); }),
        normal_([this](size_t literals) { spend(literals); }),
        opaque_([this](const Formula& f, std::vector<uint16_t>& b, bool negated) { return opaque(f, b, negated); }) {}

  Ground run() {
    find_fluents();
    derived_facts();
    operators();
    goals();
    take_auxiliaries();
    settle();
    number_flags();
    copy_plain_parts();
    actions();
    quests();
    axioms();
    texts();
    return std::move(out_);
  }

 private:
  // -- what can change, as Fast Downward sees it: every fact reached of a predicate that is an effect or derived
  void find_fluents() {
    fluent_.assign(s_.predicates.size() + 1, false);
    is_derived_.assign(s_.predicates.size() + 1, false);
    for (const Rule& rule : s_.rules)
      for (const LiftedEffect& effect : rule.effects) fluent_[static_cast<size_t>(effect.fact.predicate)] = true;
    for (const Derived& derived : s_.derived)
      fluent_[static_cast<size_t>(derived.predicate)] = is_derived_[static_cast<size_t>(derived.predicate)] = true;
  }
  Truth reached(uint32_t id) const {
    if (id == kNoFact) return Truth::kFalse;
    return fluent_[facts_[id].predicate] ? Truth::kDepends : Truth::kTrue;
  }
  void spend(size_t literals) {
    if ((parts_ += literals) > kMaxParts)
      throw CompileError{s_.name + ": " + place(current_->where) + "more than " + std::to_string(kMaxParts) +
                         " conditions, the last in " + current_->name};
  }
  static std::string place(const std::string& where) { return where.empty() ? "" : where + ": "; }

  Normal normal(const Formula& formula, std::vector<uint16_t>& binding) {
    return normal_.normal(bind_.bind(formula, binding), kMaxOtherTerms);
  }

  // A condition as Fast Downward sees it when it decides whether an operator does something. For it a `forall` is the
  // negation of a derived fact, whatever is in it, as long as it explores a way in which that fact could come about.
  Normal view(const Formula& formula, std::vector<uint16_t>& binding) {
    return normal_.normal(bind_.bind(formula, binding, false, opaque_), kMaxTerms);
  }
  GroundFormula opaque(const Formula& formula, std::vector<uint16_t>& binding, bool negated) {
    bool refutable = false;
    bind_.for_all(formula.types, binding,
                  [&] { refutable = refutable || bind_.possible(formula.parts[0], binding, !negated); });
    if (!refutable) return GroundFormula::constant(true);
    std::pair key{&formula, std::vector<uint16_t>{static_cast<uint16_t>(negated)}};
    const uint64_t free = free_variables(formula, binding.size());
    for (size_t v = 0; v < binding.size(); ++v)
      if ((free >> v) & 1) key.second.push_back(binding[v]);
    const auto [at, is_new] = opaque_of_.try_emplace(std::move(key), static_cast<uint32_t>(opaques_.size()));
    if (is_new) opaques_.push_back(normal_.normal(bind_.bind(formula, binding, negated), kMaxOtherTerms));
    return {GroundFormula::Kind::kLiteral, {kFirstOpaque + at->second, false}, {}};
  }
  // A view with every `forall` replaced by what it says.
  Normal resolved(const Normal& view) {
    Normal out;
    for (const Literals& all : view) {
      Literals common;
      std::vector<Normal> choices;
      for (const Literal& one : all) {
        if (one.fact < kFirstOpaque) common.push_back(one);
        else choices.push_back(opaques_[one.fact - kFirstOpaque]);
      }
      for (Literals& one : normal_.product(std::move(common), std::move(choices), kMaxOtherTerms))
        out.push_back(std::move(one));
    }
    return out;
  }

  // -- derived facts
  void derived_facts() {
    defined_.resize(facts_.size());
    std::vector<std::vector<const Derived*>> of(s_.predicates.size());
    for (const Derived& derived : s_.derived) of[static_cast<size_t>(derived.predicate)].push_back(&derived);
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      const Fact fact = facts_[id];
      if (fact.predicate >= of.size()) continue;
      for (const Derived* derived : of[fact.predicate]) {
        Rule named;
        named.name = "derived " + s_.predicates[fact.predicate].name;
        named.where = derived->where;
        current_ = &named;
        std::vector<uint16_t> binding(fact.args.begin(),
                                      fact.args.begin() + static_cast<std::ptrdiff_t>(derived->types.size()));
        bool fits = true;
        for (size_t i = 0; i < binding.size(); ++i)
          fits = fits && types_.is_a(s_.objects[binding[i]].type, derived->types[i]);
        if (!fits) continue;
        for (Literals& one : normal(derived->formula, binding)) defined_[id].when.push_back(std::move(one));
      }
    }
    current_ = &nothing_;
  }

  // -- operators
  void operators() {
    std::vector<std::vector<uint16_t>> seen;  // [rule, objects...]
    for (const Instance& instance : reachable_.instances) {
      const int32_t rule = relaxed_.of[instance.rule];
      if (rule < 0) continue;
      const uint16_t* objects = reachable_.objects.data() + instance.binding;
      std::vector<uint16_t> key{static_cast<uint16_t>(rule)};
      key.insert(key.end(), objects, objects + s_.rules[static_cast<size_t>(rule)].parameters.size());
      seen.push_back(std::move(key));
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const std::vector<uint16_t>& key : seen) instantiate(key[0], {key.begin() + 1, key.end()});
    current_ = &nothing_;
  }
  void instantiate(uint32_t rule, std::vector<uint16_t> binding) {
    current_ = &s_.rules[rule];
    Operator op;
    op.rule = rule;
    op.when = view(current_->precondition, binding);
    if (op.when.empty()) return;
    for (const LiftedEffect& effect : current_->effects)
      bind_.for_all(effect.types, binding, [&] { add_effect(effect, binding, op.effects); });
    std::erase_if(op.when, [&](const Literals& all) { return !does_something(all, op.effects); });
    op.when = resolved(op.when);
    if (op.when.empty()) return;
    for (GroundEffect& effect : op.effects) effect.when = resolved(effect.when);
    op.binding = std::move(binding);
    operators_.push_back(std::move(op));
  }
  void add_effect(const LiftedEffect& effect, std::vector<uint16_t>& binding, std::vector<GroundEffect>& out) {
    const uint32_t id = bind_.fact(effect.fact.predicate, effect.fact.args, binding);
    if (id == kNoFact) return;  // a delete of what is never true, or an add under a condition that never holds
    Normal when = view(effect.when, binding);
    if (!when.empty()) out.push_back({id, !effect.fact.negated, std::move(when)});
  }

  // Whether Fast Downward keeps an operator with this precondition: some effect might change something, as far as the
  // precondition and the effects' conditions tell (translate.py, build_sas_operator, all variables binary).
  bool does_something(const Literals& known, const std::vector<GroundEffect>& effects) {
    for (const GroundEffect& effect : effects) {
      const bool done = std::any_of(known.begin(), known.end(), [&](const Literal& l) {
        return l.fact == effect.fact && l.negated == !effect.adds;
      });
      if (done) continue;
      for (const Literals& condition : effect.when) {
        Literals all = known;
        if (joined(all, condition) && (effect.adds || survives(effect.fact, all, condition, effects))) return true;
      }
    }
    return false;
  }
  static bool joined(Literals& all, const Literals& more) {
    return std::all_of(more.begin(), more.end(), [&](const Literal& l) { return add_literal(all, l); });
  }
  // A delete counts where the fact was true and none of the action's adds of it takes place.
  bool survives(uint32_t fact, Literals all, const Literals& condition, const std::vector<GroundEffect>& effects) {
    if (!add_literal(all, {fact, false})) return false;
    std::vector<const Literals*> adds;
    for (const GroundEffect& effect : effects) {
      budget_.step(*current_);
      if (!effect.adds || effect.fact != fact) continue;
      for (const Literals& one : effect.when) {
        if (one.empty() || one == condition) return false;
        adds.push_back(&one);
      }
    }
    return refuted(adds, 0, all);
  }
  bool refuted(const std::vector<const Literals*>& adds, size_t from, const Literals& all) {
    if (from == adds.size()) return true;
    for (Literal one : *adds[from]) {
      budget_.step(*current_);
      one.negated = !one.negated;
      Literals more = all;
      if (add_literal(more, one) && refuted(adds, from + 1, more)) return true;
    }
    return false;
  }

  // -- goals, conditions of outcomes
  void goals() {
    for (const Quest& quest : s_.quests) {
      Rule named;
      named.name = "the goal";
      named.where = quest.where;
      current_ = &named;
      std::vector<uint16_t> none;
      wins_.push_back(quest.first_order ? normal(quest.win, none) : Normal{});
    }
    current_ = &nothing_;
    for (const Operator& op : operators_) {
      std::vector<Normal> all;
      current_ = &s_.rules[op.rule];
      std::vector<uint16_t> binding = op.binding;
      for (const Outcome& outcome : current_->outcomes) {
        Formula both = outcome.when;
        if (!outcome.conditions.empty()) {
          Formula list;
          list.parts.push_back(std::move(both));
          for (const Atom& atom : outcome.conditions) list.parts.push_back(formula(atom));
          both = std::move(list);
        }
        all.push_back(normal(both, binding));
      }
      outcomes_.push_back(std::move(all));
    }
    current_ = &nothing_;
  }
  static Formula formula(const Atom& atom) {
    Formula out;
    out.kind = Formula::Kind::kAtom;
    out.predicate = atom.predicate;
    out.args = atom.args;
    if (!atom.negated) return out;
    Formula no;
    no.kind = Formula::Kind::kNot;
    no.parts.push_back(std::move(out));
    return no;
  }
  void take_auxiliaries() {
    for (const Normal& one : normal_.auxiliaries()) auxiliary_.push_back({one, Truth::kDepends, -1});
  }

  // -- what is true or false for ever: facts that no operator left changes, and what follows from them
  void settle() {
    truth_.assign(facts_.size(), Truth::kDepends);
    size_t work = 0;  // what is left undecided then is merely a flag that never changes
    for (bool more = true; more && work < kMaxSettling; work += parts_ + facts_.size()) {
      more = false;
      std::vector<bool> added(facts_.size()), deleted(facts_.size());
      for (const Operator& op : operators_) {
        if (op.when.empty()) continue;
        for (const GroundEffect& effect : op.effects)
          if (!effect.when.empty()) (effect.adds ? added : deleted)[effect.fact] = true;
      }
      for (uint32_t id = 0; id < facts_.size(); ++id) {
        if (truth_[id] != Truth::kDepends) continue;
        if (defines(id)) truth_[id] = constant(defined_[id].when);
        else if (facts_[id].in_init && !deleted[id]) truth_[id] = Truth::kTrue;
        else if (!facts_[id].in_init && !added[id]) truth_[id] = Truth::kFalse;
        more = more || truth_[id] != Truth::kDepends;
      }
      for (Definition& one : auxiliary_) {
        if (one.truth != Truth::kDepends) continue;
        one.truth = constant(one.when);
        more = more || one.truth != Truth::kDepends;
      }
      if (more) simplify_all();
    }
  }
  bool defines(uint32_t id) const { return is_derived_[facts_[id].predicate]; }
  static Truth constant(const Normal& normal) {
    if (normal.empty()) return Truth::kFalse;
    return normal.size() == 1 && normal[0].empty() ? Truth::kTrue : Truth::kDepends;
  }
  Truth truth(const Literal& one) const {
    const Truth t = one.fact >= kFirstAuxiliary ? auxiliary_[one.fact - kFirstAuxiliary].truth : truth_[one.fact];
    if (t == Truth::kDepends || !one.negated) return t;
    return t == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
  }
  void simplify(Normal& normal) const {
    std::erase_if(normal, [&](const Literals& all) {
      return std::any_of(all.begin(), all.end(), [&](const Literal& l) { return truth(l) == Truth::kFalse; });
    });
    bool always = false;
    for (Literals& all : normal) {
      std::erase_if(all, [&](const Literal& l) { return truth(l) == Truth::kTrue; });
      always = always || all.empty();
    }
    if (always) normal = {{}};
  }
  void simplify_all() {
    for (Operator& op : operators_) {
      simplify(op.when);
      for (GroundEffect& effect : op.effects) simplify(effect.when);
    }
    for (std::vector<Normal>& all : outcomes_)
      for (Normal& one : all) simplify(one);
    for (Definition& one : defined_) simplify(one.when);
    for (Definition& one : auxiliary_) simplify(one.when);
    for (Normal& one : wins_) simplify(one);
  }

  // -- flags
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
  void number_flags() {
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      Fact& fact = facts_[id];
      if (fact.predicate >= s_.predicates.size()) continue;  // equality
      if (!fluent_[fact.predicate] || truth_[id] == Truth::kTrue) out_.static_facts.push_back(name_of(fact));
      else if (truth_[id] == Truth::kDepends) fact.flag = new_flag(name_of(fact), fact.in_init);
      if (fact.flag >= 0 && defines(id)) defined_[id].flag = fact.flag;
    }
    for (Definition& one : auxiliary_)
      if (one.truth == Truth::kDepends) one.flag = new_flag("condition" + std::to_string(out_.num_flags), false);
    for (const Quest& quest : s_.quests) {
      GroundQuest g;
      g.done_var = new_flag("done(quest" + std::to_string(out_.quests.size()) + ")", false);
      g.reward = quest.reward;
      g.optional = quest.optional;
      g.repeatable = quest.repeatable;
      g.has_win_events = true;
      out_.quests.push_back(g);
    }
    if (static_cast<uint32_t>(out_.num_flags) > limits_.max_fluents)
      fail(std::to_string(out_.num_flags) + " changing facts, at most " + std::to_string(limits_.max_fluents));
  }
  int32_t flag(const Literal& one) const {
    return one.fact >= kFirstAuxiliary ? auxiliary_[one.fact - kFirstAuxiliary].flag : facts_[one.fact].flag;
  }
  Conjunction conjunction(const Literals& all) const {
    Conjunction out;
    for (const Literal& one : all) out.push_back({flag(one), one.negated ? CompareOp::kClear : CompareOp::kSet, 0});
    return out;
  }
  Disjunction disjunction(Normal normal) const {
    drop_implied(normal);
    Disjunction out;
    for (const Literals& all : normal) out.push_back(conjunction(all));
    return out;
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

  // -- actions: one for each conjunction of the precondition, so that each is found by a rare flag
  void actions() {
    for (size_t i = 0; i < operators_.size(); ++i) {
      Operator& op = operators_[i];
      if (op.when.empty()) continue;
      const Rule& rule = s_.rules[op.rule];
      current_ = &rule;
      GroundAction action;
      action.rule = static_cast<int32_t>(op.rule);
      action.command = command(rule, op.binding);
      for (const int32_t p : rule.operands) action.operands.push_back(op.binding[static_cast<size_t>(p)]);
      action.outcomes = outcomes(rule, op, outcomes_[i], action.command);
      Disjunction when = disjunction(std::move(op.when));
      const size_t size = 1 + when.size() + 8 * action.outcomes.size() + effects_of(action);
      if (when.size() > kMaxSplit) {
        budget_.parts(size, rule);
        action.when = std::move(when);
        add(std::move(action));
        continue;
      }
      for (Conjunction& all : when) {
        budget_.parts(size, rule);
        GroundAction one = action;
        one.when = {std::move(all)};
        add(std::move(one));
      }
    }
    current_ = &nothing_;
  }
  void add(GroundAction action) {
    budget_.instances(out_.actions.size() + 1, s_.rules[static_cast<size_t>(action.rule)]);
    out_.actions.push_back(std::move(action));
  }
  static size_t effects_of(const GroundAction& action) {
    size_t count = 0;
    for (const GroundOutcome& outcome : action.outcomes) count += outcome.effects.size();
    return count;
  }
  std::string command(const Rule& rule, const std::vector<uint16_t>& binding) const {
    std::string text;
    for (const Rule::Piece& piece : rule.command)
      text += piece.parameter < 0 ? piece.literal : s_.objects[binding[static_cast<size_t>(piece.parameter)]].name;
    budget_.text(text.size());
    return text;
  }
  std::vector<GroundOutcome> outcomes(const Rule& rule, const Operator& op, const std::vector<Normal>& when,
                                      const std::string& command) const {
    static const Outcome kPlain;
    std::vector<GroundOutcome> out;
    const std::vector<Effect> changes = effects(op);
    for (size_t i = 0; i < std::max<size_t>(1, rule.outcomes.size()); ++i) {
      const Outcome& outcome = rule.outcomes.empty() ? kPlain : rule.outcomes[i];
      GroundOutcome g;
      if (rule.outcomes.empty()) g.when = {{}};
      else g.when = disjunction(when[i]);
      if (g.when.empty()) continue;
      g.turn_passes = outcome.turn_passes;
      g.counts_as_move = outcome.applies && outcome.counts_as_move;
      g.text = outcome.text;
      if (outcome.applies) g.effects = changes;
      const bool always = g.when[0].empty();
      out.push_back(std::move(g));
      if (always) return out;
    }
    if (out.empty()) fail("rule " + rule.name + ": '" + command + "' has no outcome that can happen");
    return out;
  }
  // Deletes first, so that what is added in the same action stays.
  std::vector<Effect> effects(const Operator& op) const {
    std::vector<uint32_t> added;  // whatever else happens
    for (const GroundEffect& effect : op.effects)
      if (effect.adds && constant(effect.when) == Truth::kTrue) added.push_back(effect.fact);
    std::sort(added.begin(), added.end());
    std::vector<Effect> out;
    for (const bool adds : {false, true}) {
      std::vector<bool> written(static_cast<size_t>(out_.num_flags));  // without a condition
      for (const GroundEffect& effect : op.effects) {
        const int32_t var = facts_[effect.fact].flag;
        if (effect.adds != adds || var < 0) continue;
        if (!adds && std::binary_search(added.begin(), added.end(), effect.fact)) continue;
        for (Conjunction& all : disjunction(effect.when)) {
          if (all.empty() && written[static_cast<size_t>(var)]) continue;
          if (all.empty()) written[static_cast<size_t>(var)] = true;
          out.push_back({var, false, adds ? 1 : 0, std::move(all)});
        }
      }
    }
    return out;
  }

  // -- goals
  void quests() {
    for (size_t i = 0; i < s_.quests.size(); ++i) {
      const Quest& quest = s_.quests[i];
      GroundQuest& out = out_.quests[i];
      if (quest.first_order) {
        out.win = disjunction(wins_[i]);
        if (out.win.empty()) fail(place(quest.where) + "the goal can never hold, whatever is done");
      } else {
        events(quest.win_events, out.win);
      }
      events(quest.fail_events, out.fail);
    }
  }
  void events(const std::vector<std::vector<Atom>>& from, Disjunction& out) const {
    for (const std::vector<Atom>& event : from) {
      Conjunction all;
      const bool possible = std::all_of(event.begin(), event.end(), [&](const Atom& atom) {
        Condition c;
        const Truth t = condition(atom, c);
        if (t == Truth::kDepends && std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
        return t != Truth::kFalse;
      });
      if (possible) out.push_back(std::move(all));
    }
  }
  // An atom over objects.
  Truth condition(const Atom& atom, Condition& out) const {
    const uint32_t id = facts_.find(predicate_of(atom), packed(atom.args));
    Truth t = id == kNoFact ? Truth::kFalse : (fluent_[facts_[id].predicate] ? truth_[id] : Truth::kTrue);
    if (t == Truth::kDepends) out = {facts_[id].flag, atom.negated ? CompareOp::kClear : CompareOp::kSet, 0};
    else if (atom.negated) t = t == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
    return t;
  }

  // -- axioms: in an order in which everything is known that they ask for, blocks of mutual recursion together
  void axioms() {
    std::vector<const Definition*> all;
    std::unordered_map<int32_t, size_t> at;  // flag → index in `all`
    const auto take = [&](const Definition& one) {
      if (one.flag < 0) return;
      at.emplace(one.flag, all.size());
      all.push_back(&one);
    };
    for (const Definition& one : defined_) take(one);
    for (const Definition& one : auxiliary_) take(one);
    std::vector<std::vector<std::pair<size_t, bool>>> needs(all.size());  // (definition, negated)
    for (size_t i = 0; i < all.size(); ++i)
      for (const Literals& conjunction : all[i]->when)
        for (const Literal& one : conjunction)
          if (const auto found = at.find(flag(one)); found != at.end())
            needs[i].push_back({found->second, one.negated});
    const std::vector<std::vector<size_t>> blocks = components(needs);
    std::vector<size_t> block_of(all.size());
    for (size_t b = 0; b < blocks.size(); ++b)
      for (const size_t i : blocks[b]) block_of[i] = b;
    for (const std::vector<size_t>& members : blocks) {
      bool recursive = members.size() > 1;
      for (const size_t i : members) {
        for (const auto& [other, negated] : needs[i]) {
          if (block_of[other] != block_of[i]) continue;
          recursive = true;
          if (negated)
            fail("axioms are not stratified: " + name(*all[i]) + " depends on not " + name(*all[other]) +
                 ", and that on " + name(*all[i]));
        }
      }
      block(members, all, recursive);
    }
    evaluate();
  }
  void block(const std::vector<size_t>& members, const std::vector<const Definition*>& all, bool recursive) {
    if (members.size() > kMaxBlockAxioms)
      fail(std::to_string(members.size()) + " derived facts depend on each other, at most " +
           std::to_string(kMaxBlockAxioms));
    for (size_t k = 0; k < members.size(); ++k) {
      const Definition& one = *all[members[k]];
      out_.axioms.push_back({one.flag, disjunction(one.when), static_cast<int32_t>(k == 0 ? members.size() : 0)});
    }
    if (!recursive || members.size() > 1) return;
    // A fact that needs itself: written twice as a block of two, so that it is cleared first.
    Axiom again = out_.axioms.back();
    out_.axioms.back().block = 2;
    again.block = 0;
    out_.axioms.push_back(std::move(again));
  }
  const std::string& name(const Definition& one) const { return out_.fluent_names[static_cast<size_t>(one.flag)]; }

  // Strongly connected components, each after those that it needs (Tarjan 1972, without recursion).
  static std::vector<std::vector<size_t>> components(const std::vector<std::vector<std::pair<size_t, bool>>>& needs) {
    constexpr size_t kNew = SIZE_MAX;
    std::vector<std::vector<size_t>> out;
    std::vector<size_t> number(needs.size(), kNew), low(needs.size()), stack;
    std::vector<bool> on_stack(needs.size());
    std::vector<std::pair<size_t, size_t>> path;
    size_t count = 0;
    for (size_t root = 0; root < needs.size(); ++root) {
      if (number[root] != kNew) continue;
      path.push_back({root, 0});
      while (!path.empty()) {
        const size_t v = path.back().first;
        if (path.back().second == 0) {
          number[v] = low[v] = count++;
          stack.push_back(v);
          on_stack[v] = true;
        }
        if (path.back().second < needs[v].size()) {
          const size_t w = needs[v][path.back().second++].first;
          if (number[w] == kNew) path.push_back({w, 0});
          else if (on_stack[w]) low[v] = std::min(low[v], number[w]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[v]);
        if (low[v] != number[v]) continue;
        out.emplace_back();
        for (size_t w = kNew; w != v;) {
          w = stack.back();
          stack.pop_back();
          on_stack[w] = false;
          out.back().push_back(w);
        }
        std::sort(out.back().begin(), out.back().end());
      }
    }
    return out;
  }

  // The derived flags of the initial state, as run_axioms() would set them.
  void evaluate() {
    const auto holds = [&](const Disjunction& when) {
      return std::any_of(when.begin(), when.end(), [&](const Conjunction& all) {
        return std::all_of(all.begin(), all.end(), [&](const Condition& c) {
          return (out_.init_values[static_cast<size_t>(c.var)] != 0) == (c.op == CompareOp::kSet);
        });
      });
    };
    for (size_t i = 0; i < out_.axioms.size();) {
      const auto size = static_cast<size_t>(out_.axioms[i].block);
      for (size_t k = i; k < i + size; ++k) out_.init_values[static_cast<size_t>(out_.axioms[k].var)] = 0;
      for (bool more = true; more;) {
        more = false;
        for (size_t k = i; k < i + size; ++k) {
          int32_t& value = out_.init_values[static_cast<size_t>(out_.axioms[k].var)];
          if (value != 0 || !holds(out_.axioms[k].when)) continue;
          value = 1;
          more = size > 1;
        }
      }
      i += size;
    }
  }

  // -- texts: facts become variables, lists of facts become sentences; jumps follow the instructions that they meant
  void texts() {
    sentences_.assign(s_.predicates.size(), nullptr);
    for (const Sentence& sentence : s_.sentences) sentences_[static_cast<size_t>(sentence.predicate)] = &sentence;
    for (const TextProgram& text : s_.programs) out_.programs.push_back({program(text)});
  }
  std::vector<Instruction> program(const TextProgram& text) {
    std::vector<Instruction> out;
    std::vector<int32_t> starts;
    std::vector<size_t> jumps;  // instructions of `out` whose target is one of `text`
    for (const Instruction& code : text.code) {
      starts.push_back(static_cast<int32_t>(out.size()));
      if (code.op == Op::kFacts) {
        facts(code, out);
        continue;
      }
      out.push_back(code.op == Op::kUnlessFact ? resolved(text, code) : code);
      if (jumps_ahead(out.back())) jumps.push_back(out.size() - 1);
    }
    starts.push_back(static_cast<int32_t>(out.size()));
    for (const size_t j : jumps) {
      if (out[j].c == kNextInstruction) out[j].c = static_cast<int32_t>(j) + 1;
      else out[j].c = starts[std::min(static_cast<size_t>(std::max(out[j].c, 0)), starts.size() - 1)];
    }
    return out;
  }
  static bool jumps_ahead(const Instruction& code) {
    switch (code.op) {
      case Op::kJump:
      case Op::kUnless:
      case Op::kUnlessAny:
      case Op::kUnlessPrints:
      case Op::kUnlessHolds: return true;
      default: return false;
    }
  }
  Instruction resolved(const TextProgram& text, const Instruction& code) const {
    Condition c;
    switch (condition(text.facts[static_cast<size_t>(code.a)], c)) {
      case Truth::kTrue: return {Op::kJump, 0, 0, kNextInstruction, 0};
      case Truth::kFalse: return {Op::kJump, 0, 0, code.c, 0};
      case Truth::kDepends: break;
    }
    return {Op::kUnless, c.var, static_cast<int32_t>(c.op), code.c, c.value};
  }
  // " on a b." for each fact of the kind, by predicate in order of declaration, then by objects.
  void facts(const Instruction& code, std::vector<Instruction>& out) {
    const auto kind = static_cast<FactKind>(code.a);
    std::vector<uint32_t> ids;
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      const Fact& fact = facts_[id];
      if (fact.predicate >= s_.predicates.size() || sentences_[fact.predicate] == nullptr) continue;
      const bool always = !fluent_[fact.predicate] || truth_[id] == Truth::kTrue;
      if (kind == FactKind::kStatic ? always : fact.flag >= 0) ids.push_back(id);
    }
    if ((sentences_written_ += ids.size()) > kMaxSentences)
      fail(std::to_string(sentences_written_) + " facts to be told, at most " + std::to_string(kMaxSentences) +
           ": leave predicates out of the text (a grammar file can)");
    std::sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(facts_[a].predicate, facts_[a].args) < std::pair(facts_[b].predicate, facts_[b].args);
    });
    if (!ids.empty() && code.b > 0) out.push_back({Op::kLit, code.b - 1, 0, 0, 0});
    for (const uint32_t id : ids) {
      const auto literal = static_cast<int32_t>(out_.literals.size());
      out_.literals.push_back(sentence(facts_[id]));
      if (facts_[id].flag >= 0)
        out.push_back({Op::kUnless, facts_[id].flag, static_cast<int32_t>(CompareOp::kSet),
                       static_cast<int32_t>(out.size()) + 2, 0});
      out.push_back({Op::kLit, literal, 0, 0, 0});
    }
    if (!ids.empty() && code.value > 0) out.push_back({Op::kLit, code.value - 1, 0, 0, 0});
  }
  std::string sentence(const Fact& fact) const {
    std::string text;
    for (const Rule::Piece& piece : sentences_[fact.predicate]->pieces)
      text += piece.parameter < 0 ? piece.literal : s_.objects[fact.args[static_cast<size_t>(piece.parameter)]].name;
    budget_.text(text.size());
    return text;
  }

  [[noreturn]] void fail(const std::string& what) const { throw CompileError{s_.name + ": " + what}; }

  static constexpr int32_t kNextInstruction = INT32_MAX;
  static constexpr size_t kMaxSentences = 8000;  // two steps each, within the budget of one observation (render.h)
  static constexpr size_t kMaxBlockAxioms = 4096;  // program.h, kMaxBlock

  const Source& s_;
  const GroundLimits& limits_;
  const Budget budget_;
  const Relaxed relaxed_;
  const TypeTable types_;
  Reachable reachable_;
  FactTable& facts_;
  Rule nothing_;
  const Rule* current_;  // whose work it is, for errors
  Instantiation bind_;
  Normaliser normal_;
  Instantiation::Opaque opaque_;
  std::map<std::pair<const Formula*, std::vector<uint16_t>>, uint32_t> opaque_of_;
  std::vector<Normal> opaques_;  // what each stands for
  size_t parts_ = 0, sentences_written_ = 0;
  std::vector<bool> fluent_, is_derived_;  // by predicate
  std::vector<Operator> operators_;
  std::vector<std::vector<Normal>> outcomes_;  // of each operator
  std::vector<Definition> defined_;            // by fact; of derived ones
  std::vector<Definition> auxiliary_;
  std::vector<Normal> wins_;
  std::vector<Truth> truth_;  // by fact; of those that are fluent
  std::vector<const Sentence*> sentences_;
  Ground out_;
};

}  // namespace

Ground ground_formulas(const Source& source, const GroundLimits& limits) {
  return FormulaGrounder(source, limits).run();
}

}  // namespace ae::logic
