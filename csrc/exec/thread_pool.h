// One pool for all envs of a process. Work is cut into static shards, so a result never depends on who ran what.
#pragma once

#include <cstdint>
#include <functional>

namespace ae {

// Cores that the process may use: affinity and cgroup quota, at least 1. AE_NUM_THREADS bounds it.
uint32_t available_threads();

// Runs body(begin, end) over [0, count) in at most `threads` shards, the caller included; returns when all are done.
// After fork(2) the child makes its own pool. Safe from several threads at once.
void parallel_shards(uint32_t count, uint32_t threads, const std::function<void(uint32_t, uint32_t)>& body);

}  // namespace ae
