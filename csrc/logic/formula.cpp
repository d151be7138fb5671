#include "logic/formula.h"

#include <algorithm>

namespace ae::logic {

bool is_first_order(const Source& source) {
  const auto rule = [](const Rule& r) { return r.first_order; };
  const auto quest = [](const Quest& q) { return q.first_order; };
  return !source.distinct_parameters || !source.derived.empty() || !source.sentences.empty() ||
         std::any_of(source.rules.begin(), source.rules.end(), rule) ||
         std::any_of(source.quests.begin(), source.quests.end(), quest);
}

// ---- Conjunctions and disjunctions ----------------------------------------------------------------------------------
bool add_literal(Literals& all, Literal one) {
  const auto at =
      std::lower_bound(all.begin(), all.end(), one.fact, [](const Literal& l, uint32_t fact) { return l.fact < fact; });
  if (at == all.end() || at->fact != one.fact) {
    all.insert(at, one);
    return true;
  }
  return at->negated == one.negated;
}

namespace {

bool merge(Literals& all, const Literals& more) {
  return std::all_of(more.begin(), more.end(), [&](const Literal& one) { return add_literal(all, one); });
}
constexpr size_t kMaxCompared = 2000;  // conjunctions that are compared pair by pair

bool implies(const Literals& more, const Literals& less) {
  return std::includes(more.begin(), more.end(), less.begin(), less.end());
}

}  // namespace

void drop_implied(Normal& normal) {
  if (normal.size() < 2) return;
  if (normal.size() > kMaxCompared) {
    std::sort(normal.begin(), normal.end());
    normal.erase(std::unique(normal.begin(), normal.end()), normal.end());
    return;
  }
  std::stable_sort(normal.begin(), normal.end(),
                   [](const Literals& a, const Literals& b) { return a.size() < b.size(); });
  Normal kept;
  for (Literals& one : normal) {
    const bool implied = std::any_of(kept.begin(), kept.end(), [&](const Literals& k) { return implies(one, k); });
    if (!implied) kept.push_back(std::move(one));
  }
  normal = std::move(kept);
}

Normal Normaliser::normal(const GroundFormula& formula, size_t most_terms) {
  switch (formula.kind) {
    case GroundFormula::Kind::kLiteral: return {{formula.literal}};
    case GroundFormula::Kind::kAnd: return conjunction(formula, most_terms);
    case GroundFormula::Kind::kOr: break;
  }
  Normal out;
  for (const GroundFormula& part : formula.parts) {
    for (Literals& one : normal(part, most_terms)) {
      spend_(one.size() + 1);
      if (one.empty()) return {{}};
      out.push_back(std::move(one));
    }
  }
  return out;
}

Normal Normaliser::conjunction(const GroundFormula& formula, size_t most_terms) {
  Literals common;
  std::vector<Normal> choices;
  for (const GroundFormula& part : formula.parts) {
    Normal one = normal(part, most_terms);
    if (one.empty()) return {};
    if (one.size() == 1) {
      spend_(one[0].size() + 1);
      if (!merge(common, one[0])) return {};
    } else {
      choices.push_back(std::move(one));
    }
  }
  return product(std::move(common), std::move(choices), most_terms);
}

Normal Normaliser::product(Literals common, std::vector<Normal> choices, size_t most_terms) {
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Normal& a, const Normal& b) { return a.size() < b.size(); });
  Normal out{std::move(common)};
  for (Normal& choice : choices) {
    if (out.size() * choice.size() > most_terms && choices.size() > 1) choice = {{auxiliary(std::move(choice))}};
    Normal next;
    for (const Literals& left : out) {
      for (const Literals& right : choice) {
        spend_(left.size() + right.size() + 1);
        Literals both = left;
        if (merge(both, right)) next.push_back(std::move(both));
      }
    }
    out = std::move(next);
  }
  return out;
}

Literal Normaliser::auxiliary(Normal normal) {
  std::sort(normal.begin(), normal.end());
  const auto [at, is_new] = known_.try_emplace(normal, kFirstAuxiliary + static_cast<uint32_t>(auxiliaries_.size()));
  if (is_new) auxiliaries_.push_back(std::move(normal));
  return {at->second, false};
}

uint64_t free_variables(const Formula& formula, size_t in_scope) {
  uint64_t out = 0;
  for (const int32_t term : formula.args)
    if (term >= 0 && static_cast<size_t>(term) < in_scope) out |= uint64_t{1} << term;
  for (const Formula& part : formula.parts) out |= free_variables(part, in_scope);
  return out;
}

// ---- Binding --------------------------------------------------------------------------------------------------------
Instantiation::Instantiation(const Source& source, const FactTable& facts, const TypeTable& types, Decide decide,
                             std::function<void()> step)
    : s_(source), facts_(facts), decide_(std::move(decide)), step_(std::move(step)), objects_(source.types.size()) {
  for (size_t o = 0; o < source.objects.size(); ++o)
    for (size_t t = 0; t < source.types.size(); ++t)
      if (types.is_a(source.objects[o].type, static_cast<int32_t>(t))) objects_[t].push_back(static_cast<uint16_t>(o));
}

uint32_t Instantiation::fact(int32_t predicate, const std::vector<int32_t>& args,
                             const std::vector<uint16_t>& binding) const {
  Args objects{};
  for (size_t i = 0; i < args.size(); ++i) objects[i] = object(args[i], binding);
  return facts_.find(static_cast<uint16_t>(predicate), objects);
}

GroundFormula Instantiation::bind(const Formula& formula, std::vector<uint16_t>& binding, bool negated,
                                  const Opaque& opaque) const {
  step_();
  switch (formula.kind) {
    case Formula::Kind::kNot: return bind(formula.parts[0], binding, !negated, opaque);
    case Formula::Kind::kAnd:
    case Formula::Kind::kOr: return junction(formula, binding, negated, opaque);
    case Formula::Kind::kExists:
    case Formula::Kind::kForall: return quantified(formula, binding, negated, opaque);
    case Formula::Kind::kEqual:
      return GroundFormula::constant((object(formula.args[0], binding) == object(formula.args[1], binding)) != negated);
    case Formula::Kind::kAtom: break;
  }
  return literal(formula, binding, negated);
}

GroundFormula Instantiation::literal(const Formula& formula, const std::vector<uint16_t>& binding, bool negated) const {
  const uint32_t id = fact(formula.predicate, formula.args, binding);
  switch (decide_(id)) {
    case Truth::kTrue: return GroundFormula::constant(!negated);
    case Truth::kFalse: return GroundFormula::constant(negated);
    case Truth::kDepends: break;
  }
  return {GroundFormula::Kind::kLiteral, {id, negated}, {}};
}

bool Instantiation::possible(const Formula& formula, std::vector<uint16_t>& binding, bool negated) const {
  step_();
  const auto part = [&](const Formula& one) { return possible(one, binding, negated); };
  switch (formula.kind) {
    case Formula::Kind::kNot: return possible(formula.parts[0], binding, !negated);
    case Formula::Kind::kAnd:
    case Formula::Kind::kOr:
      return (formula.kind == Formula::Kind::kAnd) != negated
                 ? std::all_of(formula.parts.begin(), formula.parts.end(), part)
                 : std::any_of(formula.parts.begin(), formula.parts.end(), part);
    case Formula::Kind::kExists:
    case Formula::Kind::kForall: {
      if ((formula.kind == Formula::Kind::kForall) != negated) return true;
      bool found = false;
      for_all(formula.types, binding, [&] { found = found || possible(formula.parts[0], binding, negated); });
      return found;
    }
    case Formula::Kind::kEqual: return negated || object(formula.args[0], binding) == object(formula.args[1], binding);
    case Formula::Kind::kAtom: break;
  }
  return negated || fact(formula.predicate, formula.args, binding) != kNoFact;
}

namespace {

// Appends a part to an `and` or an `or`. False: the whole is decided.
bool append(GroundFormula& whole, GroundFormula part) {
  const bool is_and = whole.kind == GroundFormula::Kind::kAnd;
  if (is_and ? part.is_false() : part.is_true()) {
    whole = std::move(part);
    return false;
  }
  if (part.kind != whole.kind) {
    whole.parts.push_back(std::move(part));
    return true;
  }
  for (GroundFormula& inner : part.parts) whole.parts.push_back(std::move(inner));
  return true;
}

}  // namespace

GroundFormula Instantiation::junction(const Formula& formula, std::vector<uint16_t>& binding, bool negated,
                                      const Opaque& opaque) const {
  GroundFormula out = GroundFormula::constant((formula.kind == Formula::Kind::kAnd) != negated);
  for (const Formula& part : formula.parts)
    if (!append(out, bind(part, binding, negated, opaque))) return out;
  return out;
}

GroundFormula Instantiation::quantified(const Formula& formula, std::vector<uint16_t>& binding, bool negated,
                                        const Opaque& opaque) const {
  const bool all = (formula.kind == Formula::Kind::kForall) != negated;
  if (all && opaque) return opaque(formula, binding, negated);
  GroundFormula out = GroundFormula::constant(all);
  bool open = true;
  for_all(formula.types, binding, [&] {
    if (open) open = append(out, bind(formula.parts[0], binding, negated, opaque));
  });
  return out;
}

// ---- Relaxation -----------------------------------------------------------------------------------------------------
namespace {

constexpr size_t kMaxCopied = 20'000'000;  // atoms written while conditions are taken apart
constexpr size_t kMaxBranches = 256;  // ways to meet one rule's condition; more, and its disjunctions count as true

class Relaxer {
 public:
  explicit Relaxer(const Source& source) : s_(source) {
    out_.source.name = source.name;
    out_.source.types = source.types;
    out_.source.objects = source.objects;
    out_.source.predicates = source.predicates;
    out_.source.init = source.init;
    out_.source.distinct_parameters = false;
    equal_ = static_cast<int32_t>(source.predicates.size());
    out_.source.predicates.push_back({"=", false});
    for (size_t o = 0; o < source.objects.size(); ++o) {
      const auto object = static_cast<int32_t>(o);
      out_.source.init.push_back({equal_, {object, object}, false});
    }
  }

  Relaxed run() {
    for (size_t r = 0; r < s_.rules.size(); ++r) rule(static_cast<int32_t>(r));
    for (const Derived& derived : s_.derived) axiom(derived);
    return std::move(out_);
  }

 private:
  using Scope = std::vector<int32_t>;  // of each variable, the parameter that it is
  using Next = std::function<void(const Rule&)>;

  void rule(int32_t r) {
    const Rule& from = s_.rules[static_cast<size_t>(r)];
    Rule start;
    start.name = from.name;
    start.parameters = from.parameters;
    const Scope scope = identity(from.parameters.size());
    branches(
        start, [&](const Rule& begun, const Next& next) { expand(from.precondition, false, scope, begun, next); },
        [&](const Rule& met) {
          Rule done = met;
          for (const LiftedEffect& effect : from.effects)
            if (is_plain(effect)) done.adds.push_back(atom(effect.fact.predicate, effect.fact.args, scope, done));
          add(std::move(done), r);
        });
    for (const LiftedEffect& effect : from.effects)
      if (!effect.fact.negated && !is_plain(effect)) conditional(start, from, effect);
  }
  static bool is_plain(const LiftedEffect& effect) {
    return !effect.fact.negated && effect.types.empty() && effect.when.kind == Formula::Kind::kAnd &&
           effect.when.parts.empty();
  }
  void conditional(Rule start, const Rule& from, const LiftedEffect& effect) {
    for (const int32_t type : effect.types) start.parameters.push_back({type, -1});
    const Scope scope = identity(start.parameters.size());
    const Scope outer = identity(from.parameters.size());
    branches(
        start,
        [&](const Rule& begun, const Next& next) {
          expand(from.precondition, false, outer, begun,
                 [&](const Rule& met) { expand(effect.when, false, scope, met, next); });
        },
        [&](const Rule& met) { head(met, effect.fact.predicate, effect.fact.args, scope); });
  }
  void axiom(const Derived& derived) {
    Rule start;
    start.name = "derived " + s_.predicates[static_cast<size_t>(derived.predicate)].name;
    for (const int32_t type : derived.types) start.parameters.push_back({type, -1});
    const Scope scope = identity(start.parameters.size());
    branches(
        start, [&](const Rule& begun, const Next& next) { expand(derived.formula, false, scope, begun, next); },
        [&](const Rule& met) { head(met, derived.predicate, scope, scope); });
  }
  void head(const Rule& met, int32_t predicate, const std::vector<int32_t>& args, const Scope& scope) {
    Rule done = met;
    done.adds.push_back(atom(predicate, args, scope, done));
    add(std::move(done), -1);
  }
  void add(Rule rule, int32_t of) {
    if (rule.parameters.size() > kMaxParameters)
      throw CompileError{s_.name + ": " + rule.name + ": " + std::to_string(rule.parameters.size()) +
                         " parameters, quantified variables and constants, at most " + std::to_string(kMaxParameters)};
    out_.source.rules.push_back(std::move(rule));
    out_.of.push_back(of);
  }

  // Every way to meet a condition, or if those are too many one that ignores its disjunctions.
  template <class Body>
  void branches(const Rule& start, Body&& body, const Next& use) {
    struct TooMany {};
    std::vector<Rule> found;
    coarse_ = false;
    try {
      body(start, [&](const Rule& met) {
        if (found.size() == kMaxBranches) throw TooMany{};
        found.push_back(met);
      });
    } catch (const TooMany&) {
      found.clear();
      coarse_ = true;
      body(start, [&](const Rule& met) { found.push_back(met); });
    }
    for (const Rule& met : found) use(met);
  }

  void expand(const Formula& f, bool negated, const Scope& scope, const Rule& so_far, const Next& next) {
    switch (f.kind) {
      case Formula::Kind::kNot: return expand(f.parts[0], !negated, scope, so_far, next);
      case Formula::Kind::kAnd:
      case Formula::Kind::kOr:
        if ((f.kind == Formula::Kind::kAnd) != negated) return all(f.parts, 0, negated, scope, so_far, next);
        if (coarse_) return next(so_far);
        for (const Formula& part : f.parts) expand(part, negated, scope, so_far, next);
        return;
      case Formula::Kind::kExists:
      case Formula::Kind::kForall: {
        if ((f.kind == Formula::Kind::kForall) != negated) return next(so_far);
        Rule more = so_far;
        Scope inner = scope;
        for (const int32_t type : f.types) {
          inner.push_back(static_cast<int32_t>(more.parameters.size()));
          more.parameters.push_back({type, -1});
        }
        return expand(f.parts[0], negated, inner, more, next);
      }
      case Formula::Kind::kEqual:
      case Formula::Kind::kAtom: break;
    }
    if (negated) return next(so_far);
    if ((copied_ += so_far.preconditions.size() + 1) > kMaxCopied)
      throw CompileError{s_.name + ": rule " + so_far.name + ": its conditions take more than " +
                         std::to_string(kMaxCopied) + " atoms when they are taken apart"};
    Rule more = so_far;
    more.preconditions.push_back(atom(f.kind == Formula::Kind::kEqual ? equal_ : f.predicate, f.args, scope, more));
    next(more);
  }
  void all(const std::vector<Formula>& parts, size_t from, bool negated, const Scope& scope, const Rule& so_far,
           const Next& next) {
    if (from == parts.size()) return next(so_far);
    expand(parts[from], negated, scope, so_far,
           [&](const Rule& met) { all(parts, from + 1, negated, scope, met, next); });
  }

  // Terms → parameters; an object becomes a parameter that is bound to it.
  static Atom atom(int32_t predicate, const std::vector<int32_t>& args, const Scope& scope, Rule& rule) {
    Atom out{predicate, {}, false};
    for (const int32_t term : args)
      out.args.push_back(term >= 0 ? scope[static_cast<size_t>(term)] : constant(-1 - term, rule));
    return out;
  }
  static int32_t constant(int32_t object, Rule& rule) {
    for (size_t p = 0; p < rule.parameters.size(); ++p)
      if (rule.parameters[p].constant == object) return static_cast<int32_t>(p);
    rule.parameters.push_back({-1, object});
    return static_cast<int32_t>(rule.parameters.size()) - 1;
  }
  static Scope identity(size_t count) {
    Scope out;
    for (size_t i = 0; i < count; ++i) out.push_back(static_cast<int32_t>(i));
    return out;
  }

  const Source& s_;
  Relaxed out_;
  int32_t equal_ = 0;
  bool coarse_ = false;
  size_t copied_ = 0;
};

}  // namespace

Relaxed relax(const Source& source) { return Relaxer(source).run(); }

}  // namespace ae::logic
