// Fuzz bytes as a stream of decisions; zeros once it is used up, so every input means something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace ae::fuzz {

class Reader {
 public:
  Reader(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(size) {}
  bool done() const { return left_ == 0; }
  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *bytes_++;
  }
  uint32_t word() { return byte() | uint32_t{byte()} << 8 | uint32_t{byte()} << 16 | uint32_t{byte()} << 24; }
  uint32_t below(uint32_t bound) {
    return bound <= 1 ? 0 : (bound <= 256 ? byte() : byte() | uint32_t{byte()} << 8) % bound;
  }
  bool chance(uint32_t in) { return byte() % in == in - 1; }

 private:
  const uint8_t* bytes_;
  size_t left_;
};

// A broken promise: says which, and ends the program as a sanitizer would.
inline void promise(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace ae::fuzz
