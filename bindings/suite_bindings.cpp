// Compiled games, suites of them, vocabularies and bound codecs.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "arrays.h"
#include "errors.h"
#include "exec/bank.h"

namespace ae::bindings {
namespace {

// One compiled game with the bytes it lives in, for inspection.
struct OwnedProgram {
  std::unique_ptr<uint64_t[]> words;
  size_t size = 0;
  logic::Program view;

  explicit OwnedProgram(std::string_view bytes) : words(new uint64_t[(bytes.size() + 7) / 8 + 1]), size(bytes.size()) {
    std::memcpy(words.get(), bytes.data(), bytes.size());
    view = logic::decode(reinterpret_cast<const uint8_t*>(words.get()), size);
    if (logic::program_hash(view.base, size) != view.header->content_hash)
      throw logic::CompileError{"compiled game: content hash does not match: the bytes are damaged"};
  }
};

std::vector<std::string> strings(const logic::Program& p, const uint32_t* list, uint32_t count) {
  std::vector<std::string> out;
  for (uint32_t i = 0; i < count; ++i) out.emplace_back(p.string(list[i]));
  return out;
}

std::vector<std::string> commands(const logic::Program& p) {
  std::vector<std::string> out;
  for (uint32_t i = 0; i < p.num_commands(); ++i) out.emplace_back(p.command(i));
  return out;
}

py::dict caps(const logic::Program& p) {
  py::dict out;
  const auto& h = *p.header;
  out["max_admissible"] = h.max_admissible;
  out["max_text"] = h.max_text;
  out["row_bytes"] = h.row_bytes;
  out["num_flags"] = h.num_flags;
  out["num_vars"] = h.num_vars;
  out["num_actions"] = h.actions.count;
  out["num_candidates"] = h.candidates.count;
  out["num_places"] = h.places.count;
  out["num_quests"] = h.quests.count;
  out["total_bytes"] = h.total_bytes;
  out["plain"] = h.plain != 0;
  out["max_score"] = h.max_score;
  out["max_episode_steps"] = h.max_episode_steps;
  return out;
}

py::list objects(const logic::Program& p) {
  py::list out;
  for (uint32_t i = 0; i < p.header->objects.count; ++i) {
    const auto& o = p.objects[i];
    const std::string type = p.header->types.count == 0 ? "" : std::string(p.string(p.types[o.type].name));
    out.append(py::make_tuple(std::string(p.string(o.id)), std::string(p.string(o.name)), type));
  }
  return out;
}

template <class T>
py::array_t<T> matrix(size_t rows, size_t columns, T fill) {
  py::array_t<T> out({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(columns)});
  std::fill_n(out.mutable_data(), rows * columns, fill);
  return out;
}

py::array_t<int32_t> command_tokens(const Bank& bank, const Vocabulary& vocabulary) {
  std::vector<std::vector<int32_t>> all;
  size_t width = 1;
  for (const std::string& command : bank.commands()) {
    all.push_back(vocabulary.encode(command));
    width = std::max(width, all.back().size());
  }
  auto out = matrix<int32_t>(all.size(), width, kPadId);
  for (size_t i = 0; i < all.size(); ++i) std::copy(all[i].begin(), all[i].end(), out.mutable_data() + i * width);
  return out;
}

std::shared_ptr<Bank> make_bank(const std::vector<py::bytes>& games) {
  std::vector<std::string_view> views;
  views.reserve(games.size());
  for (const py::bytes& game : games) views.push_back(game);
  const py::gil_scoped_release release;
  return std::make_shared<Bank>(views);
}

const logic::Program& game_of(const Bank& bank, uint32_t game) {
  if (game >= bank.size())
    throw py::index_error("game " + std::to_string(game) + " outside [0, " + std::to_string(bank.size()) + ")");
  return bank.program(game);
}

}  // namespace

void bind_suite(py::module_& m) {
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const logic::CompileError& compile_error) {
      const py::object type = py::module_::import("agentenv_fast.errors").attr("WorldError");
      PyErr_SetString(type.ptr(), compile_error.message.c_str());
    }
  });

  m.attr("FORMAT_VERSION") = logic::kFormatVersion;

  py::class_<OwnedProgram>(m, "Program", "One compiled game, for inspection.")
      .def(py::init([](const py::bytes& bytes) { return std::make_unique<OwnedProgram>(std::string_view(bytes)); }))
      .def_property_readonly("name",
                             [](const OwnedProgram& p) { return std::string(p.view.string(p.view.header->name)); })
      .def_property_readonly("family",
                             [](const OwnedProgram& p) { return std::string(p.view.string(p.view.header->family)); })
      .def_property_readonly("extra",
                             [](const OwnedProgram& p) { return std::string(p.view.string(p.view.header->extra)); })
      .def_property_readonly("hash", [](const OwnedProgram& p) { return p.view.header->content_hash; })
      .def_property_readonly("commands", [](const OwnedProgram& p) { return commands(p.view); })
      .def_property_readonly("caps", [](const OwnedProgram& p) { return caps(p.view); })
      .def_property_readonly(
          "objects", [](const OwnedProgram& p) { return objects(p.view); }, "list of (id, name, type)")
      .def_property_readonly(
          "fluents",
          [](const OwnedProgram& p) { return strings(p.view, p.view.fluent_names, p.view.header->fluent_names.count); })
      .def_property_readonly(
          "static_facts",
          [](const OwnedProgram& p) { return strings(p.view, p.view.static_facts, p.view.header->static_facts.count); })
      .def_property_readonly("rules", [](const OwnedProgram& p) {
        return strings(p.view, p.view.rule_names, p.view.header->rule_names.count);
      });

  py::class_<Bank, std::shared_ptr<Bank>>(m, "Bank", "The games of a suite, decoded once and shared.")
      .def(py::init(&make_bank))
      .def("__len__", &Bank::size)
      .def_property_readonly("commands", &Bank::commands)
      .def_property_readonly("stride", &Bank::stride)
      .def_property_readonly("max_text", &Bank::max_text)
      .def_property_readonly("max_admissible", &Bank::max_admissible)
      .def_property_readonly("max_episode_steps", &Bank::max_episode_steps)
      .def_property_readonly("max_score", &Bank::max_score)
      .def("hash", [](const Bank& bank, uint32_t game) { return game_of(bank, game).header->content_hash; })
      .def("name",
           [](const Bank& bank, uint32_t game) {
             const auto& p = game_of(bank, game);
             return std::string(p.string(p.header->name));
           })
      .def("family",
           [](const Bank& bank, uint32_t game) {
             const auto& p = game_of(bank, game);
             return std::string(p.string(p.header->family));
           })
      .def("extra",
           [](const Bank& bank, uint32_t game) {
             const auto& p = game_of(bank, game);
             return std::string(p.string(p.header->extra));
           })
      .def("bytes",
           [](const Bank& bank, uint32_t game) {
             game_of(bank, game);
             const auto bytes = bank.bytes(game);
             return py::bytes(bytes.data(), bytes.size());
           })
      .def("words", &bank_words, py::call_guard<py::gil_scoped_release>());

  py::class_<Vocabulary, std::shared_ptr<Vocabulary>>(m, "Vocabulary", "Words to ids; 0 pads, 1 is unknown.")
      .def(py::init<const std::vector<std::string>&>())
      .def("__len__", &Vocabulary::size)
      .def_property_readonly("words", &Vocabulary::words)
      .def("encode",
           [](const Vocabulary& v, const std::string& text) {
             const auto ids = v.encode(text);
             py::array_t<int32_t> out(static_cast<py::ssize_t>(ids.size()));
             std::copy(ids.begin(), ids.end(), out.mutable_data());
             return out;
           })
      .def("command_tokens", [](const Vocabulary& v, const Bank& bank) { return command_tokens(bank, v); });

  py::class_<BoundCodec, std::shared_ptr<BoundCodec>>(m, "BoundCodec", "Token ids of every literal of a bank.")
      .def(py::init<const Bank&, const Vocabulary&, uint32_t>(), py::arg("bank"), py::arg("vocabulary"),
           py::arg("sections") = 0xFF, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("max_tokens", &BoundCodec::max_tokens);
}

}  // namespace ae::bindings
