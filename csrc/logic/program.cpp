// decode(): every index, jump and call is checked here, once; steps trust the tables afterwards.
#include "logic/program.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/rng.h"
#include "core/row.h"

namespace ae::logic {
namespace {

[[noreturn]] void bad(const std::string& what) { throw CompileError{"compiled game: " + what}; }

class Checker {
 public:
  Checker(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) {}

  Program run() {
    header();
    Program p;
    p.base = bytes_;
    p.header = &h();
    sections(p);
    strings(p);
    world(p);
    conditions(p);
    actions(p);
    objects(p);
    quests(p);
    texts(p);
    return p;
  }

 private:
  const ProgramHeader& h() const { return *reinterpret_cast<const ProgramHeader*>(bytes_); }

  void header() const {
    if (size_ < sizeof(ProgramHeader)) bad(std::to_string(size_) + " bytes, too few for a header");
    if (reinterpret_cast<uintptr_t>(bytes_) % 8 != 0) bad("bytes not aligned to 8");
    if (h().magic != kMagic) bad("not a compiled game (wrong magic)");
    if (h().format_version != kFormatVersion)
      bad("format version " + std::to_string(h().format_version) + ", want " + std::to_string(kFormatVersion) +
          ": compile the game again");
    if (h().engine != kEngineLogic) bad("engine " + std::to_string(h().engine) + " is not known");
    if (h().total_bytes != size_) bad(std::to_string(size_) + " bytes, header says " + std::to_string(h().total_bytes));
  }

  template <class T>
  const T* section(const SectionRef& ref, const char* name) const {
    const uint64_t end = ref.offset + uint64_t{ref.count} * sizeof(T);
    if (ref.offset < sizeof(ProgramHeader) || end > size_ || ref.offset % 8 != 0)
      bad(std::string("section ") + name + " outside the file");
    return reinterpret_cast<const T*>(bytes_ + ref.offset);
  }

  void sections(Program& p) const {
    p.init_world = section<uint8_t>(h().init_world, "init_world");
    p.places = section<Place>(h().places, "places");
    p.candidates = section<Candidate>(h().candidates, "candidates");
    p.slots = section<Slot>(h().slots, "slots");
    p.group_words = section<GroupWord>(h().group_words, "group_words");
    p.groups = section<uint32_t>(h().groups, "groups");
    p.grouped = section<Grouped>(h().grouped, "grouped");
    p.conds = section<Cond>(h().conds, "conds");
    p.actions = section<Action>(h().actions, "actions");
    p.outcomes = section<OutcomeRow>(h().outcomes, "outcomes");
    p.effects = section<EffectRow>(h().effects, "effects");
    p.moves = section<MoveRow>(h().moves, "moves");
    p.quests = section<QuestRow>(h().quests, "quests");
    p.axioms = section<AxiomRow>(h().axioms, "axioms");
    p.objects = section<ObjectRow>(h().objects, "objects");
    p.movables = section<uint32_t>(h().movables, "movables");
    p.containers = section<uint32_t>(h().containers, "containers");
    p.types = section<TypeRow>(h().types, "types");
    p.type_parents = section<uint32_t>(h().type_parents, "type_parents");
    p.code = section<Code>(h().code, "code");
    p.programs = section<uint32_t>(h().programs, "programs");
    p.literals = section<Text>(h().literals, "literals");
    p.commands = section<Text>(h().commands, "commands");
    p.strings = section<Text>(h().strings, "strings");
    p.refusals = section<RefusalRow>(h().refusals, "refusals");
    p.fluent_names = section<uint32_t>(h().fluent_names, "fluent_names");
    p.static_facts = section<uint32_t>(h().static_facts, "static_facts");
    p.rule_names = section<uint32_t>(h().rule_names, "rule_names");
    p.pool = section<uint8_t>(h().pool, "pool");
  }

  static void index(uint64_t got, uint64_t count, const char* what) {
    if (got >= count)
      bad(std::string(what) + " " + std::to_string(got) + " outside [0, " + std::to_string(count) + ")");
  }
  static void index_or_none(uint32_t got, uint64_t count, const char* what) {
    if (got != kNone32) index(got, count, what);
  }
  static void range(uint64_t first, uint64_t count, uint64_t size, const char* what) {
    if (first + count > size)
      bad(std::string(what) + " end at " + std::to_string(first + count) + " of " + std::to_string(size));
  }

  void strings(const Program& p) const {
    const auto text = [&](const Text& t, const char* what) { range(t.offset, t.size, h().pool.count, what); };
    for (uint32_t i = 0; i < h().literals.count; ++i) text(p.literals[i], "literals");
    for (uint32_t i = 0; i < h().strings.count; ++i) text(p.strings[i], "strings");
    for (uint32_t i = 0; i < h().commands.count; ++i) {
      text(p.commands[i], "commands");
      if (i > 0 && p.command(i - 1) >= p.command(i)) bad("commands are not in byte order");
    }
    const auto names = [&](const uint32_t* list, uint32_t count, const char* what) {
      for (uint32_t i = 0; i < count; ++i) index(list[i], h().strings.count, what);
    };
    names(p.fluent_names, h().fluent_names.count, "fluent name");
    names(p.static_facts, h().static_facts.count, "static fact");
    names(p.rule_names, h().rule_names.count, "rule name");
    for (const uint32_t s : {h().name, h().family, h().extra}) index(s, h().strings.count, "header string");
    if (h().fluent_names.count != h().num_flags) bad("as many fluent names as flags are wanted");
    for (uint32_t i = 0; i < h().types.count; ++i) {
      index(p.types[i].name, h().strings.count, "type name");
      range(p.types[i].first_parent, p.types[i].num_parents, h().type_parents.count, "type parents");
    }
    for (uint32_t i = 0; i < h().type_parents.count; ++i) index(p.type_parents[i], h().types.count, "parent type");
    for (uint32_t i = 0; i < h().refusals.count; ++i) {
      index(p.refusals[i].name, h().strings.count, "refusal name");
      index_or_none(p.refusals[i].text, h().programs.count, "refusal text");
    }
  }

  void world(const Program& p) const {
    if (h().id_bytes != 1 && h().id_bytes != 2) bad("object ids of " + std::to_string(h().id_bytes) + " bytes");
    if (h().num_flags < 1 || h().num_flags > 65535 || h().num_vars > 65535 || h().num_flags + h().num_vars > 65535)
      bad("too many variables");
    const uint64_t words = uint64_t{h().num_flags + 31} / 32 * 4;
    range(h().flags_offset, words, h().world_bytes, "flags");
    range(h().vars_offset, uint64_t{h().num_vars} * 2, h().world_bytes, "variables");
    range(h().children_offset, uint64_t{h().containers.count} * h().id_bytes, h().world_bytes, "children");
    range(h().siblings_offset, uint64_t{h().movables.count} * h().id_bytes, h().world_bytes, "siblings");
    // One after the other, so that no effect on one of them changes another.
    if (h().flags_offset + words > h().vars_offset ||
        h().vars_offset + uint64_t{h().num_vars} * 2 > h().children_offset ||
        h().children_offset + uint64_t{h().containers.count} * h().id_bytes > h().siblings_offset)
      bad("world bytes overlap");
    if (h().flags_offset % 4 != 0 || h().vars_offset % 2 != 0 || h().children_offset % h().id_bytes != 0 ||
        h().siblings_offset % h().id_bytes != 0)
      bad("world bytes not aligned");
    if (h().world_bytes > (1u << 24) || h().world_bytes != h().init_world.count)
      bad("world bytes differ from the initial world");
    if (h().row_bytes != padded(static_cast<uint32_t>(sizeof(RowHeader)) + h().world_bytes)) bad("row size");
    if (h().max_episode_steps < 1 || h().max_text < 1 || h().max_admissible < 1) bad("an empty bound");
    if (h().max_text > (1u << 24) || h().max_admissible > 65536) bad("a bound that is too large");
    if ((reinterpret_cast<const uint32_t*>(p.init_world + h().flags_offset)[0] & 1u) == 0) bad("flag 0 is not set");
    if (h().place_var != kNone32 && h().place_var != h().num_flags) bad("place variable");
    if (h().place_var != kNone32 && h().num_vars == 0) bad("place variable missing");
    if (h().places.count == 0) bad("no place");
    const uint16_t place =
        h().place_var == kNone32
            ? uint16_t{0}
            : static_cast<uint16_t>(reinterpret_cast<const int16_t*>(p.init_world + h().vars_offset)[0]);
    index(place, h().places.count, "first place");
    tree(p);
  }

  void tree(const Program& p) const {
    const auto link = [&](uint32_t offset, uint32_t i) -> uint32_t {
      const uint8_t* at = p.init_world + offset;
      return h().id_bytes == 2 ? reinterpret_cast<const uint16_t*>(at)[i] : at[i];
    };
    for (uint32_t i = 0; i < h().containers.count; ++i)
      index(link(h().children_offset, i), h().movables.count + 1ull, "child");
    for (uint32_t i = 0; i < h().movables.count; ++i)
      index(link(h().siblings_offset, i), h().movables.count + 1ull, "sibling");
  }

  // Every disjunction ends inside the section.
  void disjunction(uint32_t at, const char* what) const {
    if (at < kNever) index(at, h().conds.count, what);
  }
  void conditions(const Program& p) const {
    for (uint32_t i = 0; i < h().conds.count; ++i) {
      index(p.conds[i].var, h().num_flags + h().num_vars, "condition variable");
      index(p.conds[i].op, 6, "condition operator");
      if (p.conds[i].last > 2) bad("condition mark");
    }
    if (h().conds.count > 0 && p.conds[h().conds.count - 1].last != 2) bad("conditions do not end");
  }

  void assigned(const Program& p, const EffectRow& e) const {
    index(e.var, h().num_flags + h().num_vars, "effect variable");
    if (e.var == 0) bad("an effect on the constant flag");
    if (e.var < h().num_flags && (e.add != 0 || e.value < 0 || e.value > 1))
      bad("an effect that makes a flag neither 0 nor 1");
    if (e.var == h().place_var) {
      if (e.add != 0) bad("an effect that adds to the place");
      index(static_cast<uint16_t>(e.value), h().places.count, "place of an effect");
    }
    disjunction(e.when, "effect condition");
    (void)p;
  }

  void actions(const Program& p) const {
    for (uint32_t i = 0; i < h().effects.count; ++i) assigned(p, p.effects[i]);
    for (uint32_t i = 0; i < h().moves.count; ++i) {
      index(p.moves[i].child, h().movables.count, "moved object");
      if (p.moves[i].from != kNone16) index(p.moves[i].from, h().containers.count, "move source");
      if (p.moves[i].to != kNone16) index(p.moves[i].to, h().containers.count, "move target");
    }
    for (uint32_t i = 0; i < h().outcomes.count; ++i) {
      const OutcomeRow& o = p.outcomes[i];
      disjunction(o.when, "outcome condition");
      range(o.effects, o.num_effects, h().effects.count, "effects");
      range(o.moves, o.num_moves, h().moves.count, "moves");
      index_or_none(o.text, h().programs.count, "outcome text");
      if (o.conditional != 0 && o.num_effects > kMaxConditional) bad("too many conditional effects");
    }
    for (uint32_t i = 0; i < h().actions.count; ++i) {
      const Action& a = p.actions[i];
      index(a.command, h().commands.count, "action command");
      disjunction(a.when, "action condition");
      if (a.num_outcomes == 0 || a.num_outcomes > 255) bad("outcomes of an action");
      range(a.outcomes, a.num_outcomes, h().outcomes.count, "outcomes");
      index(a.rule, std::max<uint64_t>(1, h().rule_names.count), "rule");
      if (a.num_operands > kMaxOperands) bad("operands of an action");
      for (uint32_t k = 0; k < a.num_operands; ++k) index(a.operands[k], h().objects.count, "operand");
    }
    for (uint32_t i = 0; i < h().places.count; ++i) place(p, p.places[i]);
  }

  void place(const Program& p, const Place& place) const {
    range(place.candidates, place.num_candidates, h().candidates.count, "candidates");
    index_or_none(place.look, h().programs.count, "look text");
    index_or_none(place.title, h().programs.count, "title text");
    index_or_none(place.container, h().containers.count, "place container");
    index(place.object, std::max<uint64_t>(1, h().objects.count), "place object");
    range(place.slots, place.num_slots, h().slots.count, "slots");
    if (place.num_slots > h().max_admissible) bad("more commands in a place than max_admissible");
    for (uint32_t k = 0; k < place.num_candidates; ++k) {
      const Candidate& c = p.candidates[place.candidates + k];
      for (const uint16_t flag : c.flags) index(flag, h().num_flags, "candidate flag");
      index(c.command, h().commands.count, "candidate command");
      index(c.action, h().actions.count, "candidate action");
      index(c.slot, place.num_slots, "candidate slot");
      disjunction(c.rest, "candidate condition");
    }
    for (uint32_t k = 0; k < place.num_slots; ++k) {
      const Slot& slot = p.slots[place.slots + k];
      index(slot.command, h().commands.count, "slot command");
      if (k > 0 && p.slots[place.slots + k - 1].command >= slot.command)
        bad("the commands of a place are not in order");
      range(slot.candidates, slot.num_candidates, uint64_t{place.candidates} + place.num_candidates, "slot candidates");
    }
    groups(p, place);
  }

  void groups(const Program& p, const Place& place) const {
    range(place.words, place.num_words, h().group_words.count, "group words");
    if (place.num_words != 0 && place.num_slots > kMaxGroupedSlots) bad("too many slots to be grouped");
    for (uint32_t w = 0; w < place.num_words; ++w) {
      const GroupWord& word = p.group_words[place.words + w];
      index(word.word, (uint64_t{h().num_flags} + 31) / 32, "group word");
      const auto count = static_cast<uint32_t>(__builtin_popcount(word.mask));
      range(word.first, uint64_t{count} + 1, h().groups.count, "groups");
      for (uint32_t g = 0; g < count; ++g) {
        const uint32_t begin = p.groups[word.first + g], end = p.groups[word.first + g + 1];
        if (begin > end || end > h().grouped.count) bad("groups are not in order");
        for (uint32_t at = begin; at < end; ++at) {
          for (const uint16_t flag : p.grouped[at].flags) index(flag, h().num_flags, "grouped flag");
          index(p.grouped[at].slot, place.num_slots, "grouped slot");
          disjunction(p.grouped[at].rest, "grouped condition");
        }
      }
    }
  }

  void objects(const Program& p) const {
    for (uint32_t i = 0; i < h().movables.count; ++i) index(p.movables[i], h().objects.count, "movable");
    for (uint32_t i = 0; i < h().containers.count; ++i) index(p.containers[i], h().objects.count, "container");
    index_or_none(h().player, h().objects.count, "player");
    index_or_none(h().inventory, h().objects.count, "inventory");
    for (uint32_t i = 0; i < h().objects.count; ++i) {
      const ObjectRow& o = p.objects[i];
      index(o.id, h().strings.count, "object id");
      index(o.name, h().strings.count, "object name");
      for (const uint32_t lit : {o.lit_name, o.lit_the, o.lit_indefinite, o.lit_capital_the})
        index(lit, h().literals.count, "object literal");
      for (const uint32_t text : o.programs) index_or_none(text, h().programs.count, "object text");
      if (o.movable != kNone16) index(o.movable, h().movables.count, "object movable");
      if (o.container != kNone16) index(o.container, h().containers.count, "object container");
      index(o.type, std::max<uint64_t>(1, h().types.count), "object type");
    }
  }

  void quests(const Program& p) const {
    if (h().quests.count > kMaxQuests) bad("more quests than a step may sum up");
    for (uint32_t i = 0; i < h().quests.count; ++i) {
      disjunction(p.quests[i].fail, "quest condition");
      disjunction(p.quests[i].win, "quest condition");
      index(p.quests[i].done_var, h().num_flags, "quest flag");
      if (p.quests[i].done_var == 0) bad("quest flag 0");
      if (p.quests[i].reward < -kMaxReward || p.quests[i].reward > kMaxReward) bad("a reward that is not an int16");
    }
    axioms(p);
  }
  void axioms(const Program& p) const {
    for (uint32_t i = 0, next = 0; i < h().axioms.count; ++i) {
      index(p.axioms[i].var, h().num_flags, "axiom flag");
      if (p.axioms[i].var == 0) bad("axiom flag 0");
      const uint32_t block = p.axioms[i].block;
      if (i == next) {
        if (block < 1 || block > kMaxBlock) bad("a block of " + std::to_string(block) + " axioms");
        range(i, block, h().axioms.count, "axioms of a block");
        next += block;
      } else if (block != 0) {
        bad("a block of axioms inside another");
      }
      disjunction(p.axioms[i].when, "axiom condition");
    }
  }

  void texts(const Program& p) const {
    for (const uint32_t text : {h().frame, h().start, h().invalid})
      index_or_none(text, h().programs.count, "frame text");
    for (uint32_t i = 0; i < h().programs.count; ++i) {
      const uint32_t begin = p.programs[i];
      const uint32_t end = i + 1 < h().programs.count ? p.programs[i + 1] : h().code.count;
      if (begin >= end || end > h().code.count) bad("text programs are not in order");
      if (p.code[end - 1].op != static_cast<uint8_t>(Op::kEnd)) bad("a text program does not end");
      for (uint32_t at = begin; at < end; ++at) instruction(p, p.code[at], at - begin, end - begin);
    }
    calls(p);
  }

  void instruction(const Program& p, const Code& code, uint32_t at, uint32_t length) const {
    const auto jump = [&] {
      if (code.c <= at || code.c >= length) bad("a jump that does not go forward");
    };
    const auto argument = [&](bool is_container) {
      if (code.a >= 0) index(static_cast<uint32_t>(code.a), h().objects.count, "object of a text");
      else if (!(code.a <= kOperand0 && code.a > kOperand0 - static_cast<int32_t>(kMaxOperands)) &&
               !(is_container && code.a == kPlayerHere))
        bad("object argument " + std::to_string(code.a));
      if (code.a < 0 && h().objects.count == 0) bad("an operand without objects");
    };
    const auto variable = [&] {
      if (code.a < 0 || (code.a < kPseudoScoreChange && static_cast<uint32_t>(code.a) >= h().num_flags + h().num_vars))
        bad("variable of a text");
    };
    switch (static_cast<Op>(code.op)) {
      case Op::kLit: index(static_cast<uint32_t>(code.a), h().literals.count, "literal"); break;
      case Op::kName:
        argument(false);
        index(code.b, 4, "article");
        break;
      case Op::kListedName: argument(false); break;
      case Op::kList:
        argument(true);
        index(code.c & 0xFFFF, h().literals.count, "comma");
        index(code.c >> 16, h().literals.count, "conjunction");
        break;
      case Op::kJump: jump(); break;
      case Op::kUnless:
        variable();
        index(code.b, 6, "text operator");
        jump();
        break;
      case Op::kUnlessAny:
        argument(true);
        jump();
        break;
      case Op::kNumber:
      case Op::kNumberWords: variable(); break;
      case Op::kCall: index(static_cast<uint32_t>(code.a), h().programs.count, "called text"); break;
      case Op::kCallObject:
        argument(false);
        index(code.b, 4, "object text");
        break;
      case Op::kUnlessPrints:
        argument(false);
        index(code.b, 4, "object text");
        jump();
        break;
      case Op::kUnlessHolds:
        argument(true);
        index(static_cast<uint32_t>(code.value), h().objects.count, "child of a text");
        jump();
        break;
      case Op::kItem:
        index(code.b, 2, "kind of list entry");
        index(static_cast<uint32_t>(code.a), code.b == 0 ? h().literals.count : h().programs.count, "list entry");
        index(code.c, h().literals.count, "separator");
        break;
      case Op::kJoined:
        index(static_cast<uint32_t>(code.a), h().literals.count, "last separator");
        if (code.c != 0) index(code.c - 1, h().literals.count, "text of an empty list");
        break;
      case Op::kCallPlace: index(code.b, 4, "place text"); break;
      case Op::kSection: index(static_cast<uint32_t>(code.a), 6, "section"); break;
      case Op::kCallEvent:
      case Op::kEnd: break;
      default: bad("text instruction " + std::to_string(code.op));
    }
    (void)p;
  }

  // The call graph has no cycle, so rendering ends. Calls through objects and events reach every program they could.
  void calls(const Program& p) const {
    std::vector<uint8_t> state(h().programs.count, 0);  // 1: on the path, 2: done
    for (uint32_t i = 0; i < h().programs.count; ++i) visit(p, i, state);
  }
  void visit(const Program& p, uint32_t root, std::vector<uint8_t>& state) const;

  const uint8_t* bytes_;
  size_t size_;
};

// The programs that `code` may call.
template <class Sink>
void callees(const Program& p, const Code& code, Sink&& sink) {
  const ProgramHeader& h = *p.header;
  const auto maybe = [&](uint32_t text) {
    if (text != kNone32) sink(text);
  };
  const auto of_objects = [&](uint32_t which) {
    if (code.a >= 0 && static_cast<Op>(code.op) != Op::kCallPlace && static_cast<Op>(code.op) != Op::kList) {
      maybe(p.objects[code.a].programs[which]);
    } else {
      for (uint32_t i = 0; i < h.objects.count; ++i) maybe(p.objects[i].programs[which]);
    }
  };
  switch (static_cast<Op>(code.op)) {
    case Op::kCall: sink(static_cast<uint32_t>(code.a)); break;
    case Op::kItem:
      if (code.b == 1) sink(static_cast<uint32_t>(code.a));
      break;
    case Op::kListedName:
    case Op::kList: of_objects(static_cast<uint32_t>(ObjectText::kListed)); break;
    case Op::kCallObject:
    case Op::kUnlessPrints: of_objects(code.b); break;
    case Op::kCallPlace:
      for (uint32_t i = 0; i < h.places.count; ++i) {
        if (code.b == static_cast<uint8_t>(ObjectText::kLook)) maybe(p.places[i].look);
        else if (code.b == static_cast<uint8_t>(ObjectText::kTitle)) maybe(p.places[i].title);
        else if (h.objects.count > 0) maybe(p.objects[p.places[i].object].programs[code.b]);
      }
      break;
    case Op::kCallEvent: {
      maybe(h.start);
      maybe(h.invalid);
      for (uint32_t i = 0; i < h.refusals.count; ++i) maybe(p.refusals[i].text);
      uint32_t last = kNone32;
      for (uint32_t i = 0; i < h.outcomes.count; ++i) {
        if (p.outcomes[i].text != last) maybe(p.outcomes[i].text);
        last = p.outcomes[i].text;
      }
      break;
    }
    default: break;
  }
}

uint32_t program_end(const Program& p, uint32_t text) {
  return text + 1 < p.header->programs.count ? p.programs[text + 1] : p.header->code.count;
}

// Each program's callees, once.
std::vector<std::vector<uint32_t>> call_graph(const Program& p) {
  std::vector<std::vector<uint32_t>> graph(p.header->programs.count);
  for (uint32_t text = 0; text < p.header->programs.count; ++text) {
    for (uint32_t at = p.programs[text]; at < program_end(p, text); ++at)
      callees(p, p.code[at], [&](uint32_t called) { graph[text].push_back(called); });
    std::sort(graph[text].begin(), graph[text].end());
    graph[text].erase(std::unique(graph[text].begin(), graph[text].end()), graph[text].end());
  }
  return graph;
}

void Checker::visit(const Program& p, uint32_t root, std::vector<uint8_t>& state) const {
  if (root != 0) return;  // the whole graph is walked at the first call
  const auto graph = call_graph(p);
  std::vector<std::pair<uint32_t, size_t>> path;
  for (uint32_t start = 0; start < h().programs.count; ++start) {
    if (state[start] != 0) continue;
    path.push_back({start, 0});
    state[start] = 1;
    while (!path.empty()) {
      auto& [text, next] = path.back();
      if (next == graph[text].size()) {
        state[text] = 2;
        path.pop_back();
        continue;
      }
      const uint32_t called = graph[text][next++];
      if (state[called] == 1) bad("a text that calls itself");
      if (state[called] == 0) {
        state[called] = 1;
        path.push_back({called, 0});
        if (path.size() > 12) bad("texts that call each other more than 12 deep");
      }
    }
  }
}

// What a text can hold at most: `fixed` plus, if it lists objects, every movable once.
struct Bound {
  uint64_t fixed = 0;
  bool lists = false;
};

class Bounds {
 public:
  Bounds(const Program& p, const TextCosts& costs)
      : p_(p), c_(costs), known_(p.header->programs.count), done_(known_.size()) {}

  uint64_t total() {
    const Bound frame = of(p_.header->frame);
    return frame.fixed + (frame.lists ? everything_listed() : 0);
  }

 private:
  Bound of(uint32_t text) {
    if (text == kNone32) return {};
    if (done_[text]) return known_[text];
    done_[text] = true;
    const uint32_t begin = p_.programs[text], length = program_end(p_, text) - begin;
    std::vector<uint64_t> from(length + 1, 0);
    Bound result;
    for (uint32_t at = length; at-- > 0;) {
      const Code& code = p_.code[begin + at];
      const Bound here = instruction(code);
      result.lists = result.lists || here.lists;
      const auto op = static_cast<Op>(code.op);
      if (op == Op::kEnd) from[at] = 0;
      else if (op == Op::kJump) from[at] = from[code.c];
      else if (op == Op::kUnless || op == Op::kUnlessAny || op == Op::kUnlessHolds || op == Op::kUnlessPrints)
        from[at] = std::max(here.fixed + from[at + 1], from[code.c]);
      else from[at] = here.fixed + from[at + 1];
    }
    result.fixed = from[0];
    return known_[text] = result;
  }

  Bound instruction(const Code& code) {
    switch (static_cast<Op>(code.op)) {
      case Op::kLit: return {c_.literal[static_cast<size_t>(code.a)], false};
      case Op::kName: return {largest_name(code), false};
      case Op::kListedName: return {listed_name(code.a), false};
      case Op::kList: return {0, true};
      case Op::kNumber: return {c_.number, false};
      case Op::kNumberWords: return {c_.number_words, false};
      case Op::kCall: return of(static_cast<uint32_t>(code.a));
      case Op::kItem: {
        Bound one =
            code.b == 1 ? of(static_cast<uint32_t>(code.a)) : Bound{c_.literal[static_cast<size_t>(code.a)], false};
        one.fixed += c_.literal[code.c];
        return one;
      }
      case Op::kJoined:
        return {c_.literal[static_cast<size_t>(code.a)] + (code.c != 0 ? c_.literal[code.c - 1] : 0), false};
      case Op::kCallObject:
      case Op::kCallPlace:
      case Op::kCallEvent:
      case Op::kUnlessPrints: {
        Bound most;
        callees(p_, code, [&](uint32_t text) {
          const Bound b = of(text);
          most.fixed = std::max(most.fixed, b.fixed);
          most.lists = most.lists || b.lists;
        });
        return most;
      }
      default: return {};
    }
  }
  uint64_t largest_name(const Code& code) const {
    uint64_t most = 0;
    for (uint32_t i = 0; i < p_.header->objects.count; ++i) {
      if (code.a >= 0 && static_cast<uint32_t>(code.a) != i) continue;
      const ObjectRow& o = p_.objects[i];
      for (const uint32_t lit : {o.lit_name, o.lit_the, o.lit_indefinite, o.lit_capital_the})
        most = std::max<uint64_t>(most, c_.literal[lit]);
    }
    return most;
  }
  uint64_t listed_of(uint32_t object) {
    const ObjectRow& o = p_.objects[object];
    const uint32_t text = o.programs[static_cast<uint32_t>(ObjectText::kListed)];
    return text == kNone32 ? c_.literal[o.lit_indefinite] : of(text).fixed;
  }
  uint64_t listed_name(int32_t argument) {
    if (argument >= 0) return listed_of(static_cast<uint32_t>(argument));
    uint64_t most = 0;
    for (uint32_t i = 0; i < p_.header->objects.count; ++i) most = std::max(most, listed_of(i));
    return most;
  }
  uint64_t everything_listed() {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p_.header->movables.count; ++i) sum += listed_of(p_.movables[i]) + 5;  // " and "
    return sum;
  }

  const Program& p_;
  const TextCosts& c_;
  std::vector<Bound> known_;
  std::vector<bool> done_;
};

}  // namespace

Program decode(const uint8_t* bytes, size_t size) { return Checker(bytes, size).run(); }

uint64_t text_bound(const Program& program, const TextCosts& costs) { return Bounds(program, costs).total(); }

uint64_t program_hash(const uint8_t* bytes, size_t size) {
  const size_t field = offsetof(ProgramHeader, content_hash);
  uint64_t hash = mix64(size);
  for (size_t at = 0; at < size; at += 8) {
    uint64_t word = 0;
    if (at != field) std::memcpy(&word, bytes + at, std::min<size_t>(8, size - at));
    hash = mix64(hash ^ word) * 0x9E3779B97F4A7C15ull + at;
  }
  return hash;
}

}  // namespace ae::logic
