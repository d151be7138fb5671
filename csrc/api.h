// The whole surface of the core: reset, step and observe batches of rows. No Python, no exceptions inside a step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/batch.h"
#include "exec/bank.h"
#include "exec/step_one.h"

namespace ae {

// What each buffer set held before, so that only that is cleared. One per StepBuffers that is recycled.
struct Held {
  std::vector<uint32_t> text, tokens, admissible;        // [N] sizes of obs
  std::vector<uint32_t> final_text, final_tokens;        // [N] sizes of final_obs
  std::vector<uint32_t> final_admissible;                // [N] 1 where final_obs' admissible is filled
};

// The same, borrowed: [N] each, null where the output is not wanted. Sizes beyond a width are taken as the width.
struct HeldView {
  uint32_t* text = nullptr;
  uint32_t* tokens = nullptr;
  uint32_t* admissible = nullptr;
  uint32_t* final_text = nullptr;
  uint32_t* final_tokens = nullptr;
  uint32_t* final_admissible = nullptr;
};
HeldView view(Held& held);

// N rows of one suite and everything that stays the same from step to step. Borrowed pointers outlive it.
struct Engine {
  const Bank* bank = nullptr;
  const BoundCodec* codec = nullptr;  // null: no tokens
  Rules rules;
  Widths widths;
  uint8_t* rows = nullptr;  // [N, stride]
  uint32_t num_rows = 0;
  uint32_t stride = 0;
  uint32_t threads = 1;
  uint32_t group_size = 1;
  std::vector<float> weights;  // cumulative game weights, empty: uniform

  RowHeader* row(uint32_t i) const { return reinterpret_cast<RowHeader*>(rows + size_t{i} * stride); }
  GameView game(uint32_t index) const {
    return {&bank->program(index), codec == nullptr ? nullptr : &codec->table(index), bank->suite_command(index)};
  }
};

// Which rows a call is about: all of them (list null), or `list[0..count)`; buffers are indexed by position.
struct RowSet {
  const int32_t* list = nullptr;
  uint32_t count = 0;
  uint32_t at(uint32_t i) const { return list == nullptr ? i : static_cast<uint32_t>(list[i]); }
};

struct ResetOptions {
  bool has_seed = false;
  uint64_t seed = 0;
  const uint64_t* row_seeds = nullptr;  // [N]: stream = task = 0
  const uint8_t* mask = nullptr;        // [N] bool, null: all
  const int32_t* games = nullptr;       // [N], -1: as the game order says; null: all -1
  uint32_t first_row = 0;               // global index of row 0, where these rows are a part of more
};

// Actions as they came, resolved row by row.
struct Actions {
  enum Form : uint8_t { kIndex = 0, kCommand = 1, kTokens = 2 };
  Form form = kIndex;
  const int32_t* values = nullptr;          // [N] indices or suite commands
  const int32_t* tokens = nullptr;          // [N, width]
  const int32_t* lengths = nullptr;         // [N]; outside [0, width] the action is invalid
  uint32_t width = 0;
  const CommandTokens* commands = nullptr;  // what token actions are looked up in
  int64_t listed = INT64_MAX;               // an index from here on is outside of what a row was shown
};

void reset(Engine& engine, const ResetOptions& options, const StepBuffers& out, Held& held);
void step(Engine& engine, const RowSet& set, const Move* moves, const StepBuffers& out, Held& held);
void observe(const Engine& engine, const RowSet& set, const StepBuffers& out, Held& held);

// The same for rows [begin, end) alone, on the caller's thread, with nothing allocated: for callers that bring their
// own threads and buffers. `reset_range` observes as well.
void reset_range(const Engine& engine, const ResetOptions& options, uint32_t begin, uint32_t end,
                 const StepBuffers& out, const HeldView& held);
void step_range(const Engine& engine, const Actions& actions, uint32_t begin, uint32_t end, const StepBuffers& out,
                const HeldView& held);
void observe_range(const Engine& engine, uint32_t begin, uint32_t end, const StepBuffers& out, const HeldView& held);

// Resolves index / command actions. Typed text is resolved by typed::parse per row (CPU only).
void resolve_commands(const Engine& engine, const RowSet& set, const int32_t* suite_commands, Move* moves);

// The observation text of one row.
void render_text(const Engine& engine, uint32_t row, std::vector<uint8_t>& out);
// The suite command ids that one row admits, in the original's order.
void admissible_commands(const Engine& engine, uint32_t row, std::vector<int32_t>& out);

// Copies rows; all sources are read before anything is written. split: the target's stream becomes a hash of the
// source stream, the target index and the source row's fork counter.
void fork(Engine& engine, const int32_t* sources, const int32_t* targets, uint32_t count, bool split);

// Whether untrusted row bytes (a snapshot) can be stepped safely; false names nothing, the caller reports the row.
bool row_is_sound(const Engine& engine, const uint8_t* bytes);
// The part of it that a step relies on, for rows that are known to have come out of a step, a reset or a check.
bool row_is_playable(const Engine& engine, const uint8_t* bytes);

uint64_t row_hash(const uint8_t* bytes, uint32_t size);

}  // namespace ae
