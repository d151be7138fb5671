// What a front end hands to the compiler: Source (lifted rules, to be grounded) and Ground (ground actions, ready to be
// emitted). Both are plain data built on the CPU; nothing here is used inside a step.
//
//   front end (Python, keyquest.cpp) → Source ─ ground() → Ground ─ emit() → Program bytes
//   Hand-written tests build a Ground directly.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace ae::logic {

// ---- Text -----------------------------------------------------------------------------------------------------------
// A text program is a list of instructions that appends bytes (and token ids) to the observation. It reads the row
// alone. Literals must be cut where no word is cut: right before or after a blank, a newline or a punctuation mark.
//
// Object arguments: >= 0 a fixed object; kOperand0 - k: operand k of the last action or refusal (k < 4).
constexpr int32_t kOperand0 = -1;
constexpr int32_t kPlayerHere = -16;  // as a container argument: the place (room) where the player is

enum class Op : uint8_t {
  kLit = 1,  // a: literal
  kName,  // a: object argument; b: Article
  kListedName,  // a: object argument: its indefinite name as lists print it (its `listed` program)
  kList,  // a: container argument; b: object-class mask; children joined ", " and " and ", nothing if empty;
          // value 1: bare names
  kJump,  // c: target instruction
  kUnless,  // a: var (or pseudo-variable), b: CompareOp, value in `value`; c: jumped to if the condition fails
  kUnlessAny,  // a: container argument, b: object-class mask; c: jumped to if it holds no more than `value` such
               // children
  kUnlessFact,  // a: index into TextProgram::facts (lifted form only; ground() turns it into kUnless/kJump/nothing)
  kNumber,  // a: pseudo-variable; printed in digits
  kNumberWords,  // a: pseudo-variable; "one", "two", ..., "minus three"
  kCall,  // a: program
  kCallObject,  // a: object argument; b: which of the object's programs (ObjectText)
  kCallPlace,  // b: which program of the place where the player is (ObjectText)
  kCallEvent,  // the text of what just happened: start, action outcome, refusal or invalid-action reply
  kSection,  // a: Section of what follows (for token masks)
  kEnd,
  kUnlessPrints,  // a: object argument; b: which of its programs (ObjectText), which is run; c: jumped to if it prints
                  // nothing
  kUnlessHolds,  // a: container argument, `value`: object; c: jumped to if the object is not a child of the container
  kFacts,  // a: FactKind, b: 1 + literal before them, or 0; value: 1 + literal behind them, or 0; nothing if
           // there are none. First-order sources only: ground() turns it into the sentences of every fact of
           // that kind, each printed where it holds
  kItem,  // an entry of a list: a: literal (b = 0) or program (b = 1); c: literal between two entries. It is printed
          // once it is known whether it is the last
  kJoined,  // ends the list of this program's kItems: a: literal before the last of several; c: 1 + literal printed if
            // there was none, or 0
};
enum class FactKind : uint8_t { kChanging = 0, kStatic = 1 };

enum class Article : uint8_t { kNone = 0, kThe = 1, kIndefinite = 2, kCapitalThe = 3 };
enum class ObjectText : uint8_t { kDescription = 0, kListed = 1, kLook = 2, kTitle = 3 };
enum class Section : uint8_t { kBanner = 0, kObjective = 1, kBody = 2, kScore = 3, kStatus = 4, kEnd = 5 };

// Values of the row's header, usable wherever a text condition or number takes a variable.
enum Pseudo : int32_t {
  kPseudoScoreChange = 0xFF00,
  kPseudoScore,
  kPseudoTurns,
  kPseudoMoves,
  kPseudoWon,
  kPseudoLost,
  kPseudoEvent,  // ae::Event
  kPseudoTextMode,  // ae::TextMode
  kPseudoOutcome,  // index of the outcome taken
  kPseudoStep,
  kPseudoScoreChangeAbs,
  kPseudoScoreBefore,  // the score before the last step: what a status line shows that is not refreshed at the end
  kPseudoScoreTold,  // the score with what the last step gained; a lost step tells its gain but does not count it
  kPseudoNextTurn,  // turns + 1: the number in the status line
};

enum class CompareOp : uint8_t { kSet = 0, kClear = 1, kEqual = 2, kNotEqual = 3, kLessEqual = 4, kGreaterEqual = 5 };

// Predicate and arguments. In rules an argument is a parameter index; in facts, quests and texts an object id
// (texts may use operand arguments only in kName/kCallObject/kList, not in facts).
struct Atom {
  int32_t predicate = 0;
  std::vector<int32_t> args;
  bool negated = false;
};

struct Instruction {
  Op op = Op::kEnd;
  int32_t a = 0;
  int32_t b = 0;
  int32_t c = 0;
  int32_t value = 0;
};

struct TextProgram {
  std::vector<Instruction> code;
  std::vector<Atom> facts;  // for kUnlessFact
};

// ---- Lifted source --------------------------------------------------------------------------------------------------
struct Type {
  std::string name;
  std::vector<int32_t> parents;
};

struct Object {
  std::string id;  // unique
  int32_t type = 0;
  std::string name;  // as commands and texts print it; empty: never printed (a slot, the player)
  std::string the;  // name with definite article ("the key"; a door: its bare name); empty: "the " + name
  std::string indefinite;  // "a key"; empty: "a " / "an " + name
  int32_t object_class = 1;  // bit mask for kList / kUnlessAny: which lists may show it
  int32_t description = -1;  // text program, or -1
  int32_t listed = -1;  // program of the name as lists print it, or -1: `indefinite`
  int32_t look = -1;  // of a room: the program that prints it
  int32_t title = -1;  // of a room: its title literal program
};

struct Predicate {
  std::string name;
  // placement: args are (child, container); adding moves the child to the front of the container's children,
  // deleting without adding another placement of the child removes it from the tree.
  bool placement = false;
};

struct Parameter {
  int32_t type = -1;
  int32_t constant = -1;  // object id, or -1: any object of the type
};

// A condition of full first-order logic. A term is a variable (>= 0) or an object (-1 - object). Variables are the
// parameters of a rule (or the arguments of a derived fact), then those of the quantifiers around, outermost first.
struct Formula {
  enum class Kind : uint8_t { kAnd = 0, kOr, kNot, kAtom, kEqual, kExists, kForall };
  Kind kind = Kind::kAnd;  // kAnd of nothing is true, kOr of nothing false
  int32_t predicate = 0;  // of kAtom
  std::vector<int32_t> args;  // terms of kAtom; the two of kEqual
  std::vector<int32_t> types;  // of the variables that kExists and kForall bind
  std::vector<Formula> parts;
};

// For all objects of `types`: where `when` holds before the action, the fact becomes true (negated: false). A fact that
// one action both deletes and adds is true afterwards.
struct LiftedEffect {
  std::vector<int32_t> types;
  Formula when;
  Atom fact;  // args are terms
};

// The alternatives of an action, tried in order; the last one needs no condition. Guards stricter than the rule's own
// preconditions are outcomes without effects.
struct Outcome {
  std::vector<Atom> conditions;  // conjunction; args are parameter indices
  bool applies = true;  // the rule's effects take place
  bool turn_passes = true;
  bool counts_as_move = true;  // of an outcome that applies; one that does not is never counted
  int32_t text = -1;  // program; operands are Rule::operands
  Formula when = {};  // of a first-order rule: a further condition over its parameters
};

struct Rule {
  std::string name;
  std::vector<Parameter> parameters;  // distinct parameters bind distinct objects
  std::vector<Atom> preconditions;  // conjunction, args are parameter indices
  std::vector<Atom> adds, deletes;
  // Command text: pieces; a piece is a literal string, or (if parameter >= 0) the name of that parameter's object.
  struct Piece {
    std::string literal;
    int32_t parameter = -1;
  };
  std::vector<Piece> command;
  std::vector<int32_t> operands;  // parameter indices whose objects become operands 0..3 of the texts
  std::vector<Outcome> outcomes;
  // A first-order rule has these two instead of preconditions, adds and deletes. Its parameters may bind equal objects.
  bool first_order = false;
  Formula precondition = {};
  std::vector<LiftedEffect> effects = {};
  std::string where = {};  // "file:line:column" of the rule, for errors; may be empty
};

// A fact that holds wherever `formula` does: never an effect, and false unless some axiom derives it. Several axioms of
// one predicate are alternatives; negation must be stratified.
struct Derived {
  int32_t predicate = 0;
  std::vector<int32_t> types;  // of the arguments, which are variables 0, 1, ...
  Formula formula;
  std::string where;
};

// How Op::kFacts prints a fact: pieces as in Rule::command, a parameter being an argument. A predicate without one is
// not printed.
struct Sentence {
  int32_t predicate = 0;
  std::vector<Rule::Piece> pieces;
};

struct Quest {
  std::vector<std::vector<Atom>> fail_events, win_events;  // disjunctions of conjunctions over objects
  int32_t reward = 0;
  bool optional = false;
  bool repeatable = false;
  bool first_order = false;  // `win` instead of win_events
  Formula win = {};
  std::string where = {};
};

struct Refusal {
  std::string name;  // for the parser of typed commands and docs
  int32_t text = -1;
  bool turn_passes = true;
};

struct Texts {
  int32_t frame = -1;  // the whole observation: normally kCallEvent, then score line, end, prompt and status
  int32_t start = -1;  // event kStart
  int32_t invalid = -1;  // event kInvalid
};

struct Source {
  std::string name;
  std::string family;  // "textworld", "keyquest", ...; selects the parser of typed commands
  std::vector<Type> types;
  std::vector<Object> objects;
  std::vector<Predicate> predicates;
  std::vector<Rule> rules;
  std::vector<Atom> init;
  // Order in which children are attached at the start: the last one becomes the first child. Facts with placement
  // predicates are attached in the order of `init`.
  int32_t place_predicate = -1;  // place(player, room): the player's place, kept as variable 0
  int32_t player = -1;
  int32_t inventory = -1;  // the object that holds what is carried (may equal player)
  std::vector<Quest> quests;
  std::vector<TextProgram> programs;
  std::vector<std::string> literals;
  std::vector<Refusal> refusals;
  Texts texts;
  int32_t max_score = 0;
  int32_t max_episode_steps = 100;
  std::string extra_json;  // carried along untouched: objective, walkthrough, metadata (host side only)
  // First-order sources (PDDL): every rule is first-order, quests may be, and nothing is in the object tree.
  std::vector<Derived> derived;
  std::vector<Sentence> sentences;
  bool distinct_parameters = true;  // false in every first-order source
};

// ---- Ground ---------------------------------------------------------------------------------------------------------
// Variables are numbered: [0, num_flags) are flag bits (0 or 1), [num_flags, num_flags + num_vars) are int16.
// If has_place, variable num_flags is the player's place: its value is an index into `places`.
struct Condition {
  int32_t var = 0;
  CompareOp op = CompareOp::kSet;
  int32_t value = 0;
  bool operator==(const Condition&) const = default;
};
using Conjunction = std::vector<Condition>;
using Disjunction = std::vector<Conjunction>;  // empty: never; one empty conjunction: always

struct Effect {
  int32_t var = 0;
  bool add = false;  // var += value (counters saturate at int16), else var = value
  int32_t value = 0;
  Conjunction when;  // read before any effect of the action
  bool operator==(const Effect&) const = default;
};

struct Move {
  int32_t object = 0;
  int32_t from = -1, to = -1;  // containers (object ids); -1: nowhere
  bool operator==(const Move&) const = default;
};

struct GroundOutcome {
  Disjunction when;  // tried in order
  std::vector<Effect> effects;
  std::vector<Move> moves;
  bool turn_passes = true;
  bool counts_as_move = true;
  int32_t text = -1;
  bool operator==(const GroundOutcome&) const = default;
};

struct GroundAction {
  int32_t rule = 0;
  int32_t place = -1;  // needs the player at this place; -1: anywhere
  int32_t not_place = -1;  // with place -1: anywhere but here
  std::string command;
  Disjunction when;
  std::vector<GroundOutcome> outcomes;
  std::vector<int32_t> operands;  // object ids, at most 4
  bool operator==(const GroundAction&) const = default;
};

struct GroundQuest {
  int32_t done_var = -1;  // flag
  Disjunction fail, win;
  int32_t reward = 0;
  bool optional = false, repeatable = false;
  bool has_win_events = false;  // it had win events in the source, even if none can ever hold
};

// Run in order after every action: the flag becomes what `when` says. Flags that depend on each other stand together in
// a block, all of them cleared first and then derived until nothing new follows.
struct Axiom {
  int32_t var = 0;
  Disjunction when;
  int32_t block = 1;  // axioms in the block that begins here; those inside one have 0
};

struct GroundTextProgram {
  std::vector<Instruction> code;  // no kUnlessFact
};

struct Ground {
  std::string name, family, extra_json;
  int32_t num_flags = 0, num_vars = 0;
  bool has_place = false;
  std::vector<int32_t> places;  // place index → object id
  std::vector<int32_t> init_values;  // num_flags + num_vars
  std::vector<std::string> fluent_names;  // num_flags, "in(o_0, I)"; for infos, traces and errors
  std::vector<std::string> static_facts;  // true for ever; for infos
  std::vector<Object> objects;
  std::vector<Type> types;
  std::vector<std::string> rule_names;
  std::vector<int32_t> containers;  // objects that can have children
  std::vector<int32_t> movables;  // objects that can be children
  std::vector<std::pair<int32_t, int32_t>> init_children;  // (child, container) in attachment order, last becomes first
  int32_t player = -1, inventory = -1;
  std::vector<GroundAction> actions;
  std::vector<GroundQuest> quests;
  std::vector<Axiom> axioms;
  std::vector<GroundTextProgram> programs;
  std::vector<std::string> literals;
  std::vector<Refusal> refusals;
  Texts texts;
  int32_t max_score = 0, max_episode_steps = 100;
};

// Thrown by ground() and emit(): what, got, wanted, where. Never thrown inside a step.
struct CompileError : std::exception {
  std::string message;
  explicit CompileError(std::string text) : message(std::move(text)) {}
  const char* what() const noexcept override { return message.c_str(); }
};

struct GroundLimits {
  uint32_t max_actions = 200000, max_fluents = 32000, max_join_steps = 50000000;
};

Ground ground(const Source& source, const GroundLimits& limits = {});
std::vector<uint8_t> emit(const Ground& ground);  // Program bytes (program.h)

}  // namespace ae::logic
