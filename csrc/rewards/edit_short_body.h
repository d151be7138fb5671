// The solver of edit_short.h, compiled once for each instruction set: AE_SOLVER names it. Only <immintrin.h> is
// included, so that no inline function of the library is compiled with instructions that the processor may lack.
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors pass between inlined functions of this file alone
#include <immintrin.h>

#include "rewards/edit_short.h"

namespace ae::rewards {
namespace {

typedef uint64_t Lanes __attribute__((vector_size(32)));  // one pair in each

#if defined(__AVX2__)
inline uint64_t equal32(const uint8_t* pattern, uint8_t symbol) {
  const __m256i rows = _mm256_load_si256(reinterpret_cast<const __m256i*>(pattern));
  const __m256i same = _mm256_cmpeq_epi8(rows, _mm256_set1_epi8(static_cast<char>(symbol)));
  return static_cast<uint32_t>(_mm256_movemask_epi8(same));
}
#else
inline uint64_t equal16(const uint8_t* pattern, __m128i symbol) {
  const __m128i rows = _mm_load_si128(reinterpret_cast<const __m128i*>(pattern));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(rows, symbol)));
}
inline uint64_t equal32(const uint8_t* pattern, uint8_t symbol) {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(symbol));
  return equal16(pattern, wanted) | equal16(pattern + 16, wanted) << 16;
}
#endif

// Bit r of lane k: row r of pattern k equals the symbol in this column.
template <bool kWide>
inline uint64_t mask(const ShortPairs& pairs, uint32_t k, uint32_t column) {
  const uint8_t symbol = pairs.text[k][column];
  const uint64_t low = equal32(pairs.pattern[k], symbol);
  return kWide ? low | equal32(pairs.pattern[k] + 32, symbol) << 32 : low;
}
template <bool kWide>
inline Lanes masks(const ShortPairs& pairs, uint32_t column) {
  return Lanes{mask<kWide>(pairs, 0, column), mask<kWide>(pairs, 1, column), mask<kWide>(pairs, 2, column),
               mask<kWide>(pairs, 3, column)};
}

// Those of `word` that are rows of the pattern.
inline uint64_t rows_of(uint64_t word, uint32_t rows) { return rows == 64 ? word : word & ((uint64_t{1} << rows) - 1); }
inline uint32_t count(uint64_t word) { return static_cast<uint32_t>(__builtin_popcountll(word)); }

// The recurrences are those of edit.h. The distance is read off the last column, where row 0 is worth its number.
struct Column {
  Lanes rises = {~0ull, ~0ull, ~0ull, ~0ull}, falls = {0, 0, 0, 0};
  inline void next(Lanes equal) {
    const Lanes diagonal = (((equal & rises) + rises) ^ rises) | equal | falls;
    const Lanes right_up = (falls | ~(diagonal | rises)) << 1 | 1;
    const Lanes right_down = (diagonal & rises) << 1;
    rises = right_down | ~(diagonal | right_up);
    falls = right_up & diagonal;
  }
};

template <bool kWide>
inline void levenshtein(const ShortPairs& pairs, uint32_t* result) {
  uint32_t first = kShort, all = 0;  // columns before `first` are pads in each pair, from `all` on in none
  for (const uint32_t columns : pairs.columns) {
    const uint32_t begin = kShort - columns;
    first = begin < first ? begin : first;
    all = begin > all ? begin : all;
  }
  Column state;
  uint32_t i = first;
  for (; i < all; ++i) {
    state.next(masks<kWide>(pairs, i));
    for (uint32_t k = 0; k < kPairs; ++k) {
      const uint64_t pad = i < kShort - pairs.columns[k] ? ~uint64_t{0} : 0;  // still the column to the left of all
      state.rises[k] |= pad;
      state.falls[k] &= ~pad;
    }
  }
  for (; i < kShort; ++i) state.next(masks<kWide>(pairs, i));
  for (uint32_t k = 0; k < kPairs; ++k)
    result[k] = pairs.columns[k] + count(rows_of(state.rises[k], pairs.rows[k])) -
                count(rows_of(state.falls[k], pairs.rows[k]));
}

template <bool kWide>
inline void common_subsequence(const ShortPairs& pairs, uint32_t* result) {
  uint32_t first = kShort;
  for (const uint32_t columns : pairs.columns) first = kShort - columns < first ? kShort - columns : first;
  uint64_t state[kPairs] = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
  for (uint32_t i = first; i < kShort; ++i)
    for (uint32_t k = 0; k < kPairs; ++k) {  // a pad equals no row and changes nothing
      const uint64_t both = state[k] & mask<kWide>(pairs, k, i);
      state[k] = (state[k] + both) | (state[k] - both);
    }
  for (uint32_t k = 0; k < kPairs; ++k) result[k] = count(rows_of(~state[k], pairs.rows[k]));
}

}  // namespace

void AE_SOLVER(const ShortPairs& pairs, bool wants_levenshtein, uint32_t* result) {
  bool wide = false;
  for (const uint32_t rows : pairs.rows) wide |= rows > 32;
  if (wants_levenshtein) {
    wide ? levenshtein<true>(pairs, result) : levenshtein<false>(pairs, result);
  } else {
    wide ? common_subsequence<true>(pairs, result) : common_subsequence<false>(pairs, result);
  }
}

}  // namespace ae::rewards
