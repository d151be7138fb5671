// The XLA handlers: rows and outputs are XLA's own buffers, the suite is an operand, threads are XLA's.
// agentenv_fast/xla/ffi.py makes every call; what it sends is checked here again, since an array may hold anything.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/bank.h"

#if defined(AE_WITH_XLA)
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "api.h"
#include "xla/ffi/api/ffi.h"
#endif

namespace ae::bindings {

namespace py = pybind11;

#if defined(AE_WITH_XLA)
namespace {

namespace ffi = xla::ffi;

constexpr uint32_t kRowsPerTask = 64;  // below this a second thread costs more than it brings

// What a suite operand, uint32[4], stands for. Entries stay for the life of the process: a compiled program may be
// called at any later time.
struct Entry {
  std::shared_ptr<Bank> bank;
  std::shared_ptr<BoundCodec> codec;  // null: no tokens
  CommandTokens commands;
};
using Key = std::array<uint32_t, 4>;

class Registry {
 public:
  void add(const Key& key, std::unique_ptr<Entry> entry) {
    const std::unique_lock lock(mutex_);
    entries_.try_emplace(key, std::move(entry));
  }
  const Entry* find(const Key& key) const {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.get();
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<Key, std::unique_ptr<Entry>> entries_;
};

Registry& registry() {
  static Registry* const all = new Registry;  // never destroyed: XLA may still call while Python exits
  return *all;
}

// Which of the attribute `options` is what; agentenv_fast/xla/ffi.py writes them in this order.
enum Option : size_t {
  kAutoreset,
  kTextMode,
  kGameOrder,
  kMaxSteps,
  kGroupSize,
  kThreads,
  kText,        // 0 or 1
  kTokens,      // 0 or 1
  kAdmissible,  // 0 none, 1 ids, 2 bitset
  kActionForm,  // Actions::Form
  kSeedForm,    // 0 none, 1 one for all, 2 one for each row
  kMask,        // 0 or 1
  kGames,       // 0 or 1
  kNumOptions,
};

std::string dims_text(const ffi::AnyBuffer& buffer) {
  std::string text = "(";
  for (const int64_t size : buffer.dimensions()) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

// Takes the buffers of a call one after the other and notes the first that is not as wanted.
class Frame {
 public:
  Frame(const ffi::RemainingArgs& args, const ffi::RemainingRets& rets) : args_(args), rets_(rets) {}

  ffi::AnyBuffer next_arg(const char* what) {
    auto found = args_.get<ffi::AnyBuffer>(arg_++);
    if (found.has_value()) return *found;
    fail(std::string(what) + ": operand " + std::to_string(arg_ - 1) + " is missing");
    return nothing();
  }
  ffi::AnyBuffer next_ret(const char* what) {
    auto found = rets_.get<ffi::AnyBuffer>(ret_++);
    if (found.has_value()) return **found;
    fail(std::string(what) + ": result " + std::to_string(ret_ - 1) + " is missing");
    return nothing();
  }

  // -1: any size; it is written back.
  void check(const ffi::AnyBuffer& buffer, const char* what, ffi::DataType type, std::initializer_list<int64_t> dims) {
    const auto have = buffer.dimensions();
    bool same = buffer.element_type() == type && have.size() == dims.size();
    size_t axis = 0;
    for (const int64_t size : dims) {
      same = same && (size < 0 || have[axis] == size);
      ++axis;
    }
    if (same) return;
    std::string wanted = "(";
    for (const int64_t size : dims)
      wanted += (wanted.size() > 1 ? ", " : "") + (size < 0 ? std::string("any") : std::to_string(size));
    fail(std::string(what) + ": shape " + dims_text(buffer) + " or dtype is wrong, want " + wanted + ")");
  }

  template <class T>
  const T* arg(const char* what, ffi::DataType type, std::initializer_list<int64_t> dims, int64_t* last = nullptr) {
    const ffi::AnyBuffer buffer = next_arg(what);
    check(buffer, what, type, dims);
    if (last != nullptr && ok()) *last = buffer.dimensions().back();
    return static_cast<const T*>(buffer.untyped_data());
  }
  template <class T>
  T* ret(const char* what, ffi::DataType type, std::initializer_list<int64_t> dims, int64_t* last = nullptr) {
    const ffi::AnyBuffer buffer = next_ret(what);
    check(buffer, what, type, dims);
    if (last != nullptr && ok()) *last = buffer.dimensions().back();
    return static_cast<T*>(buffer.untyped_data());
  }
  // An operand that is updated in place: XLA gives result and operand one address, else the bytes are copied.
  template <class T>
  T* held(const char* what, ffi::DataType type, std::initializer_list<int64_t> dims, int64_t* last = nullptr) {
    const ffi::AnyBuffer from = next_arg(what), to = next_ret(what);
    check(from, what, type, dims);
    check(to, what, type, dims);
    if (!ok()) return nullptr;
    if (from.size_bytes() != to.size_bytes()) {
      fail(std::string(what) + ": operand " + dims_text(from) + " and result " + dims_text(to) + " differ");
      return nullptr;
    }
    if (from.untyped_data() != to.untyped_data())
      std::memcpy(to.untyped_data(), from.untyped_data(), from.size_bytes());
    if (last != nullptr) *last = to.dimensions().back();
    return static_cast<T*>(to.untyped_data());
  }

  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  static ffi::AnyBuffer nothing() {
    static XLA_FFI_Buffer empty{};
    return ffi::AnyBuffer(&empty);
  }

  const ffi::RemainingArgs& args_;
  const ffi::RemainingRets& rets_;
  size_t arg_ = 0, ret_ = 0;
  std::string error_;
};

// One call, decoded. Operands: rows, owner, the outputs of the call before, suite, weights, then the call's own.
struct Call {
  Engine engine;
  const Entry* entry = nullptr;
  StepBuffers out{};
  HeldView held;
  uint32_t* owner = nullptr;  // [N], which suite each row is of
  uint32_t tag = 0;
};

void take_obs(Frame& frame, const ffi::Span<const int64_t>& options, int64_t n, ObsBuffers& out, Widths& widths) {
  int64_t width = 0;
  if (options[kText] != 0) {
    out.text = frame.held<uint8_t>("text", ffi::U8, {n, -1}, &width);
    widths.text = static_cast<uint32_t>(width);
    out.text_size = frame.held<int32_t>("text_size", ffi::S32, {n});
  }
  if (options[kTokens] != 0) {
    out.tokens = frame.held<int32_t>("tokens", ffi::S32, {n, -1}, &width);
    widths.tokens = static_cast<uint32_t>(width);
    out.token_count = frame.held<int32_t>("token_count", ffi::S32, {n});
  }
  if (options[kAdmissible] == 1) {
    out.admissible = frame.held<int32_t>("admissible", ffi::S32, {n, -1}, &width);
    widths.admissible = static_cast<uint32_t>(width);
  } else if (options[kAdmissible] == 2) {
    out.admissible_bits = frame.held<uint32_t>("admissible", ffi::U32, {n, -1}, &width);
    widths.bit_words = static_cast<uint32_t>(width);
  }
  if (options[kAdmissible] != 0) out.admissible_count = frame.held<int32_t>("admissible_count", ffi::S32, {n});
}

uint32_t* sizes(int32_t* counts) { return reinterpret_cast<uint32_t*>(counts); }

ffi::Error bad(const std::string& message) { return ffi::Error::InvalidArgument("agentenv_fast: " + message); }

// Everything that reset, step and observe share. On failure frame.ok() is false.
void take_state(Frame& frame, const ffi::Span<const int64_t>& options, const ffi::Span<const float>& reward,
                Call& call) {
  if (options.size() != kNumOptions || reward.size() != 5)
    return frame.fail("made for another version: " + std::to_string(options.size()) + " options, want " +
                      std::to_string(kNumOptions));
  const ffi::AnyBuffer in = frame.next_arg("rows"), rows = frame.next_ret("rows");
  frame.check(in, "rows", ffi::U8, {-1, -1});
  frame.check(rows, "rows", ffi::U8, {-1, -1});
  if (!frame.ok()) return;
  if (in.size_bytes() != rows.size_bytes()) return frame.fail("rows: operand and result differ in shape");
  if (in.untyped_data() != rows.untyped_data()) std::memcpy(rows.untyped_data(), in.untyped_data(), in.size_bytes());
  const int64_t n = rows.dimensions()[0];
  Engine& engine = call.engine;
  engine.rows = static_cast<uint8_t*>(rows.untyped_data());
  engine.num_rows = static_cast<uint32_t>(n);
  engine.stride = static_cast<uint32_t>(rows.dimensions()[1]);
  call.owner = frame.held<uint32_t>("owner", ffi::U32, {n});
  take_obs(frame, options, n, call.out.obs, engine.widths);
  call.held.text = sizes(call.out.obs.text_size);
  call.held.tokens = sizes(call.out.obs.token_count);
  if (call.out.obs.admissible != nullptr) call.held.admissible = sizes(call.out.obs.admissible_count);
  Rules& rules = engine.rules;
  rules.autoreset = static_cast<Autoreset>(options[kAutoreset]);
  if (rules.autoreset == Autoreset::kSameStep) {
    Widths again;
    take_obs(frame, options, n, call.out.final_obs, again);
    call.held.final_text = sizes(call.out.final_obs.text_size);
    call.held.final_tokens = sizes(call.out.final_obs.token_count);
    call.held.final_admissible = frame.held<uint32_t>("final_filled", ffi::U32, {n});
    const Widths& w = engine.widths;
    if (again.text != w.text || again.tokens != w.tokens || again.admissible != w.admissible ||
        again.bit_words != w.bit_words)
      frame.fail("final_obs: its arrays are not as wide as those of obs");
  }
  rules.text_mode = static_cast<TextMode>(options[kTextMode]);
  rules.order = static_cast<GameOrder>(options[kGameOrder]);
  rules.max_steps = static_cast<uint32_t>(options[kMaxSteps]);
  rules.reward = {reward[0], reward[1], reward[2], reward[3], reward[4], 1};
  engine.group_size = static_cast<uint32_t>(options[kGroupSize]);
  engine.threads = static_cast<uint32_t>(options[kThreads]);
  const auto* suite = frame.arg<uint32_t>("suite", ffi::U32, {4});
  int64_t games = 0;
  const auto* weights = frame.arg<float>("weights", ffi::F32, {-1}, &games);
  if (!frame.ok()) return;
  call.entry = registry().find({suite[0], suite[1], suite[2], suite[3]});
  if (call.entry == nullptr)
    return frame.fail("suite: this operand names no suite of this process; take ae.xla.make(...).operand");
  const Bank& bank = *call.entry->bank;
  call.tag = suite[0];
  engine.bank = &bank;
  engine.codec = options[kTokens] != 0 ? call.entry->codec.get() : nullptr;
  rules.num_games = bank.size();
  if (engine.stride != bank.stride())
    frame.fail("rows: " + std::to_string(engine.stride) + " bytes each, the suite's have " +
               std::to_string(bank.stride()) + ": a state of another suite");
  if (options[kTokens] != 0 && engine.codec == nullptr)
    frame.fail("tokens: the suite operand was made without a codec");
  if (options[kAdmissible] == 2 && engine.widths.bit_words < (bank.commands().size() + 31) / 32)
    frame.fail("admissible: " + std::to_string(engine.widths.bit_words) + " words are too few for " +
               std::to_string(bank.commands().size()) + " commands: a state of another suite");
  if (rules.order == GameOrder::kSample && games < bank.size())
    frame.fail("weights: " + std::to_string(games) + " for " + std::to_string(bank.size()) + " games");
  rules.cumulative_weights = weights[0] < 0.0f ? nullptr : weights;  // negative: uniform
}

void take_outputs(Frame& frame, Call& call) {
  const int64_t n = call.engine.num_rows;
  StepBuffers& out = call.out;
  const auto flags = [&](const char* what) { return frame.ret<uint8_t>(what, ffi::PRED, {n}); };
  const auto ints = [&](const char* what) { return frame.ret<int32_t>(what, ffi::S32, {n}); };
  out.reward = frame.ret<float>("reward", ffi::F32, {n});
  out.terminated = flags("terminated");
  out.truncated = flags("truncated");
  out.info.score = frame.ret<float>("score", ffi::F32, {n});
  out.info.won = flags("won");
  out.info.lost = flags("lost");
  out.info.moves = ints("moves");
  out.info.game = ints("game");
  out.info.episode = ints("episode");
  out.info.elapsed = ints("elapsed_step");
  out.info.status = frame.ret<uint8_t>("status", ffi::U8, {n});
  out.info.overflow = frame.ret<uint8_t>("overflow", ffi::U8, {n});
  out.info.first = flags("first");
  out.info.valid = flags("valid");
  out.info.world_hash = frame.ret<uint32_t>("world_hash", ffi::U32, {n, 2});
  int64_t terms = 1;
  out.info.reward_terms = frame.ret<float>("reward_terms", ffi::F32, {n, -1}, &terms);
  if (frame.ok() && terms != 1 && terms != 5) frame.fail("reward_terms: " + std::to_string(terms) + ", want 1 or 5");
  call.engine.rules.reward.terms = static_cast<uint32_t>(terms);
}

// Shards that are claimed, so that a caller whose helpers are all busy does the work alone and never waits for them
// to begin.
struct Shards {
  uint32_t rows, count;
  void* body;
  void (*run)(void* body, uint32_t begin, uint32_t end);
  std::atomic<uint32_t> next{0}, done{0};

  Shards(uint32_t rows, uint32_t count, void* body, void (*run)(void*, uint32_t, uint32_t))
      : rows(rows), count(count), body(body), run(run) {}
  void work() {
    for (uint32_t shard; (shard = next.fetch_add(1)) < count;) {
      const auto at = [&](uint64_t s) { return static_cast<uint32_t>(s * rows / count); };
      run(body, at(shard), at(shard + 1));
      if (done.fetch_add(1) + 1 == count) done.notify_one();
    }
  }
};

template <class Body>
void in_shards(ffi::ThreadPool& pool, uint32_t rows, uint32_t threads, Body&& body) {
  const uint32_t most = std::min(threads, static_cast<uint32_t>(std::max<int64_t>(1, pool.num_threads())));
  const uint32_t count = std::min(most, rows / kRowsPerTask);
  if (count <= 1) {
    body(0u, rows);
    return;
  }
  using Plain = std::remove_reference_t<Body>;
  auto shards =
      std::make_shared<Shards>(rows, count, static_cast<void*>(&body),
                               [](void* b, uint32_t begin, uint32_t end) { (*static_cast<Plain*>(b))(begin, end); });
  for (uint32_t i = 1; i < count; ++i) pool.Schedule([shards] { shards->work(); });
  shards->work();
  for (uint32_t done; (done = shards->done.load()) < count;) shards->done.wait(done);
}

// The first row that is not one of the suite's, over all shards.
class BadRow {
 public:
  void note(uint32_t row) {
    uint32_t known = row_.load();
    while (row < known && !row_.compare_exchange_weak(known, row)) {
    }
  }
  ffi::Error error(const Call& call) const {
    const uint32_t row = row_.load();
    if (row == UINT32_MAX) return ffi::Error::Success();
    if (call.owner[row] != 0 && call.owner[row] != call.tag)
      return bad("state: row " + std::to_string(row) +
                 " is of another suite; reset the state with the suite that it is stepped with");
    return bad("state: row " + std::to_string(row) +
               " is not the bytes of a row; begin with reset, or take rows in with restore");
  }

 private:
  std::atomic<uint32_t> row_{UINT32_MAX};
};

ffi::Error step_impl(ffi::ThreadPool pool, ffi::RemainingArgs args, ffi::RemainingRets rets,
                     ffi::Span<const int64_t> options, ffi::Span<const float> reward) {
  Frame frame(args, rets);
  Call call;
  take_state(frame, options, reward, call);
  if (!frame.ok()) return bad(frame.error());
  take_outputs(frame, call);
  const int64_t n = call.engine.num_rows;
  Actions actions;
  actions.form = static_cast<Actions::Form>(options[kActionForm]);
  if (actions.form == Actions::kTokens) {
    int64_t width = 0;
    actions.tokens = frame.arg<int32_t>("action tokens", ffi::S32, {n, -1}, &width);
    actions.width = static_cast<uint32_t>(width);
    actions.lengths = frame.arg<int32_t>("lengths", ffi::S32, {n});
    actions.commands = &call.entry->commands;
  } else {
    actions.values = frame.arg<int32_t>("action", ffi::S32, {n});
  }
  if (!frame.ok()) return bad(frame.error());
  if (options[kAdmissible] == 1) actions.listed = call.engine.widths.admissible;
  BadRow bad_row;
  in_shards(pool, call.engine.num_rows, call.engine.threads, [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
      if (call.owner[i] != call.tag || !row_is_playable(call.engine, reinterpret_cast<uint8_t*>(call.engine.row(i))))
        return bad_row.note(i);
    step_range(call.engine, actions, begin, end, call.out, call.held);
  });
  return bad_row.error(call);
}

ffi::Error observe_impl(ffi::ThreadPool pool, ffi::RemainingArgs args, ffi::RemainingRets rets,
                        ffi::Span<const int64_t> options, ffi::Span<const float> reward) {
  Frame frame(args, rets);
  Call call;
  take_state(frame, options, reward, call);
  if (!frame.ok()) return bad(frame.error());
  take_outputs(frame, call);
  if (!frame.ok()) return bad(frame.error());
  BadRow bad_row;
  in_shards(pool, call.engine.num_rows, call.engine.threads, [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
      if (call.owner[i] != call.tag || !row_is_sound(call.engine, reinterpret_cast<uint8_t*>(call.engine.row(i))))
        return bad_row.note(i);
    observe_range(call.engine, begin, end, call.out, call.held);
  });
  return bad_row.error(call);
}

ffi::Error reset_impl(ffi::ThreadPool pool, ffi::RemainingArgs args, ffi::RemainingRets rets,
                      ffi::Span<const int64_t> options, ffi::Span<const float> reward) {
  Frame frame(args, rets);
  Call call;
  take_state(frame, options, reward, call);
  if (!frame.ok()) return bad(frame.error());
  take_outputs(frame, call);
  const int64_t n = call.engine.num_rows;
  ResetOptions reset;
  const auto* first_row = frame.arg<uint32_t>("first_row", ffi::U32, {});
  if (!frame.ok()) return bad(frame.error());
  reset.first_row = *first_row;
  std::vector<uint64_t> seeds;
  if (options[kSeedForm] == 1) {
    const auto* seed = frame.arg<uint32_t>("seed", ffi::U32, {2});
    if (frame.ok()) reset.seed = seed[0] | uint64_t{seed[1]} << 32;
    reset.has_seed = true;
  } else if (options[kSeedForm] == 2) {
    const auto* seed = frame.arg<uint32_t>("seed", ffi::U32, {n, 2});
    if (frame.ok()) {
      seeds.resize(static_cast<size_t>(n));
      for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = seed[2 * i] | uint64_t{seed[2 * i + 1]} << 32;
      reset.row_seeds = seeds.data();
    }
  }
  if (options[kMask] != 0) reset.mask = frame.arg<uint8_t>("mask", ffi::PRED, {n});
  if (options[kGames] != 0) reset.games = frame.arg<int32_t>("game", ffi::S32, {n});
  if (!frame.ok()) return bad(frame.error());
  const auto num_games = static_cast<int32_t>(call.engine.bank->size());
  for (int64_t i = 0; reset.games != nullptr && i < n; ++i)
    if (reset.games[i] < -1 || reset.games[i] >= num_games)
      return bad("game[" + std::to_string(i) + "]: " + std::to_string(reset.games[i]) + " outside [-1, " +
                 std::to_string(num_games) + ")");
  BadRow bad_row;
  in_shards(pool, call.engine.num_rows, call.engine.threads, [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
      const auto* row = reinterpret_cast<const uint8_t*>(call.engine.row(i));
      const bool kept = reset.mask != nullptr && reset.mask[i] == 0;
      const bool continued = !reset.has_seed && reset.row_seeds == nullptr;
      if (kept || continued) {
        if (call.owner[i] != call.tag || !row_is_sound(call.engine, row)) return bad_row.note(i);
      } else {
        call.owner[i] = call.tag;
      }
    }
    reset_range(call.engine, reset, begin, end, call.out, call.held);
  });
  return bad_row.error(call);
}

XLA_FFI_DEFINE_HANDLER(kStep, step_impl,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<ffi::Span<const int64_t>>("options")
                           .Attr<ffi::Span<const float>>("reward"));
XLA_FFI_DEFINE_HANDLER(kObserve, observe_impl,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<ffi::Span<const int64_t>>("options")
                           .Attr<ffi::Span<const float>>("reward"));
XLA_FFI_DEFINE_HANDLER(kReset, reset_impl,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<ffi::Span<const int64_t>>("options")
                           .Attr<ffi::Span<const float>>("reward"));

}  // namespace
#endif

void bind_xla(py::module_& m) {
  m.def(
      "xla_targets",
      [] {
        py::dict out;
#if defined(AE_WITH_XLA)
        out["step"] = py::capsule(reinterpret_cast<void*>(kStep), "xla._CUSTOM_CALL_TARGET");
        out["observe"] = py::capsule(reinterpret_cast<void*>(kObserve), "xla._CUSTOM_CALL_TARGET");
        out["reset"] = py::capsule(reinterpret_cast<void*>(kReset), "xla._CUSTOM_CALL_TARGET");
#endif
        return out;
      },
      "XLA handlers by name; empty where the core was built without XLA.");
  m.def(
      "xla_api_version",
      []() -> std::pair<int, int> {
#if defined(AE_WITH_XLA)
        return {XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
#else
        return {0, 0};
#endif
      },
      "(major, minor) of the XLA FFI headers that the core was built with; (0, 0) without XLA.");
  m.def(
      "xla_register",
      [](const std::vector<uint32_t>& key, std::shared_ptr<Bank> bank, std::shared_ptr<BoundCodec> codec,
         const std::vector<std::vector<int32_t>>& command_tokens) {
#if defined(AE_WITH_XLA)
        if (key.size() != 4) throw py::value_error("key: want 4 numbers");
        auto entry = std::make_unique<Entry>();
        entry->bank = std::move(bank);
        entry->codec = std::move(codec);
        for (size_t i = 0; i < command_tokens.size(); ++i)
          entry->commands.add(command_tokens[i], static_cast<int32_t>(i));
        registry().add({key[0], key[1], key[2], key[3]}, std::move(entry));
#else
        (void)key, (void)bank, (void)codec, (void)command_tokens;
        throw std::runtime_error("this core was built without XLA");
#endif
      },
      py::arg("key"), py::arg("bank"), py::arg("codec").none(true), py::arg("command_tokens"),
      "Lets handlers find a suite by its operand, for the life of the process.");
}

}  // namespace ae::bindings
