// Characters of texts: UTF-8 as Python's decode("utf-8", "surrogateescape") reads it, white space, words, lower case.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "rewards/unicode_tables.h"

namespace ae::rewards {

struct Bytes {  // borrowed
  const uint8_t* data;
  uint64_t size;
};

AE_HD AE_INLINE constexpr bool is_digit(uint32_t c) { return c - '0' < 10; }
AE_HD AE_INLINE constexpr bool is_letter(uint32_t c) { return (c | 32) - 'a' < 26; }
AE_HD AE_INLINE constexpr bool is_ascii_word(uint32_t c) { return is_letter(c) || is_digit(c) || c == '_'; }
AE_HD AE_INLINE constexpr bool is_ascii_space(uint32_t c) { return (c >= 9 && c <= 13) || (c >= 28 && c <= 32); }
// string.punctuation of Python
AE_HD AE_INLINE constexpr bool is_punctuation(uint32_t c) { return c > 32 && c < 127 && !is_letter(c) && !is_digit(c); }

// The code point at `at` (< end) and where the next one begins. A byte that is no UTF-8 there is U+DC00 + itself,
// alone.
AE_HD inline uint32_t decode(const uint8_t* at, const uint8_t* end, const uint8_t** next) {
  const uint32_t lead = *at;
  *next = at + 1;
  if (lead < 0x80) return lead;
  const auto left = end - at;
  const auto tail = [&](int i) -> uint32_t { return at[i] & 0x3Fu; };
  const auto continues = [&](int i, uint32_t low = 0x80, uint32_t high = 0xBF) {
    return left > i && at[i] >= low && at[i] <= high;
  };
  if (lead >= 0xC2 && lead <= 0xDF && continues(1)) {
    *next = at + 2;
    return (lead & 0x1F) << 6 | tail(1);
  }
  if (lead >= 0xE0 && lead <= 0xEF && continues(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) &&
      continues(2)) {
    *next = at + 3;
    return (lead & 0x0F) << 12 | tail(1) << 6 | tail(2);
  }
  if (lead >= 0xF0 && lead <= 0xF4 && continues(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) &&
      continues(2) && continues(3)) {
    *next = at + 4;
    return (lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
  }
  return 0xDC00 + lead;
}

// The inverse: at most 4 bytes.
AE_HD inline uint32_t encode(uint32_t code, uint8_t* out) {
  if (code < 0x80) {
    out[0] = static_cast<uint8_t>(code);
    return 1;
  }
  if (code >= 0xDC80 && code <= 0xDCFF) {  // a byte that was no UTF-8
    out[0] = static_cast<uint8_t>(code - 0xDC00);
    return 1;
  }
  const auto tail = [&](int shift) { return static_cast<uint8_t>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x800) {
    out[0] = static_cast<uint8_t>(0xC0 | code >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<uint8_t>(0xE0 | code >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<uint8_t>(0xF0 | code >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

namespace unicode {
// The last range that begins at or before `code`, or null.
template <class R, uint32_t kCount>
AE_HD inline const R* range_of(const R (&table)[kCount], uint32_t code) {
  uint32_t low = 0, high = kCount;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (table[middle].first <= code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low != 0 && code <= table[low - 1].last ? &table[low - 1] : nullptr;
}
}  // namespace unicode

AE_HD inline bool is_space(uint32_t code) {
  if (code < 0x80) return is_ascii_space(code);
  return unicode::range_of(unicode::kSpace, code) != nullptr;
}
AE_HD inline bool is_word(uint32_t code) {
  return code < 0x80 ? is_ascii_word(code) : unicode::range_of(unicode::kWord, code) != nullptr;
}

// str.lower() of this character by itself, into `out` (at most 2 code points); returns how many.
AE_HD inline uint32_t lower(uint32_t code, uint32_t* out) {
  out[0] = code;
  if (code < 0x80) {
    if (code - 'A' < 26) out[0] = code + 32;
    return 1;
  }
  if (code == 0x130) {  // İ: the one character whose lower case is two
    out[0] = 'i';
    out[1] = 0x307;
    return 2;
  }
  const unicode::LowerRun* run = unicode::range_of(unicode::kLower, code);
  if (run != nullptr && (code - run->first) % static_cast<uint32_t>(run->step) == 0)
    out[0] = code + static_cast<uint32_t>(run->delta);
  return 1;
}

}  // namespace ae::rewards
