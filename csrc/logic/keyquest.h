// Built-in generators: keyquest (find, unlock, carry, place) and coinhunt (a coin in a maze of alike corridors).
// A game is a pure function of (seed, index, parameters). Sampler, oracle and emitter; the levels are Python's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "logic/source.h"

namespace ae::logic {

struct KeyquestParams {
  int32_t rooms = 5;         // [1, 24]
  int32_t doors = 1;         // edges of the map that have a door
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

struct CoinhuntParams {
  int32_t rooms = 8;  // [3, 200]
  int32_t min_oracle = 3;
  int32_t max_oracle = 1000;
  int32_t max_episode_steps = 50;
};

struct GeneratedGame {
  uint64_t layout_hash = 0;  // of the sampled layout: what decides the split, and what makes two games the same
  Source source;             // extra_json: objective, walkthrough, max_score, family, seed, index
};

// Throws CompileError if the parameters contradict each other or no layout with such an oracle is found.
GeneratedGame keyquest(const KeyquestParams& params, uint64_t seed, uint32_t index);
GeneratedGame coinhunt(const CoinhuntParams& params, uint64_t seed, uint32_t index);

// Every text that a game of the family can print or take as a command: the family's fixed vocabulary is made of it.
std::vector<std::string> family_texts(const std::string& family);

}  // namespace ae::logic
