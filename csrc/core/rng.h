// Counter-based draws: Philox4x32-10, Salmon et al. 2011 ("Parallel random numbers: as easy as 1, 2, 3").
// A draw is a function of (key, counter) alone, so order, thread and device do not matter.
#pragma once

#include <array>
#include <cstdint>

#include "core/hd.h"

namespace ae {

struct Philox {
  uint32_t v[4];
};

AE_HD inline Philox philox4x32(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0, n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// What a draw is for; the last counter word, so that two purposes never share a number.
enum class Draw : uint32_t { kGame = 1, kStart = 2, kFork = 3, kPermutation = 4, kWorld = 5, kGenerate = 6 };

// splitmix64's finaliser (Steele et al. 2014): a bijection of 64 bits.
AE_HD constexpr uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// A number in [0, bound) from 32 random bits (multiply-shift, Lemire 2019; bias below bound / 2^32).
AE_HD constexpr uint32_t below(uint32_t bits, uint32_t bound) {
  return static_cast<uint32_t>((uint64_t{bits} * bound) >> 32);
}

}  // namespace ae
