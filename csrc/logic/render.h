// The observation text of a row, and its token ids, from the text programs of the game. A pure function of the row.
#pragma once

#include "core/row.h"
#include "core/status.h"
#include "logic/step.h"

namespace ae::logic {

// Token ids of one game's literals, digits and small number words: flat arrays, the same on host and device.
struct TokenTable {
  const uint32_t* literal_offset = nullptr;  // [num_literals + 1] into literal_ids
  const int32_t* literal_ids = nullptr;
  const int32_t* digits = nullptr;           // [10]
  const uint32_t* word_offset = nullptr;     // [102] into word_ids: zero ... ninety-nine, minus
  const int32_t* word_ids = nullptr;
  uint32_t sections = 0xFF;                  // bit s: tokens of Section s are wanted
};

// English number words as bytes, [102] offsets: zero ... ninety-nine, "minus ".
struct NumberText {
  const uint32_t* offset = nullptr;
  const char* bytes = nullptr;
};

constexpr uint32_t kMinusWord = 100;
constexpr uint32_t kMaxCallDepth = 12;
constexpr uint32_t kMaxRenderSteps = 20000;  // instruction budget of one observation

// Appends to caller-owned buffers; counts what did not fit as overflow and never writes past a capacity.
template <class Group>
struct Writer {
  const Group& group;
  uint8_t* text;       // null: not wanted
  uint32_t text_cap;
  int32_t* tokens;     // null: not wanted
  uint32_t token_cap;
  uint32_t text_size = 0, token_count = 0;
  uint8_t overflow = 0;
  bool tokens_on = true;

  AE_HD void put_text(const void* from, uint32_t bytes) {
    if (text == nullptr) return;
    uint32_t room = text_cap - text_size;
    if (bytes > room) {
      overflow |= kOverflowText;
      bytes = room;
    }
    group.copy(text + text_size, from, bytes);
    text_size += bytes;
  }
  AE_HD void put_tokens(const int32_t* ids, uint32_t count) {
    if (tokens == nullptr || !tokens_on) return;
    const uint32_t room = token_cap - token_count;
    if (count > room) {
      overflow |= kOverflowTokens;
      count = room;
    }
    group.copy(tokens + token_count, ids, count * 4u);
    token_count += count;
  }
};

template <class Group>
struct Renderer {
  const Program& program;
  const RowHeader& row;
  const World& world;
  const TokenTable& table;
  const NumberText& numbers;
  TextMode mode;
  Writer<Group>& out;
  uint32_t operand[kMaxOperands] = {0, 0, 0, 0};
  uint32_t steps = 0;
  uint32_t printed = 0;  // literals so far

  AE_HD void literal(uint32_t index) {
    ++printed;
    const Text& text = program.literals[index];
    out.put_text(program.pool + text.offset, text.size);
    if (out.tokens != nullptr) {
      const uint32_t from = table.literal_offset[index];
      out.put_tokens(table.literal_ids + from, table.literal_offset[index + 1] - from);
    }
  }

  AE_HD int32_t pseudo(int32_t which) const {
    switch (which) {
      case kPseudoScoreChange: return row.score_change;
      case kPseudoScore: return static_cast<int32_t>(row.score);
      case kPseudoTurns: return static_cast<int32_t>(row.turns);
      case kPseudoMoves: return static_cast<int32_t>(row.moves);
      case kPseudoWon: return (row.flags & kWon) != 0;
      case kPseudoLost: return (row.flags & kLost) != 0;
      case kPseudoEvent: return row.event;
      case kPseudoTextMode: return static_cast<int32_t>(mode);
      case kPseudoOutcome: return row.last_outcome;
      case kPseudoStep: return static_cast<int32_t>(row.step);
      case kPseudoScoreChangeAbs: return row.score_change < 0 ? -row.score_change : row.score_change;
      case kPseudoScoreBefore:
        return static_cast<int32_t>(row.score) - ((row.flags & kLost) != 0 ? 0 : row.score_change);
      case kPseudoScoreTold: return static_cast<int32_t>(row.score) + ((row.flags & kLost) != 0 ? row.score_change : 0);
      case kPseudoNextTurn: return static_cast<int32_t>(row.turns) + 1;
      default: return 0;
    }
  }
  AE_HD int32_t value(int32_t var) const {
    return var >= kPseudoScoreChange ? pseudo(var) : world.value(static_cast<uint32_t>(var));
  }

  AE_HD void digits(int32_t number) {
    char bytes[12];
    int32_t ids[12];
    uint32_t size = 0;
    uint32_t magnitude = number < 0 ? 0u - static_cast<uint32_t>(number) : static_cast<uint32_t>(number);
    do {
      bytes[11 - size] = static_cast<char>('0' + magnitude % 10);
      ids[11 - size] = out.tokens != nullptr ? table.digits[magnitude % 10] : 0;
      magnitude /= 10;
      ++size;
    } while (magnitude != 0);
    if (number < 0) out.put_text("-", 1);
    out.put_text(bytes + 12 - size, size);
    out.put_tokens(ids + 12 - size, size);
  }

  AE_HD void number_word(uint32_t which) {
    out.put_text(numbers.bytes + numbers.offset[which], numbers.offset[which + 1] - numbers.offset[which]);
    if (out.tokens != nullptr)
      out.put_tokens(table.word_ids + table.word_offset[which],
                     table.word_offset[which + 1] - table.word_offset[which]);
  }

  AE_HD void words(int32_t number) {
    if (number < 0) number_word(kMinusWord);
    const int32_t magnitude = number < 0 ? -number : number;
    if (magnitude < static_cast<int32_t>(kMinusWord)) number_word(static_cast<uint32_t>(magnitude));
    else digits(magnitude);
  }

  // Object of an argument: fixed, or an operand of what happened last.
  AE_HD uint32_t object(int32_t argument) const {
    return argument >= 0 ? static_cast<uint32_t>(argument) : operand[(kOperand0 - argument) & 3];
  }
  // Container index of an argument, kNone32 if it holds nothing.
  AE_HD uint32_t container(int32_t argument) const {
    if (argument == kPlayerHere) return program.places[world.place()].container;
    const uint16_t index = program.objects[object(argument)].container;
    return index == kNone16 ? kNone32 : index;
  }

  AE_HD bool listed(uint32_t child, int32_t mask) const {
    return (program.objects[program.movables[child]].object_class & static_cast<uint32_t>(mask)) != 0;
  }
  AE_HD uint32_t next_listed(const Tree& tree, uint32_t link, int32_t mask) const {
    for (uint32_t left = program.header->movables.count; link != 0 && left != 0; --left) {
      if (listed(link - 1, mask)) return link;
      link = tree.next(link - 1);
    }
    return 0;
  }
  // Whether the container holds more than `beside` children of the mask.
  AE_HD bool any(int32_t argument, int32_t mask, int32_t beside) const {
    const uint32_t from = container(argument);
    if (from == kNone32) return false;
    const Tree tree(world);
    uint32_t link = next_listed(tree, tree.first(from), mask);
    for (; link != 0 && beside > 0; --beside) link = next_listed(tree, tree.next(link - 1), mask);
    return link != 0;
  }

  AE_HD bool holds_child(int32_t argument, uint32_t child) const {
    const uint32_t from = container(argument), movable = program.objects[child].movable;
    if (from == kNone32 || movable == kNone16) return false;
    const Tree tree(world);
    uint32_t link = tree.first(from);
    for (uint32_t left = program.header->movables.count; link != 0 && link - 1 != movable && left != 0; --left)
      link = tree.next(link - 1);
    return link != 0;
  }

  AE_HD void list(int32_t argument, int32_t mask, uint32_t comma, uint32_t conjunction, bool bare, uint32_t depth) {
    const uint32_t from = container(argument);
    if (from == kNone32) return;
    const Tree tree(world);
    uint32_t link = next_listed(tree, tree.first(from), mask);
    for (bool first = true; link != 0 && steps < kMaxRenderSteps; first = false) {
      ++steps;
      const uint32_t after = next_listed(tree, tree.next(link - 1), mask);
      if (!first) literal(after != 0 ? comma : conjunction);
      if (bare) name(program.movables[link - 1], Article::kNone);
      else listed_name(program.movables[link - 1], depth);
      link = after;
    }
  }

  AE_HD void listed_name(uint32_t which, uint32_t depth) {
    const ObjectRow& object = program.objects[which];
    const uint32_t text = object.programs[static_cast<uint32_t>(ObjectText::kListed)];
    if (text == kNone32) literal(object.lit_indefinite);
    else run(text, depth + 1);
  }

  AE_HD void name(uint32_t which, Article article) {
    const ObjectRow& object = program.objects[which];
    switch (article) {
      case Article::kNone: return literal(object.lit_name);
      case Article::kThe: return literal(object.lit_the);
      case Article::kIndefinite: return literal(object.lit_indefinite);
      case Article::kCapitalThe: return literal(object.lit_capital_the);
    }
  }

  AE_HD void item(const Code& code, uint32_t depth) {
    if (code.b == 0) literal(static_cast<uint32_t>(code.a));
    else run(static_cast<uint32_t>(code.a), depth + 1);
  }

  AE_HD uint32_t event_program() {
    switch (static_cast<Event>(row.event)) {
      case Event::kStart: return program.header->start;
      case Event::kInvalid: return program.header->invalid;
      case Event::kRefusal:
        for (uint32_t i = 0; i < kMaxOperands; ++i) operand[i] = row.operand[i];
        return program.refusals[row.last_action].text;
      case Event::kAction: break;
    }
    const Action& action = program.actions[row.last_action];
    for (uint32_t i = 0; i < action.num_operands; ++i) operand[i] = action.operands[i];
    return program.outcomes[action.outcomes + row.last_outcome].text;
  }

  // Jumps go forward and calls have no cycle (decode() checks both), so this ends; the budget bounds it as well.
  AE_HD void run(uint32_t text, uint32_t depth) {
    if (text == kNone32 || depth > kMaxCallDepth) return;
    const uint32_t first = program.programs[text];
    const Code* pending = nullptr;  // the last kItem, not printed yet
    uint32_t entries = 0;
    for (uint32_t at = first; steps < kMaxRenderSteps;) {
      const Code& code = program.code[at++];
      ++steps;
      switch (static_cast<Op>(code.op)) {
        case Op::kLit: literal(static_cast<uint32_t>(code.a)); break;
        case Op::kName: name(object(code.a), static_cast<Article>(code.b)); break;
        case Op::kListedName: listed_name(object(code.a), depth); break;
        case Op::kList: list(code.a, code.b, code.c & 0xFFFF, code.c >> 16, code.value != 0, depth); break;
        case Op::kJump: at = first + code.c; break;
        case Op::kUnless:
          if (!compare(static_cast<CompareOp>(code.b), value(code.a), code.value)) at = first + code.c;
          break;
        case Op::kUnlessAny:
          if (!any(code.a, code.b, code.value)) at = first + code.c;
          break;
        case Op::kNumber: digits(value(code.a)); break;
        case Op::kNumberWords: words(value(code.a)); break;
        case Op::kCall: run(static_cast<uint32_t>(code.a), depth + 1); break;
        case Op::kCallObject: run(program.objects[object(code.a)].programs[code.b & 3], depth + 1); break;
        case Op::kCallPlace: {
          const Place& place = program.places[world.place()];
          if (code.b == static_cast<uint8_t>(ObjectText::kLook)) run(place.look, depth + 1);
          else if (code.b == static_cast<uint8_t>(ObjectText::kTitle)) run(place.title, depth + 1);
          else run(program.objects[place.object].programs[code.b & 3], depth + 1);
          break;
        }
        case Op::kUnlessPrints: {
          const uint32_t before = printed;
          run(program.objects[object(code.a)].programs[code.b & 3], depth + 1);
          if (printed == before) at = first + code.c;
          break;
        }
        case Op::kUnlessHolds:
          if (!holds_child(code.a, static_cast<uint32_t>(code.value))) at = first + code.c;
          break;
        case Op::kItem:
          if (pending != nullptr) {
            if (entries++ > 0) literal(code.c);
            item(*pending, depth);
          }
          pending = &code;
          break;
        case Op::kJoined:
          if (pending != nullptr) {
            if (entries > 0) literal(static_cast<uint32_t>(code.a));
            item(*pending, depth);
          } else if (code.c != 0) {
            literal(code.c - 1);
          }
          pending = nullptr;
          entries = 0;
          break;
        case Op::kCallEvent: run(event_program(), depth + 1); break;
        case Op::kSection: out.tokens_on = (table.sections >> code.a) & 1u; break;
        case Op::kUnlessFact:
        case Op::kFacts:
        case Op::kEnd: return;
      }
    }
  }
};

// Writes the observation; zeroes nothing. Returns through `out` the sizes and overflow bits.
template <class Group>
AE_HD inline void render(const Program& program, const RowHeader& row, const World& world, const TokenTable& table,
                         const NumberText& numbers, TextMode mode, Writer<Group>& out) {
  Renderer<Group> renderer{program, row, world, table, numbers, mode, out};
  out.tokens_on = (table.sections >> static_cast<uint32_t>(Section::kBody)) & 1u;
  renderer.run(program.header->frame, 0);
}

}  // namespace ae::logic
