// A row: the whole state of one env in plain bytes. 64 bytes of header, then the engine's world bytes, padded to 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ae {

// What the text of a row is about.
enum class Event : uint8_t {
  kStart = 0,    // the episode has just begun
  kAction = 1,   // last_action is a ground action, last_outcome its outcome
  kRefusal = 2,  // last_action is a refusal id, operand[] its objects (a typed command that changes nothing)
  kInvalid = 3,  // an index outside the admissible list
};

enum RowFlag : uint8_t {
  kWon = 1,
  kLost = 2,
  kTerminated = 4,
  kTruncated = 8,
  kFirst = 16,        // no step yet in this episode
  kNextIsReset = 32,  // next_step: the next step of this row only resets it
  kStarted = 64,      // has been reset at least once
};

struct RowHeader {
  uint64_t seed;          // 0   with stream: the key of every draw
  uint64_t world_hash;    // 8   of facts and counters, kept incrementally
  uint32_t stream;        // 16
  uint32_t task;          // 20
  uint32_t episode;       // 24
  uint32_t game;          // 28  index into the suite
  uint32_t step;          // 32  steps taken in this episode
  uint32_t last_action;   // 36
  float score;            // 40  cumulative
  uint32_t moves;         // 44  accepted actions (TextWorld's `moves`)
  uint32_t turns;         // 48  turns that passed, refused ones included (the status line's number is turns + 1)
  uint8_t operand[4];     // 52  objects of a refusal
  int16_t score_change;   // 56  of the last step
  uint8_t flags;          // 58  RowFlag
  uint8_t status;         // 59  RowStatus
  uint8_t event;          // 60  Event
  uint8_t last_outcome;   // 61
  uint16_t fork_count;    // 62  forks taken from this row with rng="split"
};
static_assert(sizeof(RowHeader) == 64 && std::is_trivially_copyable_v<RowHeader>);
static_assert(offsetof(RowHeader, fork_count) == 62);

// Counters and score stop here, so that what is accepted from a snapshot stays acceptable and prints without overflow.
constexpr uint32_t kMostCount = 1u << 30;

constexpr uint32_t kRowAlign = 64;
constexpr uint32_t padded(uint32_t bytes) { return (bytes + kRowAlign - 1) / kRowAlign * kRowAlign; }

}  // namespace ae
