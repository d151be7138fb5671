// The compiled game: immutable, position-independent bytes. One header, then sections of plain tables.
// decode() checks every index once, so that nothing has to be checked inside a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "logic/source.h"

namespace ae::logic {

constexpr uint32_t kMagic = 0x31504541;  // "AEP1"
constexpr uint32_t kFormatVersion = 5;   // bump on any change of the layout or of what a table means
constexpr uint32_t kEngineLogic = 1;

constexpr uint16_t kNone16 = 0xFFFF;
constexpr uint32_t kNone32 = 0xFFFFFFFFu;
constexpr uint32_t kAlways = 0xFFFFFFFFu;  // a disjunction that holds in every state
constexpr uint32_t kNever = 0xFFFFFFFEu;
constexpr uint32_t kMaxOperands = 4;
constexpr uint32_t kMaxQuests = 4096;  // with rewards of 16 bits their sum fits 32
constexpr uint32_t kMaxConditional = 1024;  // effects of an outcome with conditional ones
constexpr uint32_t kMaxBlock = 4096;        // axioms that depend on each other
constexpr int32_t kMaxReward = 32767;
constexpr uint32_t kMaxGroupedSlots = 8192;  // bits of the set that a single lane collects

struct SectionRef {
  uint32_t offset;  // bytes from the start of the program, a multiple of 8
  uint32_t count;   // entries
};

// {u16 var, op, i16 value}; a disjunction is a run of these, `last` closes a conjunction and the disjunction.
struct Cond {
  uint16_t var;
  uint8_t op;    // CompareOp
  uint8_t last;  // 1: ends its conjunction, 2: also ends the disjunction
  int16_t value;
  int16_t reserved;
};

// One action as seen from one place, in byte order of the commands. The common case is four flags that must be set
// (flag 0 is always set and pads); whatever does not fit is in `rest`.
struct Candidate {
  uint16_t flags[4];
  uint16_t command;    // local command id
  uint16_t slot;       // position of the command among those of the place; several candidates may share one
  uint32_t action;
  uint32_t rest;       // disjunction, kAlways if the flags say all
};

// A command of a place. The first of its candidates that holds is the one that acts.
struct Slot {
  uint16_t command;
  uint16_t num_candidates;
  uint32_t candidates;  // the first one
};

// The same candidates for a single lane, sorted by the flag that is set most rarely, so that a scan visits only the
// groups whose flag is set. One GroupWord per 32-bit word of flags: bits of `mask` in order are the groups from
// `first`.
struct GroupWord {
  uint32_t word, mask, first;
};
struct Grouped {
  uint16_t flags[3];  // besides the group's own
  uint16_t slot;
  uint32_t rest;
};

struct Place {
  uint32_t candidates, num_candidates;
  uint32_t slots, num_slots;
  uint32_t words, num_words;  // group words; num_words 0: too many slots, scan the candidates
  uint32_t look, title;  // text programs, kNone32: none
  uint32_t container;    // index of the place's object among the containers, kNone32: holds nothing
  uint32_t object;
};

struct Action {
  uint32_t command;
  uint32_t when;  // all of its conditions but the place
  uint32_t outcomes;
  uint16_t num_outcomes;
  uint16_t rule;
  uint16_t place;  // kNone16: any
  uint16_t operands[kMaxOperands];
  uint16_t num_operands;
};

struct OutcomeRow {
  uint32_t when;
  uint32_t effects;
  uint32_t moves;
  uint16_t num_effects;
  uint16_t num_moves;
  uint32_t text;           // program
  uint8_t turn_passes;
  uint8_t counts_as_move;
  uint8_t conditional;     // some effect has a condition
  uint8_t reserved;
};

struct EffectRow {
  uint16_t var;
  int16_t value;
  uint32_t add;
  uint32_t when;
};

struct MoveRow {
  uint16_t child;     // movable index
  uint16_t from, to;  // container index, kNone16: nowhere
  uint16_t reserved;
};

struct QuestRow {
  uint32_t fail, win;
  int32_t reward;
  uint16_t done_var;
  uint8_t optional;
  uint8_t repeatable;
  uint32_t has_win;  // it has win events, so the game is won only with it (unless optional)
};

struct AxiomRow {
  uint32_t var;
  uint32_t when;
  uint32_t block;  // 1: alone; n > 1: the first of n that depend on each other; 0: inside such a block
};

struct ObjectRow {
  uint32_t id, name;                // strings
  uint32_t lit_name, lit_the, lit_indefinite, lit_capital_the;
  uint32_t programs[4];             // by ObjectText; kNone32: none
  uint16_t movable, container;      // kNone16: neither
  uint32_t object_class;
  uint32_t type;
};

struct Code {
  uint8_t op;
  uint8_t b;
  int16_t value;
  int32_t a;
  uint32_t c;
};

struct Text {
  uint32_t offset, size;  // in the byte pool
};

struct RefusalRow {
  uint32_t name;  // string
  uint32_t text;
  uint32_t turn_passes;
};

struct TypeRow {
  uint32_t name;
  uint32_t first_parent, num_parents;  // in type_parents
};

struct ProgramHeader {
  uint32_t magic, format_version, engine;
  uint32_t num_players, action_kinds, num_games;
  uint32_t max_admissible;  // K
  uint32_t max_text;        // B
  uint32_t row_bytes;       // header included, padded
  uint32_t total_bytes;
  uint64_t content_hash;    // of every byte, this field read as 0
  uint64_t init_hash;       // world_hash of init_world

  uint32_t num_flags, num_vars;  // flag 0 is always set
  uint32_t flags_offset, vars_offset, children_offset, siblings_offset,
      world_bytes;  // from the start of the world bytes
  uint32_t id_bytes;             // 1 or 2: width of object ids in the tree
  uint32_t place_var;            // kNone32: the game has one place
  uint32_t plain;                // 1: every condition of every action is four set flags
  int32_t max_score;
  uint32_t max_episode_steps;
  uint32_t player, inventory;    // objects, kNone32: none
  uint32_t frame, start, invalid;  // text programs
  uint32_t name, family, extra;  // strings

  SectionRef init_world, places, candidates, slots, group_words, groups, grouped, conds, actions, outcomes, effects,
      moves, quests, axioms, objects, movables, containers, types, type_parents, code, programs, literals, commands,
      strings, refusals, fluent_names, static_facts, rule_names, pool;
};
static_assert(std::is_trivially_copyable_v<ProgramHeader> && sizeof(ProgramHeader) % 8 == 0);
static_assert(sizeof(Candidate) == 20 && sizeof(Cond) == 8 && sizeof(Code) == 12 && sizeof(EffectRow) == 12);

// Typed pointers into the bytes of one program; trivially copyable, does not own them.
struct Program {
  const uint8_t* base = nullptr;
  const ProgramHeader* header = nullptr;
  const uint8_t* init_world = nullptr;
  const Place* places = nullptr;
  const Candidate* candidates = nullptr;
  const Slot* slots = nullptr;
  const GroupWord* group_words = nullptr;
  const uint32_t* groups = nullptr;  // [num_groups + 1] first entry of each group in grouped
  const Grouped* grouped = nullptr;
  const Cond* conds = nullptr;
  const Action* actions = nullptr;
  const OutcomeRow* outcomes = nullptr;
  const EffectRow* effects = nullptr;
  const MoveRow* moves = nullptr;
  const QuestRow* quests = nullptr;
  const AxiomRow* axioms = nullptr;
  const ObjectRow* objects = nullptr;
  const uint32_t* movables = nullptr;    // object of each movable
  const uint32_t* containers = nullptr;  // object of each container
  const TypeRow* types = nullptr;
  const uint32_t* type_parents = nullptr;
  const Code* code = nullptr;
  const uint32_t* programs = nullptr;  // first instruction of each text program
  const Text* literals = nullptr;
  const Text* commands = nullptr;
  const Text* strings = nullptr;
  const RefusalRow* refusals = nullptr;
  const uint32_t* fluent_names = nullptr;  // strings; by flag, flag 0 is "true"
  const uint32_t* static_facts = nullptr;
  const uint32_t* rule_names = nullptr;
  const uint8_t* pool = nullptr;

  std::string_view bytes(const Text& text) const {
    return {reinterpret_cast<const char*>(pool) + text.offset, text.size};
  }
  std::string_view string(uint32_t index) const { return bytes(strings[index]); }
  std::string_view literal(uint32_t index) const { return bytes(literals[index]); }
  std::string_view command(uint32_t index) const { return bytes(commands[index]); }
  uint32_t num_commands() const { return header->commands.count; }
};

// Checks everything that a step relies on. Throws CompileError with what is wrong and where.
// `bytes` must stay alive and be aligned to 8.
Program decode(const uint8_t* bytes, size_t size);

// The content hash of program bytes: all of them, the hash's own field read as 0.
uint64_t program_hash(const uint8_t* bytes, size_t size);

// An upper bound of what one observation can hold, with `cost(literal)` counted per literal, `digits` per number and
// `words` per number in words. Used for bytes (emit) and for tokens (codec).
struct TextCosts {
  std::vector<uint32_t> literal;
  uint32_t number = 11, number_words = 64;
};
uint64_t text_bound(const Program& program, const TextCosts& costs);

}  // namespace ae::logic
