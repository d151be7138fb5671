#include "exec/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace ae {
namespace {

// cgroup v2: "max 100000" or "150000 100000" in one file; v1: two files. 0: no limit found.
uint32_t cgroup_cores() {
  long long quota = 0, period = 0;
  if (FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    const int read = std::fscanf(file, "%lld %lld", &quota, &period);
    std::fclose(file);
    if (read != 2) return 0;
  } else {
    FILE* q = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r");
    FILE* p = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r");
    const bool read =
        q != nullptr && p != nullptr && std::fscanf(q, "%lld", &quota) == 1 && std::fscanf(p, "%lld", &period) == 1;
    if (q != nullptr) std::fclose(q);
    if (p != nullptr) std::fclose(p);
    if (!read) return 0;
  }
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<uint32_t>(std::max<long long>(1, (quota + period - 1) / period));
}

struct Job {
  const std::function<void(uint32_t, uint32_t)>* body = nullptr;
  uint32_t count = 0, shards = 0;
  std::atomic<uint32_t> next{0};
  std::atomic<uint32_t> done{0};
  std::mutex mutex;
  std::condition_variable finished;

  void work() {
    for (uint32_t shard; (shard = next.fetch_add(1)) < shards;) {
      const auto at = [&](uint64_t s) { return static_cast<uint32_t>(s * count / shards); };
      (*body)(at(shard), at(shard + 1));
      if (done.fetch_add(1) + 1 == shards) {
        const std::lock_guard lock(mutex);
        finished.notify_all();
      }
    }
  }
};

class Pool {
 public:
  explicit Pool(uint32_t workers) : workers_(workers) {
    for (uint32_t i = 0; i < workers; ++i)
      std::thread([this] { serve(); }).detach();  // live as long as the process; a pool is never destroyed
  }

  // More helpers than workers would only leave jobs in the queue; without workers they would stay there for ever.
  void run(const std::shared_ptr<Job>& job, uint32_t wanted) {
    const uint32_t helpers = std::min(wanted, workers_);
    {
      const std::lock_guard lock(mutex_);
      for (uint32_t i = 0; i < helpers; ++i) queue_.push_back(job);
    }
    if (helpers == 1) wake_.notify_one();
    else wake_.notify_all();
    job->work();
    for (int spin = 0; spin < 4000 && job->done.load() < job->shards; ++spin) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    std::unique_lock lock(job->mutex);
    job->finished.wait(lock, [&] { return job->done.load() == job->shards; });
  }

 private:
  void serve() {
    for (;;) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return !queue_.empty(); });
        job = std::move(queue_.front());
        queue_.pop_front();
      }
      job->work();
    }
  }

  const uint32_t workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> queue_;
};

std::atomic<Pool*> pool{nullptr};
std::mutex pool_mutex;

// A child of fork(2) has none of its parent's threads: it forgets the pool (a small leak) and makes a new one.
void forget_pool() {
  pool.store(nullptr);
  new (&pool_mutex) std::mutex;
}

Pool& shared_pool() {
  if (Pool* found = pool.load(std::memory_order_acquire)) return *found;
  const std::lock_guard lock(pool_mutex);
  if (pool.load() == nullptr) {
    static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
    (void)registered;
    pool.store(new Pool(available_threads() - 1), std::memory_order_release);
  }
  return *pool.load();
}

}  // namespace

uint32_t available_threads() {
  uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  if (const uint32_t limit = cgroup_cores(); limit != 0) cores = std::min(cores, limit);
  if (const char* text = std::getenv("AE_NUM_THREADS")) {
    const long wanted = std::strtol(text, nullptr, 10);
    if (wanted >= 1) cores = std::min<uint32_t>(cores, static_cast<uint32_t>(wanted));
  }
  return cores;
}

void parallel_shards(uint32_t count, uint32_t threads, const std::function<void(uint32_t, uint32_t)>& body) {
  const uint32_t shards = std::min(threads, count);
  if (shards <= 1) {
    if (count != 0) body(0, count);
    return;
  }
  auto job = std::make_shared<Job>();
  job->body = &body;
  job->count = count;
  job->shards = shards;
  shared_pool().run(job, shards - 1);
}

}  // namespace ae
