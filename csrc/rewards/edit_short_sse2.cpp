// What every x86-64 can do, and the choice.
#include "rewards/edit_short.h"

#if defined(__x86_64__)
#define AE_SOLVER solve_short_sse2
#include "rewards/edit_short_body.h"
#endif

namespace ae::rewards {

ShortSolver short_solver() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") ? solve_short_avx2 : solve_short_sse2;
#else
  return nullptr;
#endif
}

}  // namespace ae::rewards
