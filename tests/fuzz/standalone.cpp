// Stands in for libFuzzer where the compiler has none: runs the files given, then random mutations of a small pool of
// inputs until the time or the runs are used up. No coverage feedback; what ends the program is kept in crash-input.
//
//   fuzz_program [-max_total_time=SECONDS] [-runs=N] [-seed=N] [-timeout=SECONDS] [files]
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                                                unsigned int seed);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kMaxSize = 1 << 16, kPool = 64;

std::mt19937 random_bits;
Bytes current;

void keep_current() {
  std::ofstream("crash-input", std::ios::binary)
      .write(reinterpret_cast<const char*>(current.data()), static_cast<std::streamsize>(current.size()));
  std::fprintf(stderr, "the input is kept in crash-input (%zu bytes)\n", current.size());
}
void on_signal(int number) {
  std::fprintf(stderr, "signal %d%s\n", number, number == SIGALRM ? " (timeout)" : "");
  keep_current();
  std::_Exit(1);
}

void run(const Bytes& input, unsigned timeout) {
  current = input;
  alarm(timeout);
  LLVMFuzzerTestOneInput(current.data(), current.size());
  alarm(0);
}

Bytes mutated(Bytes input) {
  const size_t size = input.size();
  input.resize(kMaxSize);
  const size_t now = LLVMFuzzerCustomMutator != nullptr
                         ? LLVMFuzzerCustomMutator(input.data(), size, kMaxSize, static_cast<unsigned>(random_bits()))
                         : 0;
  input.resize(now);
  return input;
}

}  // namespace

// Changes, inserts, drops or repeats a few bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  Bytes bytes(data, data + size);
  if (bytes.empty() || random_bits() % 8 == 0)
    for (size_t n = random_bits() % 600; n > 0; --n) bytes.push_back(static_cast<uint8_t>(random_bits()));
  for (uint32_t n = random_bits() % 8; n > 0 && !bytes.empty(); --n) {
    const auto at = static_cast<std::ptrdiff_t>(random_bits() % bytes.size());
    switch (random_bits() % 4) {
      case 0: bytes[static_cast<size_t>(at)] ^= static_cast<uint8_t>(1u << (random_bits() % 8)); break;
      case 1: bytes[static_cast<size_t>(at)] = static_cast<uint8_t>(random_bits()); break;
      case 2: bytes.erase(bytes.begin() + at, std::min(bytes.begin() + at + 1 + random_bits() % 4, bytes.end())); break;
      default: bytes.insert(bytes.begin() + at, 1 + random_bits() % 4, static_cast<uint8_t>(random_bits()));
    }
  }
  size = std::min(bytes.size(), max_size);
  std::copy_n(bytes.begin(), size, data);
  return size;
}

int main(int argc, char** argv) {
  double seconds = 10;
  uint64_t runs = ~uint64_t{0};
  unsigned timeout = 20;
  std::vector<Bytes> pool;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string value = argument.substr(argument.find('=') + 1);
    if (argument.rfind("-max_total_time=", 0) == 0) seconds = std::stod(value);
    else if (argument.rfind("-runs=", 0) == 0) runs = std::stoull(value);
    else if (argument.rfind("-seed=", 0) == 0) random_bits.seed(static_cast<uint32_t>(std::stoul(value)));
    else if (argument.rfind("-timeout=", 0) == 0) timeout = static_cast<unsigned>(std::stoul(value));
    else if (std::ifstream file(argument, std::ios::binary); argument[0] != '-' && file)
      pool.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGALRM}) std::signal(number, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_current);
  for (const Bytes& input : pool) run(input, timeout);
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  uint64_t done = 0;
  for (; done < runs && elapsed() < seconds; ++done) {
    const Bytes parent = pool.empty() || random_bits() % 16 == 0 ? Bytes{} : pool[random_bits() % pool.size()];
    Bytes input;
    if (LLVMFuzzerCustomMutator != nullptr) {
      input = mutated(parent);
    } else {
      input = parent;
      input.resize(kMaxSize);
      input.resize(LLVMFuzzerMutate(input.data(), parent.size(), kMaxSize));
    }
    run(input, timeout);
    if (pool.size() < kPool) pool.push_back(std::move(input));
    else pool[random_bits() % kPool] = std::move(input);
  }
  std::printf("%llu inputs in %.1f s, none broke a promise\n", static_cast<unsigned long long>(done), elapsed());
}
