// The built-in generators: many games at once, on threads, without the GIL.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/rng.h"
#include "core/text.h"
#include "errors.h"
#include "exec/thread_pool.h"
#include "logic/coinhunt.h"
#include "logic/keyquest.h"
#include "logic/program.h"

namespace ae::bindings {
namespace {

namespace py = pybind11;

// The split of a generated game: a property of its layout's hash.
const char* split_of(uint64_t layout_hash) {
  const uint64_t tenth = mix64(layout_hash) % 10;
  return tenth < 8 ? "train" : (tenth == 8 ? "valid" : "test");
}

struct Family {
  std::string name;
  logic::KeyquestParams keyquest;
  logic::CoinhuntParams coinhunt;
  logic::GeneratedGame make(uint64_t seed, uint32_t index) const {
    return name == "keyquest-v0" ? logic::keyquest(keyquest, seed, index) : logic::coinhunt(coinhunt, seed, index);
  }
};

void take(py::dict& params, const char* name, int32_t& out) {
  if (!params.contains(name)) return;
  const py::object value = params.attr("pop")(name);
  if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr()))
    raise("ConfigError", std::string(name) + ": " + py::repr(value).cast<std::string>() + ", want an int");
  const auto number = value.cast<long long>();
  if (number < INT32_MIN || number > INT32_MAX) raise("ConfigError", std::string(name) + ": outside 32 bits");
  out = static_cast<int32_t>(number);
}

Family family(const std::string& name, const py::dict& from) {
  Family out{name, {}, {}};
  py::dict params = py::reinterpret_steal<py::dict>(PyDict_Copy(from.ptr()));
  if (name == "keyquest-v0") {
    for (const auto& number : logic::kKeyquestNumbers) take(params, number.name, out.keyquest.*number.value);
  } else if (name == "coinhunt-v0") {
    for (const auto& number : logic::kCoinhuntNumbers) take(params, number.name, out.coinhunt.*number.value);
  } else {
    raise("ConfigError", "family " + name + ", want keyquest-v0 or coinhunt-v0");
  }
  if (!params.empty())
    raise("ConfigError", name + ": parameter " + py::repr(py::list(params)[0]).cast<std::string>() + " is not known");
  return out;
}

struct Compiled {
  uint64_t hash = 0;
  bool wanted = false;
  std::vector<uint8_t> bytes;
};

class Generator {
 public:
  Generator(const Family& family, std::string split, uint32_t size, uint64_t seed, uint32_t threads)
      : family_(family), split_(std::move(split)), size_(size), seed_(seed), threads_(threads) {}

  std::vector<std::vector<uint8_t>> run() {
    std::vector<std::vector<uint8_t>> out;
    std::unordered_set<uint64_t> seen;
    uint32_t last_new = 0;
    for (uint32_t index = 0; out.size() < size_; index += kChunk) {
      if (index - last_new > kPatience || index > 0xFFFFFFFFu - kChunk)  // the family repeats itself
        throw logic::CompileError{family_.name + ": only " + std::to_string(out.size()) + " different games in split " +
                                  split_ + " among the first " + std::to_string(index) +
                                  "; ask for fewer or for larger worlds"};
      std::vector<Compiled> chunk(kChunk);
      parallel_shards(kChunk, threads_, [&](uint32_t begin, uint32_t end) { fill(chunk, index, begin, end); });
      if (failed_) std::rethrow_exception(failed_);
      for (Compiled& game : chunk) {
        if (!game.wanted || out.size() == size_ || !seen.insert(game.hash).second) continue;
        out.push_back(std::move(game.bytes));
        last_new = index;
      }
    }
    return out;
  }

 private:
  static constexpr uint32_t kChunk = 64;
  static constexpr uint32_t kPatience = 3000;  // indices without a new game of the split

  void fill(std::vector<Compiled>& chunk, uint32_t first, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
      try {
        const logic::GeneratedGame game = family_.make(seed_, first + i);
        chunk[i].hash = game.layout_hash;
        chunk[i].wanted = split_ == split_of(game.layout_hash);
        if (chunk[i].wanted) chunk[i].bytes = logic::emit(logic::ground(game.source));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failed_) failed_ = std::current_exception();
        return;
      }
    }
  }

  const Family& family_;
  std::string split_;
  uint32_t size_;
  uint64_t seed_;
  uint32_t threads_;
  std::mutex mutex_;
  std::exception_ptr failed_;
};

std::vector<std::string> family_words(const std::string& name) {
  std::set<std::string> words;
  const auto add = [&](std::string_view text) {
    split_words(text, [&](std::string_view word) { words.emplace(word); });
  };
  if (name != "keyquest-v0" && name != "coinhunt-v0")
    raise("ConfigError", "family " + name + ", want keyquest-v0 or coinhunt-v0");
  for (const std::string& text : name == "keyquest-v0" ? logic::keyquest_texts() : logic::coinhunt_texts()) add(text);
  for (int d = 0; d < 10; ++d) words.insert(std::to_string(d));
  for (uint32_t n = 0; n < kNumberWords; ++n) add(small_number_words(n));
  add("minus");
  return {words.begin(), words.end()};
}

}  // namespace

void bind_generators(py::module_& m) {
  m.def(
      "generate",
      [](const std::string& name, const py::dict& params, const std::string& split, uint32_t size, uint64_t seed,
         uint32_t threads) {
        const Family chosen = family(name, params);
        if (split != "train" && split != "valid" && split != "test")
          raise("SuiteError", "split " + split + ", want train, valid or test");
        std::vector<std::vector<uint8_t>> games;
        try {
          const py::gil_scoped_release release;
          games = Generator(chosen, split, size, seed, std::max(1u, threads)).run();
        } catch (const logic::CompileError& error) {
          raise("ConfigError", name + ": " + error.message);
        }
        py::list out;
        for (const auto& bytes : games)
          out.append(py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        return out;
      },
      py::arg("family"), py::arg("params"), py::arg("split"), py::arg("size"), py::arg("seed"), py::arg("threads") = 1,
      "The first `size` different games of a split → list of compiled games. Raises ConfigError, SuiteError.");
  m.def("family_words", &family_words, py::arg("family"), "The fixed vocabulary of a built-in family, sorted.");
}

}  // namespace ae::bindings
