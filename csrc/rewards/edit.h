// Bit-parallel edit distance and longest common subsequence, 64 rows of the matrix in a word.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace ae::rewards {

// One block of up to 64 symbols of the pattern against the whole text. `mask(i)` has a bit for each symbol of the block
// that equals text[i]. `carry` (uint8[size], or null for a pattern of one block) holds what passes from block to block.

// Myers 1999, as Hyyrö 2003 has it (A bit-vector algorithm for computing Levenshtein and Damerau edit distances).
// carry: bit 0, the distance rises by one to the right at the block's upper edge; bit 1, it falls. Returns by how much
// the distance changes along the lower edge, row `rows` of the block.
template <bool kCarry, class Mask>
AE_HD AE_INLINE int64_t levenshtein_block(uint64_t size, uint32_t rows, const Mask& mask, uint8_t* carry) {
  const uint32_t lowest = rows - 1;
  uint64_t rises = ~uint64_t{0}, falls = 0;  // down the column: bit i, row i + 1 exceeds (is less than) row i by one
  int64_t change = 0;
  for (uint64_t i = 0; i < size; ++i) {
    const uint64_t up = kCarry ? carry[i] & 1u : 1u, down = kCarry ? carry[i] >> 1 & 1u : 0u;
    const uint64_t equal = mask(i) | down;
    const uint64_t diagonal = (((equal & rises) + rises) ^ rises) | equal | falls;
    uint64_t right_up = falls | ~(diagonal | rises), right_down = diagonal & rises;
    const uint64_t out_up = right_up >> lowest & 1, out_down = right_down >> lowest & 1;
    if (kCarry) carry[i] = static_cast<uint8_t>(out_up | out_down << 1);
    change += static_cast<int64_t>(out_up) - static_cast<int64_t>(out_down);
    right_up = right_up << 1 | up;
    right_down = right_down << 1 | down;
    rises = right_down | ~(diagonal | right_up);
    falls = right_up & diagonal;
  }
  return change;
}

// Hyyrö 2004 (Bit-parallel LCS-length computation revisited). carry: the bit that an addition hands to the next block.
// Returns how much of the longest common subsequence lies in these rows.
template <bool kCarry, class Mask>
AE_HD AE_INLINE uint64_t lcs_block(uint64_t size, uint32_t rows, const Mask& mask, uint8_t* carry) {
  uint64_t state = ~uint64_t{0};
  for (uint64_t i = 0; i < size; ++i) {
    const uint64_t both = state & mask(i);
    uint64_t sum = state + both;
    if (kCarry) {
      uint64_t out = sum < state ? 1 : 0;
      sum += carry[i];
      out |= sum < carry[i] ? 1 : 0;
      carry[i] = static_cast<uint8_t>(out);
    }
    state = sum | (state - both);
  }
  uint64_t taken = ~state;
  if (rows < 64) taken &= (uint64_t{1} << rows) - 1;
  uint64_t count = 0;
  for (; taken != 0; taken &= taken - 1) ++count;
  return count;
}

}  // namespace ae::rewards
