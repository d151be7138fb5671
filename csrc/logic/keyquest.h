// keyquest: find things, unlock and open what is in the way, carry them, place them. Sampler, oracle and emitter; the
// levels are Python's. A game is a pure function of (seed, index, parameters).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "logic/generator.h"

namespace ae::logic {

struct KeyquestParams {
  int32_t rooms = 5;  // [1, 24]
  int32_t doors = 1;  // edges of the map that have a door
  int32_t locked_doors = 0;  // of them
  int32_t containers = 2;
  int32_t locked_containers = 1;  // of them
  int32_t supporters = 2;
  int32_t goals = 1;        // things to carry and place, [1, 6]
  int32_t distractors = 2;  // things that no goal names
  int32_t min_oracle = 2;   // length of the oracle's walk
  int32_t max_oracle = 1000;
  int32_t max_episode_steps = 50;
};

inline constexpr NamedNumber<KeyquestParams> kKeyquestNumbers[] = {
    {"rooms", &KeyquestParams::rooms},
    {"doors", &KeyquestParams::doors},
    {"locked_doors", &KeyquestParams::locked_doors},
    {"containers", &KeyquestParams::containers},
    {"locked_containers", &KeyquestParams::locked_containers},
    {"supporters", &KeyquestParams::supporters},
    {"goals", &KeyquestParams::goals},
    {"distractors", &KeyquestParams::distractors},
    {"min_oracle", &KeyquestParams::min_oracle},
    {"max_oracle", &KeyquestParams::max_oracle},
    {"max_episode_steps", &KeyquestParams::max_episode_steps}};

// Throws CompileError if the parameters contradict each other or no layout with such an oracle is found.
GeneratedGame keyquest(const KeyquestParams& params, uint64_t seed, uint32_t index);

// Every word that a game can print or take in a command: the family's fixed vocabulary is made of it.
std::vector<std::string> keyquest_texts();

}  // namespace ae::logic
