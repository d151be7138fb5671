// The compiled form on hand-written programs: every operator, effects, axioms, the tree, quests, text; one lane and 32.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "api.h"
#include "core/rng.h"
#include "lanes.h"
#include "logic/render.h"

using namespace ae;
using namespace ae::logic;

namespace {

struct Bytes {
  std::vector<uint64_t> words;
  size_t size;
  Program program;
  explicit Bytes(const std::vector<uint8_t>& bytes) : words(bytes.size() / 8 + 1), size(bytes.size()) {
    std::memcpy(words.data(), bytes.data(), size);
    program = decode(reinterpret_cast<const uint8_t*>(words.data()), size);
  }
};

struct Row {
  alignas(64) uint8_t bytes[4096] = {};
  RowHeader* header() { return reinterpret_cast<RowHeader*>(bytes); }
  World world(const Program& p) { return world_of(header(), p); }
  explicit Row(const Program& p) { begin_episode(SerialGroup{}, header(), p, p.header->row_bytes); }
};

int32_t literal(Ground& g, const std::string& text) {
  g.literals.push_back(text);
  return static_cast<int32_t>(g.literals.size()) - 1;
}

int32_t text(Ground& g, std::vector<Instruction> code) {
  g.programs.push_back({std::move(code)});
  return static_cast<int32_t>(g.programs.size()) - 1;
}

int32_t say(Ground& g, const std::string& words) { return text(g, {{Op::kLit, literal(g, words), 0, 0, 0}}); }

// Two flags, a counter; one action per name with the condition under test.
Ground base() {
  Ground g;
  g.name = "hand-written";
  g.num_flags = 3;  // f0, f1, and the quest's done flag
  g.num_vars = 1;
  g.init_values = {0, 1, 0, 5};
  g.types = {{"thing", {}}};
  g.rule_names = {"rule"};
  g.texts.start = say(g, "start");
  g.texts.invalid = say(g, "invalid");
  g.texts.frame = text(g, {{Op::kCallEvent, 0, 0, 0, 0}});
  return g;
}

GroundAction action(Ground& g, const std::string& command, Disjunction when, std::vector<Effect> effects = {}) {
  GroundAction a;
  a.command = command;
  a.when = std::move(when);
  GroundOutcome outcome;
  outcome.when = {{}};
  outcome.effects = std::move(effects);
  outcome.text = say(g, command);
  a.outcomes = {outcome};
  return a;
}

std::vector<std::string> admitted(const Program& p, Row& row) {
  std::vector<std::string> out;
  for_each_admissible(SerialGroup{}, p, row.world(p),
                      [&](uint32_t, const Slot& c) { out.emplace_back(p.command(c.command)); });
  return out;
}

void take(const Program& p, Row& row, const std::string& command) {
  for (uint32_t c = 0; c < p.num_commands(); ++c)
    if (p.command(c) == command) {
      const uint32_t which = action_of_command(SerialGroup{}, p, row.world(p), c);
      REQUIRE(which != kNone32);
      act(p, *row.header(), row.world(p), which);
      return;
    }
  FAIL("no command " << command);
}

std::string shown(const Program& p, Row& row) {
  std::vector<uint8_t> bytes(p.header->max_text);
  const SerialGroup group;
  Writer<SerialGroup> writer{group, bytes.data(), static_cast<uint32_t>(bytes.size()), nullptr, 0};
  const TokenTable none{};
  render(p, *row.header(), row.world(p), none, number_text(), TextMode::kTracked, writer);
  CHECK(writer.overflow == 0);
  return {bytes.begin(), bytes.begin() + writer.text_size};
}

}  // namespace

TEST_CASE("every comparison operator admits exactly the states it should") {
  const struct {
    CompareOp op;
    int32_t var, value;
    bool holds;
  } cases[] = {
      {CompareOp::kSet, 0, 0, false},          {CompareOp::kSet, 1, 0, true},
      {CompareOp::kClear, 0, 0, true},         {CompareOp::kClear, 1, 0, false},
      {CompareOp::kEqual, 3, 5, true},         {CompareOp::kEqual, 3, 4, false},
      {CompareOp::kNotEqual, 3, 5, false},     {CompareOp::kNotEqual, 3, 4, true},
      {CompareOp::kLessEqual, 3, 5, true},     {CompareOp::kLessEqual, 3, 4, false},
      {CompareOp::kLessEqual, 3, 6, true},     {CompareOp::kGreaterEqual, 3, 5, true},
      {CompareOp::kGreaterEqual, 3, 6, false}, {CompareOp::kGreaterEqual, 3, 4, true},
      {CompareOp::kEqual, 1, 1, true},         {CompareOp::kNotEqual, 0, 1, true},
      {CompareOp::kLessEqual, 3, -1, false},   {CompareOp::kGreaterEqual, 3, -7, true},
  };
  for (const auto& c : cases) {
    Ground g = base();
    g.actions = {action(g, "go", {{{c.var, c.op, c.value}}})};
    const Bytes b(emit(g));
    Row row(b.program);
    CAPTURE(static_cast<int>(c.op));
    CAPTURE(c.value);
    CHECK(admitted(b.program, row).size() == (c.holds ? 1 : 0));
  }
}

TEST_CASE("a disjunction holds if one of its conjunctions does, and long conjunctions are read to the end") {
  Ground g = base();
  const Condition no{0, CompareOp::kSet, 0}, yes{1, CompareOp::kSet, 0}, five{3, CompareOp::kEqual, 5};
  g.actions = {action(g, "either", {{no}, {yes, five}}),
               action(g, "neither", {{no}, {yes, no}}),
               action(g, "long", {{yes, yes, yes, yes, yes, five}}),
               action(g, "long but one", {{yes, yes, yes, yes, yes, no}}),
               action(g, "always", {{}}),
               action(g, "mixed", {{five, yes}})};
  const Bytes b(emit(g));
  Row row(b.program);
  CHECK(admitted(b.program, row) == std::vector<std::string>{"always", "either", "long", "mixed"});
}

TEST_CASE("effects assign, add, saturate, and read their conditions before any of them takes place") {
  Ground g = base();
  const Conjunction f0{{0, CompareOp::kSet, 0}}, f1{{1, CompareOp::kSet, 0}};
  g.actions = {action(g, "swap", {{}}, {{0, false, 1, f1}, {1, false, 0, f1}, {1, false, 1, f0}, {0, false, 0, f0}}),
               action(g, "add", {{}}, {{3, true, 20000, {}}}), action(g, "sub", {{}}, {{3, true, -20000, {}}}),
               action(g, "put", {{}}, {{3, false, -3, {}}})};
  const Bytes b(emit(g));
  Row row(b.program);
  const World world = row.world(b.program);
  const auto value = [&](uint32_t v) { return world.value(v + 1); };
  take(b.program, row, "swap");
  CHECK(value(0) == 1);
  CHECK(value(1) == 0);
  take(b.program, row, "swap");
  CHECK(value(0) == 0);
  CHECK(value(1) == 1);
  take(b.program, row, "add");
  CHECK(value(3) == 20005);
  take(b.program, row, "add");
  CHECK(value(3) == 32767);
  for (int i = 0; i < 4; ++i) take(b.program, row, "sub");
  CHECK(value(3) == -32768);
  take(b.program, row, "put");
  CHECK(value(3) == -3);
}

TEST_CASE("world_hash is a function of the facts: kept incrementally, equal when the facts are") {
  Ground g = base();
  g.actions = {action(g, "set", {{}}, {{0, false, 1, {}}}), action(g, "clear", {{}}, {{0, false, 0, {}}}),
               action(g, "up", {{}}, {{3, true, 1, {}}}), action(g, "down", {{}}, {{3, true, -1, {}}})};
  const Bytes b(emit(g));
  Row row(b.program);
  const uint64_t start = row.header()->world_hash;
  std::map<std::pair<int, int>, uint64_t> seen;
  for (uint32_t i = 0; i < 400; ++i) {
    const Philox draw = philox4x32(7, i, 0, 0, 0);
    const char* names[] = {"set", "clear", "up", "down"};
    take(b.program, row, names[draw.v[0] % 4]);
    const World world = row.world(b.program);
    const auto [at, is_new] = seen.try_emplace({world.value(1), world.value(4)}, row.header()->world_hash);
    CHECK(at->second == row.header()->world_hash);
  }
  CHECK(seen.size() > 10);
  CHECK(seen.at({0, 5}) == start);
  std::map<uint64_t, int> hashes;
  for (const auto& [facts, hash] : seen) ++hashes[hash];
  CHECK(hashes.size() == seen.size());
}

TEST_CASE("axioms run in order after every action, so a later one sees what an earlier one derived") {
  Ground g = base();
  g.num_flags = 5;
  g.init_values = {0, 1, 0, 0, 0, 5};
  g.axioms = {{3, {{{0, CompareOp::kSet, 0}}}}, {4, {{{3, CompareOp::kSet, 0}, {5, CompareOp::kGreaterEqual, 5}}}}};
  g.actions = {action(g, "set", {{}}, {{0, false, 1, {}}}), action(g, "clear", {{}}, {{0, false, 0, {}}}),
               action(g, "derived", {{{4, CompareOp::kSet, 0}}})};
  const Bytes b(emit(g));
  Row row(b.program);
  CHECK(admitted(b.program, row) == std::vector<std::string>{"clear", "set"});
  take(b.program, row, "set");
  CHECK(admitted(b.program, row) == std::vector<std::string>{"clear", "derived", "set"});
  take(b.program, row, "clear");
  CHECK(admitted(b.program, row) == std::vector<std::string>{"clear", "set"});
}

TEST_CASE("outcomes are tried in order and a refusing one changes nothing") {
  Ground g = base();
  GroundAction a = action(g, "cook", {{}}, {{0, false, 1, {}}});
  GroundOutcome guard;
  guard.when = {{{1, CompareOp::kSet, 0}}};
  guard.text = say(g, "not yet");
  guard.counts_as_move = false;
  a.outcomes.insert(a.outcomes.begin(), guard);
  g.actions = {a, action(g, "ready", {{}}, {{1, false, 0, {}}})};
  const Bytes b(emit(g));
  Row row(b.program);
  take(b.program, row, "cook");
  CHECK(shown(b.program, row) == "not yet");
  CHECK(row.header()->moves == 0);
  CHECK(row.header()->turns == 1);
  CHECK(!row.world(b.program).flag(1));
  take(b.program, row, "ready");
  take(b.program, row, "cook");
  CHECK(shown(b.program, row) == "cook");
  CHECK(row.world(b.program).flag(1));
}

TEST_CASE("quests: fail before win, score once, the game is won when all that are needed are done") {
  Ground g = base();
  g.num_flags = 4;
  g.init_values = {0, 1, 0, 0, 5};
  g.quests = {{2, {}, {{{0, CompareOp::kSet, 0}}}, 3, false, false, true},
              {3, {{{4, CompareOp::kEqual, 9}}}, {{{4, CompareOp::kEqual, 7}}}, 2, true, true, true}};
  g.actions = {action(g, "win", {{}}, {{0, false, 1, {}}}), action(g, "seven", {{}}, {{4, false, 7, {}}}),
               action(g, "nine", {{}}, {{4, false, 9, {}}})};
  const Bytes b(emit(g));
  Row row(b.program);
  take(b.program, row, "seven");
  CHECK(row.header()->score == 2.0f);
  take(b.program, row, "seven");  // repeatable
  CHECK(row.header()->score == 4.0f);
  Row lost = row;
  take(b.program, lost, "nine");
  CHECK((lost.header()->flags & (kLost | kTerminated)) == (kLost | kTerminated));
  CHECK((lost.header()->flags & kWon) == 0);
  take(b.program, row, "win");
  CHECK(row.header()->score == 9.0f);
  CHECK((row.header()->flags & (kWon | kTerminated)) == (kWon | kTerminated));
}

namespace {

// Boxes and balls: `wide` adds so many balls that ids take two bytes.
Ground boxes(uint32_t balls) {
  Ground g = base();
  for (uint32_t i = 0; i < 2 + balls; ++i) {
    Object o;
    o.id = (i < 2 ? "box" : "ball") + std::to_string(i);
    o.name = o.id;
    o.object_class = i < 2 ? 2 : 1;
    g.objects.push_back(o);
    if (i < 2) g.containers.push_back(static_cast<int32_t>(i));
    else {
      g.movables.push_back(static_cast<int32_t>(i));
      g.init_children.push_back({static_cast<int32_t>(i), 0});
    }
  }
  const int32_t list = text(g, {{Op::kUnlessAny, 0, 1, 3, 0},
                                {Op::kLit, literal(g, "In: "), 0, 0, 0},
                                {Op::kList, 0, 1, 0, 0},
                                {Op::kEnd, 0, 0, 0, 0}});
  g.texts.frame = list;
  for (uint32_t i = 2; i < 2 + balls; ++i) {
    for (int32_t to = 0; to < 2; ++to) {
      GroundAction a = action(g, "move " + std::to_string(i) + (to == 0 ? " home" : " away"), {{}});
      a.outcomes[0].moves = {{static_cast<int32_t>(i), 1 - to, to}};
      g.actions.push_back(a);
    }
  }
  return g;
}

}  // namespace

TEST_CASE("the tree lists the most recently moved first, with one-byte and with two-byte ids") {
  for (const uint32_t balls : {3u, 300u}) {
    const Bytes b(emit(boxes(balls)));
    CHECK(b.program.header->id_bytes == (balls == 3 ? 1 : 2));
    Row row(b.program);
    const std::string before = shown(b.program, row);
    if (balls == 3) CHECK(before == "In: a ball4, a ball3 and a ball2");
    take(b.program, row, "move 3 away");
    if (balls == 3) CHECK(shown(b.program, row) == "In: a ball4 and a ball2");
    take(b.program, row, "move 2 away");
    take(b.program, row, "move 2 home");
    if (balls == 3) CHECK(shown(b.program, row) == "In: a ball2 and a ball4");
    CHECK(shown(b.program, row).starts_with("In: a ball2"));
    take(b.program, row, "move 3 home");
    CHECK(shown(b.program, row).starts_with("In: a ball3"));
    CHECK(shown(b.program, row).size() == before.size());
  }
}

TEST_CASE("32 emulated lanes compute what one lane computes: admissible set, chosen action, text and tokens") {
  Ground g = boxes(40);
  for (int32_t i = 0; i < 90; ++i) {  // more candidates than lanes, some shadowed, some that do not hold
    const Condition c{1, i % 3 == 0 ? CompareOp::kClear : CompareOp::kSet, 0};
    g.actions.push_back(action(g, "act " + std::to_string(i / 2), {{c}}));
  }
  const Bytes b(emit(g));
  const Program& p = b.program;
  std::vector<std::string_view> views{{reinterpret_cast<const char*>(b.words.data()), b.size}};
  const Bank bank(views);
  const Vocabulary vocabulary(bank_words(bank));
  const BoundCodec codec(bank, vocabulary, 0xFF);
  test::Warp<32> warp;
  Row row(p);
  for (uint32_t step = 0; step < 12; ++step) {
    std::vector<uint32_t> one, many(4096, kNone32);
    const uint32_t found = for_each_admissible(SerialGroup{}, p, row.world(p), [&](uint32_t, const Slot& c) {
      one.push_back(slot_action(p, row.world(p), c));
    });
    uint32_t found_many = 0, chosen = 0;
    const uint32_t index = philox4x32(step, 0, 0, 0, 0).v[0] % found;
    std::vector<uint8_t> text_one(4096), text_many(4096);
    std::vector<int32_t> tokens_one(4096), tokens_many(4096);
    uint32_t sizes[2] = {0, 0};
    warp.run([&](const test::Warp<32>::Group& group) {
      const uint32_t n = for_each_admissible(
          group, p, row.world(p), [&](uint32_t k, const Slot& c) { many[k] = slot_action(p, row.world(p), c); });
      const uint32_t action = action_at(group, p, row.world(p), index);
      Writer<test::Warp<32>::Group> writer{group, text_many.data(), 4096, tokens_many.data(), 4096};
      render(p, *row.header(), row.world(p), codec.table(0), number_text(), TextMode::kTracked, writer);
      if (group.lane() == 0) {
        found_many = n;
        chosen = action;
        sizes[0] = writer.text_size;
        sizes[1] = writer.token_count;
      }
    });
    many.resize(found_many);
    CHECK(many == one);
    CHECK(chosen == one[index]);
    CHECK(action_at(SerialGroup{}, p, row.world(p), index) == one[index]);
    CHECK(action_at(SerialGroup{}, p, row.world(p), found) == kNone32);
    const SerialGroup group;
    Writer<SerialGroup> writer{group, text_one.data(), 4096, tokens_one.data(), 4096};
    render(p, *row.header(), row.world(p), codec.table(0), number_text(), TextMode::kTracked, writer);
    CHECK(writer.text_size == sizes[0]);
    CHECK(writer.token_count == sizes[1]);
    CHECK(text_one == text_many);
    CHECK(tokens_one == tokens_many);
    act(p, *row.header(), row.world(p), one[index]);
  }
}

TEST_CASE("beginning an episode with 32 lanes writes the same bytes") {
  const Bytes b(emit(boxes(40)));
  Row one(b.program), many(b.program);
  std::memset(many.bytes + sizeof(RowHeader), 0xAB, b.program.header->row_bytes - sizeof(RowHeader));
  test::Warp<32> warp;
  warp.run([&](const test::Warp<32>::Group& group) {
    const World world = many.world(b.program);
    RowHeader header = *many.header();  // every lane has the header in its registers, as on a GPU
    begin(group, b.program, header, world);
    const uint32_t used = static_cast<uint32_t>(sizeof(RowHeader)) + b.program.header->world_bytes;
    group.fill(many.bytes + used, 0, b.program.header->row_bytes - used);
  });
  CHECK(std::memcmp(one.bytes, many.bytes, b.program.header->row_bytes) == 0);
}

TEST_CASE("Philox4x32-10 gives the published vectors (Random123 kat_vectors)") {
  const Philox zero = philox4x32(0, 0, 0, 0, 0);
  CHECK(zero.v[0] == 0x6627e8d5u);
  CHECK(zero.v[3] == 0x9b00dbd8u);
  const Philox ones = philox4x32(~0ull, ~0u, ~0u, ~0u, ~0u);
  CHECK(ones.v[0] == 0x408f276du);
  CHECK(ones.v[1] == 0x41c83b0eu);
  CHECK(ones.v[2] == 0xa20bc7c6u);
  CHECK(ones.v[3] == 0x6d5451fdu);
}

TEST_CASE("a task's permutation visits every game once, for any number of games") {
  for (const uint32_t games : {1u, 2u, 3u, 5u, 64u, 100u, 257u}) {
    std::vector<int> seen(games, 0);
    for (uint32_t i = 0; i < games; ++i) ++seen[permuted(i, games, 42, 7, 0)];
    for (const int times : seen) CHECK(times == 1);
  }
}

TEST_CASE("the decoder refuses bytes that a step could not trust") {
  const std::vector<uint8_t> good = emit(boxes(3));
  for (uint32_t i = 0; i < 4000; ++i) {  // one damaged word: refused, or safe to play
    std::vector<uint8_t> bytes = good;
    const Philox draw = philox4x32(99, i, 0, 0, 0);
    bytes[draw.v[0] % bytes.size()] ^= static_cast<uint8_t>(1u << (draw.v[1] % 8));
    std::vector<uint64_t> words(bytes.size() / 8 + 1);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    try {
      const Program p = decode(reinterpret_cast<const uint8_t*>(words.data()), bytes.size());
      if (p.header->row_bytes > 4096) continue;
      Row row(p);
      for (uint32_t step = 0; step < 5; ++step) {
        std::vector<uint32_t> actions;
        for_each_admissible(SerialGroup{}, p, row.world(p), [&](uint32_t, const Slot& c) {
          const uint32_t action = slot_action(p, row.world(p), c);
          if (action != kNone32) actions.push_back(action);
        });
        std::vector<uint8_t> out(65536);
        const SerialGroup group;
        Writer<SerialGroup> writer{group, out.data(), 65536, nullptr, 0};
        const TokenTable none{};
        render(p, *row.header(), row.world(p), none, number_text(), TextMode::kTracked, writer);
        if (actions.empty()) break;
        act(p, *row.header(), row.world(p), actions[draw.v[2] % actions.size()]);
      }
    } catch (const CompileError&) {
    }
  }
  for (size_t cut = 0; cut < good.size(); cut += 7) {
    std::vector<uint64_t> words(good.size() / 8 + 1);
    std::memcpy(words.data(), good.data(), cut);
    CHECK_THROWS_AS(decode(reinterpret_cast<const uint8_t*>(words.data()), cut), CompileError);
  }
}
