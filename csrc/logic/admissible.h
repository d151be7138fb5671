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
    return header->place_var == kNone32 ? 0u : static_cast<uint32_t>(vars()[header->place_var - header->num_flags]);
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

// Whether an earlier candidate of the same slot already holds, so that this one adds nothing.
AE_HD inline bool shadowed(const Program& program, const World& world, const Candidate* first, uint32_t i) {
  for (uint32_t j = i; j > 0 && first[j - 1].slot == first[i].slot; --j)
    if (candidate_holds(program, world, first[j - 1])) return true;
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

AE_HD inline uint32_t lowest_bit(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffs(static_cast<int>(bits)) - 1);
#else
  return static_cast<uint32_t>(__builtin_ctz(bits));
#endif
}

// One lane: the set of slots that hold, by the groups whose flag is set. `slots` has a word per 32 slots, zeroed.
AE_HD AE_INLINE void collect_slots(const Program& program, const World& world, const Place& place, uint32_t* slots) {
  const uint32_t* flags = world.flags();
  const auto set = [flags](uint32_t f) { return flags[f >> 5] >> (f & 31); };
  for (uint32_t w = 0; w < place.num_words; ++w) {
    const GroupWord& group_word = program.group_words[place.words + w];
    for (uint32_t live = flags[group_word.word] & group_word.mask; live != 0; live &= live - 1) {
      const uint32_t* group = program.groups + group_word.first + bits_below(group_word.mask, lowest_bit(live));
      for (const Grouped *at = program.grouped + group[0], *end = program.grouped + group[1]; at != end; ++at) {
        if ((set(at->flags[0]) & set(at->flags[1]) & set(at->flags[2]) & 1u) == 0) continue;
        if (at->rest != kAlways && !holds(program, world, at->rest)) continue;
        slots[at->slot >> 5] |= 1u << (at->slot & 31);
      }
    }
  }
}

// Calls emit(position, slot) for every command that the row admits, in byte order of the commands.
// All lanes of the group take part; returns the number of commands (the same in all lanes).
template <class Group, class Emit>
AE_HD AE_INLINE uint32_t for_each_admissible(const Group& group, const Program& program, const World& world,
                                             Emit&& emit) {
  const Place& place = program.places[world.place()];
  const Candidate* first = program.candidates + place.candidates;
  const Slot* slots = program.slots + place.slots;
  uint32_t found = 0;
  if constexpr (Group::kSize == 1) {
    if (place.num_words != 0) {
      uint32_t set[kMaxGroupedSlots / 32];
      const uint32_t words = (place.num_slots + 31) / 32;
      for (uint32_t w = 0; w < words; ++w) set[w] = 0;
      collect_slots(program, world, place, set);
      for (uint32_t w = 0; w < words; ++w)
        for (uint32_t live = set[w]; live != 0; live &= live - 1) emit(found++, slots[32 * w + lowest_bit(live)]);
      return found;
    }
  }
  for (uint32_t base = 0; base < place.num_candidates; base += group.size()) {
    const uint32_t i = base + group.lane();
    const bool here =
        i < place.num_candidates && candidate_holds(program, world, first[i]) && !shadowed(program, world, first, i);
    const uint32_t ballot = group.ballot(here);
    if (here) emit(found + bits_below(ballot, group.lane()), slots[first[i].slot]);
    found += count_bits(ballot);
  }
  return found;
}

// The action of a slot in this state: the first of its candidates that holds, kNone32 if none does.
AE_HD inline uint32_t slot_action(const Program& program, const World& world, const Slot& slot) {
  for (uint32_t i = 0; i < slot.num_candidates; ++i)
    if (candidate_holds(program, world, program.candidates[slot.candidates + i]))
      return program.candidates[slot.candidates + i].action;
  return kNone32;
}

// The action that index `index` of the admissible list stands for; kNone32 if the list is shorter.
template <class Group>
AE_HD inline uint32_t action_at(const Group& group, const Program& program, const World& world, uint32_t index) {
  uint32_t mine = kNone32;
  for_each_admissible(group, program, world, [&](uint32_t k, const Slot& slot) {
    if (k == index) mine = slot_action(program, world, slot);
  });
  const uint32_t owners = group.ballot(mine != kNone32);
  return owners == 0 ? kNone32 : group.broadcast(mine, lowest_bit(owners));
}

// The action that a command stands for in this state; kNone32 if it is not admissible.
template <class Group>
AE_HD inline uint32_t action_of_command(const Group& group, const Program& program, const World& world,
                                        uint32_t command) {
  const Place& place = program.places[world.place()];
  const Slot* slots = program.slots + place.slots;  // sorted by command
  uint32_t low = 0, high = place.num_slots;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (slots[middle].command < command) low = middle + 1;
    else high = middle;
  }
  (void)group;
  return low < place.num_slots && slots[low].command == command ? slot_action(program, world, slots[low]) : kNone32;
}

}  // namespace ae::logic
