// Ground → Program bytes: numbers the commands in byte order, sorts the actions by place, lays the tables out.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <unordered_map>

#include "core/hd.h"
#include "core/rng.h"
#include "core/row.h"
#include "logic/program.h"
#include "logic/step.h"

namespace ae::logic {
namespace {

constexpr uint32_t kWalkSteps = 150;  // of the random walk that tells rare flags from common ones

[[noreturn]] void fail(const std::string& message) { throw CompileError{message}; }

void limit(size_t got, size_t most, const char* what, const Ground& ground) {
  if (got > most)
    fail(ground.name + ": " + std::to_string(got) + " " + what + ", the compiled form holds at most " +
         std::to_string(most));
}

// Collects the sections behind the header.
class Layout {
 public:
  template <class T>
  SectionRef add(const std::vector<T>& entries) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    const SectionRef ref{static_cast<uint32_t>(bytes_.size() + sizeof(ProgramHeader)),
                         static_cast<uint32_t>(entries.size())};
    const auto* from = reinterpret_cast<const uint8_t*>(entries.data());
    bytes_.insert(bytes_.end(), from, from + entries.size() * sizeof(T));
    return ref;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class Emitter {
 public:
  explicit Emitter(const Ground& ground) : g_(ground) {}

  std::vector<uint8_t> run() {
    check_sizes();
    number_objects();
    lay_out_world();
    number_commands();
    conditions_and_actions();
    places();
    quests_and_axioms();
    groups();
    texts();
    names();
    return assemble();
  }

 private:
  // Variables: flag 0 of the program is always set, so flags move up by one.
  uint32_t var(int32_t v) const {
    if (v < 0 || v >= g_.num_flags + g_.num_vars)
      fail(g_.name + ": variable " + std::to_string(v) + " outside [0, " + std::to_string(g_.num_flags + g_.num_vars) +
           ")");
    return static_cast<uint32_t>(v) + 1;
  }
  bool is_flag(int32_t v) const { return v < g_.num_flags; }

  void check_sizes() {
    limit(static_cast<size_t>(g_.num_flags) + static_cast<size_t>(g_.num_vars) + 1, 60000, "variables", g_);
    limit(g_.objects.size(), 60000, "objects", g_);
    limit(g_.actions.size(), 4000000, "actions", g_);
    limit(g_.quests.size(), kMaxQuests, "quests", g_);
    limit(g_.literals.size(), 60000, "literals", g_);
    if (g_.init_values.size() != static_cast<size_t>(g_.num_flags + g_.num_vars))
      fail(g_.name + ": " + std::to_string(g_.init_values.size()) + " initial values for " +
           std::to_string(g_.num_flags + g_.num_vars) + " variables");
    if (g_.has_place && g_.num_vars < 1) fail(g_.name + ": has a place but no variable for it");
  }

  void number_objects() {
    movable_.assign(g_.objects.size(), kNone16);
    container_.assign(g_.objects.size(), kNone16);
    for (size_t i = 0; i < g_.movables.size(); ++i) movable_[object(g_.movables[i])] = static_cast<uint16_t>(i);
    for (size_t i = 0; i < g_.containers.size(); ++i) container_[object(g_.containers[i])] = static_cast<uint16_t>(i);
  }
  uint32_t object(int32_t id) const {
    if (id < 0 || static_cast<size_t>(id) >= g_.objects.size())
      fail(g_.name + ": object " + std::to_string(id) + " of " + std::to_string(g_.objects.size()));
    return static_cast<uint32_t>(id);
  }

  void lay_out_world() {
    h_.num_flags = static_cast<uint32_t>(g_.num_flags) + 1;
    h_.num_vars = static_cast<uint32_t>(g_.num_vars);
    h_.id_bytes = g_.movables.size() < 255 ? 1 : 2;
    uint32_t at = 0;
    const auto take = [&](uint32_t bytes, uint32_t align) {
      at = (at + align - 1) / align * align;
      const uint32_t here = at;
      at += bytes;
      return here;
    };
    h_.flags_offset = take((h_.num_flags + 31) / 32 * 4, 4);
    h_.vars_offset = take(h_.num_vars * 2, 2);
    h_.children_offset = take(static_cast<uint32_t>(g_.containers.size()) * h_.id_bytes, h_.id_bytes);
    h_.siblings_offset = take(static_cast<uint32_t>(g_.movables.size()) * h_.id_bytes, h_.id_bytes);
    h_.world_bytes = (at + 7) / 8 * 8;
    h_.row_bytes = padded(static_cast<uint32_t>(sizeof(RowHeader)) + h_.world_bytes);
    h_.place_var = g_.has_place ? h_.num_flags : kNone32;
    init_.assign(h_.world_bytes, 0);
    const World world{init_.data(), &h_};
    RowHeader row{};
    assign(row, world, 0, 1);
    row.world_hash = 0;
    for (int32_t v = 0; v < g_.num_flags + g_.num_vars; ++v) assign(row, world, var(v), initial(v));
    const Tree tree(world);
    for (const auto& [child, container] : g_.init_children) {
      const uint16_t c = movable_[object(child)], p = container_[object(container)];
      if (c == kNone16 || p == kNone16)
        fail(g_.name + ": " + g_.objects[object(child)].id + " is placed but not movable");
      tree.attach(c, p);
    }
    init_hash_ = row.world_hash;
  }
  int32_t initial(int32_t v) const {
    const int32_t value = g_.init_values[static_cast<size_t>(v)];
    if (value < -32768 || value > 32767 || (is_flag(v) && (value < 0 || value > 1)))
      fail(g_.name + ": initial value " + std::to_string(value) + " of variable " + std::to_string(v));
    return value;
  }

  void number_commands() {
    for (const GroundAction& action : g_.actions) commands_.push_back(action.command);
    std::sort(commands_.begin(), commands_.end());
    commands_.erase(std::unique(commands_.begin(), commands_.end()), commands_.end());
    limit(commands_.size(), 60000, "commands", g_);
    command_id_.reserve(commands_.size() * 2);
    for (size_t i = 0; i < commands_.size(); ++i) command_id_.emplace(commands_[i], static_cast<uint32_t>(i));
  }

  Cond cond(const Condition& condition) const {
    Cond out{};
    out.var = static_cast<uint16_t>(var(condition.var));
    out.op = static_cast<uint8_t>(condition.op);
    if (condition.value < -32768 || condition.value > 32767)
      fail(g_.name + ": condition value " + std::to_string(condition.value) + " is not an int16");
    out.value = static_cast<int16_t>(condition.value);
    return out;
  }

  uint32_t disjunction(const Disjunction& when) {
    if (when.empty()) return kNever;
    for (const Conjunction& all : when)
      if (all.empty()) return kAlways;
    const auto first = static_cast<uint32_t>(conds_.size());
    for (size_t i = 0; i < when.size(); ++i) {
      for (size_t j = 0; j < when[i].size(); ++j) {
        Cond c = cond(when[i][j]);
        if (j + 1 == when[i].size()) c.last = i + 1 == when.size() ? 2 : 1;
        conds_.push_back(c);
      }
    }
    return first;
  }
  uint32_t conjunction(const Conjunction& when) { return disjunction({when}); }

  void conditions_and_actions() {
    for (const GroundAction& action : g_.actions) {
      Action row{};
      row.command = command_id_.at(action.command);
      row.when = disjunction(action.when);
      row.outcomes = static_cast<uint32_t>(outcomes_.size());
      row.rule = static_cast<uint16_t>(action.rule);
      if (action.place >= 0 && static_cast<size_t>(action.place) >= std::max<size_t>(1, g_.places.size()))
        fail(g_.name + ": action '" + action.command + "' at place " + std::to_string(action.place));
      if (action.not_place >= 0 && (action.place >= 0 || static_cast<size_t>(action.not_place) >= g_.places.size()))
        fail(g_.name + ": action '" + action.command + "' everywhere but at place " + std::to_string(action.not_place));
      row.place = action.place < 0 ? kNone16 : static_cast<uint16_t>(action.place);
      if (action.operands.size() > kMaxOperands) fail(g_.name + ": '" + action.command + "' has more than 4 operands");
      row.num_operands = static_cast<uint16_t>(action.operands.size());
      for (size_t i = 0; i < action.operands.size(); ++i)
        row.operands[i] = static_cast<uint16_t>(object(action.operands[i]));
      if (action.outcomes.empty()) fail(g_.name + ": '" + action.command + "' has no outcome");
      limit(action.outcomes.size(), 255, "outcomes of one action", g_);
      row.num_outcomes = static_cast<uint16_t>(action.outcomes.size());
      for (const GroundOutcome& outcome : action.outcomes) outcomes_.push_back(this->outcome(outcome));
      actions_.push_back(row);
    }
  }

  OutcomeRow outcome(const GroundOutcome& from) {
    OutcomeRow row{};
    row.when = disjunction(from.when);
    row.effects = static_cast<uint32_t>(effects_.size());
    row.moves = static_cast<uint32_t>(moves_.size());
    row.text = program(from.text);
    row.turn_passes = from.turn_passes;
    row.counts_as_move = from.counts_as_move;
    limit(from.effects.size(), 60000, "effects of one outcome", g_);
    limit(from.moves.size(), 60000, "moves of one outcome", g_);
    for (const Effect& effect : from.effects) {
      EffectRow e{};
      e.var = static_cast<uint16_t>(var(effect.var));
      e.add = effect.add ? 1 : 0;
      if (effect.value < -32768 || effect.value > 32767) fail(g_.name + ": effect value is not an int16");
      if (is_flag(effect.var) && (effect.add || effect.value < 0 || effect.value > 1))
        fail(g_.name + ": a flag can only be assigned 0 or 1");
      e.value = static_cast<int16_t>(effect.value);
      e.when = conjunction(effect.when);
      if (e.when != kAlways) row.conditional = 1;
      effects_.push_back(e);
    }
    if (row.conditional != 0)
      limit(from.effects.size(), kMaxConditional, "effects of an outcome with conditional ones", g_);
    row.num_effects = static_cast<uint16_t>(from.effects.size());
    for (const Move& move : from.moves) {
      const auto end = [&](int32_t id) { return id < 0 ? kNone16 : container_[object(id)]; };
      const MoveRow m{movable_[object(move.object)], end(move.from), end(move.to), 0};
      if (m.child == kNone16 || (move.from >= 0 && m.from == kNone16) || (move.to >= 0 && m.to == kNone16))
        fail(g_.name + ": a move of " + g_.objects[object(move.object)].id + " outside the object tree");
      moves_.push_back(m);
    }
    row.num_moves = static_cast<uint16_t>(from.moves.size());
    return row;
  }

  // Up to four "flag must be set" conditions go into the candidate itself, the rest behind `rest`.
  Candidate candidate(uint32_t index) {
    const GroundAction& action = g_.actions[index];
    Candidate out{};
    out.command = static_cast<uint16_t>(actions_[index].command);
    out.action = index;
    out.rest = kAlways;
    if (action.when.size() != 1) {
      out.rest = actions_[index].when;
      if (out.rest == kNever) fail(g_.name + ": action '" + action.command + "' can never happen");
      return out;
    }
    uint32_t used = 0;
    bool fits = true;
    for (const Condition& c : action.when[0]) {
      const bool plain = is_flag(c.var) && c.op == CompareOp::kSet;
      if (plain && used < 4) out.flags[used++] = static_cast<uint16_t>(var(c.var));
      else fits = false;
    }
    if (!fits) {
      out.rest = rest_of(action.when[0]);
      plain_ = false;
    }
    return out;
  }
  uint32_t rest_of(const Conjunction& all) {
    Conjunction rest;
    uint32_t used = 0;
    for (const Condition& c : all) {
      if (is_flag(c.var) && c.op == CompareOp::kSet && used < 4) ++used;
      else rest.push_back(c);
    }
    return conjunction(rest);
  }

  void places() {
    const size_t count = g_.has_place ? g_.places.size() : 1;
    if (count == 0) fail(g_.name + ": the player's place is a variable but there is no place");
    std::vector<Candidate> all;
    all.reserve(g_.actions.size());
    std::vector<std::vector<uint32_t>> at(count);
    for (uint32_t i = 0; i < g_.actions.size(); ++i) {
      all.push_back(candidate(i));
      if (actions_[i].place == kNone16) {
        for (size_t p = 0; p < count; ++p)
          if (static_cast<int64_t>(p) != g_.actions[i].not_place) at[p].push_back(i);
      } else {
        at[actions_[i].place].push_back(i);
      }
    }
    size_t total = 0;
    for (const auto& list : at) total += list.size();
    limit(total, 8000000, "actions over all places", g_);
    for (size_t p = 0; p < count; ++p) {
      std::stable_sort(at[p].begin(), at[p].end(),
                       [&](uint32_t a, uint32_t b) { return actions_[a].command < actions_[b].command; });
      place(p, at[p], all);
    }
    if (max_admissible_ == 0) max_admissible_ = 1;
  }

  void place(size_t index, const std::vector<uint32_t>& list, const std::vector<Candidate>& all) {
    Place row{};
    row.candidates = static_cast<uint32_t>(candidates_.size());
    row.num_candidates = static_cast<uint32_t>(list.size());
    row.look = row.title = row.container = row.object = kNone32;
    if (g_.has_place) {
      const uint32_t id = object(g_.places[index]);
      row.object = id;
      row.look = program(g_.objects[id].look);
      row.title = program(g_.objects[id].title);
      row.container = container_[id] == kNone16 ? kNone32 : container_[id];
    } else {
      row.object = 0;
    }
    row.slots = static_cast<uint32_t>(slots_.size());
    for (const uint32_t i : list) {
      Candidate c = all[i];
      const bool follows = row.num_slots > 0 && slots_.back().command == c.command;
      if (!follows) {
        slots_.push_back({c.command, 0, static_cast<uint32_t>(candidates_.size())});
        ++row.num_slots;
      }
      if (slots_.back().num_candidates == 0xFFFF) fail(g_.name + ": more than 65535 actions of one command");
      ++slots_.back().num_candidates;
      c.slot = static_cast<uint16_t>(row.num_slots - 1);
      candidates_.push_back(c);
    }
    max_admissible_ = std::max(max_admissible_, row.num_slots);
    places_.push_back(row);
  }

  // Sorts each place's candidates by their rarest flag. Rarity is how often a flag was set along a random walk.
  void groups() {
    const std::vector<uint32_t> often = flag_counts();
    for (Place& place : places_) {
      place.words = static_cast<uint32_t>(group_words_.size());
      if (place.num_slots > kMaxGroupedSlots) continue;
      std::map<uint16_t, std::vector<Grouped>> by_flag;
      for (uint32_t i = 0; i < place.num_candidates; ++i) {
        const Candidate& c = candidates_[place.candidates + i];
        const auto rarest = static_cast<size_t>(
            std::min_element(c.flags, c.flags + 4, [&](uint16_t a, uint16_t b) { return often[a] < often[b]; }) -
            c.flags);
        Grouped grouped{{0, 0, 0}, c.slot, c.rest};
        for (size_t f = 0, at = 0; f < 4; ++f)
          if (f != rarest) grouped.flags[at++] = c.flags[f];
        by_flag[c.flags[rarest]].push_back(grouped);
      }
      for (const auto& [flag, list] : by_flag) {
        if (group_words_.size() == place.words || group_words_.back().word != flag / 32u)
          group_words_.push_back({flag / 32u, 0, static_cast<uint32_t>(groups_.size())});
        group_words_.back().mask |= 1u << (flag & 31);
        groups_.push_back(static_cast<uint32_t>(grouped_.size()));
        grouped_.insert(grouped_.end(), list.begin(), list.end());
      }
      place.num_words = static_cast<uint32_t>(group_words_.size()) - place.words;
    }
    groups_.push_back(static_cast<uint32_t>(grouped_.size()));
  }

  // How often each flag was set along a walk of random admissible actions from the start.
  std::vector<uint32_t> flag_counts() {
    std::vector<uint32_t> counts(h_.num_flags, 0);
    const Program p = unsealed();
    std::vector<uint64_t> bytes((sizeof(RowHeader) + h_.world_bytes) / 8 + 1, 0);
    auto* row = reinterpret_cast<RowHeader*>(bytes.data());
    const World world{reinterpret_cast<uint8_t*>(bytes.data()) + sizeof(RowHeader), &h_};
    std::memcpy(world.bytes, init_.data(), init_.size());
    for (uint32_t step = 0; step < kWalkSteps; ++step) {
      for (uint32_t f = 0; f < h_.num_flags; ++f) counts[f] += world.flag(f) ? 1 : 0;
      std::vector<uint32_t> actions;
      for_each_admissible(SerialGroup{}, p, world,
                          [&](uint32_t, const Slot& slot) { actions.push_back(slot_action(p, world, slot)); });
      if (actions.empty() || (row->flags & kTerminated) != 0) {
        std::memcpy(world.bytes, init_.data(), init_.size());
        row->flags = 0;
        if (actions.empty()) break;
        continue;
      }
      act(p, *row, world, actions[below(philox4x32(1, step, 0, 0, 0).v[0], static_cast<uint32_t>(actions.size()))]);
    }
    return counts;
  }
  // Just enough of a program to step it before it is laid out.
  Program unsealed() {
    h_.quests.count = static_cast<uint32_t>(quests_.size());
    h_.axioms.count = static_cast<uint32_t>(axioms_.size());
    h_.movables.count = static_cast<uint32_t>(g_.movables.size());
    Program p;
    p.header = &h_;
    p.places = places_.data();
    p.candidates = candidates_.data();
    p.slots = slots_.data();
    p.conds = conds_.data();
    p.actions = actions_.data();
    p.outcomes = outcomes_.data();
    p.effects = effects_.data();
    p.moves = moves_.data();
    p.quests = quests_.data();
    p.axioms = axioms_.data();
    return p;
  }

  void quests_and_axioms() {
    for (const GroundQuest& quest : g_.quests) {
      QuestRow row{};
      row.fail = disjunction(quest.fail);
      row.win = disjunction(quest.win);
      row.reward = quest.reward;
      if (quest.reward < -kMaxReward || quest.reward > kMaxReward)
        fail(g_.name + ": a quest's reward of " + std::to_string(quest.reward) + " is not an int16");
      if (!is_flag(quest.done_var)) fail(g_.name + ": a quest's done variable must be a flag");
      row.done_var = static_cast<uint16_t>(var(quest.done_var));
      row.optional = quest.optional;
      row.repeatable = quest.repeatable;
      row.has_win = !quest.win.empty() || quest.has_win_events;
      quests_.push_back(row);
    }
    for (const Axiom& axiom : g_.axioms)
      axioms_.push_back({var(axiom.var), disjunction(axiom.when), static_cast<uint32_t>(axiom.block)});
  }

  uint32_t program(int32_t index) const {
    if (index < 0) return kNone32;
    if (static_cast<size_t>(index) >= g_.programs.size())
      fail(g_.name + ": text program " + std::to_string(index) + " of " + std::to_string(g_.programs.size()));
    return static_cast<uint32_t>(index);
  }

  uint32_t text_literal(std::string_view bytes) {
    const auto [at, is_new] = literal_id_.try_emplace(std::string(bytes), static_cast<uint32_t>(literals_.size()));
    if (is_new) literals_.push_back(pool(bytes));
    return at->second;
  }
  Text pool(std::string_view bytes) {
    const Text text{static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(bytes.size())};
    pool_.insert(pool_.end(), bytes.begin(), bytes.end());
    if (pool_.size() > (1u << 30)) fail(g_.name + ": more than 1 GiB of text");
    return text;
  }
  uint32_t string(std::string_view bytes) {
    strings_.push_back(pool(bytes));
    return static_cast<uint32_t>(strings_.size() - 1);
  }

  void texts() {
    for (const std::string& literal : g_.literals) literals_.push_back(pool(literal));
    for (size_t i = 0; i < g_.literals.size(); ++i) literal_id_.try_emplace(g_.literals[i], static_cast<uint32_t>(i));
    comma_ = text_literal(", ");
    and_ = text_literal(" and ");
    for (const GroundTextProgram& text : g_.programs) {
      programs_.push_back(static_cast<uint32_t>(code_.size()));
      for (const Instruction& instruction : text.code) code_.push_back(code(instruction));
      code_.push_back(Code{static_cast<uint8_t>(Op::kEnd), 0, 0, 0, 0});
    }
    for (size_t i = 0; i < g_.objects.size(); ++i) objects_.push_back(object_row(i));
    for (const Refusal& refusal : g_.refusals)
      refusals_.push_back({string(refusal.name), program(refusal.text), refusal.turn_passes ? 1u : 0u});
  }

  Code code(const Instruction& from) const {
    Code out{};
    out.op = static_cast<uint8_t>(from.op);
    if (from.b < 0 || from.b > 255) fail(g_.name + ": text operand b " + std::to_string(from.b) + " outside [0, 255]");
    out.b = static_cast<uint8_t>(from.b);
    if (from.value < -32768 || from.value > 32767) fail(g_.name + ": text value is not an int16");
    out.value = static_cast<int16_t>(from.value);
    out.a = from.a;
    out.c = static_cast<uint32_t>(from.c);
    const bool reads_var = from.op == Op::kUnless || from.op == Op::kNumber || from.op == Op::kNumberWords;
    if (reads_var && from.a < kPseudoScoreChange) out.a = static_cast<int32_t>(var(from.a));
    if (from.op == Op::kLit && static_cast<uint32_t>(from.a) >= g_.literals.size())
      fail(g_.name + ": literal " + std::to_string(from.a) + " outside [0, " + std::to_string(g_.literals.size()) +
           ")");
    if (from.op == Op::kList) out.c = comma_ | (and_ << 16);
    return out;
  }

  ObjectRow object_row(size_t i) {
    const Object& from = g_.objects[i];
    ObjectRow row{};
    row.id = string(from.id);
    row.name = string(from.name);
    const std::string the = from.the.empty() ? "the " + from.name : from.the;
    const bool vowel =
        !from.name.empty() && std::string_view("aeiouAEIOU").find(from.name[0]) != std::string_view::npos;
    const std::string indefinite = from.indefinite.empty() ? (vowel ? "an " : "a ") + from.name : from.indefinite;
    std::string capital = the;
    if (!capital.empty() && capital[0] >= 'a' && capital[0] <= 'z')
      capital[0] = static_cast<char>(capital[0] - 'a' + 'A');
    row.lit_name = text_literal(from.name);
    row.lit_the = text_literal(the);
    row.lit_indefinite = text_literal(indefinite);
    row.lit_capital_the = text_literal(capital);
    row.programs[static_cast<size_t>(ObjectText::kDescription)] = program(from.description);
    row.programs[static_cast<size_t>(ObjectText::kListed)] = program(from.listed);
    row.programs[static_cast<size_t>(ObjectText::kLook)] = program(from.look);
    row.programs[static_cast<size_t>(ObjectText::kTitle)] = program(from.title);
    row.movable = movable_[i];
    row.container = container_[i];
    row.object_class = static_cast<uint32_t>(from.object_class);
    row.type = static_cast<uint32_t>(from.type);
    return row;
  }

  void names() {
    fluent_names_.push_back(string("true"));
    for (int32_t i = 0; i < g_.num_flags; ++i)
      fluent_names_.push_back(string(static_cast<size_t>(i) < g_.fluent_names.size()
                                         ? g_.fluent_names[static_cast<size_t>(i)]
                                         : "flag" + std::to_string(i)));
    for (const std::string& fact : g_.static_facts) static_facts_.push_back(string(fact));
    for (const std::string& rule : g_.rule_names) rule_names_.push_back(string(rule));
    for (const std::string& command : commands_) command_texts_.push_back(pool(command));
    for (const Type& type : g_.types) {
      types_.push_back(
          {string(type.name), static_cast<uint32_t>(type_parents_.size()), static_cast<uint32_t>(type.parents.size())});
      for (const int32_t parent : type.parents) type_parents_.push_back(static_cast<uint32_t>(parent));
    }
    h_.name = string(g_.name);
    h_.family = string(g_.family);
    h_.extra = string(g_.extra_json);
  }

  std::vector<uint8_t> assemble() {
    Layout layout;
    h_.magic = kMagic;
    h_.format_version = kFormatVersion;
    h_.engine = kEngineLogic;
    h_.num_players = h_.num_games = 1;
    h_.action_kinds = 1;
    h_.init_hash = init_hash_;
    h_.plain = plain_ ? 1 : 0;
    h_.max_score = g_.max_score;
    if (g_.max_episode_steps < 1) fail(g_.name + ": max_episode_steps " + std::to_string(g_.max_episode_steps));
    h_.max_episode_steps = static_cast<uint32_t>(g_.max_episode_steps);
    h_.player = g_.player < 0 ? kNone32 : object(g_.player);
    h_.inventory = g_.inventory < 0 ? kNone32 : object(g_.inventory);
    h_.frame = program(g_.texts.frame);
    h_.start = program(g_.texts.start);
    h_.invalid = program(g_.texts.invalid);
    h_.max_admissible = max_admissible_;
    h_.max_text = 1;  // known once the texts can be decoded
    h_.init_world = layout.add(init_);
    h_.places = layout.add(places_);
    h_.candidates = layout.add(candidates_);
    h_.slots = layout.add(slots_);
    h_.group_words = layout.add(group_words_);
    h_.groups = layout.add(groups_);
    h_.grouped = layout.add(grouped_);
    h_.conds = layout.add(conds_);
    h_.actions = layout.add(actions_);
    h_.outcomes = layout.add(outcomes_);
    h_.effects = layout.add(effects_);
    h_.moves = layout.add(moves_);
    h_.quests = layout.add(quests_);
    h_.axioms = layout.add(axioms_);
    h_.objects = layout.add(objects_);
    h_.movables = layout.add(std::vector<uint32_t>(g_.movables.begin(), g_.movables.end()));
    h_.containers = layout.add(std::vector<uint32_t>(g_.containers.begin(), g_.containers.end()));
    h_.types = layout.add(types_);
    h_.type_parents = layout.add(type_parents_);
    h_.code = layout.add(code_);
    h_.programs = layout.add(programs_);
    h_.literals = layout.add(literals_);
    h_.commands = layout.add(command_texts_);
    h_.strings = layout.add(strings_);
    h_.refusals = layout.add(refusals_);
    h_.fluent_names = layout.add(fluent_names_);
    h_.static_facts = layout.add(static_facts_);
    h_.rule_names = layout.add(rule_names_);
    h_.pool = layout.add(pool_);
    return finish(layout.bytes());
  }

  std::vector<uint8_t> finish(const std::vector<uint8_t>& body) {
    std::vector<uint8_t> bytes(sizeof(ProgramHeader) + body.size());
    h_.total_bytes = static_cast<uint32_t>(bytes.size());
    if (!body.empty()) std::memcpy(bytes.data() + sizeof(ProgramHeader), body.data(), body.size());
    std::memcpy(bytes.data(), &h_, sizeof h_);
    seal(bytes);
    const Program decoded = decode(bytes.data(), bytes.size());
    TextCosts costs;
    for (const Text& text : literals_) costs.literal.push_back(text.size);
    const uint64_t bound = text_bound(decoded, costs);
    if (bound > (1u << 24))
      fail(g_.name + ": an observation may hold " + std::to_string(bound) + " bytes, at most 16 MiB");
    h_.max_text = static_cast<uint32_t>(std::max<uint64_t>(bound, 1));
    std::memcpy(bytes.data(), &h_, sizeof h_);
    seal(bytes);
    return bytes;
  }

  static void seal(std::vector<uint8_t>& bytes) {
    const uint64_t hash = program_hash(bytes.data(), bytes.size());
    std::memcpy(bytes.data() + offsetof(ProgramHeader, content_hash), &hash, sizeof hash);
  }

  const Ground& g_;
  ProgramHeader h_{};
  std::vector<uint16_t> movable_, container_;
  std::vector<uint8_t> init_, pool_;
  uint64_t init_hash_ = 0;
  std::vector<std::string> commands_;
  std::unordered_map<std::string, uint32_t> command_id_, literal_id_;
  uint32_t max_admissible_ = 0, comma_ = 0, and_ = 0;
  bool plain_ = true;
  std::vector<Place> places_;
  std::vector<Candidate> candidates_;
  std::vector<Slot> slots_;
  std::vector<GroupWord> group_words_;
  std::vector<uint32_t> groups_;
  std::vector<Grouped> grouped_;
  std::vector<Cond> conds_;
  std::vector<Action> actions_;
  std::vector<OutcomeRow> outcomes_;
  std::vector<EffectRow> effects_;
  std::vector<MoveRow> moves_;
  std::vector<QuestRow> quests_;
  std::vector<AxiomRow> axioms_;
  std::vector<ObjectRow> objects_;
  std::vector<TypeRow> types_;
  std::vector<uint32_t> type_parents_, programs_, fluent_names_, static_facts_, rule_names_;
  std::vector<Code> code_;
  std::vector<Text> literals_, strings_, command_texts_;
  std::vector<RefusalRow> refusals_;
};

}  // namespace

std::vector<uint8_t> emit(const Ground& ground) { return Emitter(ground).run(); }

}  // namespace ae::logic
