#include "logic/coinhunt.h"

#include <string>
#include <utility>

namespace ae::logic {
namespace {

constexpr uint32_t kWinding = 70;  // long corridors rather than a bush

class CoinhuntEmitter {
 public:
  CoinhuntEmitter(const Map& map, int coin_room, Source& out) : m_(map), coin_room_(coin_room), s_(out) {}

  void run(const std::string& name, int32_t max_episode_steps) {
    s_.name = name;
    s_.family = "keyquest";
    s_.max_episode_steps = max_episode_steps;
    s_.max_score = 1;
    s_.types = {{"P", {}}, {"I", {}}, {"r", {}}, {"o", {}}};
    s_.predicates = {{"at", true},       {"in", true},        {"north_of", false},
                     {"east_of", false}, {"south_of", false}, {"west_of", false}};
    s_.place_predicate = 0;
    s_.player = 0;
    s_.inventory = 1;
    objects();
    rules();
    texts();
    s_.quests.resize(1);
    s_.quests[0].win_events = {{atom(1, {2, 1})}};
    s_.quests[0].reward = 1;
  }

 private:
  int32_t room(int i) const { return 3 + i; }
  void objects() {
    const auto add = [&](const std::string& id, int32_t type, const std::string& name, int32_t object_class) {
      Object o;
      o.id = id;
      o.type = type;
      o.name = name;
      o.object_class = object_class;
      s_.objects.push_back(std::move(o));
    };
    add("P", 0, "", 0);
    add("I", 1, "", 0);
    add("coin", 3, "coin", 1);
    for (size_t i = 0; i < m_.rooms.size(); ++i) add("r_" + std::to_string(i), 2, "corridor", 0);
    s_.init = {atom(0, {0, room(0)}), atom(0, {2, room(coin_room_)})};
    for (const Edge& edge : m_.edges) {
      s_.init.push_back(atom(2 + edge.direction, {room(edge.b), room(edge.a)}));
      s_.init.push_back(atom(2 + (edge.direction + 2) % 4, {room(edge.a), room(edge.b)}));
    }
  }
  void rules() {
    TextProgram went, took;
    const int32_t moved = t_.add(std::move(went));
    t_.say(took, "You take the coin.\n");
    const int32_t taken = t_.add(std::move(took));
    for (int d = 0; d < 4; ++d) {
      Rule rule;
      rule.name = std::string("go/") + kDirections[static_cast<size_t>(d)];
      rule.parameters = {{0, 0}, {2, -1}, {2, -1}};
      rule.preconditions = {atom(0, {0, 1}), atom(2 + d, {2, 1})};
      rule.deletes = {atom(0, {0, 1})};
      rule.adds = {atom(0, {0, 2})};
      rule.command = {{std::string("go ") + kDirections[static_cast<size_t>(d)], -1}};
      rule.outcomes.resize(1);
      rule.outcomes[0].text = moved;
      s_.rules.push_back(std::move(rule));
    }
    Rule take;
    take.name = "take";
    take.parameters = {{0, 0}, {1, 1}, {2, -1}, {3, -1}};
    take.preconditions = {atom(0, {0, 2}), atom(0, {3, 2})};
    take.deletes = {atom(0, {3, 2})};
    take.adds = {atom(1, {3, 1})};
    take.command = {{"take ", -1}, {"", 3}};
    take.outcomes.resize(1);
    take.outcomes[0].text = taken;
    s_.rules.push_back(std::move(take));
  }
  void texts() {
    TextProgram invalid, frame;
    t_.say(invalid, "Nothing happens.\n");
    s_.texts.invalid = t_.add(std::move(invalid));
    s_.texts.start = t_.add({});
    for (size_t r = 0; r < m_.rooms.size(); ++r) {
      TextProgram look;
      t_.say(look, "You are in a corridor.\n");
      for (int d = 0; d < 4; ++d)
        for (const Edge& edge : m_.edges)
          if ((edge.a == static_cast<int>(r) && edge.direction == d) ||
              (edge.b == static_cast<int>(r) && (edge.direction + 2) % 4 == d))
            t_.say(look, std::string("You can go ") + kDirections[static_cast<size_t>(d)] + ".\n");
      const size_t none = TextBuilder::jump(look, {Op::kUnlessAny, room(static_cast<int>(r)), 1, 0, 0});
      t_.say(look, "On the floor you see a coin.\n");
      TextBuilder::patch(look, none);
      look.code.push_back({Op::kEnd, 0, 0, 0, 0});
      s_.objects[static_cast<size_t>(room(static_cast<int>(r)))].look = t_.add(std::move(look));
    }
    frame.code = {{Op::kCallEvent, 0, 0, 0, 0},
                  {Op::kCallPlace, 0, static_cast<int32_t>(ObjectText::kLook), 0, 0},
                  {Op::kSection, static_cast<int32_t>(Section::kObjective), 0, 0, 0}};
    t_.say(frame, "Your task: find the coin and take it.\n");
    frame.code.push_back({Op::kSection, static_cast<int32_t>(Section::kEnd), 0, 0, 0});
    const size_t not_won =
        TextBuilder::jump(frame, {Op::kUnless, kPseudoWon, static_cast<int32_t>(CompareOp::kSet), 0, 0});
    t_.say(frame, "You have done it!\n");
    TextBuilder::patch(frame, not_won);
    frame.code.push_back({Op::kEnd, 0, 0, 0, 0});
    s_.texts.frame = t_.add(std::move(frame));
  }

  const Map& m_;
  int coin_room_;
  Source& s_;
  TextBuilder t_{s_};
};

std::vector<int> dead_ends(const Map& map) {  // but for the start
  std::vector<int> ways(map.rooms.size(), 0), ends;
  for (const Edge& edge : map.edges) {
    ++ways[edge.a];
    ++ways[edge.b];
  }
  for (size_t r = 1; r < ways.size(); ++r)
    if (ways[r] == 1) ends.push_back(static_cast<int>(r));
  return ends;
}

std::vector<std::string> walk_to(const Map& map, int coin_room) {
  std::vector<std::string> walk;
  int room = 0;
  for (const int e : map.path(0, coin_room)) {
    const Edge& edge = map.edges[e];
    const bool forward = edge.a == room;
    walk.push_back(std::string("go ") + kDirections[forward ? edge.direction : (edge.direction + 2) % 4]);
    room = forward ? edge.b : edge.a;
  }
  walk.push_back("take coin");
  return walk;
}

// Equal for equal mazes, in whatever order their rooms were drawn.
uint64_t hash_of(const Map& map, int coin_room) {
  uint64_t sum = 0;
  for (const Edge& edge : map.edges) sum += mixed({1, map.edge_id(edge), 0});
  sum += mixed({4, mixed({0, 0, 0}), 0, map.room_id(coin_room)});
  return mix64(mixed({sum, map.room_id(0)}) ^ 0x636F696Eull);
}

}  // namespace

GeneratedGame coinhunt(const CoinhuntParams& params, uint64_t seed, uint32_t index) {
  check_range("rooms", params.rooms, 3, 200);
  check_range("min_oracle", params.min_oracle, 2, 60);
  check_range("max_oracle", params.max_oracle, params.min_oracle, 1000);
  check_range("max_episode_steps", params.max_episode_steps, 1, 100000);
  const int32_t longest = std::min(params.max_oracle, params.max_episode_steps);
  const std::vector<int> alike(static_cast<size_t>(params.rooms), 0);
  for (uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    Dice dice(seed, index, attempt);
    const Map map = Map::sample(dice, alike, kWinding);
    const std::vector<int> ends = dead_ends(map);
    if (ends.size() < 2) continue;  // a corridor without a second dead end needs no search
    const int coin_room = dice.pick(ends);
    const std::vector<std::string> walk = walk_to(map, coin_room);
    const auto length = static_cast<int32_t>(walk.size());
    if (length < params.min_oracle || length > longest) continue;
    GeneratedGame game;
    game.layout_hash = hash_of(map, coin_room);
    CoinhuntEmitter(map, coin_room, game.source)
        .run("coinhunt-" + std::to_string(seed) + "-" + std::to_string(index), params.max_episode_steps);
    const Told told{"coinhunt-v0", "find the coin and take it", walk, game.source.max_score, seed, index};
    game.source.extra_json = extra_json(told, params, kCoinhuntNumbers);
    return game;
  }
  fail_to_find("maze", params.min_oracle, longest);
}

std::vector<std::string> coinhunt_texts() { return shared_texts(); }

}  // namespace ae::logic
