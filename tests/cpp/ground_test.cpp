// The grounder on hand-written sources: a two-room toy with a door, a key and a chest, and one source per rule of the
// translation. tests/logic/test_grounder.py compares it with textworld's own logic on real games.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "logic/program.h"
#include "logic/source.h"

using namespace ae::logic;

namespace {

// Builds sources by name, so that the tests read like the worlds they describe.
struct Builder {
  Source s;

  Builder() { s.name = "toy"; }
  int32_t type(const std::string& name, std::vector<int32_t> parents = {}) {
    s.types.push_back({name, std::move(parents)});
    return static_cast<int32_t>(s.types.size()) - 1;
  }
  int32_t object(const std::string& id, int32_t type) {
    Object o;
    o.id = o.name = id;
    o.type = type;
    s.objects.push_back(o);
    return static_cast<int32_t>(s.objects.size()) - 1;
  }
  int32_t predicate(const std::string& name, bool placement = false) {
    s.predicates.push_back({name, placement});
    return static_cast<int32_t>(s.predicates.size()) - 1;
  }
  Rule& rule(const std::string& name, std::vector<Parameter> parameters) {
    Rule r;
    r.name = name;
    r.parameters = std::move(parameters);
    r.command.push_back({name, -1});
    for (size_t p = 0; p < r.parameters.size(); ++p) {
      r.command.push_back({" ", -1});
      r.command.push_back({"", static_cast<int32_t>(p)});
    }
    s.rules.push_back(r);
    return s.rules.back();
  }
  void init(int32_t predicate, std::vector<int32_t> args) { s.init.push_back({predicate, std::move(args), false}); }
};

Atom atom(int32_t predicate, std::vector<int32_t> args) { return {predicate, std::move(args), false}; }
Atom never(int32_t predicate, std::vector<int32_t> args) { return {predicate, std::move(args), true}; }

// Two rooms, a locked door between them; the key lies in a closed chest in the first room.
struct TwoRooms : Builder {
  int32_t thing = type("thing"), room = type("room"), item = type("item", {thing}), box = type("box", {thing});
  int32_t player = object("P", thing), bag = object("I", thing), hall = object("hall", room),
          cellar = object("cellar", room);
  int32_t key = object("key", item), chest = object("chest", box), attic = object("attic", room);
  int32_t at = predicate("at", true), in = predicate("in", true), open = predicate("open"),
          closed = predicate("closed");
  int32_t link = predicate("link"), locked = predicate("locked");

  TwoRooms() {
    s.place_predicate = at;
    s.player = player;
    s.inventory = bag;
    init(at, {player, hall});
    init(at, {chest, hall});
    init(in, {key, chest});
    init(closed, {chest});
    init(link, {hall, cellar});
    init(link, {cellar, hall});
    init(locked, {cellar});
    Rule& go = rule("go", {{thing, player}, {room, -1}, {room, -1}});  // P, from, to
    go.preconditions = {atom(at, {0, 1}), atom(link, {1, 2}), never(locked, {2})};
    go.adds = {atom(at, {0, 2})};
    go.deletes = {atom(at, {0, 1})};
    Rule& lift = rule("lift", {{thing, player}, {room, -1}, {box, -1}});
    lift.preconditions = {atom(at, {0, 1}), atom(at, {2, 1}), atom(closed, {2})};
    lift.adds = {atom(open, {2})};
    lift.deletes = {atom(closed, {2})};
    Rule& take = rule("take", {{thing, player}, {room, -1}, {box, -1}, {item, -1}, {thing, bag}});
    take.preconditions = {atom(at, {0, 1}), atom(at, {2, 1}), atom(open, {2}), atom(in, {3, 2})};
    take.adds = {atom(in, {3, 4})};
    take.deletes = {atom(in, {3, 2})};
    take.operands = {3, 2};
    Rule& unlock = rule("unlock", {{thing, player}, {room, -1}, {room, -1}, {item, -1}, {thing, bag}});
    unlock.preconditions = {atom(at, {0, 1}), atom(link, {1, 2}), atom(locked, {2}), atom(in, {3, 4})};
    unlock.deletes = {atom(locked, {2})};
    s.quests.push_back({{}, {{atom(at, {player, cellar})}}, 1, false, false});
  }
};

std::vector<std::string> commands(const Ground& g) {
  std::vector<std::string> out;
  for (const GroundAction& action : g.actions) out.push_back(action.command);
  return out;
}
int32_t flag(const Ground& g, const std::string& name) {
  const auto at = std::find(g.fluent_names.begin(), g.fluent_names.end(), name);
  REQUIRE_MESSAGE(at != g.fluent_names.end(), name);
  return static_cast<int32_t>(at - g.fluent_names.begin());
}
const GroundAction& action(const Ground& g, const std::string& command) {
  const auto at =
      std::find_if(g.actions.begin(), g.actions.end(), [&](const GroundAction& a) { return a.command == command; });
  REQUIRE_MESSAGE(at != g.actions.end(), command);
  return *at;
}
std::string refused(const Source& source, const GroundLimits& limits = {}) {
  try {
    ground(source, limits);
  } catch (const CompileError& error) {
    return error.message;
  }
  return "accepted";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the two-room toy: exactly the actions that can ever happen, by rule and then by binding") {
  const Ground g = ground(TwoRooms().s);
  CHECK(commands(g) == std::vector<std::string>{"go P hall cellar", "go P cellar hall", "lift P hall chest",
                                                "take P hall chest key I", "unlock P hall cellar key I"});
  CHECK(g.places == std::vector<int32_t>{2, 3});  // the attic is never reached
  CHECK(g.has_place);
  CHECK(g.init_values.back() == 0);
}

TEST_CASE("facts that never change vanish, facts that do become flags with their first value") {
  const Ground g = ground(TwoRooms().s);
  CHECK(g.static_facts == std::vector<std::string>{"at(chest, hall)", "link(hall, cellar)", "link(cellar, hall)"});
  CHECK(std::set<std::string>(g.fluent_names.begin(), g.fluent_names.end()) ==
        std::set<std::string>{"in(key, chest)", "in(key, I)", "closed(chest)", "open(chest)", "locked(cellar)",
                              "done(quest0)"});
  CHECK(g.init_values[static_cast<size_t>(flag(g, "closed(chest)"))] == 1);
  CHECK(g.init_values[static_cast<size_t>(flag(g, "open(chest)"))] == 0);
  const GroundAction& take = action(g, "take P hall chest key I");
  CHECK(take.place == 0);
  CHECK(take.when ==
        Disjunction{{{flag(g, "open(chest)"), CompareOp::kSet, 0}, {flag(g, "in(key, chest)"), CompareOp::kSet, 0}}});
  CHECK(take.operands == std::vector<int32_t>{4, 5});
}

TEST_CASE("the player's place is a variable: condition, assignment, and a comparison in quests") {
  const Ground g = ground(TwoRooms().s);
  const GroundAction& go = action(g, "go P hall cellar");
  CHECK(go.place == 0);
  CHECK(go.when == Disjunction{{{flag(g, "locked(cellar)"), CompareOp::kClear, 0}}});
  CHECK(go.outcomes.at(0).effects == std::vector<Effect>{{g.num_flags, false, 1, {}}});
  CHECK(go.outcomes.at(0).moves.empty());
  CHECK(g.quests.at(0).win == Disjunction{{{g.num_flags, CompareOp::kEqual, 1}}});
  CHECK(g.quests.at(0).done_var == flag(g, "done(quest0)"));
}

TEST_CASE("placements move a child from where the action takes it, to the front of where it goes") {
  const Ground g = ground(TwoRooms().s);
  CHECK(action(g, "take P hall chest key I").outcomes.at(0).moves == std::vector<Move>{{4, 5, 1}});
  CHECK(g.init_children == std::vector<std::pair<int32_t, int32_t>>{{5, 2}, {4, 5}});
  CHECK(g.movables == std::vector<int32_t>{4, 5});
  CHECK(g.containers == std::vector<int32_t>{1, 2, 5});
}

TEST_CASE("a placement that is deleted and not added leaves the tree, one that is only added comes from nowhere") {
  TwoRooms t;
  Rule& eat = t.rule("eat", {{t.item, -1}, {t.thing, t.bag}});
  eat.preconditions = {atom(t.in, {0, 1})};
  eat.deletes = {atom(t.in, {0, 1})};
  Rule& conjure = t.rule("conjure", {{t.item, -1}, {t.box, -1}});
  conjure.adds = {atom(t.in, {0, 1})};
  const Ground g = ground(t.s);
  CHECK(action(g, "eat key I").outcomes.at(0).moves == std::vector<Move>{{4, 1, -1}});
  CHECK(action(g, "conjure key chest").outcomes.at(0).moves == std::vector<Move>{{4, -1, 5}});
}

TEST_CASE("the order of rules and init facts decides the numbers, nothing else does: two runs are equal") {
  const auto bytes = emit(ground(TwoRooms().s));
  for (int i = 0; i < 3; ++i) CHECK(emit(ground(TwoRooms().s)) == bytes);
}

TEST_CASE("distinct parameters bind distinct objects, the same parameter the same one") {
  Builder b;
  const int32_t t = b.type("t"), near = b.predicate("near");
  const int32_t x = b.object("x", t), y = b.object("y", t);
  b.init(near, {x, x});
  b.init(near, {x, y});
  b.rule("two", {{t, -1}, {t, -1}}).preconditions = {atom(near, {0, 1})};
  b.rule("one", {{t, -1}}).preconditions = {atom(near, {0, 0})};
  b.rule("with x", {{t, x}, {t, -1}}).preconditions = {atom(near, {0, 1})};
  CHECK(commands(ground(b.s)) == std::vector<std::string>{"two x y", "one x", "with x x y"});
}

TEST_CASE("types: a parameter takes its type's objects and those of every type below it") {
  Builder b;
  const int32_t top = b.type("top"), left = b.type("left", {top}), right = b.type("right", {top});
  const int32_t both = b.type("both", {left, right}), apart = b.type("apart");
  const int32_t is = b.predicate("is");
  for (const auto& [id, type] : {std::pair{"a", top}, {"b", left}, {"c", both}, {"d", apart}})
    b.init(is, {b.object(id, type)});
  for (const auto& [name, type] : {std::pair{"top", top}, {"left", left}, {"right", right}, {"apart", apart}})
    b.rule(name, {{type, -1}}).preconditions = {atom(is, {0})};
  CHECK(commands(ground(b.s)) ==
        std::vector<std::string>{"top a", "top b", "top c", "left b", "left c", "right c", "apart d"});
}

TEST_CASE("parameters that no precondition binds range over their type") {
  Builder b;
  const int32_t t = b.type("t"), u = b.type("u");
  b.object("a", t);
  b.object("b", u);
  b.object("c", t);
  b.rule("pick", {{t, -1}, {t, -1}});
  CHECK(commands(ground(b.s)) == std::vector<std::string>{"pick a c", "pick c a"});
}

TEST_CASE("negated preconditions: possible unless the fact holds for ever") {
  Builder b;
  const int32_t t = b.type("t"), x = b.object("x", t), y = b.object("y", t), z = b.object("z", t);
  const int32_t lit = b.predicate("lit"), fixed = b.predicate("fixed"), unknown = b.predicate("unknown");
  b.init(lit, {x});
  b.init(fixed, {y});
  b.init(lit, {y});
  Rule& out = b.rule("out", {{t, x}});
  out.preconditions = {atom(lit, {0})};
  out.deletes = {atom(lit, {0})};
  b.rule("see", {{t, -1}}).preconditions = {never(fixed, {0}), never(lit, {0}), never(unknown, {0})};
  const Ground g = ground(b.s);
  CHECK(commands(g) == std::vector<std::string>{"out x", "see x", "see z"});  // y is fixed, and lit for ever
  CHECK(action(g, "see x").when == Disjunction{{{flag(g, "lit(x)"), CompareOp::kClear, 0}}});
  CHECK(action(g, "see z").when == Disjunction{{}});
  CHECK(z == 2);
}

TEST_CASE("chains: what one action adds another needs, through several rules and in any order of declaration") {
  Builder b;
  const int32_t t = b.type("t"), next = b.predicate("next"), here = b.predicate("here");
  std::vector<int32_t> cells;
  for (int i = 0; i < 30; ++i) cells.push_back(b.object("c" + std::to_string(i), t));
  Rule& step = b.rule("step", {{t, -1}, {t, -1}});
  step.preconditions = {atom(next, {0, 1}), atom(here, {0})};
  step.adds = {atom(here, {1})};
  step.deletes = {atom(here, {0})};
  for (size_t i = 0; i + 1 < cells.size(); ++i) b.init(next, {cells[i], cells[i + 1]});
  b.init(here, {cells[3]});
  CHECK(ground(b.s).actions.size() == 26);
}

TEST_CASE("joins over two changing facts find each instance once") {
  Builder b;
  const int32_t t = b.type("t"), has = b.predicate("has"), made = b.predicate("made");
  for (int i = 0; i < 5; ++i) b.object("o" + std::to_string(i), t);
  b.rule("get", {{t, -1}}).adds = {atom(has, {0})};
  Rule& join = b.rule("join", {{t, -1}, {t, -1}});
  join.preconditions = {atom(has, {0}), atom(has, {1})};
  join.adds = {atom(made, {0, 1})};
  Rule& three = b.rule("three", {{t, -1}, {t, -1}, {t, -1}});
  three.preconditions = {atom(made, {0, 1}), atom(made, {1, 2}), atom(has, {0})};
  const Ground g = ground(b.s);
  CHECK(g.actions.size() == 5 + 5 * 4 + 5 * 4 * 3);
  const std::vector<std::string> all = commands(g);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
}

TEST_CASE("bindings that differ in nothing that is left become one action") {
  Builder b;
  const int32_t t = b.type("t"), x = b.object("x", t), y = b.object("y", t), z = b.object("z", t);
  const int32_t by = b.predicate("by"), on = b.predicate("on");
  b.init(by, {x, y});
  b.init(by, {x, z});
  Rule& press = b.rule("press", {{t, -1}, {t, -1}});
  press.preconditions = {atom(by, {0, 1})};
  press.adds = {atom(on, {0})};
  press.command = {{"press", -1}};
  CHECK(commands(ground(b.s)) == std::vector<std::string>{"press"});
  b.s.rules[0].operands = {1};  // the texts can tell them apart now
  CHECK(commands(ground(b.s)) == std::vector<std::string>{"press", "press"});
}

TEST_CASE("an action that would need two places at once, or a fact and its absence, is dropped") {
  TwoRooms t;
  t.rule("nowhere", {{t.thing, t.player}, {t.room, t.hall}, {t.room, t.cellar}}).preconditions = {atom(t.at, {0, 1}),
                                                                                                  atom(t.at, {0, 2})};
  t.rule("both", {{t.box, -1}}).preconditions = {atom(t.open, {0}), never(t.open, {0})};
  t.rule("here", {{t.thing, t.player}, {t.room, t.hall}, {t.room, t.cellar}}).preconditions = {atom(t.at, {0, 1}),
                                                                                               never(t.at, {0, 2})};
  const Ground g = ground(t.s);
  CHECK(commands(g).size() == 6);
  CHECK(action(g, "here P hall cellar").place == 0);
  CHECK(action(g, "here P hall cellar").when == Disjunction{{}});
}

TEST_CASE("outcomes: those that can never be are dropped, those behind one that always holds too") {
  TwoRooms t;
  Rule& look = t.rule("look", {{t.room, t.hall}, {t.room, t.cellar}, {t.room, t.attic}});
  Outcome impossible, sometimes, always, behind;
  impossible.conditions = {atom(t.link, {0, 2})};
  sometimes.conditions = {atom(t.locked, {1}), atom(t.link, {0, 1})};
  sometimes.applies = false;
  sometimes.turn_passes = false;
  always.conditions = {atom(t.link, {0, 1})};
  look.outcomes = {impossible, sometimes, always, behind};
  const Ground g = ground(t.s);
  const std::vector<GroundOutcome>& out = action(g, "look hall cellar attic").outcomes;
  REQUIRE(out.size() == 2);
  CHECK(out[0].when == Disjunction{{{flag(g, "locked(cellar)"), CompareOp::kSet, 0}}});
  CHECK(!out[0].turn_passes);
  CHECK(!out[0].counts_as_move);
  CHECK(out[1].when == Disjunction{{}});
}

TEST_CASE("an outcome that does not apply has neither effects nor moves") {
  TwoRooms t;
  Outcome no;
  no.applies = false;
  t.s.rules[2].outcomes = {no};  // take
  const GroundOutcome out = action(ground(t.s), "take P hall chest key I").outcomes.at(0);
  CHECK(out.effects.empty());
  CHECK(out.moves.empty());
}

TEST_CASE("quests: events that can never be vanish, but are remembered; those that always hold stay as such") {
  TwoRooms t;
  t.s.quests = {{{{atom(t.at, {t.player, t.attic})}},
                 {{atom(t.link, {t.hall, t.attic})}, {atom(t.open, {t.chest}), atom(t.link, {t.hall, t.cellar})}},
                 2,
                 true,
                 false},
                {{}, {{atom(t.link, {t.hall, t.attic})}}, 0, false, true},
                {{}, {{atom(t.link, {t.hall, t.cellar})}}, 0, false, false}};
  const Ground g = ground(t.s);
  CHECK(g.quests[0].fail.empty());
  CHECK(g.quests[0].win == Disjunction{{{flag(g, "open(chest)"), CompareOp::kSet, 0}}});
  CHECK(g.quests[0].optional);
  CHECK(g.quests[1].win.empty());
  CHECK(g.quests[1].has_win_events);
  CHECK(g.quests[1].repeatable);
  CHECK(g.quests[2].win == Disjunction{{}});
}

TEST_CASE("texts: conditions on facts become comparisons, jumps, or nothing; every jump still lands where it did") {
  TwoRooms t;
  t.s.literals = {"x"};
  TextProgram text;
  text.facts = {atom(t.open, {t.chest}),          atom(t.link, {t.hall, t.cellar}), atom(t.link, {t.hall, t.attic}),
                atom(t.at, {t.player, t.cellar}), never(t.open, {t.chest}),         atom(t.at, {t.player, t.attic})};
  for (int32_t f = 0; f < 6; ++f) text.code.push_back({Op::kUnlessFact, f, 0, 7, 0});
  text.code.push_back({Op::kLit, 0, 0, 0, 0});
  text.code.push_back({Op::kEnd, 0, 0, 0, 0});
  t.s.programs = {text};
  const Ground g = ground(t.s);
  const auto& code = g.programs.at(0).code;
  REQUIRE(code.size() == 8);
  const auto is = [&](size_t i, Op op, int32_t a, CompareOp b, int32_t c, int32_t value) {
    CAPTURE(i);
    CHECK(code[i].op == op);
    CHECK(code[i].a == a);
    CHECK(code[i].b == static_cast<int32_t>(b));
    CHECK(code[i].c == c);
    CHECK(code[i].value == value);
  };
  is(0, Op::kUnless, flag(g, "open(chest)"), CompareOp::kSet, 7, 0);
  is(1, Op::kJump, 0, CompareOp::kSet, 2, 0);
  is(2, Op::kJump, 0, CompareOp::kSet, 7, 0);
  is(3, Op::kUnless, g.num_flags, CompareOp::kEqual, 7, 1);
  is(4, Op::kUnless, flag(g, "open(chest)"), CompareOp::kClear, 7, 0);
  is(5, Op::kJump, 0, CompareOp::kSet, 7, 0);
}

TEST_CASE("a source without a place: facts alone") {
  TwoRooms t;
  t.s.place_predicate = t.s.player = t.s.inventory = -1;
  const Ground g = ground(t.s);
  CHECK(!g.has_place);
  CHECK(g.num_vars == 0);
  CHECK(flag(g, "at(P, hall)") >= 0);
  CHECK(action(g, "go P hall cellar").outcomes.at(0).moves == std::vector<Move>{{0, 2, 3}});
}

TEST_CASE("a wrong source is refused with the rule or fact and what was wrong") {
  const auto with = [](auto&& change) {
    TwoRooms t;
    change(t);
    return refused(t.s);
  };
  CHECK(with([](TwoRooms&) {}) == "accepted");
  CHECK(with([](TwoRooms& t) { t.s.types[0].parents = {2}; }) == "toy: type item is its own ancestor");
  CHECK(with([](TwoRooms& t) { t.s.types[0].parents = {9}; }) == "toy: type thing: parent 9 outside [0, 4)");
  CHECK(with([](TwoRooms& t) { t.s.objects[4].id = "P"; }) == "toy: two objects with the id 'P'");
  CHECK(with([](TwoRooms& t) { t.s.objects[4].type = -1; }) == "toy: object key: type -1 outside [0, 4)");
  CHECK(with([](TwoRooms& t) { t.s.objects[4].listed = 0; }) == "toy: object key: text program 0 outside [0, 0)");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].parameters[1].type = 4; }) ==
        "toy: rule go: parameter type 4 outside [0, 4)");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].parameters[0].constant = 70; }) ==
        "toy: rule go: constant 70 outside [0, 7)");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].parameters[1].constant = t.player; }) ==
        "toy: rule go: two parameters are P; parameters bind distinct objects");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].preconditions[1].args = {1}; }) ==
        "toy: rule unlock: preconditions: link takes 1 arguments elsewhere, got 2");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].preconditions[1].args = {1, 3}; }) ==
        "toy: rule go: preconditions: parameter 3 outside [0, 3)");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].adds[0].args = {0}; }) ==
        "toy: rule go: adds: at places a child in a container and so takes 2 arguments, got 1");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].deletes[0].negated = true; }) ==
        "toy: rule go: deletes: at is negated; adds and deletes are plain facts");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].preconditions[1].args.assign(8, 1); }) ==
        "toy: rule go: preconditions: link has 8 arguments, at most 7");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].preconditions.assign(65, atom(t.link, {1, 2})); }) ==
        "toy: rule go: preconditions: 65, at most 64");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].operands = {0, 1, 2, 0, 1}; }) == "toy: rule go: operands: 5, at most 4");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].command = {{"", 3}}; }) ==
        "toy: rule go: command parameter 3 outside [0, 3)");
  CHECK(with([](TwoRooms& t) {
          t.s.rules[0].outcomes.resize(1);
          t.s.rules[0].outcomes[0].text = 5;
        }) == "toy: rule go: outcome text 5 outside [0, 0)");
  CHECK(with([](TwoRooms& t) {
          t.s.rules[0].deletes = {};
          t.s.rules[0].adds.push_back(atom(t.at, {0, 1}));
        }) == "toy: rule go puts the player at two places");
  CHECK(with([](TwoRooms& t) { t.s.rules[0].adds = {}; }) ==
        "toy: rule go takes the player from a place and puts it nowhere");
  CHECK(with([](TwoRooms& t) {
          t.s.rules[3].outcomes.resize(1);
          t.s.rules[3].outcomes[0].conditions = {atom(t.link, {1, 1})};
        }) == "toy: rule unlock: 'unlock P hall cellar key I' has no outcome that can happen");
  CHECK(with([](TwoRooms& t) { t.init(t.in, {t.key, t.bag}); }) ==
        "toy: init: key is placed twice: in(key, chest) and in(key, I)");
  CHECK(with([](TwoRooms& t) { t.init(t.in, {t.key, t.chest}); }) == "accepted");  // the same fact again
  CHECK(with([](TwoRooms& t) { t.init(t.at, {t.player, t.cellar}); }) ==
        "toy: init: P is placed twice: at(P, hall) and at(P, cellar)");
  CHECK(with([](TwoRooms& t) { t.s.init.erase(t.s.init.begin()); }) == "toy: the player is nowhere at the start");
  CHECK(with([](TwoRooms& t) { t.s.init[3].negated = true; }) ==
        "toy: init[3]: closed is negated; facts that are not listed are false at the start");
  CHECK(with([](TwoRooms& t) { t.s.init[3].args = {70}; }) == "toy: init[3]: object 70 outside [0, 7)");
  CHECK(with([](TwoRooms& t) { t.s.quests[0].win_events[0][0].predicate = 6; }) ==
        "toy: quests[0]: predicate 6 outside [0, 6)");
  CHECK(with([](TwoRooms& t) { t.s.player = -1; }) == "toy: a place predicate but no player");
  CHECK(with([](TwoRooms& t) { t.s.texts.frame = 0; }) == "toy: texts 0 outside [0, 0)");
  CHECK(with([](TwoRooms& t) { t.s.programs = {{{{Op::kUnlessFact, 0, 0, 1, 0}}, {}}}; }) ==
        "toy: programs[0]: fact 0 outside [0, 0)");
  CHECK(with([](TwoRooms& t) { t.s.programs = {{{{Op::kNumber, 3, 0, 0, 0}}, {}}}; }) ==
        "toy: programs[0]: a text names facts, not variables");
}

TEST_CASE("limits: actions, changing facts and steps of work are bounded, and the rule is named") {
  Builder b;
  const int32_t t = b.type("t"), has = b.predicate("has");
  for (int i = 0; i < 50; ++i) b.object("o" + std::to_string(i), t);
  Rule& pair = b.rule("pair", {{t, -1}, {t, -1}});
  pair.adds = {atom(has, {0, 1})};
  CHECK(refused(b.s) == "accepted");
  CHECK(refused(b.s, {2449, 32000, 50000000}) == "toy: more than 2449 ground actions, the last in rule pair");
  CHECK(refused(b.s, {200000, 2449, 50000000}) == "toy: 2450 changing facts, at most 2449");
  CHECK(refused(b.s, {200000, 32000, 1000}) == "toy: grounding took more than 1000 steps, the last in rule pair");
}

TEST_CASE("hostile sources are refused in bounded time and memory") {
  const auto seconds = [](const Source& source, const std::string& wanted) {
    const auto began = std::chrono::steady_clock::now();
    const std::string message = refused(source);
    CHECK_MESSAGE(contains(message, wanted), message);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  Builder wide;  // eight free parameters over 300 objects
  const int32_t t = wide.type("t");
  for (int i = 0; i < 300; ++i) wide.object("o" + std::to_string(i), t);
  wide.rule("all", std::vector<Parameter>(8, Parameter{t, -1}));
  CHECK(seconds(wide.s, "more than 200000 ground actions, the last in rule all") < 20);

  Builder fruitless;  // a join that never succeeds
  const int32_t u = fruitless.type("u"), p = fruitless.predicate("p"), q = fruitless.predicate("q");
  for (int i = 0; i < 400; ++i) fruitless.object("o" + std::to_string(i), u);
  for (int i = 0; i < 400; ++i)
    for (int j = 0; j < 400; ++j) fruitless.init(p, {i, j});
  fruitless.rule("hopeless", {{u, -1}, {u, -1}, {u, -1}, {u, -1}}).preconditions = {atom(p, {0, 1}), atom(p, {1, 2}),
                                                                                    atom(p, {2, 3}), atom(q, {3})};
  fruitless.init(q, {0});
  fruitless.s.objects[0].type = fruitless.type("v");
  CHECK(seconds(fruitless.s, "accepted") < 20);  // q(0) does not fit the type, and is looked at first
  fruitless.s.rules[0].preconditions[3] = atom(p, {3, 0});
  CHECK(seconds(fruitless.s, "the last in rule hopeless") < 60);

  Builder names;  // a megabyte in every command
  const int32_t n = names.type("n");
  for (int i = 0; i < 200; ++i) names.object("o" + std::to_string(i), n);
  for (Object& object : names.s.objects) object.name.assign(1 << 20, 'x');
  names.rule("say", {{n, -1}, {n, -1}});
  CHECK(seconds(names.s, "commands and names of facts take more than") < 20);

  Builder index;  // an index by argument that would take terabytes
  const int32_t w = index.type("w");
  for (int i = 0; i < 20000; ++i) index.object("o" + std::to_string(i), w);
  for (int i = 0; i < 20000; ++i) index.init(index.predicate("p" + std::to_string(i)), {i, i});
  CHECK(seconds(index.s, "20000 predicates over 20000 objects are too many to index") < 20);

  Builder ladder;  // each type below all those before it
  for (int i = 0; i < 1500; ++i) {
    std::vector<int32_t> parents;
    for (int j = 0; j < i; ++j) parents.push_back(j);
    ladder.type("t" + std::to_string(i), parents);
  }
  ladder.object("o", 1499);
  ladder.rule("top", {{0, -1}});
  CHECK(seconds(ladder.s, "accepted") < 20);
}
