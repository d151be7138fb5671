// Compiled games come from files: any bytes are refused by decode() or can be played without harm.
#include <cstring>

#include "core/rng.h"
#include "play.h"
#include "random_source.h"

using namespace ae;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

constexpr size_t kTail = 64;  // the last bytes of an input choose the actions, those before are the game

std::vector<uint8_t> sound_game(uint32_t seed) {
  for (uint32_t attempt = 0;; ++attempt) {
    std::vector<uint8_t> bytes(512);
    for (uint32_t i = 0; i < bytes.size() / 4; ++i) {
      const Philox draw = philox4x32(seed, attempt, i, 0, 0);
      std::memcpy(bytes.data() + 4 * i, draw.v, 4);
    }
    bytes[0] &= 0xFE;  // not a wild source
    try {
      return logic::emit(logic::ground(fuzz::RandomSource(bytes.data(), bytes.size()).make(), fuzz::kSmall));
    } catch (const logic::CompileError&) {
    }
  }
}

// The header's own checks are passed, so that mutations reach the tables.
void repair(uint8_t* data, size_t size) {
  logic::ProgramHeader h;
  std::memcpy(&h, data, sizeof h);
  h.magic = logic::kMagic;
  h.format_version = logic::kFormatVersion;
  h.engine = logic::kEngineLogic;
  h.total_bytes = static_cast<uint32_t>(size - kTail);
  std::memcpy(data, &h, sizeof h);
}

// A few 16- or 32-bit numbers of one table become nearby, small or extreme ones.
void disturb(uint8_t* data, size_t size, uint32_t seed) {
  logic::ProgramHeader h;
  std::memcpy(&h, data, sizeof h);
  const auto* sections = &h.init_world;
  const size_t count = (reinterpret_cast<const uint8_t*>(&h.pool) - reinterpret_cast<const uint8_t*>(&h.init_world)) /
                           sizeof(logic::SectionRef) +
                       1;
  for (uint32_t n = 0; n <= seed % 4; ++n) {
    const Philox draw = philox4x32(seed, n, 1, 0, 0);
    const bool header = draw.v[0] % 8 == 0;
    const size_t begin = header ? offsetof(logic::ProgramHeader, max_admissible) : sections[draw.v[0] % count].offset;
    const size_t width = draw.v[1] % 2 == 0 ? 2 : 4;
    const size_t at = begin + draw.v[1] / 2 % (header ? 120 : 400) / width * width;
    if (at + width > size - kTail) continue;
    const int64_t values[] = {0, 1, -1, 2, 255, 256, 32767, 65535, draw.v[3] % 64, draw.v[3]};
    uint32_t value = 0;
    std::memcpy(&value, data + at, width);
    const uint32_t kind = draw.v[2] % 12;
    value = kind < 10 ? static_cast<uint32_t>(values[kind]) : (kind == 10 ? value + 1 : value - 1);
    std::memcpy(data + at, &value, width);
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (size < sizeof(logic::ProgramHeader) + kTail || seed % 16 == 0) {
    const std::vector<uint8_t> game = sound_game(seed);
    if (game.size() + kTail > max_size) return std::min(size, max_size);
    std::memcpy(data, game.data(), game.size());
    for (size_t i = 0; i < kTail; ++i) data[game.size() + i] = static_cast<uint8_t>(mix64(seed + i));
    size = game.size() + kTail;
  }
  if (seed % 3 == 0) size = LLVMFuzzerMutate(data, size, max_size);
  else disturb(data, size, seed);
  if (size >= sizeof(logic::ProgramHeader) + kTail) repair(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t game = size > kTail ? size - kTail : 0;
  fuzz::Reader reader(data + game, size - game);
  try {
    fuzz::Arena arena(data, game, reader);
    arena.reset();
    arena.play();
  } catch (const logic::CompileError& error) {
    fuzz::promise(!error.message.empty(), "a refusal says why");
  }
  return 0;
}
