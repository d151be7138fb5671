// N rows and what a step writes about them: borrowed, caller-owned, flat buffers. A null pointer means "not wanted".
#pragma once

#include <cstdint>

namespace ae {

struct ObsBuffers {
  uint8_t* text;               // [N, B], padded with 0
  int32_t* text_size;          // [N]
  int32_t* tokens;             // [N, L], padded with 0
  int32_t* token_count;        // [N]
  int32_t* admissible;         // [N, K] suite command ids, padded with -1
  uint32_t* admissible_bits;   // [N, W] bitset over suite commands
  int32_t* admissible_count;   // [N]
};

struct InfoBuffers {
  float* score;         // [N]
  uint8_t* won;         // [N] bool
  uint8_t* lost;        // [N] bool
  int32_t* moves;       // [N]
  int32_t* game;        // [N]
  int32_t* episode;     // [N]
  int32_t* elapsed;     // [N]
  uint8_t* status;      // [N] RowStatus
  uint8_t* overflow;    // [N] Overflow bits
  uint8_t* first;       // [N] bool
  uint8_t* valid;       // [N] bool
  uint32_t* world_hash; // [N, 2]
  float* reward_terms;  // [N, R]
};

struct StepBuffers {
  ObsBuffers obs;
  ObsBuffers final_obs;  // all null unless autoreset is same_step
  float* reward;         // [N]
  uint8_t* terminated;   // [N] bool
  uint8_t* truncated;    // [N] bool
  InfoBuffers info;
};

struct Widths {
  uint32_t text = 0;        // B
  uint32_t tokens = 0;      // L
  uint32_t admissible = 0;  // K
  uint32_t bit_words = 0;   // W
};

}  // namespace ae
