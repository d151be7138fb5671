// The one question about the compiler: AE_HD marks functions that run on host and device; Group is the set of lanes
// that share one row. On the CPU a group is one lane and compiles away; on a GPU it is a warp; tests emulate 32 lanes.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define AE_HD __host__ __device__
#else
#define AE_HD
#endif

#if defined(__GNUC__) || defined(__clang__)
#define AE_INLINE inline __attribute__((always_inline))
#else
#define AE_INLINE inline
#endif

namespace ae {

// A group of one lane: every collective is the identity.
struct SerialGroup {
  static constexpr uint32_t kSize = 1;
  AE_HD constexpr uint32_t size() const { return 1; }
  AE_HD constexpr uint32_t lane() const { return 0; }
  AE_HD constexpr void sync() const {}
  AE_HD uint32_t ballot(bool claim) const { return claim ? 1u : 0u; }  // bit i: the claim of lane i
  AE_HD bool any(bool claim) const { return claim; }
  template <class T>
  AE_HD T broadcast(T value, uint32_t /*from*/ = 0) const {
    return value;
  }
  AE_HD uint32_t exclusive_sum(uint32_t /*value*/) const { return 0; }
  // Bytes [0, size) of `from` to `to`; all lanes take part, the ranges do not overlap.
  AE_HD void copy(void* to, const void* from, uint32_t bytes) const { std::memcpy(to, from, bytes); }
  AE_HD void fill(void* to, uint8_t value, uint32_t bytes) const { std::memset(to, value, bytes); }
};

}  // namespace ae
