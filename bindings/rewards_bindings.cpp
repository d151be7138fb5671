// Text scores: reads texts in each form that they may have, scores them without the GIL.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "arrays.h"
#include "errors.h"
#include "exec/thread_pool.h"
#include "rewards/text_scores.h"

namespace ae::bindings {
namespace {

using rewards::Bytes;

constexpr uint64_t kBytesWorthAThread = 1 << 14;

std::string type_name(const py::handle& value) {
  return py::str(py::type::of(value).attr("__name__")).cast<std::string>();
}

// Texts as they came, held alive: list[str | bytes], or (uint8[N, B] | int32[N, L], sizes int32[N]).
class TextBatch {
 public:
  TextBatch(const py::object& texts, const char* name) : name_(name) {
    if (PyTuple_Check(texts.ptr()) && PyTuple_GET_SIZE(texts.ptr()) == 2 &&
        py::isinstance<py::array>(PyTuple_GET_ITEM(texts.ptr(), 0))) {
      read_array(texts);
    } else if (PyList_Check(texts.ptr()) || PyTuple_Check(texts.ptr())) {
      read_list(texts);
    } else {
      raise("ArrayError", name_ + ": " + type_name(texts) +
                              ", want list[str], list[bytes] or (uint8[N, B] or int32[N, L], sizes int32[N])");
    }
  }

  size_t size() const { return rows_.size(); }
  bool ids() const { return ids_; }
  uint64_t total_bytes() const {
    uint64_t sum = 0;
    for (const Bytes& row : rows_) sum += row.size;
    return sum;
  }
  rewards::Texts view() const { return {rows_.data(), ids_}; }
  const Bytes& row(size_t i) const { return rows_[i]; }
  const std::string& name() const { return name_; }

 private:
  void read_list(const py::object& texts) {
    held_ = py::reinterpret_steal<py::object>(PySequence_Tuple(texts.ptr()));  // nobody can change what is being read
    const Py_ssize_t count = PyTuple_GET_SIZE(held_.ptr());
    rows_.resize(static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i)
      rows_[static_cast<size_t>(i)] = bytes_of(PyTuple_GET_ITEM(held_.ptr(), i), i);
  }

  Bytes bytes_of(PyObject* item, Py_ssize_t i) {
    if (PyUnicode_CheckExact(item) && PyUnicode_IS_COMPACT_ASCII(item))
      return {reinterpret_cast<const uint8_t*>(PyUnicode_DATA(item)),
              static_cast<uint64_t>(PyUnicode_GET_LENGTH(item))};
    if (PyUnicode_Check(item)) {
      Py_ssize_t size = 0;
      if (const char* utf8 = PyUnicode_AsUTF8AndSize(item, &size))
        return {reinterpret_cast<const uint8_t*>(utf8), static_cast<uint64_t>(size)};
      PyErr_Clear();  // lone surrogates: their three bytes are no UTF-8 and count as such
      auto encoded = py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(item, "utf-8", "surrogatepass"));
      if (!encoded) throw py::error_already_set();
      encoded_.push_back(encoded);
      item = encoded.ptr();
    } else if (!PyBytes_Check(item)) {
      raise("ArrayError", name_ + "[" + std::to_string(i) + "]: " + type_name(item) + ", want str or bytes");
    }
    return {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(item)), static_cast<uint64_t>(PyBytes_GET_SIZE(item))};
  }

  void read_array(const py::object& pair) {
    held_ = pair;
    const auto array = py::reinterpret_borrow<py::array>(PyTuple_GET_ITEM(pair.ptr(), 0));
    ids_ = array.dtype().equal(py::dtype::of<int32_t>());
    if (!ids_ && !array.dtype().equal(py::dtype::of<uint8_t>()))
      raise("ArrayError", name_ + ": dtype " + py::str(array.dtype()).cast<std::string>() +
                              ", want uint8 (bytes) or int32 (token ids)");
    if (array.ndim() != 2) raise("ArrayError", name_ + ": shape " + shape_text(array) + ", want (N, B)");
    const py::ssize_t width = array.shape(1), item = ids_ ? 4 : 1;
    if (width > 1 && array.shape(0) > 0 && array.strides(1) != item)
      raise("ArrayError", name_ + ": strides along a row of " + std::to_string(array.strides(1)) + " bytes, want " +
                              std::to_string(item) + " (numpy.ascontiguousarray)");
    const auto sizes = vector_of<int32_t>(py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(pair.ptr(), 1)),
                                          (name_ + ": sizes").c_str(), array.shape(0), "ArrayError");
    const auto* data = static_cast<const uint8_t*>(array.data());
    rows_.resize(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 0 || sizes[i] > width)
        raise("ArrayError", name_ + ": row " + std::to_string(i) + ": size " + std::to_string(sizes[i]) +
                                " outside [0, " + std::to_string(width) + "]");
      rows_[i] = {data + static_cast<py::ssize_t>(i) * array.strides(0), static_cast<uint64_t>(sizes[i] * item)};
    }
  }

  std::string name_;
  py::object held_;
  std::vector<py::object> encoded_;
  std::vector<Bytes> rows_;
  bool ids_ = false;
};

uint32_t threads_for(uint32_t wanted, uint64_t bytes) {
  const uint64_t most = wanted == 0 ? available_threads() : wanted;
  return static_cast<uint32_t>(std::min<uint64_t>(most, 1 + bytes / kBytesWorthAThread));
}

void check_pairs(const TextBatch& texts, const TextBatch& references) {
  if (texts.size() != references.size())
    raise("ArrayError", references.name() + ": " + std::to_string(references.size()) + ", want one for each of the " +
                            std::to_string(texts.size()) + " texts");
  if (texts.ids() != references.ids())
    raise("ArrayError", references.name() + (texts.ids() ? ": bytes, want token ids as the texts have"
                                                         : ": token ids, want bytes as the texts have"));
}

py::array_t<float> score_texts(int score, const py::object& texts, const py::object& references, uint32_t threads,
                               double tolerance, bool units, uint32_t choices, uint32_t gram) {
  const TextBatch batch(texts, "texts");
  const auto kind = static_cast<rewards::Score>(score);
  const bool alone = kind == rewards::Score::kRepetition;
  const TextBatch other(alone ? py::object(py::list()) : references, "references");
  if (!alone) check_pairs(batch, other);
  if (batch.ids() &&
      (kind == rewards::Score::kExactNormalised || kind == rewards::Score::kNumber || kind == rewards::Score::kChoice))
    raise("ArrayError", "texts: token ids, want text: this score reads letters");
  const rewards::Options options{tolerance, units, choices, gram};
  py::array_t<float> out(static_cast<py::ssize_t>(batch.size()));
  float* to = out.mutable_data();
  const auto count = static_cast<uint32_t>(batch.size());
  std::atomic<uint64_t> refused{~uint64_t{0}};
  const uint32_t shards = threads_for(threads, batch.total_bytes() + other.total_bytes());
  {
    const py::gil_scoped_release release;
    parallel_shards(count, shards, [&](uint32_t begin, uint32_t end) {
      rewards::TextScorer scorer;
      const rewards::Texts none{nullptr, false};
      const uint64_t done = scorer.score(kind, options, batch.view(), alone ? none : other.view(), begin, end, to);
      uint64_t first = refused.load();
      while (done != end && done < first && !refused.compare_exchange_weak(first, done)) {
      }
    });
  }
  if (const uint64_t row = refused.load(); row != ~uint64_t{0})
    raise("ArrayError", "texts: row " + std::to_string(row) + ": " + std::to_string(batch.row(row).size) +
                            " bytes against " + std::to_string(other.row(row).size) +
                            " are more than the 2^36 cells that one pair may take: cut them first");
  return out;
}

py::array_t<int32_t> text_lengths(const py::object& texts, int unit, uint32_t threads) {
  const TextBatch batch(texts, "texts");
  auto kind = static_cast<rewards::Unit>(unit);
  if (batch.ids()) kind = rewards::Unit::kTokens;
  py::array_t<int32_t> out(static_cast<py::ssize_t>(batch.size()));
  int32_t* to = out.mutable_data();
  const uint32_t shards = threads_for(threads, batch.total_bytes());
  {
    const py::gil_scoped_release release;
    parallel_shards(static_cast<uint32_t>(batch.size()), shards, [&](uint32_t begin, uint32_t end) {
      rewards::TextScorer scorer;
      for (uint32_t row = begin; row < end; ++row)
        to[row] = static_cast<int32_t>(std::min<uint64_t>(scorer.length(batch.row(row), kind), INT32_MAX));
    });
  }
  return out;
}

py::list normalise_texts(const py::object& texts) {
  const TextBatch batch(texts, "texts");
  if (batch.ids()) raise("ArrayError", "texts: token ids, want text: only letters have a normal form");
  rewards::TextScorer scorer;
  py::list out;
  for (size_t row = 0; row < batch.size(); ++row) {
    const Bytes normal = scorer.normalised(batch.row(row));
    out.append(py::bytes(reinterpret_cast<const char*>(normal.data), normal.size));
  }
  return out;
}

}  // namespace

void bind_rewards(py::module_& module) {
  module.def("score_texts", &score_texts, py::arg("score"), py::arg("texts"), py::arg("references"), py::arg("threads"),
             py::arg("tolerance"), py::arg("units"), py::arg("choices"), py::arg("gram"),
             "float32[N]: the score of each text; agentenv_fast.rewards.text has a function for each.");
  module.def("text_lengths", &text_lengths, py::arg("texts"), py::arg("unit"), py::arg("threads"),
             "int32[N]: bytes, characters or words of each text; of token ids, their number.");
  module.def("normalise_texts", &normalise_texts, py::arg("texts"), "list[bytes]: SQuAD's normal form of each text.");
}

}  // namespace ae::bindings
