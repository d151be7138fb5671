// The env object: owns the rows and a pool of output buffers, checks what comes in, releases the GIL while it steps.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "api.h"
#include "arrays.h"
#include "errors.h"
#include "exec/thread_pool.h"
#include "logic/typed.h"

namespace ae::bindings {
namespace {

struct Outputs {  // which outputs an env writes
  bool text = true, tokens = true, admissible = true, bitset = false, final_obs = true;
};

// One recyclable set of output arrays. It may be handed out again once nobody else holds any of its arrays.
class BufferSet {
 public:
  BufferSet(uint32_t n, const Widths& w, const Outputs& o, uint32_t terms) {
    obs_ = obs_dict(n, w, o, buffers.obs, -1);
    if (o.final_obs) final_ = obs_dict(n, w, o, buffers.final_obs, 0);
    reward_ = array<float>({n}, buffers.reward);
    terminated_ = flags(n, buffers.terminated);
    truncated_ = flags(n, buffers.truncated);
    info_ = info_dict(n, terms);
    held.text.assign(n, 0);
    held.tokens.assign(n, 0);
    held.admissible.assign(n, 0);
    if (o.final_obs) {
      held.final_text.assign(n, 0);
      held.final_tokens.assign(n, 0);
      held.final_admissible.assign(n, 0);
    }
    for (const py::object& owned : arrays_) baseline_.push_back(Py_REFCNT(owned.ptr()));
  }
  BufferSet(const BufferSet&) = delete;

  bool free() const {
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (Py_REFCNT(arrays_[i].ptr()) != baseline_[i]) return false;
    return true;
  }

  // (obs, reward, terminated, truncated, info): new dicts over the same arrays.
  py::tuple step_result() const { return py::make_tuple(obs(), reward_, terminated_, truncated_, info()); }
  py::tuple observe_result() const { return py::make_tuple(obs(), info()); }

  StepBuffers buffers{};
  Held held;

 private:
  py::object obs() const { return py::reinterpret_steal<py::object>(PyDict_Copy(obs_.ptr())); }
  py::object info() const {
    auto out = py::reinterpret_steal<py::object>(PyDict_Copy(info_.ptr()));
    if (final_) out["final_obs"] = py::reinterpret_steal<py::object>(PyDict_Copy(final_.ptr()));
    return out;
  }

  py::object keep(py::object owned) {
    arrays_.push_back(owned);
    return owned;
  }
  // Memory that the kernel hands out zeroed and only where it is touched.
  template <class T>
  py::object array(std::vector<py::ssize_t> shape, T*& data) {
    size_t count = 1;
    for (const py::ssize_t s : shape) count *= static_cast<size_t>(s);
    data = static_cast<T*>(std::calloc(count == 0 ? 1 : count, sizeof(T)));
    if (data == nullptr) throw std::bad_alloc();
    const py::capsule owner(data, [](void* memory) { std::free(memory); });
    return keep(py::array_t<T>(shape, data, owner));
  }
  py::object flags(uint32_t n, uint8_t*& data) {
    bool* raw = nullptr;
    py::object out = array<bool>({n}, raw);
    data = reinterpret_cast<uint8_t*>(raw);
    return out;
  }
  py::dict obs_dict(uint32_t n, const Widths& w, const Outputs& o, ObsBuffers& b, int admissible_fill) {
    py::dict out;
    if (o.tokens) {
      out["tokens"] = array<int32_t>({n, w.tokens}, b.tokens);
      out["token_count"] = array<int32_t>({n}, b.token_count);
    }
    if (o.text) {
      out["text"] = array<uint8_t>({n, w.text}, b.text);
      out["text_size"] = array<int32_t>({n}, b.text_size);
    }
    if (o.admissible) {
      if (o.bitset) {
        out["admissible"] = array<uint32_t>({n, w.bit_words}, b.admissible_bits);
      } else {
        out["admissible"] = array<int32_t>({n, w.admissible}, b.admissible);
        if (admissible_fill != 0) std::memset(b.admissible, 0xFF, size_t{n} * w.admissible * 4);
      }
      out["admissible_count"] = array<int32_t>({n}, b.admissible_count);
    }
    return out;
  }
  py::dict info_dict(uint32_t n, uint32_t terms) {
    InfoBuffers& b = buffers.info;
    py::dict out;
    out["score"] = array<float>({n}, b.score);
    out["won"] = flags(n, b.won);
    out["lost"] = flags(n, b.lost);
    out["moves"] = array<int32_t>({n}, b.moves);
    out["game"] = array<int32_t>({n}, b.game);
    out["episode"] = array<int32_t>({n}, b.episode);
    out["elapsed_step"] = array<int32_t>({n}, b.elapsed);
    out["status"] = array<uint8_t>({n}, b.status);
    out["overflow"] = array<uint8_t>({n}, b.overflow);
    out["first"] = flags(n, b.first);
    out["valid"] = flags(n, b.valid);
    out["world_hash"] = array<uint32_t>({n, 2}, b.world_hash);
    out["reward_terms"] = array<float>({n, terms}, b.reward_terms);
    return out;
  }

  py::dict obs_, info_;
  py::object final_;
  py::object reward_, terminated_, truncated_;
  std::vector<py::object> arrays_;
  std::vector<Py_ssize_t> baseline_;
};

constexpr size_t kIdleSets = 4;    // free sets kept per size
constexpr size_t kKeptSizes = 16;  // sizes (of `rows=`) kept

class Env {
 public:
  Env(std::shared_ptr<Bank> bank, std::shared_ptr<BoundCodec> codec, uint32_t num_rows, const py::dict& options)
      : bank_(std::move(bank)), codec_(std::move(codec)) {
    engine_.bank = bank_.get();
    engine_.codec = codec_.get();
    engine_.num_rows = num_rows;
    engine_.stride = bank_->stride();
    engine_.threads = options["threads"].cast<uint32_t>();
    engine_.group_size = options["group_size"].cast<uint32_t>();
    Rules& rules = engine_.rules;
    rules.text_mode = static_cast<TextMode>(options["text_mode"].cast<int>());
    rules.autoreset = static_cast<Autoreset>(options["autoreset"].cast<int>());
    rules.order = static_cast<GameOrder>(options["game_order"].cast<int>());
    rules.max_steps = options["max_steps"].cast<uint32_t>();
    rules.num_games = bank_->size();
    rules.reward = weights(options["reward"]);
    outputs_.text = options["text"].cast<bool>();
    outputs_.tokens = options["tokens"].cast<bool>();
    outputs_.admissible = options["admissible"].cast<bool>();
    outputs_.bitset = options["bitset"].cast<bool>();
    outputs_.final_obs = rules.autoreset == Autoreset::kSameStep;
    engine_.widths.text = options["max_text"].cast<uint32_t>();
    engine_.widths.tokens = options["max_tokens"].cast<uint32_t>();
    engine_.widths.admissible = options["max_admissible"].cast<uint32_t>();
    engine_.widths.bit_words = static_cast<uint32_t>((bank_->commands().size() + 31) / 32);
    copy_ = options["copy"].cast<bool>();
    strict_ = options["strict"].cast<bool>();
    commands_ = options["commands"].cast<bool>();
    rows_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, std::max<size_t>(64, size_t{num_rows} * engine_.stride))));
    if (!rows_) throw std::bad_alloc();
    std::memset(rows_.get(), 0, size_t{num_rows} * engine_.stride);
    engine_.rows = rows_.get();
    moves_.resize(num_rows);
  }

  // One env is used from one thread at a time.
  class Use {
   public:
    explicit Use(Env& env) : env_(env) {
      if (env_.busy_.exchange(true))
        raise("EnvBusyError", "this env is being used from another thread: give each thread its own env (ae.make)");
    }
    ~Use() { env_.busy_.store(false); }
    Use(const Use&) = delete;

   private:
    Env& env_;
  };

  py::tuple reset(const py::object& seed, const py::object& row_seeds, const py::object& mask,
                  const py::object& games) {
    const Use use(*this);
    const auto n = static_cast<py::ssize_t>(engine_.num_rows);
    ResetOptions options;
    std::vector<uint64_t> seeds;
    std::vector<uint8_t> masked;
    std::vector<int32_t> chosen;
    if (!seed.is_none()) {
      options.has_seed = true;
      options.seed = seed.cast<uint64_t>();
    }
    if (!row_seeds.is_none()) {
      seeds = vector_of<uint64_t>(row_seeds, "seed", n, "ConfigError");
      options.row_seeds = seeds.data();
    }
    if (!mask.is_none()) {
      masked = vector_of_bool(mask, n);
      options.mask = masked.data();
    }
    if (!games.is_none()) {
      chosen = vector_of<int32_t>(games, "options['game']", n, "ConfigError");
      check_games(chosen);
      options.games = chosen.data();
    }
    check_started(options.mask);
    BufferSet& set = buffers(engine_.num_rows);
    {
      const py::gil_scoped_release release;
      ae::reset(engine_, options, set.buffers, set.held);
    }
    started_ = true;
    return set.observe_result();
  }

  py::tuple step(const py::object& action, const py::object& rows) {
    const Use use(*this);
    need_started();
    const std::vector<int32_t> list = row_list(rows);
    const RowSet set{rows.is_none() ? nullptr : list.data(),
                     rows.is_none() ? engine_.num_rows : static_cast<uint32_t>(list.size())};
    if (set.list != nullptr) check_distinct(list);
    if (moves_.size() < set.count) moves_.resize(set.count);
    read_actions(action, set);
    BufferSet& out = buffers(set.count);
    {
      const py::gil_scoped_release release;
      ae::step(engine_, set, moves_.data(), out.buffers, out.held);
    }
    return out.step_result();
  }

  py::tuple observe(const py::object& rows) {
    const Use use(*this);
    need_started();
    const std::vector<int32_t> list = row_list(rows);
    const RowSet set{rows.is_none() ? nullptr : list.data(),
                     rows.is_none() ? engine_.num_rows : static_cast<uint32_t>(list.size())};
    BufferSet& out = buffers(set.count);
    {
      const py::gil_scoped_release release;
      ae::observe(engine_, set, out.buffers, out.held);
    }
    return out.observe_result();
  }

  py::array_t<uint8_t> get_rows(const py::object& rows) {
    const Use use(*this);
    need_started();
    const std::vector<int32_t> list = row_list(rows);
    const size_t count = rows.is_none() ? engine_.num_rows : list.size();
    py::array_t<uint8_t> out({static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(engine_.stride)});
    for (size_t i = 0; i < count; ++i)
      std::memcpy(out.mutable_data() + i * engine_.stride,
                  engine_.row(rows.is_none() ? static_cast<uint32_t>(i) : static_cast<uint32_t>(list[i])),
                  engine_.stride);
    return out;
  }

  void set_rows(const py::array& values, const py::object& rows) {
    const Use use(*this);
    const std::vector<int32_t> list = row_list(rows);
    check_distinct(list);
    const size_t count = rows.is_none() ? engine_.num_rows : list.size();
    if (!values.dtype().equal(py::dtype::of<uint8_t>()) || values.ndim() != 2 ||
        static_cast<size_t>(values.shape(0)) != count || static_cast<size_t>(values.shape(1)) != engine_.stride)
      raise("SnapshotError", "rows: " + py::str(values.dtype()).cast<std::string>() + shape_text(values) +
                                 ", want uint8(" + std::to_string(count) + ", " + std::to_string(engine_.stride) + ")");
    const auto bytes = py::array_t<uint8_t, py::array::c_style | py::array::forcecast>(values);
    for (size_t i = 0; i < count; ++i)
      if (!row_is_sound(engine_, bytes.data() + i * engine_.stride))
        raise("SnapshotError",
              "rows[" + std::to_string(i) + "]: not the bytes of a row of this suite: they are damaged");
    for (size_t i = 0; i < count; ++i)
      std::memcpy(engine_.row(rows.is_none() ? static_cast<uint32_t>(i) : static_cast<uint32_t>(list[i])),
                  bytes.data() + i * engine_.stride, engine_.stride);
    if (rows.is_none()) started_ = true;
  }

  void fork(const py::object& sources, const py::object& targets, bool split) {
    const Use use(*this);
    need_started();
    const auto to = vector_of<int32_t>(targets, "targets", -1);
    auto from = py::isinstance<py::array>(sources)
                    ? vector_of<int32_t>(sources, "source", static_cast<py::ssize_t>(to.size()))
                    : std::vector<int32_t>(to.size(), sources.cast<int32_t>());
    check_rows(from, "source");
    check_rows(to, "targets");
    check_distinct(to);
    const py::gil_scoped_release release;
    ae::fork(engine_, from.data(), to.data(), static_cast<uint32_t>(to.size()), split);
  }

  py::array_t<uint32_t> row_hash(const py::object& rows) {
    const Use use(*this);
    need_started();
    const std::vector<int32_t> list = row_list(rows);
    const size_t count = rows.is_none() ? engine_.num_rows : list.size();
    py::array_t<uint32_t> out({static_cast<py::ssize_t>(count), py::ssize_t{2}});
    for (size_t i = 0; i < count; ++i) {
      const uint64_t hash =
          ae::row_hash(reinterpret_cast<const uint8_t*>(
                           engine_.row(rows.is_none() ? static_cast<uint32_t>(i) : static_cast<uint32_t>(list[i]))),
                       engine_.stride);
      out.mutable_data()[2 * i] = static_cast<uint32_t>(hash);
      out.mutable_data()[2 * i + 1] = static_cast<uint32_t>(hash >> 32);
    }
    return out;
  }

  py::list texts(const py::object& rows) {
    const Use use(*this);
    need_started();
    const std::vector<int32_t> list = row_list(rows);
    py::list out;
    std::vector<uint8_t> bytes;
    for (size_t i = 0, n = rows.is_none() ? engine_.num_rows : list.size(); i < n; ++i) {
      render_text(engine_, rows.is_none() ? static_cast<uint32_t>(i) : static_cast<uint32_t>(list[i]), bytes);
      out.append(decoded(bytes));
    }
    return out;
  }

  py::list admissible(const py::object& rows) {
    const Use use(*this);
    need_started();
    const std::vector<int32_t> list = row_list(rows);
    py::list out;
    std::vector<int32_t> ids;
    for (size_t i = 0, n = rows.is_none() ? engine_.num_rows : list.size(); i < n; ++i) {
      admissible_commands(engine_, rows.is_none() ? static_cast<uint32_t>(i) : static_cast<uint32_t>(list[i]), ids);
      py::list commands;
      for (const int32_t id : ids) commands.append(bank_->commands()[static_cast<size_t>(id)]);
      out.append(commands);
    }
    return out;
  }

  // Names of the fluents that hold in a row, the player's place and static facts left out; and the place's object id.
  py::tuple facts(uint32_t r) {
    const Use use(*this);
    need_started();
    check_rows({static_cast<int32_t>(r)}, "row");
    const RowHeader* row = engine_.row(r);
    const logic::Program& p = bank_->program(row->game);
    const logic::World world = world_of(const_cast<RowHeader*>(row), p);
    py::list names;
    for (uint32_t f = 1; f < p.header->num_flags; ++f)
      if (world.flag(f)) names.append(std::string(p.string(p.fluent_names[f])));
    py::object place = py::none();
    if (p.header->place_var != logic::kNone32)
      place = py::str(std::string(p.string(p.objects[p.places[world.place()].object].id)));
    return py::make_tuple(names, place);
  }

  // What a text program prints in this row, in a text mode.
  py::str render_program(uint32_t r, uint32_t program, int mode) {
    const Use use(*this);
    need_started();
    check_rows({static_cast<int32_t>(r)}, "row");
    const RowHeader* row = engine_.row(r);
    const logic::Program& p = bank_->program(row->game);
    if (program >= p.header->programs.count) throw py::index_error("text program " + std::to_string(program));
    std::vector<uint8_t> bytes(p.header->max_text + 4096);
    const SerialGroup group;
    logic::Writer<SerialGroup> writer{group, bytes.data(), static_cast<uint32_t>(bytes.size()), nullptr, 0};
    const logic::TokenTable none{};
    const logic::World world = world_of(const_cast<RowHeader*>(row), p);
    logic::Renderer<SerialGroup> renderer{p, *row, world, none, number_text(), static_cast<TextMode>(mode), writer};
    renderer.run(program, 0);
    bytes.resize(writer.text_size);
    return decoded(bytes);
  }

  // (look, title) programs of the place where the row's player is; -1: none.
  py::tuple place_programs(uint32_t r) {
    const Use use(*this);
    need_started();
    check_rows({static_cast<int32_t>(r)}, "row");
    const RowHeader* row = engine_.row(r);
    const logic::Program& p = bank_->program(row->game);
    const logic::Place& place = p.places[world_of(const_cast<RowHeader*>(row), p).place()];
    return py::make_tuple(static_cast<int32_t>(place.look), static_cast<int32_t>(place.title));
  }

  // (event, last action or refusal, rule name or "", command or "") of what happened last in a row.
  py::tuple last_event(uint32_t r) {
    const Use use(*this);
    need_started();
    check_rows({static_cast<int32_t>(r)}, "row");
    const RowHeader* row = engine_.row(r);
    const logic::Program& p = bank_->program(row->game);
    std::string rule, command;
    if (row->event == static_cast<uint8_t>(Event::kAction)) {
      const logic::Action& action = p.actions[row->last_action];
      if (action.rule < p.header->rule_names.count) rule = p.string(p.rule_names[action.rule]);
      command = p.command(action.command);
    }
    return py::make_tuple(row->event, row->last_action, rule, command);
  }

  void set_weights(const std::vector<float>& cumulative) {
    const Use use(*this);
    if (!cumulative.empty() && cumulative.size() != bank_->size())
      raise("ConfigError", "weights: " + std::to_string(cumulative.size()) + ", want one per game (" +
                               std::to_string(bank_->size()) + ")");
    engine_.weights = cumulative;
    engine_.rules.cumulative_weights = engine_.weights.empty() ? nullptr : engine_.weights.data();
  }

  void set_token_commands(const std::vector<std::vector<int32_t>>& sequences) {
    token_commands_.clear();
    for (size_t i = 0; i < sequences.size(); ++i) token_commands_.add(sequences[i], static_cast<int32_t>(i));
  }

  bool started() const { return started_; }
  uint64_t unknown_commands() const { return unknown_commands_; }

 private:
  static RewardWeights weights(const py::handle& from) {
    RewardWeights out;
    if (from.is_none()) return out;
    const auto w = from.cast<std::vector<float>>();
    out.score = w.at(0);
    out.win = w.at(1);
    out.loss = w.at(2);
    out.step = w.at(3);
    out.invalid = w.at(4);
    out.terms = 5;
    return out;
  }

  static py::str decoded(const std::vector<uint8_t>& bytes) {
    PyObject* text = PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(bytes.data()),
                                          static_cast<Py_ssize_t>(bytes.size()), "replace");
    if (text == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::str>(text);
  }

  std::vector<uint8_t> vector_of_bool(const py::handle& mask, py::ssize_t n) {
    if (!py::isinstance<py::array>(mask)) raise("ConfigError", "options['reset_mask']: want a bool array");
    const auto array = py::reinterpret_borrow<py::array>(mask);
    if (array.dtype().kind() != 'b')
      raise("ConfigError",
            "options['reset_mask']: dtype " + py::str(array.dtype()).cast<std::string>() + ", want bool");
    if (array.ndim() != 1 || array.shape(0) != n)
      raise("ConfigError", "options['reset_mask']: shape " + shape_text(array) + ", want (" + std::to_string(n) + ",)");
    std::vector<uint8_t> out(static_cast<size_t>(n));
    for (py::ssize_t i = 0; i < n; ++i)
      out[static_cast<size_t>(i)] = *(static_cast<const uint8_t*>(array.data()) + i * array.strides(0));
    return out;
  }
  void check_games(const std::vector<int32_t>& games) const {
    for (size_t i = 0; i < games.size(); ++i)
      if (games[i] < -1 || games[i] >= static_cast<int32_t>(bank_->size()))
        raise("ConfigError", "options['game'][" + std::to_string(i) + "]: " + std::to_string(games[i]) +
                                 " outside [-1, " + std::to_string(bank_->size()) + ")");
  }
  void check_started(const uint8_t* mask) const {
    if (mask == nullptr || started_) return;
    for (uint32_t i = 0; i < engine_.num_rows; ++i)
      if (mask[i] == 0)
        raise("ConfigError",
              "options['reset_mask']: the first reset must be of all rows; row " + std::to_string(i) + " is False");
  }
  void need_started() const {
    if (!started_) raise("ConfigError", "call reset() before the first step, observe or snapshot");
  }
  std::vector<int32_t> row_list(const py::object& rows) const {
    if (rows.is_none()) return {};
    auto list = vector_of<int32_t>(rows, "rows", -1);
    check_rows(list, "rows");
    return list;
  }
  void check_rows(const std::vector<int32_t>& list, const char* what) const {
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i] < 0 || static_cast<uint32_t>(list[i]) >= engine_.num_rows)
        raise("ActionError", std::string(what) + "[" + std::to_string(i) + "]: row " + std::to_string(list[i]) +
                                 " outside [0, " + std::to_string(engine_.num_rows) + ")");
  }
  void check_distinct(const std::vector<int32_t>& list) {
    std::vector<uint8_t> seen(engine_.num_rows, 0);
    for (const int32_t r : list)
      if (seen[static_cast<size_t>(r)]++ != 0)
        raise("ActionError", "rows: row " + std::to_string(r) + " is named twice");
  }

  void read_actions(const py::object& action, const RowSet& set) {
    const auto n = static_cast<py::ssize_t>(set.count);
    if (py::isinstance<py::list>(action)) return read_typed(action, set);
    if (py::isinstance<py::tuple>(action)) return read_tokens(action, set);
    const auto values = vector_of<int32_t>(action, "action", n);
    if (commands_) {
      if (strict_) check_commands(values, set);
      return resolve_commands(engine_, set, values.data(), moves_.data());
    }
    if (strict_) check_indices(values, set);
    const int64_t listed = listed_at_most();
    for (uint32_t i = 0; i < set.count; ++i) {
      moves_[i].kind = values[i] < listed ? Move::kIndex : Move::kInvalid;
      moves_[i].value = values[i];
    }
  }
  // An index beyond a list that max_admissible cut short is outside of what the row was shown.
  int64_t listed_at_most() const {
    return outputs_.admissible && !outputs_.bitset ? int64_t{engine_.widths.admissible} : INT64_MAX;
  }
  // A finished row takes no action: it stays as it is, or is only reset.
  bool takes_action(uint32_t r) const { return (engine_.row(r)->flags & (kTerminated | kTruncated)) == 0; }

  void check_indices(const std::vector<int32_t>& values, const RowSet& set) {
    std::vector<int32_t> ids;
    for (uint32_t i = 0; i < set.count; ++i) {
      if (!takes_action(set.at(i))) continue;
      admissible_commands(engine_, set.at(i), ids);
      const int64_t listed = std::min<int64_t>(static_cast<int64_t>(ids.size()), listed_at_most());
      if (values[i] < 0 || values[i] >= listed)
        raise("ActionError", "row " + std::to_string(set.at(i)) + ": action " + std::to_string(values[i]) +
                                 " outside [0, " + std::to_string(listed) + ")");
    }
  }
  void check_commands(const std::vector<int32_t>& values, const RowSet& set) {
    std::vector<int32_t> ids;
    for (uint32_t i = 0; i < set.count; ++i) {
      if (!takes_action(set.at(i))) continue;
      admissible_commands(engine_, set.at(i), ids);
      if (std::find(ids.begin(), ids.end(), values[i]) == ids.end())
        raise("ActionError", "row " + std::to_string(set.at(i)) + ": command " + std::to_string(values[i]) +
                                 " is not admissible (" + std::to_string(ids.size()) + " are)");
    }
  }

  void read_typed(const py::object& action, const RowSet& set) {
    const auto list = py::reinterpret_borrow<py::list>(action);
    if (list.size() != set.count)
      raise("ActionError", "action: " + std::to_string(list.size()) + " commands, want " + std::to_string(set.count));
    std::vector<Move> moves(set.count);
    uint64_t unknown = 0;
    for (uint32_t i = 0; i < set.count; ++i) {
      const py::handle item = list[i];
      if (!PyUnicode_Check(item.ptr()))
        raise("ActionError", "row " + std::to_string(set.at(i)) + ": action of type " +
                                 py::str(py::type::of(item).attr("__name__")).cast<std::string>() +
                                 ", want str (or an int32 array for indices)");
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
      if (text == nullptr) {  // lone surrogates: no command has them
        PyErr_Clear();
        text = "";
        size = 0;
        moves[i].kind = Move::kUnknown;
        ++unknown;
        continue;
      }
      moves[i] = typed(set.at(i), std::string_view(text, static_cast<size_t>(size)));
      unknown += moves[i].kind == Move::kUnknown ? 1 : 0;
    }
    strict_unknown(moves, set);
    unknown_commands_ += unknown;
    std::copy(moves.begin(), moves.end(), moves_.begin());
  }
  void strict_unknown(const std::vector<Move>& moves, const RowSet& set) const {
    if (!strict_) return;
    for (uint32_t i = 0; i < set.count; ++i)
      if (moves[i].kind == Move::kUnknown && takes_action(set.at(i)))
        raise("ActionError", "row " + std::to_string(set.at(i)) + ": the command is not known here");
  }

  Move typed(uint32_t r, std::string_view text) const {
    const RowHeader* row = engine_.row(r);
    const logic::Program& p = bank_->program(row->game);
    const logic::Typed found = logic::parse_typed(p, *row, world_of(const_cast<RowHeader*>(row), p), text);
    Move move;
    move.value = static_cast<int32_t>(found.id);
    std::memcpy(move.operand, found.operand, sizeof move.operand);
    switch (found.kind) {
      case logic::Typed::kAction: move.kind = Move::kAction; break;
      case logic::Typed::kRefusal: move.kind = Move::kRefusal; break;
      case logic::Typed::kInvalid: move.kind = Move::kInvalid; break;
      case logic::Typed::kUnknown: move.kind = Move::kUnknown; break;
    }
    return move;
  }

  void read_tokens(const py::object& action, const RowSet& set) {
    const auto pair = py::reinterpret_borrow<py::tuple>(action);
    if (pair.size() != 2)
      raise("ActionError",
            "action: tuple of " + std::to_string(pair.size()) + ", want (tokens int32[N, A], lengths int32[N])");
    if (token_commands_.empty()) raise("ActionError", "action: token actions need tokens: make(..., tokens=\"words\")");
    const auto lengths = vector_of<int32_t>(pair[1], "lengths", static_cast<py::ssize_t>(set.count));
    if (!py::isinstance<py::array>(pair[0])) raise("ActionError", "action tokens: want an array int32[N, A]");
    const auto tokens = py::reinterpret_borrow<py::array>(pair[0]);
    if (!tokens.dtype().equal(py::dtype::of<int32_t>()))
      raise("ActionError", "action tokens: dtype " + py::str(tokens.dtype()).cast<std::string>() + ", want int32");
    if (tokens.ndim() != 2 || tokens.shape(0) != static_cast<py::ssize_t>(set.count))
      raise("ActionError",
            "action tokens: shape " + shape_text(tokens) + ", want (" + std::to_string(set.count) + ", A)");
    const auto values = py::array_t<int32_t, py::array::c_style | py::array::forcecast>(tokens);
    const auto width = static_cast<size_t>(values.shape(1));
    for (uint32_t i = 0; i < set.count; ++i)
      if (lengths[i] < 0 || static_cast<size_t>(lengths[i]) > width)
        raise("ActionError", "row " + std::to_string(set.at(i)) + ": length " + std::to_string(lengths[i]) +
                                 " outside [0, " + std::to_string(width) + "]");
    for (uint32_t i = 0; i < set.count; ++i) {
      const int32_t command = token_commands_.find(values.data() + i * width, static_cast<size_t>(lengths[i]));
      moves_[i] = Move{};
      moves_[i].kind = Move::kUnknown;
      if (command < 0) {
        ++unknown_commands_;
        continue;
      }
      moves_[i].kind = Move::kCommand;
      moves_[i].value = bank_->local_command(engine_.row(set.at(i))->game, command);
    }
    strict_unknown(moves_, set);
  }

  BufferSet& buffers(uint32_t count) {
    auto& sets = pools_[count];
    if (!copy_) {
      if (sets.empty()) sets.push_back(new_set(count));
      return *sets.front();
    }
    BufferSet* found = nullptr;
    size_t idle = 0;
    for (auto at = sets.begin(); at != sets.end();) {
      if (!(*at)->free()) {
        ++at;
        continue;
      }
      if (found == nullptr) found = at->get();
      if (++idle > kIdleSets) at = sets.erase(at);
      else ++at;
    }
    if (found == nullptr) {
      sets.push_back(new_set(count));
      found = sets.back().get();
    }
    if (pools_.size() > kKeptSizes) forget_sizes(count);
    return *found;
  }
  void forget_sizes(uint32_t but) {
    for (auto at = pools_.begin(); at != pools_.end() && pools_.size() > kKeptSizes;)
      at = at->first == but || at->first == engine_.num_rows ? std::next(at) : pools_.erase(at);
  }
  std::unique_ptr<BufferSet> new_set(uint32_t count) const {
    return std::make_unique<BufferSet>(count, engine_.widths, outputs_, engine_.rules.reward.terms);
  }

  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };

  std::shared_ptr<Bank> bank_;
  std::shared_ptr<BoundCodec> codec_;
  Engine engine_;
  Outputs outputs_;
  std::unique_ptr<uint8_t, Free> rows_;
  std::vector<Move> moves_;
  std::map<uint32_t, std::vector<std::unique_ptr<BufferSet>>> pools_;
  CommandTokens token_commands_;
  std::atomic<bool> busy_{false};
  bool copy_ = true, strict_ = false, commands_ = false, started_ = false;
  uint64_t unknown_commands_ = 0;
};

}  // namespace

void bind_engine(py::module_& m) {
  m.def("available_threads", &available_threads, "Cores that this process may use (affinity, cgroup, AE_NUM_THREADS).");
  m.def(
      "philox",
      [](uint64_t key, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
        const Philox out = philox4x32(key, a, b, c, d);
        return py::make_tuple(out.v[0], out.v[1], out.v[2], out.v[3]);
      },
      "One Philox4x32-10 block, for tests.");
  py::class_<Env>(m, "Env", "N rows of a bank; see agentenv_fast.envs.vec_env.VecEnv.")
      .def(py::init<std::shared_ptr<Bank>, std::shared_ptr<BoundCodec>, uint32_t, const py::dict&>(), py::arg("bank"),
           py::arg("codec").none(true), py::arg("num_rows"), py::arg("options"))
      .def("reset", &Env::reset, py::arg("seed") = py::none(), py::arg("row_seeds") = py::none(),
           py::arg("mask") = py::none(), py::arg("games") = py::none())
      .def("step", &Env::step, py::arg("action"), py::arg("rows") = py::none())
      .def("observe", &Env::observe, py::arg("rows") = py::none())
      .def("get_rows", &Env::get_rows, py::arg("rows") = py::none())
      .def("set_rows", &Env::set_rows, py::arg("values"), py::arg("rows") = py::none())
      .def("fork", &Env::fork, py::arg("source"), py::arg("targets"), py::arg("split"))
      .def("row_hash", &Env::row_hash, py::arg("rows") = py::none())
      .def("texts", &Env::texts, py::arg("rows") = py::none())
      .def("admissible", &Env::admissible, py::arg("rows") = py::none())
      .def("facts", &Env::facts, py::arg("row"))
      .def("render_program", &Env::render_program, py::arg("row"), py::arg("program"), py::arg("text_mode") = 1)
      .def("place_programs", &Env::place_programs, py::arg("row"))
      .def("last_event", &Env::last_event, py::arg("row"))
      .def("set_weights", &Env::set_weights)
      .def("set_token_commands", &Env::set_token_commands)
      .def_property_readonly("started", &Env::started)
      .def_property_readonly("unknown_commands", &Env::unknown_commands);
}

}  // namespace ae::bindings
