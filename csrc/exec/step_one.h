// The protocol of one row, written once: begin an episode, take an action, end it, observe it. The rules are the
// engine's (logic/), the random stream and the game order are here. Draws read the row alone.
#pragma once

#include "core/batch.h"
#include "core/rng.h"
#include "core/row.h"
#include "core/status.h"
#include "logic/render.h"
#include "logic/step.h"

namespace ae {

enum class GameOrder : uint8_t { kShuffle = 0, kSequential = 1, kSample = 2 };

// A row's action after its form (index, command, text, tokens) has been resolved against the row.
struct Move {
  enum Kind : uint8_t { kIndex = 0, kCommand = 1, kAction = 2, kRefusal = 3, kUnknown = 4, kInvalid = 5 };
  Kind kind = kIndex;
  uint8_t operand[logic::kMaxOperands] = {0, 0, 0, 0};
  int32_t value = 0;  // index, local command, action or refusal
};

struct RewardWeights {
  float score = 1.0f, win = 0.0f, loss = 0.0f, step = 0.0f, invalid = 0.0f;
  uint32_t terms = 1;  // 1: the score change alone; 5: all of the above
};

struct Rules {
  TextMode text_mode = TextMode::kTracked;
  Autoreset autoreset = Autoreset::kSameStep;
  GameOrder order = GameOrder::kShuffle;
  uint32_t max_steps = 0;  // 0: each game's own
  uint32_t num_games = 1;
  const float* cumulative_weights = nullptr;  // [num_games], last is 1; for kSample
  RewardWeights reward;
};

// Everything about one game that a row needs; looked up by row.game.
struct GameView {
  const logic::Program* program;
  const logic::TokenTable* tokens;  // null: no tokens
  const int32_t* suite_command;     // local → suite command id
};

// What a transition leaves for the caller.
struct Transition {
  float reward = 0.0f;
  float terms[5] = {0, 0, 0, 0, 0};
  bool terminated = false, truncated = false, valid = true;
};

// A permutation of [0, size) without storage: a 4-round Feistel network over the next power of four, walked until it
// lands inside (Black and Rogaway 2002, "Ciphers with arbitrary finite domains").
AE_HD inline uint32_t permuted(uint32_t index, uint32_t size, uint64_t seed, uint32_t task, uint32_t pass) {
  uint32_t half = 1;
  while ((uint64_t{1} << (2 * half)) < size) ++half;
  const uint32_t mask = (1u << half) - 1u;
  uint32_t x = index;
  do {
    uint32_t left = x >> half, right = x & mask;
    for (uint32_t round = 0; round < 4; ++round) {
      const Philox draw =
          philox4x32(seed, task, pass, (round << 24) ^ right, static_cast<uint32_t>(Draw::kPermutation));
      const uint32_t next = left ^ (draw.v[0] & mask);
      left = right;
      right = next;
    }
    x = (left << half) | right;
  } while (x >= size);
  return x;
}

AE_HD inline uint32_t choose_game(const Rules& rules, const RowHeader& row) {
  const uint32_t games = rules.num_games;
  if (games == 1) return 0;
  switch (rules.order) {
    case GameOrder::kSequential: return static_cast<uint32_t>((uint64_t{row.task} + row.episode) % games);
    case GameOrder::kShuffle: return permuted(row.episode % games, games, row.seed, row.task, row.episode / games);
    case GameOrder::kSample: break;
  }
  const Philox draw = philox4x32(row.seed, row.task, row.episode, 0, static_cast<uint32_t>(Draw::kGame));
  const float u = static_cast<float>(draw.v[0] >> 8) * 0x1p-24f;
  if (rules.cumulative_weights == nullptr) return below(draw.v[1], games);
  uint32_t low = 0, high = games - 1;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (rules.cumulative_weights[middle] <= u) low = middle + 1;
    else high = middle;
  }
  return low;
}

AE_HD inline logic::World world_of(RowHeader* row, const logic::Program& program) {
  return {reinterpret_cast<uint8_t*>(row) + sizeof(RowHeader), program.header};
}

// Clears every counter and flag and lays out the game's first state. seed, stream, task, episode, game are set already.
template <class Group>
AE_HD inline void begin_episode(const Group& group, RowHeader* row, const logic::Program& program, uint32_t stride) {
  row->step = row->moves = row->turns = 0;
  row->last_action = 0;
  row->score = 0.0f;
  for (uint8_t& byte : row->operand) byte = 0;
  row->score_change = 0;
  row->flags = kFirst | kStarted;
  row->status = static_cast<uint8_t>(RowStatus::kOk);
  row->event = static_cast<uint8_t>(Event::kStart);
  row->last_outcome = 0;
  const logic::World world = world_of(row, program);
  const uint32_t used = static_cast<uint32_t>(sizeof(RowHeader)) + program.header->world_bytes;
  logic::begin(group, program, *row, world);
  group.fill(reinterpret_cast<uint8_t*>(row) + used, 0, stride - used);
}

template <class Group>
AE_HD inline void play(const Group& group, RowHeader* row, const logic::Program& program, const Move& move) {
  const logic::World world = world_of(row, program);
  uint32_t action = logic::kNone32;
  RowStatus status = RowStatus::kOk;
  switch (move.kind) {
    case Move::kIndex:
      if (move.value >= 0) action = logic::action_at(group, program, world, static_cast<uint32_t>(move.value));
      break;
    case Move::kCommand:
      if (move.value >= 0) action = logic::action_of_command(group, program, world, static_cast<uint32_t>(move.value));
      break;
    case Move::kAction: action = static_cast<uint32_t>(move.value); break;
    case Move::kRefusal: logic::refuse(program, *row, world, static_cast<uint32_t>(move.value), move.operand); return;
    case Move::kUnknown: status = RowStatus::kUnknownCommand; break;
    case Move::kInvalid: break;
  }
  if (action != logic::kNone32) return logic::act(program, *row, world, action);
  row->event = static_cast<uint8_t>(Event::kInvalid);
  row->last_action = 0;
  row->last_outcome = 0;
  row->status = static_cast<uint8_t>(status == RowStatus::kOk ? RowStatus::kInvalidAction : status);
}

AE_HD inline void score_transition(const RewardWeights& weights, const RowHeader& row, Transition& out) {
  const float change = (row.flags & kLost) != 0 ? 0.0f : static_cast<float>(row.score_change);
  if (weights.terms == 1) {
    out.terms[0] = out.reward = weights.score * change;
    return;
  }
  const bool invalid = row.status == static_cast<uint8_t>(RowStatus::kInvalidAction) ||
                       row.status == static_cast<uint8_t>(RowStatus::kUnknownCommand);
  out.terms[0] = weights.score * change;
  out.terms[1] = (row.flags & kWon) != 0 ? weights.win : 0.0f;
  out.terms[2] = (row.flags & kLost) != 0 ? weights.loss : 0.0f;
  out.terms[3] = weights.step;
  out.terms[4] = invalid ? weights.invalid : 0.0f;
  for (const float term : out.terms) out.reward += term;
}

// One step of a row that is neither waiting for its reset nor finished.
template <class Group>
AE_HD inline Transition step_row(const Group& group, RowHeader* row, const logic::Program& program, const Rules& rules,
                                 const Move& move) {
  row->flags &= static_cast<uint8_t>(~kFirst);
  row->status = static_cast<uint8_t>(RowStatus::kOk);
  row->score_change = 0;
  row->step += row->step < kMostCount ? 1 : 0;
  play(group, row, program, move);
  const uint32_t limit = rules.max_steps != 0 ? rules.max_steps : program.header->max_episode_steps;
  if ((row->flags & kTerminated) == 0 && row->step >= limit) row->flags |= kTruncated;
  Transition out;
  out.terminated = (row->flags & kTerminated) != 0;
  out.truncated = (row->flags & kTruncated) != 0;
  score_transition(rules.reward, *row, out);
  return out;
}

}  // namespace ae
