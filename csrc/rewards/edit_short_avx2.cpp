// Compiled with -mavx2 -mpopcnt (CMakeLists.txt); called only where the processor has both.
#if defined(__x86_64__)
#define AE_SOLVER solve_short_avx2
#include "rewards/edit_short_body.h"
#endif
