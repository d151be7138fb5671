// Conditions over a row's world bytes, and the list of what the row admits.
#pragma once

#include "core/hd.h"
#include "core/row.h"
#include "logic/program.h"

namespace ae::logic {

// The world bytes of one row. Flags are bits of 32-bit words, variables int16, the tree object ids of one or two bytes.
struct World {
  uint8_t* bytes;
  const ProgramHeader* header;

  AE_HD uint32_t* flags() const { return reinterpret_cast<uint32_t*>(bytes + header->flags_offset); }
  AE_HD int16_t* vars() const { return reinterpret_cast<int16_t*>(bytes + header->vars_offset); }
  AE_HD bool flag(uint32_t i) const { return (flags()[i >> 5] >> (i & 31)) & 1u; }
  AE_HD int32_t value(uint32_t var) const {
    return var < header->num_flags ? static_cast<int32_t>(flag(var)) : vars()[var - header->num_flags];
  }
  AE_HD uint32_t place() const {
    return header->place_var == kNone32 ? 0u
                                        : static_cast<uint32_t>(vars()[header->place_var - header->num_flags]);
  }
};

AE_HD inline bool compare(CompareOp op, int32_t left, int32_t right) {
  switch (op) {
    case CompareOp::kSet: return left != 0;
    case CompareOp::kClear: return left == 0;
    case CompareOp::kEqual: return left == right;
    case CompareOp::kNotEqual: return left != right;
    case CompareOp::kLessEqual: return left <= right;
    case CompareOp::kGreaterEqual: return left >= right;
  }
  return false;
}

// A disjunction of conjunctions: a run of conditions whose `last` marks close the conjunctions and the whole.
AE_HD inline bool holds(const Program& program, const World& world, uint32_t disjunction) {
  if (disjunction >= kNever) return disjunction == kAlways;
  bool all = true;
  for (const Cond* cond = program.conds + disjunction;; ++cond) {
    all = all && compare(static_cast<CompareOp>(cond->op), world.value(cond->var), cond->value);
    if (cond->last == 0) continue;
    if (all) return true;
    if (cond->last == 2) return false;
    all = true;
  }
}

AE_HD AE_INLINE bool candidate_holds(const Program& program, const World& world, const Candidate& candidate) {
  const uint32_t* words = world.flags();
  const uint16_t* f = candidate.flags;
  const uint32_t set = (words[f[0] >> 5] >> (f[0] & 31)) & (words[f[1] >> 5] >> (f[1] & 31)) &
                       (words[f[2] >> 5] >> (f[2] & 31)) & (words[f[3] >> 5] >> (f[3] & 31)) & 1u;
  if (set == 0) return false;
  return candidate.rest == kAlways || holds(program, world, candidate.rest);
}

// Whether an earlier candidate of the same command already holds, so that this one adds nothing.
AE_HD inline bool shadowed(const Program& program, const World& world, const Candidate* candidate) {
  while (candidate->same != 0) {
    --candidate;
    if (candidate_holds(program, world, *candidate)) return true;
  }
  return false;
}

AE_HD inline uint32_t bits_below(uint32_t ballot, uint32_t lane) {
#if defined(__CUDA_ARCH__)
  return __popc(ballot & ((1u << lane) - 1u));
#else
  return static_cast<uint32_t>(__builtin_popcount(ballot & ((lane >= 32) ? ~0u : ((1u << lane) - 1u))));
#endif
}

AE_HD inline uint32_t count_bits(uint32_t ballot) {
#if defined(__CUDA_ARCH__)
  return __popc(ballot);
#else
  return static_cast<uint32_t>(__builtin_popcount(ballot));
#endif
}

// Calls emit(position, candidate) for every command that the row admits, in byte order of the commands.
// All lanes of the group take part; returns the number of commands (the same in all lanes).
template <class Group, class Emit>
AE_HD AE_INLINE uint32_t for_each_admissible(const Group& group, const Program& program, const World& world,
                                             Emit&& emit) {
  const Place& place = program.places[world.place()];
  const Candidate* first = program.candidates + place.candidates;
  uint32_t found = 0;
  if constexpr (Group::kSize == 1) {
    for (uint32_t i = 0; i < place.num_candidates; ++i) {
      if (candidate_holds(program, world, first[i]) && !shadowed(program, world, first + i)) emit(found++, first[i]);
    }
    return found;
  }
  for (uint32_t base = 0; base < place.num_candidates; base += group.size()) {
    const uint32_t i = base + group.lane();
    const bool here =
        i < place.num_candidates && candidate_holds(program, world, first[i]) && !shadowed(program, world, first + i);
    const uint32_t ballot = group.ballot(here);
    if (here) emit(found + bits_below(ballot, group.lane()), first[i]);
    found += count_bits(ballot);
  }
  return found;
}

// The action that index `index` of the admissible list stands for; kNone32 if the list is shorter.
template <class Group>
AE_HD inline uint32_t action_at(const Group& group, const Program& program, const World& world, uint32_t index) {
  const Place& place = program.places[world.place()];
  const Candidate* first = program.candidates + place.candidates;
  uint32_t found = 0;
  for (uint32_t base = 0; base < place.num_candidates; base += group.size()) {
    const uint32_t i = base + group.lane();
    const bool here =
        i < place.num_candidates && candidate_holds(program, world, first[i]) && !shadowed(program, world, first + i);
    const uint32_t ballot = group.ballot(here);
    const uint32_t in_this = count_bits(ballot);
    if (index < found + in_this) {
      const bool mine = here && found + bits_below(ballot, group.lane()) == index;
      const uint32_t owner = group.ballot(mine);
      uint32_t lane = 0;
      while (((owner >> lane) & 1u) == 0) ++lane;
      return group.broadcast(mine ? first[i].action : 0u, lane);
    }
    found += in_this;
  }
  return kNone32;
}

// The action that a command stands for in this state; kNone32 if it is not admissible.
template <class Group>
AE_HD inline uint32_t action_of_command(const Group& group, const Program& program, const World& world,
                                        uint32_t command) {
  const Place& place = program.places[world.place()];
  const Candidate* first = program.candidates + place.candidates;
  uint32_t low = 0, high = place.num_candidates;  // candidates are sorted by command
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (first[middle].command < command) low = middle + 1;
    else high = middle;
  }
  (void)group;
  for (; low < place.num_candidates && first[low].command == command; ++low)
    if (candidate_holds(program, world, first[low])) return first[low].action;
  return kNone32;
}

}  // namespace ae::logic
