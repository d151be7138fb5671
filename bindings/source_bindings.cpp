// A front end's plain dict → Source → program bytes. Every wrong key, type or range is an error that names its path.
#include <pybind11/pybind11.h>

#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "logic/program.h"
#include "logic/refine.h"
#include "logic/source_check.h"

namespace ae::bindings {
namespace {

namespace py = pybind11;
using logic::Atom;

[[noreturn]] void bad(const std::string& path, const std::string& what) { raise("WorldError", path + ": " + what); }

std::string type_name(const py::handle& value) {
  return py::str(py::type::of(value).attr("__name__")).cast<std::string>();
}

int32_t integer(const py::handle& value, const std::string& path) {
  if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) bad(path, type_name(value) + ", want an int");
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0 || number < INT32_MIN || number > INT32_MAX) bad(path, "an int outside 32 bits");
  return static_cast<int32_t>(number);
}
bool boolean(const py::handle& value, const std::string& path) {
  if (!PyBool_Check(value.ptr())) bad(path, type_name(value) + ", want True or False");
  return value.ptr() == Py_True;
}
std::string text(const py::handle& value, const std::string& path) {
  if (!PyUnicode_Check(value.ptr())) bad(path, type_name(value) + ", want a str");
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    bad(path, "a str that is not valid Unicode (lone surrogates)");
  }
  return {bytes, static_cast<size_t>(size)};
}
py::sequence items(const py::handle& value, const std::string& path) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) bad(path, type_name(value) + ", want a list or tuple");
  return py::reinterpret_borrow<py::sequence>(value);
}

template <class T, class Read>
std::vector<T> each(const py::handle& value, const std::string& path, Read&& read) {
  const py::sequence list = items(value, path);
  std::vector<T> out;
  out.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const py::object item = list[i];
    out.push_back(read(item, path + "[" + std::to_string(i) + "]"));
  }
  return out;
}
std::vector<int32_t> integers(const py::handle& value, const std::string& path) {
  return each<int32_t>(value, path, [](const py::handle& v, const std::string& p) { return integer(v, p); });
}

// The fields of a dict; whatever is left at the end is an unknown key.
class Fields {
 public:
  Fields(const py::handle& value, std::string path) : path_(std::move(path)) {
    if (!PyDict_Check(value.ptr())) bad(path_, type_name(value) + ", want a dict");
    dict_ = py::reinterpret_borrow<py::dict>(value);
  }
  template <class Read>
  void field(const char* name, Read&& read) {
    if (PyObject* value = PyDict_GetItemString(dict_.ptr(), name)) {
      read(py::handle(value), path_.empty() ? std::string(name) : path_ + "." + name);
      ++used_;
    }
  }
  void text_field(const char* name, std::string& out) {
    field(name, [&](const py::handle& v, const std::string& p) { out = text(v, p); });
  }
  void int_field(const char* name, int32_t& out) {
    field(name, [&](const py::handle& v, const std::string& p) { out = integer(v, p); });
  }
  void bool_field(const char* name, bool& out) {
    field(name, [&](const py::handle& v, const std::string& p) { out = boolean(v, p); });
  }
  void done(const char* known) const {
    if (static_cast<size_t>(used_) != dict_.size())
      bad(path_.empty() ? "source" : path_, std::string("a key that is not known; want ") + known);
  }

 private:
  py::dict dict_;
  std::string path_;
  Py_ssize_t used_ = 0;
};

Atom atom(const py::handle& value, const std::string& path) {
  const py::sequence parts = items(value, path);
  if (parts.size() != 2 && parts.size() != 3) bad(path, "want (predicate, (arguments...)) or (..., negated)");
  Atom out;
  out.predicate = integer(py::object(parts[0]), path + "[0]");
  out.args = integers(py::object(parts[1]), path + "[1]");
  if (parts.size() == 3) out.negated = boolean(py::object(parts[2]), path + "[2]");
  return out;
}
std::vector<Atom> atoms(const py::handle& value, const std::string& path) { return each<Atom>(value, path, atom); }

logic::Type type(const py::handle& value, const std::string& path) {
  const py::sequence pair = items(value, path);
  if (pair.size() != 2) bad(path, "want (name, [parents])");
  return {text(py::object(pair[0]), path + "[0]"), integers(py::object(pair[1]), path + "[1]")};
}
logic::Predicate predicate(const py::handle& value, const std::string& path) {
  const py::sequence pair = items(value, path);
  if (pair.size() != 2) bad(path, "want (name, placement)");
  return {text(py::object(pair[0]), path + "[0]"), boolean(py::object(pair[1]), path + "[1]")};
}
logic::Parameter parameter(const py::handle& value, const std::string& path) {
  const py::sequence pair = items(value, path);
  if (pair.size() != 2) bad(path, "want (type, constant)");
  return {integer(py::object(pair[0]), path + "[0]"), integer(py::object(pair[1]), path + "[1]")};
}
logic::Object object(const py::handle& value, const std::string& path) {
  logic::Object out;
  Fields f(value, path);
  f.text_field("id", out.id);
  f.int_field("type", out.type);
  f.text_field("name", out.name);
  f.text_field("the", out.the);
  f.text_field("indefinite", out.indefinite);
  f.int_field("object_class", out.object_class);
  f.int_field("description", out.description);
  f.int_field("listed", out.listed);
  f.int_field("look", out.look);
  f.int_field("title", out.title);
  f.done("id, type, name, the, indefinite, object_class, description, listed, look, title");
  return out;
}
constexpr size_t kMostNested = logic::kMaxFormulaDepth + 2;

// ("and" | "or", [formulas]), ("not", formula), ("atom", predicate, [terms]), ("=", [term, term]),
// ("exists" | "forall", [types], formula)
logic::Formula formula(const py::handle& value, const std::string& path, size_t depth) {
  using Kind = logic::Formula::Kind;
  if (depth > kMostNested) bad(path, "a condition nested too deeply");
  const py::sequence parts = items(value, path);
  if (parts.size() == 0) bad(path, "an empty condition, want (kind, ...)");
  const std::string kind = text(py::object(parts[0]), path + "[0]");
  const auto want = [&](size_t size) {
    if (parts.size() != size) bad(path, "'" + kind + "' with " + std::to_string(parts.size()) + " entries");
  };
  const auto part = [&](size_t i) { return formula(py::object(parts[i]), path, depth + 1); };
  logic::Formula out;
  if (kind == "and" || kind == "or") {
    want(2);
    out.kind = kind == "and" ? Kind::kAnd : Kind::kOr;
    for (const py::handle inner : items(py::object(parts[1]), path))
      out.parts.push_back(formula(inner, path, depth + 1));
  } else if (kind == "not") {
    want(2);
    out.kind = Kind::kNot;
    out.parts.push_back(part(1));
  } else if (kind == "atom") {
    want(3);
    out.kind = Kind::kAtom;
    out.predicate = integer(py::object(parts[1]), path + "[1]");
    out.args = integers(py::object(parts[2]), path + "[2]");
  } else if (kind == "=") {
    want(2);
    out.kind = Kind::kEqual;
    out.args = integers(py::object(parts[1]), path + "[1]");
  } else if (kind == "exists" || kind == "forall") {
    want(3);
    out.kind = kind == "exists" ? Kind::kExists : Kind::kForall;
    out.types = integers(py::object(parts[1]), path + "[1]");
    out.parts.push_back(part(2));
  } else {
    bad(path, "'" + kind + "', want and, or, not, atom, =, exists or forall");
  }
  return out;
}
logic::Formula condition(const py::handle& value, const std::string& path) { return formula(value, path, 0); }
logic::LiftedEffect effect(const py::handle& value, const std::string& path) {
  const py::sequence parts = items(value, path);
  if (parts.size() != 3) bad(path, "want ([types], condition, (predicate, [terms], negated))");
  return {integers(py::object(parts[0]), path + "[0]"), condition(py::object(parts[1]), path + "[1]"),
          atom(py::object(parts[2]), path + "[2]")};
}
logic::Derived derived(const py::handle& value, const std::string& path) {
  logic::Derived out;
  Fields f(value, path);
  f.int_field("predicate", out.predicate);
  f.field("types", [&](const py::handle& v, const std::string& p) { out.types = integers(v, p); });
  f.field("formula", [&](const py::handle& v, const std::string& p) { out.formula = condition(v, p); });
  f.text_field("where", out.where);
  f.done("predicate, types, formula, where");
  return out;
}

logic::Outcome outcome(const py::handle& value, const std::string& path) {
  logic::Outcome out;
  Fields f(value, path);
  f.field("conditions", [&](const py::handle& v, const std::string& p) { out.conditions = atoms(v, p); });
  f.bool_field("applies", out.applies);
  f.bool_field("turn_passes", out.turn_passes);
  f.bool_field("counts_as_move", out.counts_as_move);
  f.int_field("text", out.text);
  f.field("when", [&](const py::handle& v, const std::string& p) { out.when = condition(v, p); });
  f.done("conditions, applies, turn_passes, counts_as_move, text, when");
  return out;
}
logic::Rule::Piece piece(const py::handle& value, const std::string& path) {
  logic::Rule::Piece out;
  if (PyUnicode_Check(value.ptr())) out.literal = text(value, path);
  else out.parameter = integer(value, path);
  return out;
}
logic::Rule rule(const py::handle& value, const std::string& path) {
  logic::Rule out;
  Fields f(value, path);
  f.text_field("name", out.name);
  f.field("parameters",
          [&](const py::handle& v, const std::string& p) { out.parameters = each<logic::Parameter>(v, p, parameter); });
  f.field("preconditions", [&](const py::handle& v, const std::string& p) { out.preconditions = atoms(v, p); });
  f.field("adds", [&](const py::handle& v, const std::string& p) { out.adds = atoms(v, p); });
  f.field("deletes", [&](const py::handle& v, const std::string& p) { out.deletes = atoms(v, p); });
  f.field("command",
          [&](const py::handle& v, const std::string& p) { out.command = each<logic::Rule::Piece>(v, p, piece); });
  f.field("operands", [&](const py::handle& v, const std::string& p) { out.operands = integers(v, p); });
  f.field("outcomes",
          [&](const py::handle& v, const std::string& p) { out.outcomes = each<logic::Outcome>(v, p, outcome); });
  f.field("precondition", [&](const py::handle& v, const std::string& p) {
    out.precondition = condition(v, p);
    out.first_order = true;
  });
  f.field("effects", [&](const py::handle& v, const std::string& p) {
    out.effects = each<logic::LiftedEffect>(v, p, effect);
    out.first_order = true;
  });
  f.text_field("where", out.where);
  f.done("name, parameters, preconditions, adds, deletes, command, operands, outcomes, precondition, effects, where");
  return out;
}
logic::Quest quest(const py::handle& value, const std::string& path) {
  logic::Quest out;
  Fields f(value, path);
  const auto events = [](const py::handle& v, const std::string& p) { return each<std::vector<Atom>>(v, p, atoms); };
  f.field("fail_events", [&](const py::handle& v, const std::string& p) { out.fail_events = events(v, p); });
  f.field("win_events", [&](const py::handle& v, const std::string& p) { out.win_events = events(v, p); });
  f.int_field("reward", out.reward);
  f.bool_field("optional", out.optional);
  f.bool_field("repeatable", out.repeatable);
  f.field("win", [&](const py::handle& v, const std::string& p) {
    out.win = condition(v, p);
    out.first_order = true;
  });
  f.text_field("where", out.where);
  f.done("fail_events, win_events, reward, optional, repeatable, win, where");
  return out;
}
logic::Instruction instruction(const py::handle& value, const std::string& path) {
  const auto parts = integers(value, path);
  if (parts.empty() || parts.size() > 5) bad(path, "want (op, a, b, c, value)");
  if (parts[0] < static_cast<int32_t>(logic::Op::kLit) || parts[0] > static_cast<int32_t>(logic::Op::kJoined))
    bad(path, "op " + std::to_string(parts[0]) + " is not known");
  const auto at = [&](size_t i) { return i < parts.size() ? parts[i] : 0; };
  return {static_cast<logic::Op>(parts[0]), at(1), at(2), at(3), at(4)};
}
logic::TextProgram program(const py::handle& value, const std::string& path) {
  const py::sequence pair = items(value, path);
  if (pair.size() != 2) bad(path, "want (code, facts)");
  return {each<logic::Instruction>(py::object(pair[0]), path + "[0]", instruction),
          atoms(py::object(pair[1]), path + "[1]")};
}
logic::Sentence sentence(const py::handle& value, const std::string& path) {
  const py::sequence pair = items(value, path);
  if (pair.size() != 2) bad(path, "want (predicate, [pieces])");
  return {integer(py::object(pair[0]), path + "[0]"),
          each<logic::Rule::Piece>(py::object(pair[1]), path + "[1]", piece)};
}
logic::Refusal refusal(const py::handle& value, const std::string& path) {
  logic::Refusal out;
  Fields f(value, path);
  f.text_field("name", out.name);
  f.int_field("text", out.text);
  f.bool_field("turn_passes", out.turn_passes);
  f.done("name, text, turn_passes");
  return out;
}

logic::Source source(const py::dict& from) {
  logic::Source out;
  Fields f(from, "");
  f.text_field("name", out.name);
  f.text_field("family", out.family);
  f.field("types", [&](const py::handle& v, const std::string& p) { out.types = each<logic::Type>(v, p, type); });
  f.field("objects",
          [&](const py::handle& v, const std::string& p) { out.objects = each<logic::Object>(v, p, object); });
  f.field("predicates",
          [&](const py::handle& v, const std::string& p) { out.predicates = each<logic::Predicate>(v, p, predicate); });
  f.field("rules", [&](const py::handle& v, const std::string& p) { out.rules = each<logic::Rule>(v, p, rule); });
  f.field("init", [&](const py::handle& v, const std::string& p) { out.init = atoms(v, p); });
  f.int_field("place_predicate", out.place_predicate);
  f.int_field("player", out.player);
  f.int_field("inventory", out.inventory);
  f.field("quests", [&](const py::handle& v, const std::string& p) { out.quests = each<logic::Quest>(v, p, quest); });
  f.field("programs",
          [&](const py::handle& v, const std::string& p) { out.programs = each<logic::TextProgram>(v, p, program); });
  f.field("literals", [&](const py::handle& v, const std::string& p) { out.literals = each<std::string>(v, p, text); });
  f.field("refusals",
          [&](const py::handle& v, const std::string& p) { out.refusals = each<logic::Refusal>(v, p, refusal); });
  f.field("texts", [&](const py::handle& v, const std::string& p) {
    Fields t(v, p);
    t.int_field("frame", out.texts.frame);
    t.int_field("start", out.texts.start);
    t.int_field("invalid", out.texts.invalid);
    t.done("frame, start, invalid");
  });
  f.int_field("max_score", out.max_score);
  f.int_field("max_episode_steps", out.max_episode_steps);
  f.text_field("extra_json", out.extra_json);
  f.field("derived",
          [&](const py::handle& v, const std::string& p) { out.derived = each<logic::Derived>(v, p, derived); });
  f.field("sentences",
          [&](const py::handle& v, const std::string& p) { out.sentences = each<logic::Sentence>(v, p, sentence); });
  f.bool_field("distinct_parameters", out.distinct_parameters);
  f.done("the fields of csrc/logic/source.h, Source");
  return out;
}

py::list conditions(const logic::Disjunction& when) {
  py::list out;
  for (const logic::Conjunction& all : when) {
    py::list one;
    for (const logic::Condition& c : all) one.append(py::make_tuple(c.var, static_cast<int>(c.op), c.value));
    out.append(one);
  }
  return out;
}

py::dict ground_dict(const logic::Ground& g) {
  py::dict out;
  out["num_flags"] = g.num_flags;
  out["num_vars"] = g.num_vars;
  py::list fluents, statics, places, init, actions, quests, children;
  for (const auto& name : g.fluent_names) fluents.append(name);
  for (const auto& name : g.static_facts) statics.append(name);
  for (const int32_t place : g.places) places.append(place);
  for (const int32_t value : g.init_values) init.append(value);
  for (const auto& [child, container] : g.init_children) children.append(py::make_tuple(child, container));
  for (const logic::GroundAction& a : g.actions) {
    py::dict action;
    action["rule"] = g.rule_names[static_cast<size_t>(a.rule)];
    action["place"] = a.place;
    action["not_place"] = a.not_place;
    action["command"] = a.command;
    action["when"] = conditions(a.when);
    py::list outcomes;
    for (const logic::GroundOutcome& o : a.outcomes) {
      py::dict one;
      one["when"] = conditions(o.when);
      py::list effects, moves;
      for (const logic::Effect& e : o.effects) {
        if (e.when.empty()) effects.append(py::make_tuple(e.var, e.add, e.value));
        else effects.append(py::make_tuple(e.var, e.add, e.value, conditions({e.when})));
      }
      for (const logic::Move& m : o.moves) moves.append(py::make_tuple(m.object, m.from, m.to));
      one["effects"] = effects;
      one["moves"] = moves;
      one["turn_passes"] = o.turn_passes;
      one["counts_as_move"] = o.counts_as_move;
      one["text"] = o.text;
      outcomes.append(one);
    }
    action["outcomes"] = outcomes;
    py::list operands;
    for (const int32_t operand : a.operands) operands.append(operand);
    action["operands"] = operands;
    actions.append(action);
  }
  for (const logic::GroundQuest& q : g.quests) {
    py::dict quest;
    quest["done_var"] = q.done_var;
    quest["fail"] = conditions(q.fail);
    quest["win"] = conditions(q.win);
    quest["reward"] = q.reward;
    quests.append(quest);
  }
  py::list axioms;
  for (const logic::Axiom& a : g.axioms) axioms.append(py::make_tuple(a.var, conditions(a.when), a.block));
  out["axioms"] = axioms;
  out["fluents"] = fluents;
  out["static_facts"] = statics;
  out["places"] = places;
  out["init_values"] = init;
  out["init_children"] = children;
  out["actions"] = actions;
  out["quests"] = quests;
  return out;
}

}  // namespace

// A ground game that a front end refines before it is emitted: it gives every action its command, operands and text.
class GroundGame {
 public:
  explicit GroundGame(const py::dict& from) {
    const logic::Source read = source(from);
    const py::gil_scoped_release release;
    ground_ = logic::ground(read);
  }
  py::list flags() const { return list_of(ground_.fluent_names); }
  py::list statics() const { return list_of(ground_.static_facts); }
  py::list initial() const { return list_of(ground_.init_values); }
  int32_t num_variables() const { return ground_.num_flags + ground_.num_vars; }
  py::list actions() const {
    py::list out;
    for (const logic::GroundAction& a : ground_.actions) out.append(py::make_tuple(a.rule, a.command));
    return out;
  }
  py::list track_deletions(const py::sequence& which) {
    const std::vector<int32_t> flags = checked(which);
    return list_of(logic::track_deletions(ground_, flags));
  }
  py::object make_places(const py::sequence& which, const py::sequence& of) {
    const std::vector<int32_t> flags = checked(which), objects = integers(of, "objects");
    if (objects.size() != flags.size()) bad("objects", std::to_string(objects.size()) + ", want one for each flag");
    for (const int32_t o : objects)
      if (o < 0 || static_cast<size_t>(o) >= ground_.objects.size()) bad("objects", std::to_string(o));
    const std::vector<logic::Condition> found = logic::make_places(ground_, flags, objects);
    if (found.empty()) return py::none();
    py::list out;
    for (const logic::Condition& c : found) out.append(py::make_tuple(c.var, static_cast<int>(c.op), c.value));
    return py::object(out);
  }
  // `actions`: (command, [operands], text) of each; `objects`: names; `programs`: code; `texts`: (frame, start,
  // invalid).
  py::bytes emit(const py::handle& actions, const py::handle& objects, const py::handle& programs,
                 const py::handle& literals, const py::sequence& frame_texts, const std::string& extra_json) {
    const py::sequence given = items(actions, "actions");
    if (given.size() != ground_.actions.size())
      bad("actions", std::to_string(given.size()) + ", want " + std::to_string(ground_.actions.size()));
    for (size_t i = 0; i < ground_.actions.size(); ++i) {
      const py::sequence one = items(py::object(given[i]), "actions");
      if (one.size() != 3) bad("actions", "want (command, [operands], text)");
      logic::GroundAction& action = ground_.actions[i];
      action.command = text(py::object(one[0]), "actions: command");
      action.operands = integers(py::object(one[1]), "actions: operands");
      for (logic::GroundOutcome& outcome : action.outcomes) outcome.text = integer(py::object(one[2]), "actions: text");
    }
    const py::sequence names = items(objects, "objects");
    if (names.size() != ground_.objects.size())
      bad("objects", std::to_string(names.size()) + ", want " + std::to_string(ground_.objects.size()));
    for (size_t i = 0; i < ground_.objects.size(); ++i) {
      logic::Object& object = ground_.objects[i];
      object.name = text(py::object(names[i]), "objects");
      object.the = "the " + object.name;
      object.indefinite = "a " + object.name;
    }
    ground_.programs.clear();
    for (const py::handle one : items(programs, "programs"))
      ground_.programs.push_back({each<logic::Instruction>(one, "programs", instruction)});
    ground_.literals.clear();
    for (const py::handle one : items(literals, "literals")) ground_.literals.push_back(text(one, "literals"));
    const std::vector<int32_t> texts = integers(frame_texts, "texts");
    if (texts.size() != 3) bad("texts", "want (frame, start, invalid)");
    ground_.texts = {texts[0], texts[1], texts[2]};
    ground_.extra_json = extra_json;
    std::vector<uint8_t> bytes;
    {
      const py::gil_scoped_release release;
      logic::join_over_places(ground_);
      bytes = logic::emit(ground_);
    }
    return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  template <class T>
  static py::list list_of(const std::vector<T>& from) {
    py::list out;
    for (const T& one : from) out.append(one);
    return out;
  }
  std::vector<int32_t> checked(const py::sequence& which) const {
    std::vector<int32_t> flags = integers(which, "flags");
    for (const int32_t f : flags)
      if (f < 0 || f >= ground_.num_flags)
        bad("flags", std::to_string(f) + " outside [0, " + std::to_string(ground_.num_flags) + ")");
    return flags;
  }
  logic::Ground ground_;
};

void bind_ground_game(py::module_& m) {
  py::class_<GroundGame>(m, "GroundGame",
                         "A ground game between a front end's Source and its compiled bytes, for front ends that write "
                         "their texts once they know what can ever be true. Raises WorldError.")
      .def(py::init<const py::dict&>(), py::arg("source"))
      .def_property_readonly("flags", &GroundGame::flags,
                             "Facts that change, 'predicate(a, b)'; the index is the flag.")
      .def_property_readonly("statics", &GroundGame::statics, "Facts that always hold.")
      .def_property_readonly("initial", &GroundGame::initial, "Values of flags and variables at the start.")
      .def_property_readonly("num_variables", &GroundGame::num_variables, "Flags and integer variables.")
      .def_property_readonly("actions", &GroundGame::actions, "(rule, command) of each.")
      .def("track_deletions", &GroundGame::track_deletions, py::arg("flags"),
           "Flags that say 'clear because it was deleted', -1 where nothing deletes.")
      .def("make_places", &GroundGame::make_places, py::arg("flags"), py::arg("objects"),
           "Turns a one-hot group of flags into the player's place; the (variable, operator, value) that stands for "
           "each "
           "old variable, or None with the game unchanged if it is not one-hot.")
      .def("emit", &GroundGame::emit, py::arg("actions"), py::arg("objects"), py::arg("programs"), py::arg("literals"),
           py::arg("texts"), py::arg("extra_json"),
           "Compiled game bytes, with (command, [operands], text) for each action and the objects' names.");
}

void bind_source(py::module_& m) {
  m.def(
      "compile_source",
      [](const py::dict& from) {
        const logic::Source read = source(from);
        std::vector<uint8_t> bytes;
        {
          const py::gil_scoped_release release;
          bytes = logic::emit(logic::ground(read));
        }
        return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      },
      py::arg("source"),
      "A front end's dict (see agentenv_fast.worlds.source) → compiled game bytes. Raises WorldError.");
  m.def(
      "ground_source", [](const py::dict& from) { return ground_dict(logic::ground(source(from))); }, py::arg("source"),
      "The ground form of a source as plain data, for tests and inspection.");
  bind_ground_game(m);
  py::dict ops;
  const std::pair<const char*, logic::Op> names[] = {{"LIT", logic::Op::kLit},
                                                     {"NAME", logic::Op::kName},
                                                     {"LISTED_NAME", logic::Op::kListedName},
                                                     {"LIST", logic::Op::kList},
                                                     {"JUMP", logic::Op::kJump},
                                                     {"UNLESS", logic::Op::kUnless},
                                                     {"UNLESS_ANY", logic::Op::kUnlessAny},
                                                     {"UNLESS_FACT", logic::Op::kUnlessFact},
                                                     {"NUMBER", logic::Op::kNumber},
                                                     {"NUMBER_WORDS", logic::Op::kNumberWords},
                                                     {"CALL", logic::Op::kCall},
                                                     {"CALL_OBJECT", logic::Op::kCallObject},
                                                     {"CALL_PLACE", logic::Op::kCallPlace},
                                                     {"CALL_EVENT", logic::Op::kCallEvent},
                                                     {"SECTION", logic::Op::kSection},
                                                     {"END", logic::Op::kEnd},
                                                     {"UNLESS_PRINTS", logic::Op::kUnlessPrints},
                                                     {"UNLESS_HOLDS", logic::Op::kUnlessHolds},
                                                     {"FACTS", logic::Op::kFacts},
                                                     {"ITEM", logic::Op::kItem},
                                                     {"JOINED", logic::Op::kJoined}};
  for (const auto& [name, op] : names) ops[name] = static_cast<int>(op);
  m.attr("OPS") = ops;
  py::dict pseudo;
  const std::pair<const char*, logic::Pseudo> variables[] = {{"SCORE_CHANGE", logic::kPseudoScoreChange},
                                                             {"SCORE", logic::kPseudoScore},
                                                             {"TURNS", logic::kPseudoTurns},
                                                             {"MOVES", logic::kPseudoMoves},
                                                             {"WON", logic::kPseudoWon},
                                                             {"LOST", logic::kPseudoLost},
                                                             {"EVENT", logic::kPseudoEvent},
                                                             {"TEXT_MODE", logic::kPseudoTextMode},
                                                             {"OUTCOME", logic::kPseudoOutcome},
                                                             {"STEP", logic::kPseudoStep},
                                                             {"SCORE_CHANGE_ABS", logic::kPseudoScoreChangeAbs},
                                                             {"SCORE_BEFORE", logic::kPseudoScoreBefore},
                                                             {"SCORE_TOLD", logic::kPseudoScoreTold},
                                                             {"NEXT_TURN", logic::kPseudoNextTurn}};
  for (const auto& [name, variable] : variables) pseudo[name] = static_cast<int>(variable);
  m.attr("PSEUDO") = pseudo;
  m.attr("OPERAND0") = logic::kOperand0;
  m.attr("PLAYER_HERE") = logic::kPlayerHere;
}

}  // namespace ae::bindings
