// Four pairs of short ASCII texts side by side: four chains of dependent instructions fill a core that one leaves idle.
#pragma once

#include <cstdint>

namespace ae::rewards {

inline constexpr uint32_t kPairs = 4, kShort = 64;
inline constexpr uint8_t kPatternPad = 0xFF, kTextPad = 0xFE;  // no ASCII, and not each other

// Pair k: its pattern from the left, its text to the right end of the row; pads fill the rest.
struct ShortPairs {
  alignas(64) uint8_t pattern[kPairs][kShort];
  alignas(64) uint8_t text[kPairs][kShort];
  uint32_t rows[kPairs], columns[kPairs];
};

// Fills result[k] with the Levenshtein distance, or the length of the longest common subsequence, of pair k.
using ShortSolver = void (*)(const ShortPairs& pairs, bool levenshtein, uint32_t* result);

// The solver for this processor, or null where there is none.
ShortSolver short_solver();

#if defined(__x86_64__)
void solve_short_sse2(const ShortPairs& pairs, bool levenshtein, uint32_t* result);
void solve_short_avx2(const ShortPairs& pairs, bool levenshtein, uint32_t* result);
#endif

}  // namespace ae::rewards
