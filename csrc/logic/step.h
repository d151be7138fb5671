// What an action does to a row: outcome, effects, tree, axioms, quests, ends.
#pragma once

#include "core/rng.h"
#include "core/status.h"
#include "logic/admissible.h"

namespace ae::logic {

// One term of world_hash: variable `var` has value `value`.
AE_HD inline uint64_t hash_term(uint32_t var, int32_t value) {
  return value == 0 ? 0 : mix64((uint64_t{var} << 32) ^ static_cast<uint32_t>(value) ^ 0x5851F42D4C957F2Dull);
}

AE_HD inline void assign(RowHeader& row, const World& world, uint32_t var, int32_t value) {
  const int32_t before = world.value(var);
  if (before == value) return;
  row.world_hash ^= hash_term(var, before) ^ hash_term(var, value);
  if (var < world.header->num_flags) {
    const uint32_t bit = 1u << (var & 31);
    if (value != 0) world.flags()[var >> 5] |= bit;
    else world.flags()[var >> 5] &= ~bit;
  } else {
    world.vars()[var - world.header->num_flags] = static_cast<int16_t>(value);
  }
}

AE_HD inline int32_t effect_value(const World& world, const EffectRow& effect) {
  if (effect.add == 0) return effect.value;
  const int32_t sum = world.value(effect.var) + effect.value;
  return sum > 32767 ? 32767 : (sum < -32768 ? -32768 : sum);
}

// Conditions of effects are read before any effect takes place.
AE_HD inline void apply_effects(const Program& program, RowHeader& row, const World& world, const OutcomeRow& outcome) {
  const EffectRow* effects = program.effects + outcome.effects;
  if (outcome.conditional == 0) {
    for (uint32_t i = 0; i < outcome.num_effects; ++i)
      assign(row, world, effects[i].var, effect_value(world, effects[i]));
    return;
  }
  uint64_t active[kMaxConditional / 64];
  for (uint32_t w = 0; w < (outcome.num_effects + 63u) / 64u; ++w) active[w] = 0;
  for (uint32_t i = 0; i < outcome.num_effects; ++i)
    if (holds(program, world, effects[i].when)) active[i >> 6] |= uint64_t{1} << (i & 63);
  for (uint32_t i = 0; i < outcome.num_effects; ++i)
    if ((active[i >> 6] >> (i & 63)) & 1u) assign(row, world, effects[i].var, effect_value(world, effects[i]));
}

// The object tree: children of a container as a linked list, most recently moved first. 0 ends a list; index + 1.
struct Tree {
  uint8_t* children;
  uint8_t* siblings;
  bool wide;

  AE_HD explicit Tree(const World& world)
      : children(world.bytes + world.header->children_offset),
        siblings(world.bytes + world.header->siblings_offset),
        wide(world.header->id_bytes == 2) {}
  AE_HD static uint32_t get(const uint8_t* at, uint32_t i, bool wide) {
    return wide ? reinterpret_cast<const uint16_t*>(at)[i] : at[i];
  }
  AE_HD static void put(uint8_t* at, uint32_t i, uint32_t value, bool wide) {
    if (wide) reinterpret_cast<uint16_t*>(at)[i] = static_cast<uint16_t>(value);
    else at[i] = static_cast<uint8_t>(value);
  }
  AE_HD uint32_t first(uint32_t container) const { return get(children, container, wide); }
  AE_HD uint32_t next(uint32_t child) const { return get(siblings, child, wide); }  // child: movable index

  AE_HD void detach(uint32_t child, uint32_t container, uint32_t limit) const {
    uint32_t link = first(container);
    if (link == child + 1) return put(children, container, next(child), wide);
    for (uint32_t steps = 0; link != 0 && steps < limit; ++steps) {
      const uint32_t after = next(link - 1);
      if (after == child + 1) return put(siblings, link - 1, next(child), wide);
      link = after;
    }
  }
  AE_HD void attach(uint32_t child, uint32_t container) const {
    put(siblings, child, first(container), wide);
    put(children, container, child + 1, wide);
  }
};

AE_HD inline void apply_moves(const Program& program, const World& world, const OutcomeRow& outcome) {
  if (outcome.num_moves == 0) return;
  const Tree tree(world);
  for (uint32_t i = 0; i < outcome.num_moves; ++i) {
    const MoveRow& move = program.moves[outcome.moves + i];
    if (move.from != kNone16) tree.detach(move.child, move.from, program.header->movables.count);
    if (move.to != kNone16) tree.attach(move.child, move.to);
  }
}

AE_HD inline void run_axioms(const Program& program, RowHeader& row, const World& world) {
  for (uint32_t i = 0; i < program.header->axioms.count;) {
    const AxiomRow* block = program.axioms + i;
    i += block->block;
    if (block->block == 1) {
      assign(row, world, block->var, holds(program, world, block->when) ? 1 : 0);
      continue;
    }
    for (uint32_t k = 0; k < block->block; ++k) assign(row, world, block[k].var, 0);
    for (bool more = true; more;) {
      more = false;
      for (uint32_t k = 0; k < block->block; ++k) {
        if (world.flag(block[k].var) || !holds(program, world, block[k].when)) continue;
        assign(row, world, block[k].var, 1);
        more = true;
      }
    }
  }
}

// Every quest in the order in which the original evaluates them: done, else failed, else won. Then the game's end.
// A failed quest ends the story at once: the later ones are not evaluated, the game is not won, and what the earlier
// ones gained in this step is told in the text (score_change) but not counted in the score.
AE_HD inline void run_quests(const Program& program, RowHeader& row, const World& world) {
  bool lost = false, all_done = true, some_needed = false;
  int32_t gained = 0;
  for (uint32_t i = 0; i < program.header->quests.count && !lost; ++i) {
    const QuestRow& quest = program.quests[i];
    if (!world.flag(quest.done_var)) {
      if (holds(program, world, quest.fail)) {
        lost = true;
      } else if (holds(program, world, quest.win)) {
        gained += quest.reward;
        if (quest.repeatable == 0) assign(row, world, quest.done_var, 1);
      }
    }
    if (quest.optional == 0 && quest.has_win != 0) {
      some_needed = true;
      all_done = all_done && world.flag(quest.done_var);
    }
  }
  row.score_change = static_cast<int16_t>(gained > 32767 ? 32767 : (gained < -32768 ? -32768 : gained));
  if (lost) {
    row.flags |= kLost | kTerminated;
    return;
  }
  const float most = static_cast<float>(kMostCount), score = row.score + static_cast<float>(gained);
  row.score = score > most ? most : (score < -most ? -most : score);
  if (some_needed && all_done) row.flags |= kWon | kTerminated;
}

AE_HD inline uint32_t outcome_of(const Program& program, const World& world, const Action& action) {
  for (uint32_t i = 0; i + 1 < action.num_outcomes; ++i)
    if (holds(program, world, program.outcomes[action.outcomes + i].when)) return i;
  return action.num_outcomes - 1u;
}

// Executes a ground action that the row admits.
AE_HD inline void act(const Program& program, RowHeader& row, const World& world, uint32_t action_id) {
  const Action& action = program.actions[action_id];
  const uint32_t which = outcome_of(program, world, action);
  const OutcomeRow& outcome = program.outcomes[action.outcomes + which];
  row.event = static_cast<uint8_t>(Event::kAction);
  row.last_action = action_id;
  row.last_outcome = static_cast<uint8_t>(which);
  apply_effects(program, row, world, outcome);
  apply_moves(program, world, outcome);
  if (program.header->axioms.count != 0) run_axioms(program, row, world);
  if (outcome.counts_as_move != 0) row.moves += row.moves < kMostCount ? 1 : 0;
  if (outcome.turn_passes == 0) return;
  row.turns += row.turns < kMostCount ? 1 : 0;
  run_quests(program, row, world);
}

// A typed command that changes nothing but may let a turn pass (and with it the quests' turn rules).
AE_HD inline void refuse(const Program& program, RowHeader& row, const World& world, uint32_t refusal,
                         const uint8_t operand[kMaxOperands]) {
  row.event = static_cast<uint8_t>(Event::kRefusal);
  row.last_action = refusal;
  row.last_outcome = 0;
  for (uint32_t i = 0; i < kMaxOperands; ++i) row.operand[i] = operand[i];
  if (program.refusals[refusal].turn_passes == 0) return;
  row.turns += row.turns < kMostCount ? 1 : 0;
  run_quests(program, row, world);
}

// The world as the game begins. Header fields that name seed, stream, task, episode and game are the caller's.
template <class Group>
AE_HD inline void begin(const Group& group, const Program& program, RowHeader& row, const World& world) {
  group.copy(world.bytes, program.init_world, program.header->world_bytes);
  group.sync();
  row.world_hash = program.header->init_hash;
}

}  // namespace ae::logic
