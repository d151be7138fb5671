// The facts that a grounder has found: numbered in order of discovery, found by content, and listed by predicate and
// argument, oldest first. Lists may grow while they are walked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "logic/source_check.h"

namespace ae::logic {

constexpr uint32_t kNoFact = 0xFFFFFFFFu;

struct Fact {
  uint16_t predicate = 0;
  std::array<uint16_t, kMaxArity> args{};  // unused ones are 0
  bool in_init = false;
  bool deleted = false;  // by some ground action
  int32_t flag = -1;     // number of its variable, once known

  bool is(uint16_t other, const std::array<uint16_t, kMaxArity>& with) const {
    return predicate == other && args == with;
  }
};

class FactTable {
 public:
  // A chain of facts. Walk it with first() and next(); `count` tells the shortest of several.
  struct Chain {
    uint32_t first = kNoFact, last = kNoFact, count = 0;
  };

  void prepare(const Source& source) {
    objects_ = source.objects.size();
    slots_.assign(1024, kNoFact);
    arity_.assign(source.predicates.size(), 0);
    of_.resize(source.predicates.size());
    with_.resize(source.predicates.size());
  }

  uint32_t find(uint16_t predicate, const std::array<uint16_t, kMaxArity>& args) const {
    return slots_[slot(predicate, args)];
  }

  // The number of the fact, new or not.
  uint32_t add(uint16_t predicate, const std::array<uint16_t, kMaxArity>& args, size_t arity) {
    const size_t at = slot(predicate, args);
    if (slots_[at] != kNoFact) return slots_[at];
    const auto id = static_cast<uint32_t>(facts_.size());
    slots_[at] = id;
    Fact fact;
    fact.predicate = predicate;
    fact.args = args;
    facts_.push_back(fact);
    next_.resize(next_.size() + kMaxArity + 1, kNoFact);
    enlist(of_[predicate], id, kMaxArity);
    std::vector<Chain>& with = with_[predicate];
    if (with.size() < arity * objects_) make_index(predicate, arity);
    for (size_t i = 0; i < arity; ++i) enlist(with[i * objects_ + args[i]], id, i);
    if (facts_.size() * 2 > slots_.size()) grow();
    return id;
  }

  const Chain& of(uint16_t predicate) const { return of_[predicate]; }
  const Chain& with(uint16_t predicate, size_t position, uint16_t object) const {
    const std::vector<Chain>& index = with_[predicate];
    return index.empty() ? none_ : index[position * objects_ + object];
  }
  // The fact after `id` in a chain of argument `position`; kMaxArity: in the chain of its predicate.
  uint32_t next(uint32_t id, size_t position) const { return next_[id * (kMaxArity + 1) + position]; }

  Fact& operator[](uint32_t id) { return facts_[id]; }
  const Fact& operator[](uint32_t id) const { return facts_[id]; }
  size_t size() const { return facts_.size(); }
  size_t arity(const Fact& fact) const { return arity_[fact.predicate]; }

 private:
  static constexpr size_t kMaxIndex = 20'000'000;  // chains by argument: bounds the memory of a hostile source

  size_t slot(uint16_t predicate, const std::array<uint16_t, kMaxArity>& args) const {
    uint64_t hash = predicate + 1u;
    for (size_t i = 0; i < kMaxArity; ++i) hash = (hash ^ args[i]) * 0x9E3779B97F4A7C15ull + (hash >> 29);
    size_t at = mix64(hash) & (slots_.size() - 1);
    while (slots_[at] != kNoFact && !facts_[slots_[at]].is(predicate, args)) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kNoFact);
    for (uint32_t id = 0; id < facts_.size(); ++id) slots_[slot(facts_[id].predicate, facts_[id].args)] = id;
  }
  void make_index(uint16_t predicate, size_t arity) {
    index_size_ += arity * objects_;
    if (index_size_ > kMaxIndex)
      throw CompileError{std::to_string(of_.size()) + " predicates over " + std::to_string(objects_) +
                         " objects are too many to index"};
    arity_[predicate] = static_cast<uint8_t>(arity);
    with_[predicate].resize(arity * objects_);
  }
  void enlist(Chain& chain, uint32_t id, size_t position) {
    if (chain.count++ == 0) chain.first = id;
    else next_[chain.last * (kMaxArity + 1) + position] = id;
    chain.last = id;
  }

  std::vector<Fact> facts_;
  std::vector<uint32_t> next_;   // [facts, kMaxArity + 1]
  std::vector<uint32_t> slots_;  // open addressing, a power of two
  std::vector<uint8_t> arity_;
  std::vector<Chain> of_;
  std::vector<std::vector<Chain>> with_;  // [predicate][position * objects + object]
  Chain none_;
  size_t objects_ = 0, index_size_ = 0;
};

}  // namespace ae::logic
