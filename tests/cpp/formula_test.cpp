// First-order sources on hand-written formulas: normal forms, quantifiers, conditional effects, axioms, and when an
// operator is dropped. tests/worlds/test_pddl.py compares whole domains with Fast Downward.
#include "logic/formula.h"

#include <doctest/doctest.h>

#include <string>

#include "logic/program.h"
#include "logic/source.h"

using namespace ae::logic;

namespace {

using Kind = Formula::Kind;

Formula atom(int32_t predicate, std::vector<int32_t> args) { return {Kind::kAtom, predicate, std::move(args), {}, {}}; }
Formula both(std::vector<Formula> parts) { return {Kind::kAnd, 0, {}, {}, std::move(parts)}; }
Formula any(std::vector<Formula> parts) { return {Kind::kOr, 0, {}, {}, std::move(parts)}; }
Formula no(Formula part) { return {Kind::kNot, 0, {}, {}, {std::move(part)}}; }
Formula equal(int32_t a, int32_t b) { return {Kind::kEqual, 0, {a, b}, {}, {}}; }
Formula exists(std::vector<int32_t> types, Formula part) {
  return {Kind::kExists, 0, {}, std::move(types), {std::move(part)}};
}
Formula all(std::vector<int32_t> types, Formula part) {
  return {Kind::kForall, 0, {}, std::move(types), {std::move(part)}};
}
constexpr int32_t object(int32_t id) { return -1 - id; }

// Three things a, b, c of one type; p, q and r(x, y) over them; flags d and e without arguments.
struct World3 {
  Source s;
  int32_t p = 0, q = 1, r = 2, d = 3, e = 4;

  World3() {
    s.name = "three";
    s.distinct_parameters = false;
    s.types.push_back({"thing", {}});
    for (const char* id : {"a", "b", "c"}) {
      Object o;
      o.id = o.name = id;
      s.objects.push_back(o);
    }
    for (const char* name : {"p", "q", "r", "d", "e"}) s.predicates.push_back({name, false});
    s.literals = {"x"};
    s.programs.push_back({{{Op::kLit, 0, 0, 0, 0}}, {}});
    s.texts = {0, 0, 0};
  }
  Rule& rule(const std::string& name, size_t parameters, Formula precondition, std::vector<LiftedEffect> effects) {
    Rule out;
    out.name = name;
    out.first_order = true;
    out.command.push_back({name, -1});
    for (size_t i = 0; i < parameters; ++i) {
      out.parameters.push_back({0, -1});
      out.command.push_back({" ", -1});
      out.command.push_back({"", static_cast<int32_t>(i)});
    }
    out.precondition = std::move(precondition);
    out.effects = std::move(effects);
    s.rules.push_back(std::move(out));
    return s.rules.back();
  }
  void init(int32_t predicate, std::vector<int32_t> args) { s.init.push_back({predicate, std::move(args), false}); }
};

LiftedEffect becomes(int32_t predicate, std::vector<int32_t> args, Formula when = {}, std::vector<int32_t> types = {}) {
  return {std::move(types), std::move(when), {predicate, std::move(args), false}};
}
LiftedEffect ends(int32_t predicate, std::vector<int32_t> args, Formula when = {}, std::vector<int32_t> types = {}) {
  return {std::move(types), std::move(when), {predicate, std::move(args), true}};
}

std::vector<std::string> commands(const Ground& g) {
  std::vector<std::string> out;
  for (const GroundAction& a : g.actions) out.push_back(a.command);
  return out;
}
int32_t flag(const Ground& g, const std::string& name) {
  for (size_t i = 0; i < g.fluent_names.size(); ++i)
    if (g.fluent_names[i] == name) return static_cast<int32_t>(i);
  return -1;
}
std::string refusal(const Source& source) {
  try {
    ground(source);
  } catch (const CompileError& error) {
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("a conjunction keeps each fact once and knows contradictions") {
  Literals some;
  CHECK(add_literal(some, {7, false}));
  CHECK(add_literal(some, {3, true}));
  CHECK(add_literal(some, {7, false}));
  CHECK(some == Literals{{3, true}, {7, false}});
  CHECK_FALSE(add_literal(some, {3, false}));
}

TEST_CASE("implied conjunctions are left out") {
  Normal normal{{{1, false}, {2, false}}, {{2, false}}, {{3, true}}, {{2, false}}};
  drop_implied(normal);
  CHECK(normal == Normal{{{2, false}}, {{3, true}}});
}

TEST_CASE("and over or multiplies out, and what would become too much gets one flag of its own") {
  const auto lit = [](uint32_t fact) { return GroundFormula{GroundFormula::Kind::kLiteral, {fact, false}, {}}; };
  GroundFormula wide{GroundFormula::Kind::kAnd, {}, {}};
  for (uint32_t i = 0; i < 3; ++i) wide.parts.push_back({GroundFormula::Kind::kOr, {}, {lit(2 * i), lit(2 * i + 1)}});
  size_t spent = 0;
  Normaliser normaliser([&](size_t literals) { spent += literals; });
  CHECK(normaliser.normal(wide, 1000).size() == 8);
  CHECK(normaliser.auxiliaries().empty());
  CHECK(normaliser.normal(wide, 4).size() == 4);
  CHECK(normaliser.auxiliaries().size() == 1);
  CHECK(normaliser.normal(wide, 4).size() == 4);  // the same part, the same flag
  CHECK(normaliser.auxiliaries().size() == 1);
  CHECK(spent > 0);
}

TEST_CASE("parameters may bind equal objects, and equality is decided while grounding") {
  World3 w;
  w.rule("same", 2, equal(0, 1), {becomes(w.r, {0, 1})});
  w.rule("other", 2, no(equal(0, 1)), {becomes(w.r, {0, 1})});
  const Ground g = ground(w.s);
  CHECK(commands(g) == std::vector<std::string>{"same a a", "same b b", "same c c", "other a b", "other a c",
                                                "other b a", "other b c", "other c a", "other c b"});
}

TEST_CASE("quantifiers are written out over the objects of their types") {
  World3 w;
  w.init(w.q, {0});
  w.init(w.q, {1});
  w.rule("set", 1, {}, {becomes(w.p, {0})});
  w.rule("unset", 1, {}, {ends(w.p, {0})});
  w.rule("some", 0, exists({0}, both({atom(w.p, {0}), atom(w.q, {0})})), {becomes(w.d, {})});
  w.rule("every", 0, all({0}, any({no(atom(w.q, {0})), atom(w.p, {0})})), {becomes(w.e, {})});
  const Ground g = ground(w.s);
  std::vector<Disjunction> some, every;
  for (const GroundAction& a : g.actions) (a.command == "some" ? some : every).push_back(a.when);
  REQUIRE(some.size() == 2);  // one candidate for each way
  const Condition pa{flag(g, "p(a)"), CompareOp::kSet, 0}, pb{flag(g, "p(b)"), CompareOp::kSet, 0};
  CHECK(some[0] == Disjunction{{pa}});
  CHECK(some[1] == Disjunction{{pb}});
  CHECK(every.back() == Disjunction{{pa, pb}});
}

TEST_CASE("what is deleted and added in one action is true, whatever the conditions") {
  World3 w;
  w.init(w.p, {0});
  w.rule("toggle", 1, {}, {ends(w.p, {0}, atom(w.p, {0})), becomes(w.p, {0}, no(atom(w.p, {0})))});
  w.rule("keep", 1, {}, {ends(w.p, {0}), becomes(w.p, {0}, atom(w.q, {0})), becomes(w.q, {0})});
  const Ground g = ground(w.s);
  for (const GroundAction& a : g.actions) {
    const std::vector<Effect>& effects = a.outcomes[0].effects;
    for (size_t i = 1; i < effects.size(); ++i) CHECK(effects[i - 1].value <= effects[i].value);  // deletes stand first
    CHECK(effects.size() == (a.command.starts_with("toggle") ? 2 : 3));
  }
}

TEST_CASE("an operator that can do nothing is dropped, one disjunct at a time") {
  World3 w;
  w.init(w.q, {0});
  w.rule("add", 1, any({atom(w.p, {0}), atom(w.q, {0})}), {becomes(w.p, {0})});
  w.rule("swap", 2, atom(w.r, {0, 1}), {ends(w.r, {0, 1}), becomes(w.r, {1, 0})});
  w.rule("link", 2, {}, {becomes(w.r, {0, 1})});
  const Ground g = ground(w.s);
  size_t adds = 0;
  for (const GroundAction& a : g.actions) {
    if (a.command == "add a") CHECK(a.when == Disjunction{{}});  // q(a) never changes; with p(a) it would do nothing
    adds += a.command.starts_with("add") ? 1 : 0;
    CHECK(a.command != "swap b b");
  }
  CHECK(adds == 1);
}

TEST_CASE("a forall is not looked into when an operator's effects are weighed") {
  World3 w;
  w.init(w.p, {0});
  w.rule("add", 0, all({0}, atom(w.p, {0})), {becomes(w.p, {object(0)})});
  w.rule("set", 1, {}, {becomes(w.p, {0})});
  w.rule("unset", 1, {}, {ends(w.p, {0})});
  const Ground g = ground(w.s);
  CHECK(commands(g)[0] == "add");  // p(a) is known to hold, but only by the forall
}

TEST_CASE("derived facts stand in order of need, and those that need each other in one block") {
  World3 w;
  w.init(w.r, {0, 1});
  w.rule("link", 2, {}, {becomes(w.r, {0, 1})});
  w.rule("cut", 2, {}, {ends(w.r, {0, 1})});
  // q(x): x is reached from a. d: some thing is not reached.
  w.s.derived.push_back(
      {w.q, {0}, any({equal(0, object(0)), exists({0}, both({atom(w.q, {1}), atom(w.r, {1, 0})}))}), ""});
  w.s.derived.push_back({w.d, {}, exists({0}, no(atom(w.q, {0}))), ""});
  const Ground g = ground(w.s);
  REQUIRE(g.axioms.size() == 3);  // q(a) always holds
  CHECK(g.axioms[0].block == 2);
  CHECK(g.axioms[1].block == 0);
  CHECK(g.axioms[2].block == 1);
  CHECK(g.axioms[2].var == flag(g, "d()"));
  CHECK(g.init_values[static_cast<size_t>(flag(g, "q(b)"))] == 1);
  CHECK(g.init_values[static_cast<size_t>(flag(g, "q(c)"))] == 0);
  CHECK(g.init_values[static_cast<size_t>(flag(g, "d()"))] == 1);
  CHECK(flag(g, "q(a)") == -1);
  CHECK(emit(g) == emit(ground(w.s)));
}

TEST_CASE("negation through recursion is refused with the facts that it concerns") {
  World3 w;
  w.rule("set", 1, {}, {becomes(w.p, {0})});
  w.s.derived.push_back({w.d, {}, no(atom(w.e, {})), ""});
  w.s.derived.push_back({w.e, {}, both({atom(w.p, {object(0)}), atom(w.d, {})}), ""});
  CHECK(refusal(w.s).find("not stratified: d() depends on not e()") != std::string::npos);
}

TEST_CASE("a goal becomes a quest, and one that can never hold is refused with its place") {
  World3 w;
  w.rule("set", 1, {}, {becomes(w.p, {0})});
  Quest quest;
  quest.reward = 1;
  quest.first_order = true;
  quest.where = "p.pddl:3:4";
  quest.win = all({0}, atom(w.p, {0}));
  w.s.quests.push_back(quest);
  CHECK(ground(w.s).quests[0].win.size() == 1);
  CHECK(ground(w.s).quests[0].win[0].size() == 3);
  w.s.quests[0].win = atom(w.q, {object(1)});
  CHECK(refusal(w.s) == "three: p.pddl:3:4: the goal can never hold, whatever is done");
}

TEST_CASE("sentences are printed for each fact of a kind, and jumps still lead where they led") {
  World3 w;
  w.init(w.q, {1});
  w.rule("set", 1, {}, {becomes(w.p, {0})});
  w.s.sentences = {{w.p, {{" shines: ", -1}, {"", 0}}}, {w.q, {{" dull: ", -1}, {"", 0}}}};
  w.s.literals = {"x", "Always:", "."};
  const auto changing = static_cast<int32_t>(FactKind::kChanging), fixed = static_cast<int32_t>(FactKind::kStatic);
  w.s.programs[0] = {{{Op::kUnlessFact, 0, 0, 3, 0},
                      {Op::kFacts, fixed, 2, 0, 3},
                      {Op::kFacts, changing, 0, 0, 0},
                      {Op::kLit, 0, 0, 0, 0}},
                     {{w.p, {0}, false}}};
  const Ground g = ground(w.s);
  const std::vector<Instruction>& code = g.programs[0].code;
  REQUIRE(code.size() == 11);  // test, "Always:", " dull: b", ".", three of (test, sentence), "x"
  CHECK(code[0].c == 10);
  CHECK(g.literals[static_cast<size_t>(code[2].a)] == " dull: b");
  CHECK(g.literals[static_cast<size_t>(code[5].a)] == " shines: a");
  CHECK(code[4].c == 6);
  CHECK(code[10].op == Op::kLit);
  CHECK_NOTHROW(emit(g));
}

TEST_CASE("first-order sources are checked before they are read") {
  const auto check = [](auto&& change, const char* message) {
    World3 w;
    w.rule("set", 1, atom(w.p, {0}), {becomes(w.q, {0})});
    change(w);
    INFO(std::string(message), " -> ", refusal(w.s));
    CHECK(refusal(w.s).find(message) != std::string::npos);
  };
  check([](World3& w) { w.s.distinct_parameters = true; }, "want False, its parameters may bind equal objects");
  check([](World3& w) { w.s.rules[0].precondition = atom(w.p, {1}); }, "variable 1 outside [0, 1)");
  check([](World3& w) { w.s.rules[0].precondition = atom(w.p, {object(3)}); }, "object 3 outside [0, 3)");
  check([](World3& w) { w.s.rules[0].precondition = atom(9, {0}); }, "predicate 9 outside");
  check([](World3& w) { w.s.rules[0].precondition = exists({4}, atom(w.p, {1})); }, "variable type 4 outside");
  check([](World3& w) { w.s.rules[0].precondition = {Kind::kNot, 0, {}, {}, {}}; }, "a condition with 0 parts");
  check([](World3& w) { w.s.rules[0].precondition = {Kind::kEqual, 0, {0}, {}, {}}; }, "equality of 1 terms");
  check([](World3& w) { w.s.rules[0].precondition = atom(w.q, {0, 0}); }, "q takes 2 arguments elsewhere, got 1");
  check([](World3& w) { w.s.predicates[2].placement = true; }, "places nothing in the object tree");
  check([](World3& w) { w.s.derived.push_back({w.q, {0}, {}, ""}); }, "q is derived");
  check([](World3& w) { w.s.rules[0].adds.push_back({w.p, {0}, false}); }, "want precondition and effects");
  check(
      [](World3& w) {
        Formula deep = atom(w.p, {0});
        for (int i = 0; i < 200; ++i) deep = no(deep);
        w.s.rules[0].precondition = deep;
      },
      "depth of one condition: 129, at most 128");
}
