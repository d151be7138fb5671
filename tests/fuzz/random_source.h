// A Source from fuzz bytes: small worlds that mostly make sense, with a wild number now and then.
#pragma once

#include <string>
#include <vector>

#include "logic/source.h"
#include "reader.h"

namespace ae::fuzz {

class RandomSource {
 public:
  RandomSource(const uint8_t* bytes, size_t size) : r_(bytes, size) {}

  logic::Source make() {
    wild_ = r_.chance(4);
    s_.name = "fuzz";
    s_.family = r_.chance(2) ? "textworld" : "";
    first_order_ = r_.chance(3);
    s_.distinct_parameters = first_order_ && wild_ && r_.chance(16) ? true : !first_order_;
    sizes();
    types_and_objects();
    for (uint32_t i = 0; i < predicates_; ++i)
      s_.predicates.push_back({std::string(1, static_cast<char>('p' + i % 10)), placement(i)});
    for (uint32_t i = 0; i < rules_; ++i) first_order_ ? lifted_rule() : rule();
    for (uint32_t i = r_.below(24); i > 0; --i) s_.init.push_back(fact());
    if (first_order_) axioms();
    else place();
    for (uint32_t i = r_.below(4); i > 0; --i) quest();
    for (uint32_t i = 0; i < programs_; ++i) s_.programs.push_back(text());
    for (uint32_t i = r_.below(3); i > 0; --i) s_.refusals.push_back({"no", program(), r_.chance(2)});
    s_.texts = {program(), program(), program()};
    s_.max_score = static_cast<int32_t>(r_.below(100));
    s_.max_episode_steps = static_cast<int32_t>(1 + r_.below(40));
    return std::move(s_);
  }

 private:
  void sizes() {
    types_ = 1 + r_.below(5);
    objects_ = 2 + r_.below(10);
    predicates_ = 1 + r_.below(8);
    rules_ = r_.below(7);
    literals_ = r_.below(6);
    programs_ = r_.below(8);
    for (uint32_t i = 0; i < predicates_; ++i) arity_.push_back(i % 3 == 0 ? 2 : r_.below(4));
    for (uint32_t i = 0; i < literals_; ++i) s_.literals.push_back(bytes(12));
  }
  bool placement(uint32_t predicate) const { return !first_order_ && arity_[predicate] == 2 && predicate % 3 == 0; }

  std::string bytes(uint32_t most) {
    std::string out;
    for (uint32_t i = r_.below(most); i > 0; --i) out.push_back(static_cast<char>(r_.byte()));
    return out;
  }
  // An index below `count`, or in a wild source sometimes anything at all.
  int32_t index(uint32_t count) {
    if (wild_ && r_.chance(64)) return static_cast<int32_t>(r_.word());
    return static_cast<int32_t>(r_.below(count));
  }
  int32_t program() { return programs_ == 0 || r_.chance(5) ? -1 : index(programs_); }

  void types_and_objects() {
    for (uint32_t i = 0; i < types_; ++i) {
      std::vector<int32_t> parents;
      for (uint32_t j = 0; i > 0 && j < r_.below(3); ++j) parents.push_back(index(wild_ ? types_ : i));
      s_.types.push_back({"t" + std::to_string(i), parents});
    }
    for (uint32_t i = 0; i < objects_; ++i) {
      logic::Object o;
      o.id = "o" + std::to_string(i);
      o.type = index(types_);
      o.name = r_.chance(4) ? "" : o.id;
      o.object_class = static_cast<int32_t>(r_.below(4));
      for (int32_t* text : {&o.description, &o.listed, &o.look, &o.title}) *text = program();
      s_.objects.push_back(o);
    }
  }

  logic::Atom atom(uint32_t arguments) {
    logic::Atom out;
    out.predicate = index(predicates_);
    const uint32_t arity = out.predicate >= 0 && static_cast<uint32_t>(out.predicate) < predicates_
                               ? arity_[static_cast<size_t>(out.predicate)]
                               : 1;
    for (uint32_t i = 0; i < arity; ++i) out.args.push_back(index(arguments));
    if (wild_ && r_.chance(64)) out.args.push_back(index(arguments));
    return out;
  }
  logic::Atom fact() { return atom(objects_); }
  std::vector<logic::Atom> atoms(uint32_t most, uint32_t arguments, bool negated) {
    std::vector<logic::Atom> out;
    for (uint32_t i = r_.below(most); i > 0; --i) {
      logic::Atom one = atom(arguments);
      if (one.args.empty() || arguments > 0) out.push_back(one);
      if (negated && !out.empty() && r_.chance(4)) out.back().negated = true;
    }
    return out;
  }

  void rule() {
    logic::Rule out;
    out.name = "r" + std::to_string(s_.rules.size());
    const uint32_t count = 1 + r_.below(4);
    for (uint32_t i = 0; i < count; ++i) out.parameters.push_back({index(types_), r_.chance(4) ? index(objects_) : -1});
    out.preconditions = atoms(5, count, true);
    out.adds = atoms(4, count, false);
    out.deletes = r_.chance(2) ? out.preconditions : atoms(3, count, false);
    for (logic::Atom& atom : out.deletes) atom.negated = wild_ && r_.chance(64);
    out.command.push_back({out.name, -1});
    for (uint32_t i = 0; i < r_.below(count + 1); ++i) out.command.push_back({" ", r_.chance(3) ? -1 : index(count)});
    for (uint32_t i = r_.below(wild_ ? 6 : 4); i > 0; --i) out.operands.push_back(index(count));
    for (uint32_t i = r_.below(4); i > 0; --i)
      out.outcomes.push_back({r_.chance(2) ? atoms(3, count, true) : std::vector<logic::Atom>{}, !r_.chance(4),
                              !r_.chance(4), !r_.chance(4), program()});
    s_.rules.push_back(std::move(out));
  }

  // Terms over `variables`, or over objects alone.
  int32_t term(uint32_t variables) { return variables > 0 && !r_.chance(4) ? index(variables) : -1 - index(objects_); }
  logic::Atom lifted(uint32_t variables) {
    logic::Atom out = atom(1);
    for (int32_t& arg : out.args) arg = term(variables);
    return out;
  }
  logic::Formula formula(uint32_t variables, uint32_t depth) {
    using Kind = logic::Formula::Kind;
    logic::Formula out;
    out.kind = static_cast<Kind>(depth == 0 ? 3 + r_.below(2) : r_.below(7));
    switch (out.kind) {
      case Kind::kAtom: {
        const logic::Atom one = lifted(variables);
        out.predicate = one.predicate;
        out.args = one.args;
        break;
      }
      case Kind::kEqual: out.args = {term(variables), term(variables)}; break;
      case Kind::kAnd:
      case Kind::kOr:
        for (uint32_t i = r_.below(4); i > 0; --i) out.parts.push_back(formula(variables, depth - 1));
        break;
      case Kind::kNot: out.parts.push_back(formula(variables, depth - 1)); break;
      case Kind::kExists:
      case Kind::kForall:
        for (uint32_t i = r_.below(3); i > 0; --i) out.types.push_back(index(types_));
        out.parts.push_back(formula(variables + static_cast<uint32_t>(out.types.size()), depth - 1));
        break;
    }
    if (wild_ && r_.chance(64)) out.parts.push_back({});
    return out;
  }
  // Axioms are about the last predicate, which effects leave alone (in a wild source not always).
  uint32_t changing() const { return wild_ || predicates_ < 2 ? predicates_ : predicates_ - 1; }
  void lifted_rule() {
    logic::Rule out;
    out.name = "r" + std::to_string(s_.rules.size());
    out.first_order = true;
    const uint32_t count = r_.below(4);
    for (uint32_t i = 0; i < count; ++i) out.parameters.push_back({index(types_), r_.chance(8) ? index(objects_) : -1});
    out.precondition = formula(count, r_.below(4));
    for (uint32_t i = r_.below(4); i > 0; --i) {
      logic::LiftedEffect effect;
      for (uint32_t k = r_.below(3); k > 1; --k) effect.types.push_back(index(types_));
      const uint32_t inner = count + static_cast<uint32_t>(effect.types.size());
      if (r_.chance(2)) effect.when = formula(inner, r_.below(3));
      effect.fact = lifted(inner);
      if (effect.fact.predicate >= static_cast<int32_t>(changing())) continue;
      effect.fact.negated = r_.chance(2);
      out.effects.push_back(std::move(effect));
    }
    out.command.push_back({out.name, -1});
    for (uint32_t i = 0; i < r_.below(count + 1); ++i) out.command.push_back({" ", index(count)});
    for (uint32_t i = r_.below(4); i > 0 && count > 0; --i) out.operands.push_back(index(count));
    for (uint32_t i = r_.below(3); i > 0; --i) {
      out.outcomes.push_back({{}, !r_.chance(4), !r_.chance(4), !r_.chance(4), program()});
      if (i > 1) out.outcomes.back().when = formula(count, r_.below(3));
    }
    s_.rules.push_back(std::move(out));
  }
  void axioms() {
    const uint32_t last = predicates_ - 1;
    for (uint32_t i = r_.below(3); i > 0 && changing() < predicates_; --i) {
      logic::Derived out;
      out.predicate = static_cast<int32_t>(last);
      for (uint32_t k = 0; k < arity_[last]; ++k) out.types.push_back(index(types_));
      out.formula = formula(arity_[last], r_.below(4));
      s_.derived.push_back(std::move(out));
    }
    if (!s_.derived.empty() && !wild_)
      std::erase_if(s_.init, [&](const logic::Atom& a) { return a.predicate == static_cast<int32_t>(last); });
    for (uint32_t i = r_.below(4); i > 0; --i)
      s_.sentences.push_back({index(predicates_), {{" ", -1}, {"", wild_ ? index(3) : -1}}});
  }

  void place() {
    if (r_.chance(3)) return;
    s_.place_predicate = 0;  // takes two arguments
    s_.player = index(objects_);
    s_.inventory = index(objects_);
    if (!wild_)
      std::erase_if(s_.init, [&](const logic::Atom& a) { return a.predicate == 0 && a.args[0] == s_.player; });
    s_.init.push_back({0, {s_.player, index(objects_)}, false});
  }

  void quest() {
    logic::Quest out;
    for (auto* events : {&out.fail_events, &out.win_events})
      for (uint32_t i = r_.below(3); i > 0; --i) events->push_back(atoms(3, objects_, true));
    out.reward = wild_ && r_.chance(4) ? static_cast<int32_t>(r_.word()) : static_cast<int32_t>(r_.below(9)) - 2;
    out.optional = r_.chance(3);
    out.repeatable = r_.chance(3);
    if (first_order_ && r_.chance(2)) {
      out.first_order = true;
      out.win = formula(0, r_.below(4));
    }
    s_.quests.push_back(std::move(out));
  }

  logic::TextProgram text() {
    logic::TextProgram out;
    for (uint32_t i = r_.below(3); i > 0; --i) {
      out.facts.push_back(fact());
      out.facts.back().negated = r_.chance(3);
    }
    const uint32_t length = 1 + r_.below(10);
    for (uint32_t i = 0; i < length; ++i)
      out.code.push_back(instruction(i, length, static_cast<uint32_t>(out.facts.size())));
    return out;
  }
  logic::Instruction instruction(uint32_t at, uint32_t length, uint32_t facts) {
    logic::Instruction out;
    out.op = static_cast<logic::Op>(
        1 + r_.below(static_cast<uint32_t>(first_order_ ? logic::Op::kFacts : logic::Op::kUnlessHolds)));
    out.b = static_cast<int32_t>(r_.below(wild_ ? 300 : 4));
    out.c =
        wild_ && r_.chance(16) ? static_cast<int32_t>(r_.word()) : static_cast<int32_t>(at + 1 + r_.below(length - at));
    out.value = wild_ && r_.chance(8) ? static_cast<int32_t>(r_.word()) : static_cast<int32_t>(r_.below(20)) - 4;
    switch (out.op) {
      case logic::Op::kLit: out.a = index(literals_); break;
      case logic::Op::kUnless:
      case logic::Op::kNumber:
      case logic::Op::kNumberWords: out.a = logic::kPseudoScoreChange + static_cast<int32_t>(r_.below(16)); break;
      case logic::Op::kUnlessFact: out.a = index(facts); break;
      case logic::Op::kFacts:
        out.a = index(2);
        out.b = index(literals_ + 1);
        out.value = index(literals_ + 1);
        break;
      case logic::Op::kCall: out.a = index(programs_); break;
      case logic::Op::kSection: out.a = index(6); break;
      default:
        out.a = r_.chance(3)
                    ? (r_.chance(3) ? logic::kPlayerHere : logic::kOperand0 - static_cast<int32_t>(r_.below(4)))
                    : index(objects_);
    }
    return out;
  }

  Reader r_;
  logic::Source s_;
  bool wild_ = false, first_order_ = false;
  uint32_t types_ = 0, objects_ = 0, predicates_ = 0, rules_ = 0, literals_ = 0, programs_ = 0;
  std::vector<uint32_t> arity_;
};

inline const logic::GroundLimits kSmall{2000, 2000, 200000};

}  // namespace ae::fuzz
