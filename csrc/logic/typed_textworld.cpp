// What the original TextWorld answers to commands that it does not carry out. Inform's parser takes a thing by any of
// its words; only what is certain is answered here (whole names, one candidate), the rest stays unknown.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "logic/typed.h"

namespace ae::logic {
namespace {

using Words = std::vector<std::string>;

constexpr size_t kDictionary = 9;  // letters of a word that the story file's dictionary tells apart
constexpr uint32_t kNothing = kNone32;
constexpr uint32_t kUnsure = kNone32 - 1;  // a phrase that might name something by part of its name

const char* const kVerbs[] = {
    "a",         "again",   "abstract",  "actions", "adjust",  "answer",    "ask",       "attach",      "attack",
    "awake",     "awaken",  "break",     "brief",   "burn",    "buy",       "carry",     "check",       "chop",
    "clean",     "clear",   "climb",     "close",   "consult", "cook",      "cover",     "crack",       "cross",
    "cut",       "d",       "describe",  "destroy", "dice",    "disable",   "discard",   "display",     "down",
    "drag",      "drink",   "drop",      "dust",    "e",       "east",      "eat",       "embrace",     "enable",
    "enter",     "examine", "exit",      "fasten",  "feed",    "feel",      "fight",     "fix",         "g",
    "get",       "give",    "go",        "goal",    "gonear",  "hear",      "help",      "hit",         "hold",
    "hop",       "hug",     "i",         "in",      "inside",  "insert",    "inv",       "inventory",   "jump",
    "kill",      "kiss",    "l",         "leave",   "light",   "listen",    "lock",      "long",        "look",
    "move",      "murder",  "n",         "nap",     "ne",      "no",        "normal",    "north",       "northeast",
    "northwest", "notify",  "nouns",     "nw",      "o",       "offer",     "oops",      "open",        "out",
    "outside",   "pay",     "pick",      "polish",  "prepare", "present",   "press",     "print_state", "prune",
    "pull",      "punch",   "purchase",  "purloin", "push",    "put",       "q",         "quit",        "read",
    "relations", "remove",  "responses", "restart", "restore", "restrict",  "rotate",    "rub",         "rules",
    "run",       "s",       "save",      "say",     "scale",   "scenes",    "score",     "screw",       "script",
    "scrub",     "se",      "search",    "set",     "shift",   "shine",     "short",     "shout",       "show",
    "showheap",  "showme",  "showverb",  "shut",    "sip",     "sit",       "skip",      "sleep",       "slice",
    "smash",     "smell",   "sniff",     "sorry",   "south",   "southeast", "southwest", "speak",       "squash",
    "squeeze",   "stand",   "superbrie", "sw",      "swallow", "sweep",     "swing",     "switch",      "take",
    "taste",     "tell",    "test",      "then",    "think",   "throw",     "thump",     "tie",         "torture",
    "touch",     "trace",   "transcrip", "tree",    "turn",    "tw-extra-", "tw-print",  "tw-trace-",   "twist",
    "u",         "uncover", "undo",      "unlock",  "unscrew", "unwrap",    "up",        "verbose",     "verify",
    "version",   "w",       "wait",      "wake",    "walk",    "watch",     "wave",      "wear",        "west",
    "wipe",      "wreck",   "x",         "y",       "yes",     "z"};
// Words that begin a phrase without naming a thing by themselves: articles, pronouns, numbers, directions.
const char* const kVague[] = {
    "a",    "all",     "an",     "another",    "any",       "both",      "d",       "down",    "e",         "each",
    "east", "either",  "every",  "everything", "half",      "he",        "her",     "herself", "him",       "himself",
    "his",  "in",      "inside", "it",         "its",       "itself",    "lit",     "me",      "my",        "myself",
    "n",    "ne",      "nine",   "north",      "northeast", "northwest", "nw",      "of",      "one",       "other",
    "out",  "outside", "s",      "se",         "self",      "she",       "some",    "south",   "southeast", "southwest",
    "sw",   "that",    "the",    "their",      "them",      "these",     "they",    "this",    "those",     "three",
    "two",  "u",       "unlit",  "up",         "w",         "west",      "yourself"};

std::string entry(std::string_view word) { return std::string(word.substr(0, kDictionary)); }

template <size_t N>
bool among(const char* const (&list)[N], std::string_view word) {
  const std::string wanted = entry(word);
  return std::any_of(std::begin(list), std::end(list), [&](const char* one) { return entry(one) == wanted; });
}

Words split(std::string_view text) {
  Words out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string join(const Words& words, size_t from, size_t to) {
  std::string out;
  for (size_t i = from; i < to; ++i) out += (out.empty() ? "" : " ") + words[i];
  return out;
}

// The row's world, asked by the names of the front end.
class Scene {
 public:
  Scene(const Program& program, const World& world)
      : p_(program), w_(world), parent_(program.header->objects.count, kNothing) {
    const uint8_t* children = world.bytes + program.header->children_offset;
    const uint8_t* siblings = world.bytes + program.header->siblings_offset;
    const auto link = [&](const uint8_t* list, uint32_t i) -> uint32_t {
      return program.header->id_bytes == 2 ? reinterpret_cast<const uint16_t*>(list)[i] : list[i];
    };
    for (uint32_t c = 0; c < program.header->containers.count; ++c) {
      uint32_t at = link(children, c);
      for (uint32_t left = program.header->movables.count; at != 0 && left != 0; --left, at = link(siblings, at - 1))
        parent_[program.movables[at - 1]] = program.containers[c];
    }
    here_ = program.places[world.place()].object;
  }

  std::string_view id(uint32_t object) const { return p_.string(p_.objects[object].id); }
  std::string_view name(uint32_t object) const { return p_.string(p_.objects[object].name); }
  uint32_t here() const { return here_; }
  uint32_t parent(uint32_t object) const { return parent_[object]; }
  bool held(uint32_t object) const { return parent_[object] == p_.header->inventory; }

  bool is_a(uint32_t object, std::string_view type) const { return type_is(p_.objects[object].type, type, 32); }
  bool fixed(uint32_t object) const { return !is_a(object, "o"); }

  bool holds(const std::string& fact) const {
    for (uint32_t i = 0; i < p_.header->fluent_names.count; ++i)
      if (p_.string(p_.fluent_names[i]) == fact) return w_.flag(i);
    for (uint32_t i = 0; i < p_.header->static_facts.count; ++i)
      if (p_.string(p_.static_facts[i]) == fact) return true;
    return false;
  }
  bool is(const char* state, uint32_t object) const {
    return holds(std::string(state) + "(" + std::string(id(object)) + ")");
  }

  // The first object X for which a fact that never changes reads `before` X `after`; kNothing if there is none.
  uint32_t find(const std::string& before, const std::string& after) const {
    for (uint32_t i = 0; i < p_.header->static_facts.count; ++i) {
      const std::string_view fact = p_.string(p_.static_facts[i]);
      if (fact.size() <= before.size() + after.size() || !fact.starts_with(before) || !fact.ends_with(after)) continue;
      const std::string_view middle = fact.substr(before.size(), fact.size() - before.size() - after.size());
      for (uint32_t o = 0; o < p_.header->objects.count; ++o)
        if (id(o) == middle) return o;
    }
    return kNothing;
  }

  bool in_sight(uint32_t object) const {
    if (is_a(object, "d")) return linked(object);
    const uint32_t at = parent_[object];
    if (at == kNothing) return false;
    if (at == here_ || at == p_.header->inventory) return true;
    if (parent_[at] != here_) return false;
    return is_a(at, "s") || (is_a(at, "c") && is("open", at));
  }

  // A phrase → the thing in sight that it names in full; kNothing, kUnsure.
  uint32_t resolve(const std::string& phrase) const {
    const Words words = split(phrase);
    if (words.empty() || among(kVague, words[0])) return kUnsure;
    uint32_t found = kNothing;
    bool first_word_known = listed_elsewhere(words[0]);
    for (uint32_t o = 0; o < p_.header->objects.count; ++o) {
      if (name(o).empty() || is_a(o, "r") || !in_sight(o)) continue;
      const Words own = split(lower(name(o)));
      const auto knows = [&](const std::string& w) {
        return std::any_of(own.begin(), own.end(), [&](const std::string& mine) { return entry(mine) == entry(w); });
      };
      first_word_known = first_word_known || knows(words[0]);
      if (lower(name(o)) == phrase) {
        if (found != kNothing) return kUnsure;
        found = o;
      } else if (std::all_of(words.begin(), words.end(), knows)) {
        return kUnsure;
      }
    }
    if (found == kNothing && first_word_known) return kUnsure;
    return found;
  }

  const Program& program() const { return p_; }

 private:
  static std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  }
  bool type_is(uint32_t type, std::string_view wanted, int depth) const {
    if (type >= p_.header->types.count || depth == 0) return false;
    if (p_.string(p_.types[type].name) == wanted) return true;
    for (uint32_t i = 0; i < p_.types[type].num_parents; ++i)
      if (type_is(p_.type_parents[p_.types[type].first_parent + i], wanted, depth - 1)) return true;
    return false;
  }
  bool linked(uint32_t door) const {
    const std::string start = "link(" + std::string(id(here_)) + ", " + std::string(id(door)) + ", ";
    return find(start, ")") != kNothing;
  }
  // Words that rooms and synonyms bring ("words:..." among the refusals).
  bool listed_elsewhere(const std::string& word) const {
    for (uint32_t i = 0; i < p_.header->refusals.count; ++i) {
      const std::string_view line = p_.string(p_.refusals[i].name);
      if (!line.starts_with("words:")) continue;
      const Words known = split(line.substr(6));
      return std::any_of(known.begin(), known.end(), [&](const std::string& one) { return entry(one) == entry(word); });
    }
    return false;
  }

  const Program& p_;
  const World& w_;
  std::vector<uint32_t> parent_;
  uint32_t here_ = 0;
};

class Refuser {
 public:
  explicit Refuser(const Scene& scene) : s_(scene) {}

  Typed answer(const Words& words) {
    const std::string& verb = words[0];
    if (words.size() == 1) return alone(verb);
    const std::string rest = join(words, 1, words.size());
    if (verb == "go") return going(rest);
    if (verb == "take" && (rest == "all" || rest == "everything" || rest == "each")) return say("too_general");
    if (verb == "examine" && (rest == "me" || rest == "myself" || rest == "self" || rest == "yourself"))
      return say("self");
    if (verb == "prepare" && rest == "meal") return prepare();
    for (const auto& [name, preposition] : kTwoNouns)
      if (verb == name)
        if (const auto at = std::find(words.begin() + 1, words.end(), preposition); at != words.end())
          return two(verb, join(words, 1, static_cast<size_t>(at - words.begin())),
                     join(words, static_cast<size_t>(at - words.begin()) + 1, words.size()));
    return one(verb, rest);
  }

 private:
  static constexpr std::array<std::pair<const char*, const char*>, 9> kTwoNouns{{{"take", "from"},
                                                                                 {"put", "on"},
                                                                                 {"insert", "into"},
                                                                                 {"lock", "with"},
                                                                                 {"unlock", "with"},
                                                                                 {"slice", "with"},
                                                                                 {"dice", "with"},
                                                                                 {"chop", "with"},
                                                                                 {"cook", "with"}}};

  Typed say(std::string_view refusal, uint32_t first = kNothing, uint32_t second = kNothing) const {
    Typed out;
    const Program& p = s_.program();
    for (uint32_t i = 0; i < p.header->refusals.count; ++i) {
      if (p.string(p.refusals[i].name) != refusal || p.refusals[i].text == kNone32) continue;
      for (const uint32_t object : {first, second})
        if (object != kNothing && object > 255) return out;  // an operand is one byte
      out.kind = Typed::kRefusal;
      out.id = i;
      if (first != kNothing) out.operand[0] = static_cast<uint8_t>(first);
      if (second != kNothing) out.operand[1] = static_cast<uint8_t>(second);
      return out;
    }
    return out;
  }
  bool knows(std::string_view refusal) const { return say(refusal).kind == Typed::kRefusal; }
  bool cooking() const { return knows("only_food"); }

  Typed alone(const std::string& verb) const {
    if (verb == "wait" || verb == "z") return say("time_passes");
    if (verb == "jump") return say("jumped");
    if (verb == "go") return say("no_direction");
    if (!among(kVerbs, verb) && (cooking() || verb != "cook")) return say("no_verb");
    return {};
  }

  Typed going(const std::string& direction) const {
    const std::string here(s_.id(s_.here()));
    uint32_t to = kNothing;
    if (direction == "north") to = s_.find("north_of(", ", " + here + ")");
    else if (direction == "south") to = s_.find("north_of(" + here + ", ", ")");
    else if (direction == "west") to = s_.find("west_of(", ", " + here + ")");
    else if (direction == "east") to = s_.find("west_of(" + here + ", ", ")");
    else return {};
    if (to == kNothing) return say("no_exit");
    const uint32_t door = s_.find("link(" + here + ", ", ", " + std::string(s_.id(to)) + ")");
    return door == kNothing ? Typed{} : say("door_closed", door);
  }

  Typed one(const std::string& verb, const std::string& phrase) const {
    const bool kitchen = verb == "slice" || verb == "drink" || verb == "cook" || verb == "dice" || verb == "chop";
    if (verb == "dice" || verb == "cook") {
      if (!cooking()) return say("no_verb");
      return {};
    }
    if (verb != "take" && verb != "drop" && verb != "open" && verb != "close" && verb != "eat" && verb != "examine" &&
        !kitchen)
      return among(kVerbs, verb) ? Typed{} : say("no_verb");
    if (verb == "chop" || (verb == "slice" && cooking())) return {};
    const uint32_t what = s_.resolve(phrase);
    if (what == kUnsure) return {};
    if (what == kNothing) return say("unseen");
    if (verb == "take") return taking(what);
    if (verb == "drop") return dropping(what);
    if (verb == "open") return opening(what);
    if (verb == "close") return closing(what);
    if (verb == "eat") return eating(what);
    if (verb == "drink") return drinking(what);
    if (verb == "slice") return say("no_cutting");
    return say("examined", what);
  }

  Typed taking(uint32_t what) const {
    if (s_.held(what)) return say("already_held");
    if (s_.fixed(what)) return say("cannot_take");
    return say(s_.parent(what) == s_.here() ? "too_many" : "too_many_from");
  }
  Typed dropping(uint32_t what) const {
    if (s_.held(what)) return {};
    if (s_.is_a(what, "d")) return say("already_here_door", what);
    return s_.parent(what) == s_.here() ? say("already_here", what) : say("not_held");
  }
  bool openable(uint32_t what) const { return s_.is_a(what, "c") || s_.is_a(what, "d"); }
  Typed opening(uint32_t what) const {
    if (!openable(what)) return say("cannot_open");
    if (s_.is("open", what)) return say("already_open");
    if (!s_.is("locked", what)) return {};
    const uint32_t key = s_.find("match(", ", " + std::string(s_.id(what)) + ")");
    return key == kNothing ? say("welded", what) : say("locked", what, key);
  }
  Typed closing(uint32_t what) const {
    if (!openable(what)) return say("cannot_close");
    return s_.is("open", what) ? Typed{} : say("already_closed");
  }
  Typed eating(uint32_t what) const {
    if (!s_.is_a(what, "f")) return say("inedible");
    if (cooking() && s_.is("needs_cooking", what)) return say("cook_first", what);
    if (cooking() && !s_.is("edible", what)) return say("inedible");
    return s_.held(what) ? Typed{} : say("take_first", what);
  }
  Typed drinking(uint32_t what) const {
    if (!cooking()) return say("nothing_to_drink");
    if (s_.fixed(what)) return say("fixed", what);
    return s_.held(what) ? say("undrinkable", what) : say("take_first", what);
  }

  Typed two(const std::string& verb, const std::string& first, const std::string& second) const {
    const bool cutting = verb == "slice" || verb == "dice" || verb == "chop";
    if (verb == "cook" || cutting) {
      if (!cooking()) return {};
    }
    const uint32_t other = s_.resolve(second);
    if (verb == "take") return removing(first, other);
    const uint32_t what = s_.resolve(first);
    if (what == kUnsure || other == kUnsure) return {};
    if (what == kNothing || other == kNothing) return say("unseen");
    if (cutting) return cut(what, other);
    if (verb == "lock" || verb == "unlock") return locking(verb == "lock", what, other);
    if (s_.fixed(what)) return say("fixed", what);
    if (!s_.held(what)) return say("take_first", what);
    if (verb == "cook") return heating(what, other);
    if (what == other) return say(verb == "put" ? "on_itself" : "in_itself");
    if (verb == "put") return s_.is_a(other, "s") ? Typed{} : say("not_supporter", what, other);
    if (!s_.is_a(other, "c")) return say("not_container");
    return s_.is("open", other) ? Typed{} : say("container_closed", what, other);
  }
  // "take key from box" looks for the key in the box alone.
  Typed removing(const std::string& first, uint32_t from) const {
    if (from == kUnsure || split(first).empty() || among(kVague, split(first)[0])) return {};
    if (from == kNothing) return say("unseen");
    const uint32_t what = s_.resolve(first);
    if (what == kUnsure) return {};
    if (what == kNothing || s_.parent(what) != from) return say("unseen");
    return say("too_many_from");
  }
  Typed locking(bool lock, uint32_t what, uint32_t key) const {
    if (s_.fixed(key)) return say("fixed_second", what, key);
    if (!s_.held(key)) return say("take_second", what, key);
    if (!openable(what)) return say(lock ? "cannot_lock" : "cannot_unlock");
    const bool locked = s_.is("locked", what);
    if (lock && locked) return say("already_locked");
    if (lock && s_.is("open", what)) return say("close_first", what);
    if (!lock && !locked) return say("already_unlocked");
    const std::string match = "match(" + std::string(s_.id(key)) + ", " + std::string(s_.id(what)) + ")";
    return s_.holds(match) ? Typed{} : say("wrong_key");
  }
  Typed cut(uint32_t what, uint32_t with) const {
    if (!s_.is_a(what, "f") && !s_.is("cuttable", what)) return say("uncuttable");
    for (const char* how : {"sliced", "diced", "chopped"})
      if (s_.is(how, what)) return say(std::string("already_") + how, what);
    if (!s_.is("sharp", with)) return say("no_knife");
    if (!s_.held(what)) return say("take_first", what);
    return s_.held(with) ? Typed{} : say("take_second", what, with);
  }
  Typed heating(uint32_t what, uint32_t with) const {
    if (!s_.is_a(what, "f")) return say("only_food");
    for (const char* source : {"oven", "stove", "toaster"})
      if (s_.is_a(with, source)) return {};
    return say("no_heat");
  }
  Typed prepare() const {
    if (!knows("elsewhere")) return {};
    const std::string here(s_.id(s_.here()));
    return s_.holds("cooking_location(" + here + ", RECIPE)") ? say("missing") : say("elsewhere");
  }

  const Scene& s_;
};

// Short forms → the words of the commands that the game lists.
Words spelled_out(Words words) {
  const auto direction = [](const std::string& w) -> std::string {
    if (w == "n" || w == "north") return "north";
    if (w == "s" || w == "south") return "south";
    if (w == "e" || w == "east") return "east";
    if (w == "w" || w == "west") return "west";
    return "";
  };
  if (words.size() == 1 && words[0] == "l") words[0] = "look";
  if (words.size() == 1 && (words[0] == "i" || words[0] == "inv")) words[0] = "inventory";
  if (words.size() == 1 && !direction(words[0]).empty()) words.insert(words.begin(), "go");
  if (words.size() == 2 && words[0] == "go" && !direction(words[1]).empty()) words[1] = direction(words[1]);
  if (words.size() > 1 && words[0] == "x") words[0] = "examine";
  if (words.size() > 1 && words[0] == "get") words[0] = "take";
  return words;
}

}  // namespace

Typed refuse_textworld(const Program& program, const World& world, const std::string& text,
                       const AdmissibleLookup& admissible) {
  const auto action = [&](const std::string& command) {
    Typed out;
    out.id = admissible(command);
    if (out.id != kNone32) out.kind = Typed::kAction;
    return out;
  };
  for (const char c : text)
    if (c == '.' || c == ',' || c == ';' || c == '"' || static_cast<unsigned char>(c) >= 127 ||
        static_cast<unsigned char>(c) < 32)
      return {};
  const Words words = spelled_out(split(text));
  if (std::find(words.begin() + (words.empty() ? 0 : 1), words.end(), "then") != words.end()) return {};
  const Scene scene(program, world);
  Refuser refuser(scene);
  if (words.empty()) {
    for (uint32_t i = 0; i < program.header->refusals.count; ++i)
      if (program.string(program.refusals[i].name) == "beg_pardon") return {Typed::kRefusal, i, {0, 0, 0, 0}};
    return {};
  }
  if (const Typed found = action(join(words, 0, words.size())); found.kind == Typed::kAction) return found;
  if (words[0] == "take" && words.size() > 1) {  // from where it lies, if it is not on the floor
    const uint32_t what = scene.resolve(join(words, 1, words.size()));
    if (what < kUnsure && scene.parent(what) != kNothing) {
      std::string from(scene.name(scene.parent(what)));
      std::transform(from.begin(), from.end(), from.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      if (const Typed found = action(join(words, 0, words.size()) + " from " + from); found.kind == Typed::kAction)
        return found;
    }
  }
  return refuser.answer(words);
}

}  // namespace ae::logic
