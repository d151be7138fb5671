// Plays a compiled game as an env would, from fuzz bytes: three rows, every kind of action, forks, all outputs. What a
// step promises of an accepted game is checked after each one.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "api.h"
#include "logic/typed.h"
#include "reader.h"

namespace ae::fuzz {

constexpr uint32_t kRows = 3;
constexpr uint32_t kMaxSteps = 40;
constexpr uint32_t kMaxWidth = 1 << 16;  // of buffers: a damaged header may ask for more, which then counts as overflow

struct Buffers {
  std::vector<uint8_t> text, flags;
  std::vector<int32_t> tokens, admissible, counts;
  std::vector<float> numbers;
  std::vector<uint32_t> hashes;
  StepBuffers step{};
  Held held;

  Buffers(const Widths& w, bool final_obs)
      : text(2 * kRows * w.text),
        flags(16 * kRows),
        tokens(2 * kRows * w.tokens),
        admissible(2 * kRows * w.admissible, -1),
        counts(16 * kRows),
        numbers(16 * kRows),
        hashes(2 * kRows) {
    const auto obs = [&](uint32_t half) {
      ObsBuffers o{};
      o.text = text.data() + half * kRows * w.text;
      o.text_size = counts.data() + (4 * half) * kRows;
      o.tokens = tokens.data() + half * kRows * w.tokens;
      o.token_count = counts.data() + (4 * half + 1) * kRows;
      o.admissible = admissible.data() + half * kRows * w.admissible;
      o.admissible_count = counts.data() + (4 * half + 2) * kRows;
      return o;
    };
    step.obs = obs(0);
    if (final_obs) step.final_obs = obs(1);
    step.reward = numbers.data();
    step.terminated = flags.data();
    step.truncated = flags.data() + kRows;
    step.info = {numbers.data() + kRows,     flags.data() + 2 * kRows,  flags.data() + 3 * kRows,
                 counts.data() + 8 * kRows,  counts.data() + 9 * kRows, counts.data() + 10 * kRows,
                 counts.data() + 11 * kRows, flags.data() + 4 * kRows,  flags.data() + 5 * kRows,
                 flags.data() + 6 * kRows,   flags.data() + 7 * kRows,  hashes.data(),
                 numbers.data() + 2 * kRows};
    for (auto* sizes :
         {&held.text, &held.tokens, &held.admissible, &held.final_text, &held.final_tokens, &held.final_admissible})
      sizes->assign(kRows, 0);
  }
};

class Arena {
 public:
  // Throws CompileError if the bytes are refused.
  Arena(const uint8_t* game, size_t size, Reader& reader)
      : r_(reader),
        bank_({std::string_view(reinterpret_cast<const char*>(game), size)}),
        codec_(bank_, Vocabulary(bank_words(bank_)), 0xFF) {
    engine_.bank = &bank_;
    engine_.codec = &codec_;
    engine_.rules.autoreset = static_cast<Autoreset>(r_.below(3));
    engine_.rules.text_mode = static_cast<TextMode>(r_.below(3));
    engine_.widths = {std::min(bank_.max_text(), kMaxWidth), std::min(codec_.max_tokens(), kMaxWidth),
                      std::min(bank_.max_admissible(), kMaxWidth), 0};
    engine_.num_rows = kRows;
    engine_.stride = bank_.stride();
    memory_.resize(kRows * engine_.stride / 8);
    engine_.rows = reinterpret_cast<uint8_t*>(memory_.data());
    buffers_ = std::make_unique<Buffers>(engine_.widths, engine_.rules.autoreset == Autoreset::kSameStep);
  }

  const logic::Program& program() const { return bank_.program(0); }
  Engine& engine() { return engine_; }
  bool overflowed() const { return overflowed_; }

  void reset() {
    ResetOptions options;
    options.has_seed = true;
    options.seed = r_.word();
    ae::reset(engine_, options, buffers_->step, buffers_->held);
    check();
  }
  void play() {
    for (uint32_t step = 0; step < kMaxSteps && !r_.done(); ++step) {
      if (r_.chance(8)) fork();
      Move moves[kRows];
      for (uint32_t i = 0; i < kRows; ++i) moves[i] = move(i);
      ae::step(engine_, {nullptr, kRows}, moves, buffers_->step, buffers_->held);
      check();
    }
  }
  // The hash that was kept step by step is the hash of the facts.
  void check_hashes() {
    for (uint32_t i = 0; i < kRows; ++i) {
      const logic::World world = this->world(i);
      uint64_t hash = 0;
      const logic::ProgramHeader& h = *program().header;
      for (uint32_t v = 1; v < h.num_flags + h.num_vars; ++v) hash ^= logic::hash_term(v, world.value(v));
      promise(hash == engine_.row(i)->world_hash, "world_hash is a function of the facts");
    }
  }

 private:
  logic::World world(uint32_t i) { return world_of(engine_.row(i), program()); }

  Move move(uint32_t i) {
    Move out;
    const logic::ProgramHeader& h = *program().header;
    switch (r_.below(8)) {
      case 0:
        out.kind = Move::kCommand;
        out.value = static_cast<int32_t>(r_.below(h.commands.count));
        break;
      case 1: refuse(out); break;
      case 2: out.kind = Move::kUnknown; break;
      case 3: out.value = static_cast<int32_t>(r_.word()); break;
      case 4: typed(i, out); break;
      default:
        out.value =
            static_cast<int32_t>(r_.below(static_cast<uint32_t>(std::max(1, buffers_->step.obs.admissible_count[i]))));
    }
    return out;
  }
  void refuse(Move& out) {
    const logic::ProgramHeader& h = *program().header;
    if (h.refusals.count == 0) return;
    out.kind = Move::kRefusal;
    out.value = static_cast<int32_t>(r_.below(h.refusals.count));
    for (uint8_t& operand : out.operand) operand = static_cast<uint8_t>(r_.below(std::min(256u, h.objects.count)));
  }
  void typed(uint32_t i, Move& out) {
    std::string text;
    if (program().num_commands() > 0 && r_.chance(2)) text = program().command(r_.below(program().num_commands()));
    for (uint32_t n = r_.below(6); n > 0; --n)
      text.insert(r_.below(static_cast<uint32_t>(text.size()) + 1), 1, static_cast<char>(r_.byte()));
    const logic::Typed found = logic::parse_typed(program(), *engine_.row(i), world(i), text);
    out.kind = found.kind == logic::Typed::kAction    ? Move::kAction
               : found.kind == logic::Typed::kRefusal ? Move::kRefusal
                                                      : Move::kUnknown;
    out.value = static_cast<int32_t>(found.id);
    std::copy(std::begin(found.operand), std::end(found.operand), std::begin(out.operand));
  }
  void fork() {
    const int32_t source = static_cast<int32_t>(r_.below(kRows)), target = static_cast<int32_t>(r_.below(kRows));
    ae::fork(engine_, &source, &target, 1, r_.chance(2));
    observe(engine_, {nullptr, kRows}, buffers_->step, buffers_->held);
    check();
  }

  void check() {
    std::vector<int32_t> admissible;
    for (uint32_t i = 0; i < kRows; ++i) {
      const StepBuffers& b = buffers_->step;
      promise(row_is_sound(engine_, engine_.rows + i * engine_.stride), "a stepped row is sound");
      overflowed_ = overflowed_ || b.info.overflow[i] != 0;
      admissible_commands(engine_, i, admissible);
      promise(std::adjacent_find(admissible.begin(), admissible.end(), std::greater_equal<>()) == admissible.end(),
              "commands are listed once, in order");
      const auto listed = static_cast<size_t>(b.obs.admissible_count[i]);
      promise(listed == std::min<size_t>(admissible.size(), engine_.widths.admissible),
              "the observation lists what the row admits");
    }
  }

  Reader& r_;
  Bank bank_;
  BoundCodec codec_;
  Engine engine_;
  std::vector<uint64_t> memory_;
  std::unique_ptr<Buffers> buffers_;
  bool overflowed_ = false;
};

}  // namespace ae::fuzz
