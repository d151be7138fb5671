#include "logic/source_check.h"

#include <string>
#include <unordered_map>

#include "logic/formula.h"

namespace ae::logic {
namespace {

class SourceChecker {
 public:
  explicit SourceChecker(const Source& source) : s_(source), arity_(source.predicates.size(), -1) {}

  void run() {
    sizes();
    types();
    objects();
    header();
    for (const Rule& one : s_.rules) rule(one);
    for (size_t i = 0; i < s_.init.size(); ++i) initial(s_.init[i], "init[" + std::to_string(i) + "]");
    placements();
    for (size_t i = 0; i < s_.quests.size(); ++i) quest(s_.quests[i], "quests[" + std::to_string(i) + "]");
    for (const Derived& one : s_.derived) derived(one);
    for (const Sentence& one : s_.sentences) sentence(one);
    if (is_first_order(s_)) first_order();
    texts();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw CompileError{s_.name + ": " + what}; }

  void most(size_t got, size_t limit, const std::string& what) const {
    if (got > limit) fail(what + ": " + std::to_string(got) + ", at most " + std::to_string(limit));
  }
  void index(int64_t got, size_t count, const std::string& what) const {
    if (got < 0 || static_cast<size_t>(got) >= count)
      fail(what + " " + std::to_string(got) + " outside [0, " + std::to_string(count) + ")");
  }
  void index_or_none(int64_t got, size_t count, const std::string& what) const {
    if (got != -1) index(got, count, what);
  }

  void sizes() const {
    most(s_.objects.size(), kMaxThings, "objects");
    most(s_.predicates.size(), kMaxThings, "predicates");
    most(s_.rules.size(), kMaxThings, "rules");
    most(s_.types.size(), kMaxTypes, "types");
  }

  // No type is its own ancestor: a walk along the parents, depth first.
  void types() const {
    enum : uint8_t { kNew, kOnPath, kDone };
    std::vector<uint8_t> state(s_.types.size(), kNew);
    std::vector<std::pair<size_t, size_t>> path;
    for (size_t root = 0; root < s_.types.size(); ++root) {
      if (state[root] == kNew) path.push_back({root, 0});
      while (!path.empty()) {
        auto& [type, next] = path.back();
        state[type] = kOnPath;
        if (next == s_.types[type].parents.size()) {
          state[type] = kDone;
          path.pop_back();
          continue;
        }
        const int32_t parent = s_.types[type].parents[next++];
        index(parent, s_.types.size(), "type " + s_.types[type].name + ": parent");
        const auto above = static_cast<size_t>(parent);
        if (state[above] == kOnPath) fail("type " + s_.types[type].name + " is its own ancestor");
        if (state[above] == kNew) path.push_back({above, 0});
      }
    }
  }

  void objects() const {
    std::unordered_map<std::string_view, size_t> ids;
    for (size_t i = 0; i < s_.objects.size(); ++i) {
      const Object& o = s_.objects[i];
      const std::string where = "object " + o.id + ": ";
      if (!ids.emplace(o.id, i).second) fail("two objects with the id '" + o.id + "'");
      index(o.type, s_.types.size(), where + "type");
      for (const int32_t program : {o.description, o.listed, o.look, o.title})
        index_or_none(program, s_.programs.size(), where + "text program");
    }
  }

  void header() const {
    index_or_none(s_.place_predicate, s_.predicates.size(), "place_predicate");
    index_or_none(s_.player, s_.objects.size(), "player");
    index_or_none(s_.inventory, s_.objects.size(), "inventory");
    if (s_.place_predicate >= 0 && s_.player < 0) fail("a place predicate but no player");
  }

  const std::string& name(const Atom& atom) const { return s_.predicates[static_cast<size_t>(atom.predicate)].name; }
  bool places(const Atom& atom) const {
    return s_.predicates[static_cast<size_t>(atom.predicate)].placement || atom.predicate == s_.place_predicate;
  }

  // The predicate exists and takes as many arguments here as everywhere else.
  void arity(const Atom& atom, const std::string& where) {
    index(atom.predicate, s_.predicates.size(), where + ": predicate");
    const auto got = std::to_string(atom.args.size());
    if (atom.args.size() > kMaxArity)
      fail(where + ": " + name(atom) + " has " + got + " arguments, at most " + std::to_string(kMaxArity));
    if (places(atom) && atom.args.size() != 2)
      fail(where + ": " + name(atom) + " places a child in a container and so takes 2 arguments, got " + got);
    int8_t& known = arity_[static_cast<size_t>(atom.predicate)];
    if (known < 0) known = static_cast<int8_t>(atom.args.size());
    if (static_cast<size_t>(known) != atom.args.size())
      fail(where + ": " + name(atom) + " takes " + std::to_string(known) + " arguments elsewhere, got " + got);
  }
  void fact(const Atom& atom, const std::string& where) {
    arity(atom, where);
    for (const int32_t arg : atom.args) index(arg, s_.objects.size(), where + ": object");
  }
  void initial(const Atom& atom, const std::string& where) {
    fact(atom, where);
    if (atom.negated) fail(where + ": " + name(atom) + " is negated; facts that are not listed are false at the start");
  }

  void rule(const Rule& rule) {
    const std::string where = "rule " + rule.name;
    parameters(rule, where);
    atoms(rule, rule.preconditions, where + ": preconditions");
    effects(rule, rule.adds, where + ": adds");
    effects(rule, rule.deletes, where + ": deletes");
    first_order(rule, where);
    for (const Rule::Piece& piece : rule.command)
      index_or_none(piece.parameter, rule.parameters.size(), where + ": command parameter");
    most(rule.operands.size(), 4, where + ": operands");
    for (const int32_t operand : rule.operands) index(operand, rule.parameters.size(), where + ": operand");
    for (const Outcome& outcome : rule.outcomes) {
      atoms(rule, outcome.conditions, where + ": outcome");
      index_or_none(outcome.text, s_.programs.size(), where + ": outcome text");
    }
  }
  void parameters(const Rule& rule, const std::string& where) const {
    most(rule.parameters.size(), kMaxParameters, where + ": parameters");
    for (size_t p = 0; p < rule.parameters.size(); ++p) {
      const Parameter& one = rule.parameters[p];
      if (one.constant < 0) {
        index(one.type, s_.types.size(), where + ": parameter type");
        continue;
      }
      index(one.constant, s_.objects.size(), where + ": constant");
      for (size_t q = 0; q < p && s_.distinct_parameters; ++q)
        if (rule.parameters[q].constant == one.constant)
          fail(where + ": two parameters are " + s_.objects[static_cast<size_t>(one.constant)].id +
               "; parameters bind distinct objects");
    }
  }
  void atoms(const Rule& rule, const std::vector<Atom>& list, const std::string& where) {
    most(list.size(), kMaxAtoms, where);
    for (const Atom& atom : list) {
      arity(atom, where);
      for (const int32_t arg : atom.args) index(arg, rule.parameters.size(), where + ": parameter");
    }
  }
  void effects(const Rule& rule, const std::vector<Atom>& list, const std::string& where) {
    atoms(rule, list, where);
    for (const Atom& atom : list)
      if (atom.negated) fail(where + ": " + name(atom) + " is negated; adds and deletes are plain facts");
  }

  // At the start each child lies in one container, and the player is at one place.
  void placements() const {
    std::vector<const Atom*> lies(s_.objects.size(), nullptr);
    for (const Atom& atom : s_.init) {
      if (!places(atom)) continue;
      const bool player = atom.predicate == s_.place_predicate && atom.args[0] == s_.player;
      if (!player && !s_.predicates[static_cast<size_t>(atom.predicate)].placement) continue;
      const Atom*& before = lies[static_cast<size_t>(atom.args[0])];
      if (before != nullptr && (before->predicate != atom.predicate || before->args != atom.args))
        fail("init: " + s_.objects[static_cast<size_t>(atom.args[0])].id + " is placed twice: " + text(*before) +
             " and " + text(atom));
      before = &atom;
    }
    if (s_.place_predicate >= 0 && lies[static_cast<size_t>(s_.player)] == nullptr)
      fail("the player is nowhere at the start");
  }
  std::string text(const Atom& fact) const {
    std::string out = name(fact) + "(";
    for (size_t i = 0; i < fact.args.size(); ++i)
      out += (i > 0 ? ", " : "") + s_.objects[static_cast<size_t>(fact.args[i])].id;
    return out + ")";
  }

  void quest(const Quest& quest, const std::string& where) {
    for (const auto* events : {&quest.fail_events, &quest.win_events})
      for (const auto& event : *events)
        for (const Atom& atom : event) fact(atom, where);
    size_t parts = 0;
    formula(quest.win, 0, 0, kMaxGoalParts, parts, where + ": win");
  }

  // -- first-order sources
  void formula(const Formula& f, size_t variables, size_t depth, size_t most_parts, size_t& parts,
               const std::string& where) {
    most(++parts, most_parts, where + ": parts of one condition");
    most(depth, kMaxFormulaDepth, where + ": depth of one condition");
    const bool junction = f.kind == Formula::Kind::kAnd || f.kind == Formula::Kind::kOr;
    const bool leaf = f.kind == Formula::Kind::kAtom || f.kind == Formula::Kind::kEqual;
    if (!junction && f.parts.size() != (leaf ? 0 : 1))
      fail(where + ": a condition with " + std::to_string(f.parts.size()) + " parts");
    if (f.kind == Formula::Kind::kAtom) arity({f.predicate, f.args, false}, where);
    if (f.kind == Formula::Kind::kEqual && f.args.size() != 2)
      fail(where + ": equality of " + std::to_string(f.args.size()) + " terms");
    terms(f.args, variables, where);
    const bool quantified = f.kind == Formula::Kind::kExists || f.kind == Formula::Kind::kForall;
    if (!quantified && !f.types.empty()) fail(where + ": types of a condition that binds no variable");
    const size_t inner = bound(f.types, variables, where);
    for (const Formula& part : f.parts) formula(part, inner, depth + 1, most_parts, parts, where);
  }
  void terms(const std::vector<int32_t>& terms, size_t variables, const std::string& where) const {
    for (const int32_t term : terms) {
      if (term >= 0) index(term, variables, where + ": variable");
      else index(-1 - static_cast<int64_t>(term), s_.objects.size(), where + ": object");
    }
  }
  size_t bound(const std::vector<int32_t>& types, size_t variables, const std::string& where) const {
    for (const int32_t type : types) index(type, s_.types.size(), where + ": variable type");
    most(variables + types.size(), kMaxParameters, where + ": variables");
    return variables + types.size();
  }
  void first_order(const Rule& rule, const std::string& where) {
    size_t parts = 0;
    formula(rule.precondition, rule.parameters.size(), 0, kMaxFormulaParts, parts, where + ": precondition");
    most(rule.effects.size(), kMaxLiftedEffects, where + ": effects");
    for (const LiftedEffect& effect : rule.effects) {
      const size_t inner = bound(effect.types, rule.parameters.size(), where + ": effect");
      parts = 0;
      formula(effect.when, inner, 0, kMaxFormulaParts, parts, where + ": effect");
      arity(effect.fact, where + ": effect");
      terms(effect.fact.args, inner, where + ": effect");
    }
    for (const Outcome& outcome : rule.outcomes) {
      parts = 0;
      formula(outcome.when, rule.parameters.size(), 0, kMaxFormulaParts, parts, where + ": outcome");
    }
  }
  void derived(const Derived& one) {
    index(one.predicate, s_.predicates.size(), "derived: predicate");
    const std::string where = "derived " + s_.predicates[static_cast<size_t>(one.predicate)].name;
    const size_t variables = bound(one.types, 0, where);
    arity({one.predicate, std::vector<int32_t>(one.types.size(), 0), false}, where);
    size_t parts = 0;
    formula(one.formula, variables, 0, kMaxFormulaParts, parts, where);
  }
  void sentence(const Sentence& one) {
    index(one.predicate, s_.predicates.size(), "sentence: predicate");
    const int8_t known = arity_[static_cast<size_t>(one.predicate)];
    for (const Rule::Piece& piece : one.pieces)
      if (known >= 0) index_or_none(piece.parameter, static_cast<size_t>(known), "sentence: argument");
  }
  void first_order() const {
    if (s_.distinct_parameters)
      fail("a first-order source with distinct_parameters: want False, its parameters may bind equal objects");
    if (s_.place_predicate >= 0) fail("a first-order source with a place predicate; places are plain facts there");
    for (const Predicate& predicate : s_.predicates)
      if (predicate.placement) fail(predicate.name + ": a first-order source places nothing in the object tree");
    for (const Rule& rule : s_.rules)
      if (!rule.first_order || !rule.preconditions.empty() || !rule.adds.empty() || !rule.deletes.empty())
        fail("rule " + rule.name + ": want precondition and effects, as every rule of a first-order source has");
    std::vector<bool> axiom(s_.predicates.size());
    for (const Derived& one : s_.derived) axiom[static_cast<size_t>(one.predicate)] = true;
    const auto plain = [&](const Atom& atom, const std::string& where) {
      if (axiom[static_cast<size_t>(atom.predicate)]) fail(where + ": " + name(atom) + " is derived");
    };
    for (const Atom& atom : s_.init) plain(atom, "init");
    for (const Rule& rule : s_.rules)
      for (const LiftedEffect& effect : rule.effects) plain(effect.fact, "rule " + rule.name + ": effects");
  }

  void texts() {
    for (size_t i = 0; i < s_.programs.size(); ++i) {
      const TextProgram& text = s_.programs[i];
      const std::string where = "programs[" + std::to_string(i) + "]";
      for (const Atom& atom : text.facts) fact(atom, where);
      for (const Instruction& code : text.code) {
        if (code.op == Op::kItem) {
          index(code.a, code.b == 0 ? s_.literals.size() : s_.programs.size(), where + ": list entry");
          index(code.c, s_.literals.size(), where + ": separator");
        }
        if (code.op == Op::kJoined) {
          index(code.a, s_.literals.size(), where + ": last separator");
          index(code.c, s_.literals.size() + 1, where + ": text of an empty list");
        }
        if (code.op == Op::kFacts && !is_first_order(s_))
          fail(where + ": a list of facts, which first-order sources have");
        if (code.op == Op::kFacts) {
          index(code.a, 2, where + ": kind of facts");
          for (const int32_t literal : {code.b, code.value})
            index(literal, s_.literals.size() + 1, where + ": literal");
        }
        if (code.op == Op::kUnlessFact) index(code.a, text.facts.size(), where + ": fact");
        const bool reads = code.op == Op::kUnless || code.op == Op::kNumber || code.op == Op::kNumberWords;
        if (reads && code.a < kPseudoScoreChange) fail(where + ": a text names facts, not variables");
      }
    }
    for (const int32_t program : {s_.texts.frame, s_.texts.start, s_.texts.invalid})
      index_or_none(program, s_.programs.size(), "texts");
    for (const Refusal& refusal : s_.refusals)
      index_or_none(refusal.text, s_.programs.size(), "refusal " + refusal.name + ": text");
  }

  const Source& s_;
  std::vector<int8_t> arity_;  // of each predicate, -1: not seen yet
};

}  // namespace

void check_source(const Source& source) { SourceChecker(source).run(); }

}  // namespace ae::logic
