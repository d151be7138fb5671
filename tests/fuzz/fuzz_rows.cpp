// Snapshots come from files: any row bytes are refused by row_is_sound() or can be stepped without harm.
#include <cstring>

#include "play.h"
#include "random_source.h"

using namespace ae;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t half = size / 2;
  std::vector<uint8_t> game;
  try {
    game = logic::emit(logic::ground(fuzz::RandomSource(data, half).make(), fuzz::kSmall));
  } catch (const logic::CompileError&) {
    return 0;
  }
  fuzz::Reader reader(data + half, size - half);
  fuzz::Arena arena(game.data(), game.size(), reader);
  arena.reset();
  Engine& engine = arena.engine();
  std::vector<uint8_t> row(engine.stride);
  for (uint32_t i = 0; i < fuzz::kRows; ++i) {
    std::memcpy(row.data(), engine.row(i), row.size());
    for (uint32_t n = reader.below(12); n > 0; --n) row[reader.below(engine.stride)] = reader.byte();
    if (row_is_sound(engine, row.data())) std::memcpy(engine.row(i), row.data(), row.size());
  }
  arena.play();
  return 0;
}
