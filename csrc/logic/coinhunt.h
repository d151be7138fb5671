// coinhunt: a coin in a dead end of a maze whose corridors look alike; needs memory. Sampler, oracle and emitter; the
// levels are Python's. A game is a pure function of (seed, index, parameters).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "logic/generator.h"

namespace ae::logic {

struct CoinhuntParams {
  int32_t rooms = 8;       // [3, 200]
  int32_t min_oracle = 3;  // length of the oracle's walk
  int32_t max_oracle = 1000;
  int32_t max_episode_steps = 50;
};

inline constexpr NamedNumber<CoinhuntParams> kCoinhuntNumbers[] = {
    {"rooms", &CoinhuntParams::rooms},
    {"min_oracle", &CoinhuntParams::min_oracle},
    {"max_oracle", &CoinhuntParams::max_oracle},
    {"max_episode_steps", &CoinhuntParams::max_episode_steps}};

// Throws CompileError if the parameters contradict each other or no maze with such an oracle is found.
GeneratedGame coinhunt(const CoinhuntParams& params, uint64_t seed, uint32_t index);

// Every word that a game can print or take in a command: the family's fixed vocabulary is made of it.
std::vector<std::string> coinhunt_texts();

}  // namespace ae::logic
