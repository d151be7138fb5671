// Batches on CPU threads: static shards of rows, one lane a row, nothing allocated per row.
#include <algorithm>
#include <cstring>

#include "api.h"
#include "exec/thread_pool.h"

namespace ae {
namespace {

constexpr uint32_t kRowsPerShard = 32;  // below this a second thread costs more than it brings

uint32_t shards_for(const Engine& engine, uint32_t rows) {
  return std::max(1u, std::min(engine.threads, rows / kRowsPerShard));
}

template <class T>
T* at(T* base, uint64_t offset) {
  return base == nullptr ? nullptr : base + offset;
}

// Clears what is left of a previous, longer content: [now, before) becomes `value`.
template <class T>
void clear_tail(T* buffer, uint32_t now, uint32_t before, int value) {
  if (before > now) std::memset(buffer + now, value, (before - now) * sizeof(T));
}

struct Sizes {
  uint32_t text = 0, tokens = 0, admissible = 0;
};

// The lists of one buffer set for position i. Returns overflow bits; `before` and the result are the lengths held.
uint8_t write_observation(const Engine& engine, const RowHeader* row, const ObsBuffers& out, uint32_t i,
                          const Sizes& before, Sizes& now) {
  const GameView game = engine.game(row->game);
  const logic::Program& program = *game.program;
  const logic::World world = world_of(const_cast<RowHeader*>(row), program);
  const SerialGroup group;
  const Widths& w = engine.widths;
  uint8_t overflow = 0;
  if (out.text != nullptr || out.tokens != nullptr) {
    static const logic::TokenTable kNoTokens{};
    const bool tokens = out.tokens != nullptr && game.tokens != nullptr;
    logic::Writer<SerialGroup> writer{group, at(out.text, uint64_t{i} * w.text), w.text,
                                      tokens ? out.tokens + uint64_t{i} * w.tokens : nullptr, w.tokens};
    logic::render(program, *row, world, tokens ? *game.tokens : kNoTokens, number_text(), engine.rules.text_mode,
                  writer);
    overflow |= writer.overflow;
    if (out.text != nullptr) {
      clear_tail(writer.text, writer.text_size, before.text, 0);
      out.text_size[i] = static_cast<int32_t>(writer.text_size);
      now.text = writer.text_size;
    }
    if (tokens) {
      clear_tail(writer.tokens, writer.token_count, before.tokens, 0);
      out.token_count[i] = static_cast<int32_t>(writer.token_count);
      now.tokens = writer.token_count;
    }
  }
  if (out.admissible != nullptr) {
    int32_t* list = out.admissible + uint64_t{i} * w.admissible;
    const uint32_t most = w.admissible;
    const uint32_t found = logic::for_each_admissible(group, program, world, [&](uint32_t k, const logic::Slot& c) {
      if (k < most) list[k] = game.suite_command[c.command];
    });
    now.admissible = std::min(found, most);
    if (found > most) overflow |= kOverflowAdmissible;
    clear_tail(list, now.admissible, before.admissible, 0xFF);
    out.admissible_count[i] = static_cast<int32_t>(now.admissible);
  } else if (out.admissible_bits != nullptr) {
    uint32_t* bits = out.admissible_bits + uint64_t{i} * w.bit_words;
    std::memset(bits, 0, w.bit_words * 4ull);
    const uint32_t found = logic::for_each_admissible(group, program, world, [&](uint32_t, const logic::Slot& c) {
      const auto id = static_cast<uint32_t>(game.suite_command[c.command]);
      bits[id >> 5] |= 1u << (id & 31);
    });
    out.admissible_count[i] = static_cast<int32_t>(found);
  }
  return overflow;
}

void write_info(const RowHeader* row, const InfoBuffers& out, uint32_t i, const Transition& transition,
                uint32_t terms) {
  out.score[i] = row->score;
  out.won[i] = (row->flags & kWon) != 0;
  out.lost[i] = (row->flags & kLost) != 0;
  out.moves[i] = static_cast<int32_t>(row->moves);
  out.game[i] = static_cast<int32_t>(row->game);
  out.episode[i] = static_cast<int32_t>(row->episode);
  out.elapsed[i] = static_cast<int32_t>(row->step);
  out.status[i] = row->status;
  out.valid[i] = transition.valid;
  out.world_hash[2 * size_t{i}] = static_cast<uint32_t>(row->world_hash);
  out.world_hash[2 * size_t{i} + 1] = static_cast<uint32_t>(row->world_hash >> 32);
  for (uint32_t t = 0; t < terms; ++t) out.reward_terms[size_t{i} * terms + t] = transition.terms[t];
}

void write_transition(const StepBuffers& out, uint32_t i, const Transition& transition) {
  out.reward[i] = transition.reward;
  out.terminated[i] = transition.terminated;
  out.truncated[i] = transition.truncated;
}

void start_game(const Engine& engine, RowHeader* row, int32_t game) {
  row->game = game >= 0 ? static_cast<uint32_t>(game) : choose_game(engine.rules, *row);
  begin_episode(SerialGroup{}, row, engine.bank->program(row->game), engine.stride);
}

void next_episode(const Engine& engine, RowHeader* row) {
  ++row->episode;
  start_game(engine, row, -1);
}

class Observer {
 public:
  Observer(const Engine& engine, const StepBuffers& out, const HeldView& held)
      : engine_(engine), out_(out), held_(held) {}

  void current(const RowHeader* row, uint32_t i, uint8_t overflow = 0) const {
    const Widths& w = engine_.widths;
    const Sizes before{size(held_.text, i, w.text), size(held_.tokens, i, w.tokens),
                       size(held_.admissible, i, w.admissible)};
    Sizes now;
    overflow |= write_observation(engine_, row, out_.obs, i, before, now);
    if (held_.text != nullptr) held_.text[i] = now.text;
    if (held_.tokens != nullptr) held_.tokens[i] = now.tokens;
    if (held_.admissible != nullptr) held_.admissible[i] = now.admissible;
    out_.info.first[i] = (row->flags & kFirst) != 0;
    out_.info.overflow[i] = overflow;
  }

  uint8_t final(const RowHeader* row, uint32_t i) const {
    if (out_.final_obs.admissible != nullptr && held_.final_admissible[i] == 0)
      std::memset(out_.final_obs.admissible + uint64_t{i} * engine_.widths.admissible, 0xFF,
                  engine_.widths.admissible * 4ull);
    const Widths& w = engine_.widths;
    const Sizes before{size(held_.final_text, i, w.text), size(held_.final_tokens, i, w.tokens), w.admissible};
    Sizes now;
    const uint8_t overflow = write_observation(engine_, row, out_.final_obs, i, before, now);
    if (held_.final_text != nullptr) held_.final_text[i] = now.text;
    if (held_.final_tokens != nullptr) held_.final_tokens[i] = now.tokens;
    held_.final_admissible[i] = 1;
    return overflow;
  }

  // final_obs is zero where no episode ended.
  void no_final(uint32_t i) const {
    if (held_.final_admissible == nullptr || held_.final_admissible[i] == 0) return;
    const ObsBuffers& out = out_.final_obs;
    const Widths& w = engine_.widths;
    if (out.text != nullptr) {
      std::memset(out.text + uint64_t{i} * w.text, 0, size(held_.final_text, i, w.text));
      out.text_size[i] = 0;
    }
    if (out.tokens != nullptr) {
      std::memset(out.tokens + uint64_t{i} * w.tokens, 0, size(held_.final_tokens, i, w.tokens) * 4ull);
      out.token_count[i] = 0;
    }
    if (out.admissible != nullptr) std::memset(out.admissible + uint64_t{i} * w.admissible, 0, w.admissible * 4ull);
    if (out.admissible_bits != nullptr)
      std::memset(out.admissible_bits + uint64_t{i} * w.bit_words, 0, w.bit_words * 4ull);
    if (out.admissible_count != nullptr) out.admissible_count[i] = 0;
    if (held_.final_text != nullptr) held_.final_text[i] = 0;
    if (held_.final_tokens != nullptr) held_.final_tokens[i] = 0;
    held_.final_admissible[i] = 0;
  }

 private:
  static uint32_t size(const uint32_t* sizes, uint32_t i, uint32_t most) {
    return sizes == nullptr ? 0 : std::min(sizes[i], most);
  }

  const Engine& engine_;
  const StepBuffers& out_;
  const HeldView held_;
};

void step_position(const Engine& engine, uint32_t r, const Move& move, const StepBuffers& out, uint32_t i,
                   const Observer& observer) {
  RowHeader* row = engine.row(r);
  Transition transition;
  const bool finished = (row->flags & (kTerminated | kTruncated)) != 0;
  // next_step; and in same_step a finished row that came with a snapshot of another mode.
  if (finished && engine.rules.autoreset != Autoreset::kDisabled) {
    next_episode(engine, row);
    transition.valid = false;
    write_info(row, out.info, i, transition, engine.rules.reward.terms);
    write_transition(out, i, transition);
    observer.no_final(i);
    return observer.current(row, i);
  }
  if (finished) {  // disabled: stays as it is
    transition.valid = false;
    transition.terminated = (row->flags & kTerminated) != 0;
    transition.truncated = (row->flags & kTruncated) != 0;
    write_info(row, out.info, i, transition, engine.rules.reward.terms);
    write_transition(out, i, transition);
    return observer.current(row, i);
  }
  transition = step_row(SerialGroup{}, row, engine.bank->program(row->game), engine.rules, move);
  write_info(row, out.info, i, transition, engine.rules.reward.terms);
  write_transition(out, i, transition);
  if (engine.rules.autoreset == Autoreset::kSameStep) {
    if (transition.terminated || transition.truncated) {
      const uint8_t overflow = observer.final(row, i);
      next_episode(engine, row);
      return observer.current(row, i, overflow);
    }
    observer.no_final(i);
  }
  observer.current(row, i);
}

void seed_row(const Engine& engine, RowHeader* row, uint32_t r, const ResetOptions& options) {
  if (options.row_seeds != nullptr) {
    row->seed = options.row_seeds[r];
    row->stream = row->task = row->episode = 0;
    row->fork_count = 0;
  } else if (options.has_seed) {
    row->seed = options.seed;
    row->stream = options.first_row + r;
    row->task = row->stream / engine.group_size;
    row->episode = 0;
    row->fork_count = 0;
  } else {
    ++row->episode;
  }
}

void observe_position(const Engine& engine, uint32_t r, const StepBuffers& out, uint32_t i, const Observer& observer) {
  const RowHeader* row = engine.row(r);
  Transition transition;
  transition.terminated = (row->flags & kTerminated) != 0;
  transition.truncated = (row->flags & kTruncated) != 0;
  write_info(row, out.info, i, transition, engine.rules.reward.terms);
  write_transition(out, i, transition);
  if (engine.rules.autoreset == Autoreset::kSameStep) observer.no_final(i);
  observer.current(row, i);
}

Move resolve(const Engine& engine, uint32_t r, const Actions& actions, uint32_t i) {
  Move move;
  if (actions.form == Actions::kIndex) {
    move.kind = actions.values[i] < actions.listed ? Move::kIndex : Move::kInvalid;
    move.value = actions.values[i];
    return move;
  }
  int32_t command = -1;
  if (actions.form == Actions::kCommand) {
    command = actions.values[i];
  } else {
    const int32_t length = actions.lengths[i];
    if (length < 0 || static_cast<uint32_t>(length) > actions.width) {
      move.kind = Move::kInvalid;
      return move;
    }
    command = actions.commands->find(actions.tokens + uint64_t{i} * actions.width, static_cast<size_t>(length));
    if (command < 0) {
      move.kind = Move::kUnknown;
      return move;
    }
  }
  move.kind = Move::kCommand;
  move.value = engine.bank->local_command(engine.row(r)->game, command);
  return move;
}

}  // namespace

HeldView view(Held& held) {
  const bool final_obs = !held.final_admissible.empty();
  return {held.text.data(),
          held.tokens.data(),
          held.admissible.data(),
          final_obs ? held.final_text.data() : nullptr,
          final_obs ? held.final_tokens.data() : nullptr,
          final_obs ? held.final_admissible.data() : nullptr};
}

void reset(Engine& engine, const ResetOptions& options, const StepBuffers& out, Held& held) {
  const HeldView borrowed = view(held);
  parallel_shards(engine.num_rows, shards_for(engine, engine.num_rows),
                  [&](uint32_t begin, uint32_t end) { reset_range(engine, options, begin, end, out, borrowed); });
}

void reset_range(const Engine& engine, const ResetOptions& options, uint32_t begin, uint32_t end,
                 const StepBuffers& out, const HeldView& held) {
  const Observer observer(engine, out, held);
  for (uint32_t i = begin; i < end; ++i) {
    RowHeader* row = engine.row(i);
    if (options.mask == nullptr || options.mask[i] != 0) {
      seed_row(engine, row, i, options);
      start_game(engine, row, options.games == nullptr ? -1 : options.games[i]);
    }
    observe_position(engine, i, out, i, observer);
  }
}

void step_range(const Engine& engine, const Actions& actions, uint32_t begin, uint32_t end, const StepBuffers& out,
                const HeldView& held) {
  const Observer observer(engine, out, held);
  for (uint32_t i = begin; i < end; ++i) step_position(engine, i, resolve(engine, i, actions, i), out, i, observer);
}

void observe_range(const Engine& engine, uint32_t begin, uint32_t end, const StepBuffers& out, const HeldView& held) {
  const Observer observer(engine, out, held);
  for (uint32_t i = begin; i < end; ++i) observe_position(engine, i, out, i, observer);
}

void step(Engine& engine, const RowSet& set, const Move* moves, const StepBuffers& out, Held& held) {
  const Observer observer(engine, out, view(held));
  parallel_shards(set.count, shards_for(engine, set.count), [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) step_position(engine, set.at(i), moves[i], out, i, observer);
  });
}

void observe(const Engine& engine, const RowSet& set, const StepBuffers& out, Held& held) {
  const Observer observer(engine, out, view(held));
  parallel_shards(set.count, shards_for(engine, set.count), [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) observe_position(engine, set.at(i), out, i, observer);
  });
}

void resolve_commands(const Engine& engine, const RowSet& set, const int32_t* suite_commands, Move* moves) {
  for (uint32_t i = 0; i < set.count; ++i) {
    moves[i].kind = Move::kCommand;
    moves[i].value = engine.bank->local_command(engine.row(set.at(i))->game, suite_commands[i]);
  }
}

void render_text(const Engine& engine, uint32_t r, std::vector<uint8_t>& out) {
  const RowHeader* row = engine.row(r);
  const logic::Program& program = engine.bank->program(row->game);
  out.resize(program.header->max_text);
  const SerialGroup group;
  logic::Writer<SerialGroup> writer{group, out.data(), static_cast<uint32_t>(out.size()), nullptr, 0};
  const logic::TokenTable none{};
  logic::render(program, *row, world_of(const_cast<RowHeader*>(row), program), none, number_text(),
                engine.rules.text_mode, writer);
  out.resize(writer.text_size);
}

void admissible_commands(const Engine& engine, uint32_t r, std::vector<int32_t>& out) {
  const RowHeader* row = engine.row(r);
  const GameView game = engine.game(row->game);
  out.clear();
  logic::for_each_admissible(SerialGroup{}, *game.program, world_of(const_cast<RowHeader*>(row), *game.program),
                             [&](uint32_t, const logic::Slot& c) { out.push_back(game.suite_command[c.command]); });
}

void fork(Engine& engine, const int32_t* sources, const int32_t* targets, uint32_t count, bool split) {
  std::vector<uint8_t> copies;
  bool overlap = false;
  std::vector<uint8_t> is_source(engine.num_rows, 0);
  for (uint32_t i = 0; i < count; ++i) is_source[static_cast<uint32_t>(sources[i])] = 1;
  for (uint32_t i = 0; i < count; ++i)
    overlap = overlap || (is_source[static_cast<uint32_t>(targets[i])] != 0 && (count > 1 || split));
  if (overlap) {
    copies.resize(size_t{count} * engine.stride);
    for (uint32_t i = 0; i < count; ++i)
      std::memcpy(copies.data() + size_t{i} * engine.stride, engine.row(static_cast<uint32_t>(sources[i])),
                  engine.stride);
  }
  for (uint32_t i = 0; i < count; ++i) {
    RowHeader* source = engine.row(static_cast<uint32_t>(sources[i]));
    RowHeader* target = engine.row(static_cast<uint32_t>(targets[i]));
    const void* from = overlap ? static_cast<const void*>(copies.data() + size_t{i} * engine.stride) : source;
    if (from != target) std::memcpy(target, from, engine.stride);
    if (!split) continue;
    const uint16_t taken = source->fork_count++;
    const Philox draw = philox4x32(target->seed, target->stream, static_cast<uint32_t>(targets[i]), taken,
                                   static_cast<uint32_t>(Draw::kFork));
    target->stream = draw.v[0];
    target->fork_count = 0;
  }
}

bool row_is_sound(const Engine& engine, const uint8_t* bytes) {
  RowHeader row;
  std::memcpy(&row, bytes, sizeof row);
  if (row.game >= engine.bank->size() || (row.flags & kStarted) == 0) return false;
  if (row.step > kMostCount || row.moves > kMostCount || row.turns > kMostCount) return false;
  const float most = static_cast<float>(kMostCount);
  if (!(row.score >= -most && row.score <= most)) return false;  // or NaN
  const logic::Program& program = engine.bank->program(row.game);
  const logic::ProgramHeader& h = *program.header;
  switch (static_cast<Event>(row.event)) {
    case Event::kStart:
    case Event::kInvalid: break;
    case Event::kRefusal:
      if (row.last_action >= h.refusals.count) return false;
      for (const uint8_t operand : row.operand)
        if (operand >= h.objects.count) return false;
      break;
    case Event::kAction:
      if (row.last_action >= h.actions.count) return false;
      if (row.last_outcome >= program.actions[row.last_action].num_outcomes) return false;
      break;
    default: return false;
  }
  const uint8_t* world_bytes = bytes + sizeof(RowHeader);
  const logic::World world{const_cast<uint8_t*>(world_bytes), &h};
  if (!world.flag(0) || world.place() >= h.places.count) return false;
  const logic::Tree tree(world);
  for (uint32_t i = 0; i < h.containers.count; ++i)
    if (tree.first(i) > h.movables.count) return false;
  for (uint32_t i = 0; i < h.movables.count; ++i)
    if (tree.next(i) > h.movables.count) return false;
  return true;
}

bool row_is_playable(const Engine& engine, const uint8_t* bytes) {
  const auto* row = reinterpret_cast<const RowHeader*>(bytes);
  if (row->game >= engine.bank->size() || (row->flags & kStarted) == 0) return false;
  const logic::ProgramHeader& h = *engine.bank->program(row->game).header;
  const logic::World world{const_cast<uint8_t*>(bytes) + sizeof(RowHeader), &h};
  return world.flag(0) && world.place() < h.places.count;
}

uint64_t row_hash(const uint8_t* bytes, uint32_t size) {
  uint64_t hash = mix64(size);
  for (uint32_t at = 0; at < size; at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    hash = mix64(hash ^ word);
  }
  return hash;
}

}  // namespace ae
