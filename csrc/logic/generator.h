// What the built-in generators share: draws, maps of rooms, text programs, and a level's numbers by name.
// A game is a pure function of (seed, index, numbers).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "logic/source.h"

namespace ae::logic {

struct GeneratedGame {
  uint64_t layout_hash = 0;  // of the sampled layout: what decides the split, and what makes two games the same
  Source source;             // extra_json: objective, walkthrough, max_score, family, seed, index, params
};

// One number of a level and its name, for settings and for extra_json.
template <class Params>
struct NamedNumber {
  const char* name;
  int32_t Params::* value;
};

constexpr uint32_t kAttempts = 2000;  // layouts that are drawn until one has an oracle of the wanted length

inline void check_range(const char* name, int32_t got, int32_t least, int32_t most) {
  if (got >= least && got <= most) return;
  throw CompileError{std::string(name) + ": " + std::to_string(got) + " outside [" + std::to_string(least) + ", " +
                     std::to_string(most) + "]"};
}

[[noreturn]] inline void fail_to_find(const char* what, int32_t least, int32_t most) {
  throw CompileError{std::string("no ") + what + " in " + std::to_string(kAttempts) + " has an oracle of " +
                     std::to_string(least) + " to " + std::to_string(most) +
                     " steps: widen min_oracle, max_oracle or max_episode_steps, or change rooms"};
}

// ---- Draws ----------------------------------------------------------------------------------------------------------
class Dice {
 public:
  Dice(uint64_t seed, uint32_t index, uint32_t attempt) : seed_(seed), index_(index), attempt_(attempt) {}
  uint32_t below(uint32_t bound) {
    const Philox draw = philox4x32(seed_, index_, attempt_, count_++, static_cast<uint32_t>(Draw::kGenerate));
    return ae::below(draw.v[0], bound);
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(static_cast<uint32_t>(from.size()))];
  }
  // The first `count` numbers of a random order of [0, size).
  std::vector<int> choose(int count, int size) {
    std::vector<int> all(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) all[static_cast<size_t>(i)] = i;
    for (int i = 0; i < count; ++i)
      std::swap(all[static_cast<size_t>(i)], all[static_cast<size_t>(i) + below(static_cast<uint32_t>(size - i))]);
    all.resize(static_cast<size_t>(count));
    return all;
  }

 private:
  uint64_t seed_;
  uint32_t index_, attempt_, count_ = 0;
};

// The hash of an ordered list of numbers.
inline uint64_t mixed(std::initializer_list<uint64_t> parts) {
  uint64_t h = 0x6B65797175657374ull;
  for (const uint64_t part : parts) h = mix64(h ^ part);
  return h;
}

// ---- Maps: rooms as a tree on a grid; room 0 is the start -----------------------------------------------------------
inline constexpr std::array<const char*, 4> kDirections = {"north", "east", "south", "west"};
constexpr int kDx[4] = {0, 1, 0, -1}, kDy[4] = {-1, 0, 1, 0};

struct Room {
  int name = 0, x = 0, y = 0, parent = -1, parent_edge = -1;
};
struct Edge {
  int a = 0, b = 0, direction = 0, door = -1;  // direction: from a to b
};

struct Map {
  std::vector<Room> rooms;
  std::vector<Edge> edges;

  // `winding` of 100 rooms are attached to the newest one, the others anywhere. `names`: of rooms, in this order.
  static Map sample(Dice& dice, const std::vector<int>& names, uint32_t winding) {
    Map map;
    map.rooms.push_back({names[0], 0, 0, -1, -1});
    while (map.rooms.size() < names.size()) {
      const auto have = static_cast<uint32_t>(map.rooms.size());
      const auto from = static_cast<int>(dice.below(100) < winding ? have - 1 : dice.below(have));
      const auto direction = static_cast<int>(dice.below(4));
      const int x = map.rooms[from].x + kDx[direction], y = map.rooms[from].y + kDy[direction];
      if (map.taken(x, y)) continue;
      map.edges.push_back({from, static_cast<int>(have), direction, -1});
      map.rooms.push_back({names[have], x, y, from, static_cast<int>(have) - 1});
    }
    return map;
  }

  // Edges from one room to another, in walking order.
  std::vector<int> path(int from, int to) const {
    std::vector<int> up, down;
    int up_left = depth(from), down_left = depth(to);
    while (from != to) {
      if (up_left >= down_left) {
        up.push_back(rooms[from].parent_edge);
        from = rooms[from].parent;
        --up_left;
      } else {
        down.push_back(rooms[to].parent_edge);
        to = rooms[to].parent;
        --down_left;
      }
    }
    up.insert(up.end(), down.rbegin(), down.rend());
    return up;
  }

  // What stays the same when rooms are numbered in another order.
  uint64_t room_id(size_t i) const {
    const auto number = [](int value) { return static_cast<uint64_t>(value); };
    return mixed({number(rooms[i].name), number(rooms[i].x), number(rooms[i].y)});
  }
  uint64_t edge_id(const Edge& edge) const {  // the places say which way it leads
    const uint64_t a = room_id(edge.a), b = room_id(edge.b);
    return mixed({std::min(a, b), std::max(a, b)});
  }

 private:
  bool taken(int x, int y) const {
    return std::any_of(rooms.begin(), rooms.end(), [&](const Room& room) { return room.x == x && room.y == y; });
  }
  int depth(int room) const {
    int d = 0;
    for (; rooms[room].parent >= 0; room = rooms[room].parent) ++d;
    return d;
  }
};

// ---- Source ---------------------------------------------------------------------------------------------------------
inline Atom atom(int predicate, std::vector<int32_t> args) { return {predicate, std::move(args), false}; }

class TextBuilder {
 public:
  explicit TextBuilder(Source& source) : s_(source) {}
  int32_t literal(const std::string& text) {
    for (size_t i = 0; i < s_.literals.size(); ++i)
      if (s_.literals[i] == text) return static_cast<int32_t>(i);
    s_.literals.push_back(text);
    return static_cast<int32_t>(s_.literals.size()) - 1;
  }
  int32_t add(TextProgram program) {
    s_.programs.push_back(std::move(program));
    return static_cast<int32_t>(s_.programs.size()) - 1;
  }
  void say(TextProgram& to, const std::string& text) { to.code.push_back({Op::kLit, literal(text), 0, 0, 0}); }
  static int32_t here(const TextProgram& program) { return static_cast<int32_t>(program.code.size()); }
  // Reserves a jump; patch() points it to here.
  static size_t jump(TextProgram& to, Instruction instruction) {
    to.code.push_back(instruction);
    return to.code.size() - 1;
  }
  static void patch(TextProgram& program, size_t at) { program.code[at].c = here(program); }
  size_t unless_fact(TextProgram& to, Atom fact) {
    to.facts.push_back(std::move(fact));
    return jump(to, {Op::kUnlessFact, static_cast<int32_t>(to.facts.size()) - 1, 0, 0, 0});
  }

 private:
  Source& s_;
};

inline std::string quoted(const std::string& text) { return "\"" + text + "\""; }  // texts hold letters and blanks only

struct Told {
  std::string family, objective;
  std::vector<std::string> walk;
  int32_t max_score = 0;
  uint64_t seed = 0;
  uint32_t index = 0;
};

template <class Params, size_t kCount>
std::string extra_json(const Told& told, const Params& params, const NamedNumber<Params> (&numbers)[kCount]) {
  std::string walk, chosen;
  for (const std::string& command : told.walk) walk += (walk.empty() ? "" : ", ") + quoted(command);
  for (const auto& number : numbers)
    chosen += (chosen.empty() ? "" : ", ") + quoted(number.name) + ": " + std::to_string(params.*number.value);
  return "{\"objective\": " + quoted(told.objective) + ", \"walkthrough\": [" + walk +
         "], \"max_score\": " + std::to_string(told.max_score) + ", \"family\": " + quoted(told.family) +
         ", \"seed\": " + std::to_string(told.seed) + ", \"index\": " + std::to_string(told.index) + ", \"params\": {" +
         chosen + "}}";
}

// Sentences of both families: token ids follow the sorted words, so neither list may change under a version.
inline std::vector<std::string> shared_texts() {
  std::vector<std::string> out = {
      "Nothing happens. You have done it! You are in the a corridor. You can go. Your task: find the coin and take it.",
      "On the floor you see a an coin and You carry nothing. The is open closed locked holds empty",
      "You take the from drop put on into open close unlock with insert go"};
  out.insert(out.end(), kDirections.begin(), kDirections.end());
  return out;
}

}  // namespace ae::logic
