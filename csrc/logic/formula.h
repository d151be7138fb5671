// First-order sources (PDDL): formulas over objects become disjunctions over facts, quantifiers and all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "logic/reach.h"

namespace ae::logic {

bool is_first_order(const Source& source);

// Source → Ground for sources whose rules are first-order. Called by ground(); the source is checked already.
Ground ground_formulas(const Source& source, const GroundLimits& limits);

// ---- Ground formulas ------------------------------------------------------------------------------------------------
// A literal over a fact of the table; from kFirstAuxiliary over a condition that got a flag of its own; from
// kFirstOpaque over a `forall` that is not looked into (see Instantiation::Opaque).
constexpr uint32_t kFirstAuxiliary = 1u << 30;
constexpr uint32_t kFirstOpaque = 1u << 31;
struct Literal {
  uint32_t fact = 0;
  bool negated = false;

  bool operator==(const Literal&) const = default;
  auto operator<=>(const Literal&) const = default;
};
using Literals = std::vector<Literal>;  // a conjunction, sorted, each fact once
using Normal = std::vector<Literals>;   // a disjunction of them; empty: never; one empty conjunction: always

// What is left of a formula once its variables are bound, in negation normal form.
struct GroundFormula {
  enum class Kind : uint8_t { kAnd, kOr, kLiteral };
  Kind kind = Kind::kAnd;
  Literal literal;
  std::vector<GroundFormula> parts;

  static GroundFormula constant(bool truth) { return {truth ? Kind::kAnd : Kind::kOr, {}, {}}; }
  bool is_true() const { return kind == Kind::kAnd && parts.empty(); }
  bool is_false() const { return kind == Kind::kOr && parts.empty(); }
};

// The variables of a formula that it does not bind itself, as a mask of the first 64.
uint64_t free_variables(const Formula& formula, size_t in_scope);

// Adds a literal to a conjunction. False: it contradicts one that is there.
bool add_literal(Literals& all, Literal one);
// Leaves out conjunctions that another one implies.
void drop_implied(Normal& normal);

// Ground formulas → disjunctions of conjunctions. A part that would multiply out into too much gets a flag of its own
// (an auxiliary condition), the same part the same flag.
class Normaliser {
 public:
  explicit Normaliser(std::function<void(size_t)> spend) : spend_(std::move(spend)) {}

  // `most_terms`: conjunctions that an `and` over `or` may multiply out into.
  Normal normal(const GroundFormula& formula, size_t most_terms);
  // All of them at once.
  Normal product(Literals common, std::vector<Normal> choices, size_t most_terms);
  const std::vector<Normal>& auxiliaries() const { return auxiliaries_; }  // by number, kFirstAuxiliary is 0

 private:
  Normal conjunction(const GroundFormula& formula, size_t most_terms);
  Literal auxiliary(Normal normal);

  std::function<void(size_t)> spend_;  // called with the literals that are written; throws when it is too much
  std::vector<Normal> auxiliaries_;
  std::map<Normal, uint32_t> known_;
};

// Binds the variables of formulas and cuts away what is decided for ever. `truth` says of a fact id (kNoFact: a fact
// that can never hold) whether it is decided.
class Instantiation {
 public:
  enum class Truth : uint8_t { kTrue, kFalse, kDepends };
  using Decide = std::function<Truth(uint32_t)>;
  // What stands for a `forall` (or a negated `exists`), which is `formula` under this binding.
  using Opaque = std::function<GroundFormula(const Formula&, std::vector<uint16_t>&, bool negated)>;
  Instantiation(const Source& source, const FactTable& facts, const TypeTable& types, Decide decide,
                std::function<void()> step);

  // `binding`: the objects of the variables in scope; grows and shrinks while quantifiers are expanded.
  // Without `opaque` a `forall` is written out.
  GroundFormula bind(const Formula& formula, std::vector<uint16_t>& binding, bool negated = false,
                     const Opaque& opaque = nullptr) const;
  // Whether it could hold if every fact reached held, and none of them whenever that is needed.
  bool possible(const Formula& formula, std::vector<uint16_t>& binding, bool negated) const;
  uint16_t object(int32_t term, const std::vector<uint16_t>& binding) const {
    return term >= 0 ? binding[static_cast<size_t>(term)] : static_cast<uint16_t>(-1 - term);
  }
  uint32_t fact(int32_t predicate, const std::vector<int32_t>& args, const std::vector<uint16_t>& binding) const;
  const std::vector<uint16_t>& objects_of(int32_t type) const { return objects_[static_cast<size_t>(type)]; }
  // Calls use() for every binding of variables of these types, appended to `binding`.
  template <class Use>
  void for_all(const std::vector<int32_t>& types, std::vector<uint16_t>& binding, Use&& use, size_t from = 0) const {
    if (from == types.size()) return use();
    for (const uint16_t object : objects_of(types[from])) {
      step_();
      binding.push_back(object);
      for_all(types, binding, use, from + 1);
      binding.pop_back();
    }
  }

 private:
  GroundFormula literal(const Formula& formula, const std::vector<uint16_t>& binding, bool negated) const;
  GroundFormula junction(const Formula& formula, std::vector<uint16_t>& binding, bool negated,
                         const Opaque& opaque) const;
  GroundFormula quantified(const Formula& formula, std::vector<uint16_t>& binding, bool negated,
                           const Opaque& opaque) const;

  const Source& s_;
  const FactTable& facts_;
  Decide decide_;
  std::function<void()> step_;
  std::vector<std::vector<uint16_t>> objects_;  // of each type
};

// ---- Relaxation -----------------------------------------------------------------------------------------------------
// Rules without negation that reach everything that the first-order rules reach: what Fast Downward explores.
struct Relaxed {
  Source source;                   // rules are plain; rule r of it stands for first-order rule of[r]
  std::vector<int32_t> of;         // -1: an effect with a condition, or an axiom

  std::vector<bool> actions() const {
    std::vector<bool> out;
    for (const int32_t rule : of) out.push_back(rule >= 0);
    return out;
  }
};
Relaxed relax(const Source& source);

}  // namespace ae::logic
