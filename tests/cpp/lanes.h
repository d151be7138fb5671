// A warp on the CPU: 32 threads run the same function in lock step at every collective, as 32 lanes of a GPU would.
// Slow and obvious; the tests compare what it computes with what one lane computes, byte for byte.
#pragma once

#include <barrier>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace ae::test {

template <uint32_t Lanes>
class Warp {
 public:
  class Group {
   public:
    static constexpr uint32_t kSize = Lanes;
    Group(Warp& warp, uint32_t lane) : warp_(&warp), lane_(lane) {}
    uint32_t size() const { return Lanes; }
    uint32_t lane() const { return lane_; }
    void sync() const { warp_->barrier_.arrive_and_wait(); }

    uint32_t ballot(bool claim) const {
      uint32_t all = 0;
      exchange(claim ? 1u : 0u, [&](const uint64_t* slots) {
        for (uint32_t i = 0; i < Lanes; ++i) all |= static_cast<uint32_t>(slots[i]) << i;
      });
      return all;
    }
    bool any(bool claim) const { return ballot(claim) != 0; }
    template <class T>
    T broadcast(T value, uint32_t from = 0) const {
      static_assert(sizeof(T) <= sizeof(uint64_t));
      uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      T out;
      exchange(bits, [&](const uint64_t* slots) { std::memcpy(&out, &slots[from], sizeof out); });
      return out;
    }
    uint32_t exclusive_sum(uint32_t value) const {
      uint32_t sum = 0;
      exchange(value, [&](const uint64_t* slots) {
        for (uint32_t i = 0; i < lane_; ++i) sum += static_cast<uint32_t>(slots[i]);
      });
      return sum;
    }
    void copy(void* to, const void* from, uint32_t bytes) const {
      for (uint32_t i = lane_; i < bytes; i += Lanes)
        static_cast<uint8_t*>(to)[i] = static_cast<const uint8_t*>(from)[i];
    }
    void fill(void* to, uint8_t value, uint32_t bytes) const {
      for (uint32_t i = lane_; i < bytes; i += Lanes) static_cast<uint8_t*>(to)[i] = value;
    }

   private:
    template <class Read>
    void exchange(uint64_t value, Read&& read) const {
      warp_->slots_[lane_] = value;
      sync();
      read(warp_->slots_.data());
      sync();
    }
    Warp* warp_;
    uint32_t lane_;
  };

  Warp() : barrier_(Lanes), slots_(Lanes) {}

  void run(const std::function<void(const Group&)>& body) {
    std::vector<std::thread> threads;
    for (uint32_t lane = 0; lane < Lanes; ++lane) threads.emplace_back([&, lane] { body(Group(*this, lane)); });
    for (auto& thread : threads) thread.join();
  }

 private:
  std::barrier<> barrier_;
  std::vector<uint64_t> slots_;
};

}  // namespace ae::test
