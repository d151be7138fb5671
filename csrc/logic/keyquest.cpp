#include "logic/keyquest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ae::logic {
namespace {

// ---- Names ----------------------------------------------------------------------------------------------------------
constexpr std::array<const char*, 24> kRooms = {
    "kitchen", "bedroom",  "cellar",     "attic",   "library",     "pantry", "garage", "parlour",
    "nursery", "workshop", "bathroom",   "study",   "gallery",     "chapel", "stable", "laundry",
    "lobby",   "balcony",  "greenhouse", "armoury", "observatory", "vault",  "studio", "dungeon"};
constexpr std::array<const char*, 12> kMaterials = {"oak",   "iron",  "brass",   "copper", "marble", "bronze",
                                                    "steel", "cedar", "granite", "ivory",  "bamboo", "walnut"};
constexpr std::array<const char*, 12> kColours = {"red",   "blue",  "green", "yellow", "purple", "orange",
                                                  "white", "black", "pink",  "grey",   "brown",  "silver"};
constexpr std::array<const char*, 4> kDoorNouns = {"door", "gate", "hatch", "portal"};
constexpr std::array<const char*, 6> kContainerNouns = {"chest", "box", "cabinet", "crate", "locker", "trunk"};
constexpr std::array<const char*, 6> kSupporterNouns = {"table", "shelf", "bench", "desk", "stool", "rack"};
constexpr std::array<const char*, 16> kThings = {"cup",    "ball",    "book",  "lamp",   "ring",   "vase",
                                                 "doll",   "hat",     "spoon", "mirror", "candle", "whistle",
                                                 "pebble", "feather", "brush", "drum"};
// ---- Layout: what is where; everything the split hash is made of ----------------------------------------------------
enum class Where : uint8_t { kFloor, kSupporter, kContainer, kCarried };

struct Lockable {
  int adjective = 0, noun = 0, room = -1, key = -1;  // key: item, -1: not locked
};
struct Item {
  bool is_key = false;
  int adjective = 0, noun = 0;
  Where where = Where::kFloor;
  int at = 0;  // room, supporter or container
};
struct Goal {
  int item = 0;
  bool into = false;  // a container, else a supporter
  int place = 0;
};

struct Layout : Map {
  std::vector<Lockable> doors, containers, supporters;
  std::vector<Item> items;
  std::vector<Goal> goals;
  int start = 0;

  std::string door_name(int i) const { return material(doors[static_cast<size_t>(i)], kDoorNouns.data()); }
  std::string container_name(int i) const {
    return material(containers[static_cast<size_t>(i)], kContainerNouns.data());
  }
  std::string supporter_name(int i) const {
    return material(supporters[static_cast<size_t>(i)], kSupporterNouns.data());
  }
  std::string item_name(int i) const {
    const Item& item = items[static_cast<size_t>(i)];
    return item.is_key ? std::string(kMaterials[static_cast<size_t>(item.adjective)]) + " key"
                       : std::string(kColours[static_cast<size_t>(item.adjective)]) + " " +
                             kThings[static_cast<size_t>(item.noun)];
  }
  // Equal for equal games, in whatever order their parts were drawn: a sum over facts about names and places.
  uint64_t hash() const {
    uint64_t sum = 0;
    for (const Edge& edge : edges) sum += mixed({1, edge_id(edge), edge.door < 0 ? 0 : lockable_id(doors, edge.door)});
    for (size_t i = 0; i < containers.size(); ++i)
      sum += mixed({2, lockable_id(containers, i), room_id(containers[i].room)});
    for (size_t i = 0; i < supporters.size(); ++i)
      sum += mixed({3, lockable_id(supporters, i), room_id(supporters[i].room)});
    for (size_t i = 0; i < items.size(); ++i)
      sum += mixed({4, item_id(i), static_cast<uint64_t>(items[i].where), spot_id(items[i])});
    for (const Goal& goal : goals)
      sum += mixed({5, item_id(goal.item), goal.into, lockable_id(goal.into ? containers : supporters, goal.place)});
    return mixed({sum, room_id(start)});
  }

 private:
  static uint64_t lockable_id(const std::vector<Lockable>& list, size_t i) {  // its key has its adjective
    return mixed({static_cast<uint64_t>(list[i].adjective), static_cast<uint64_t>(list[i].noun), list[i].key >= 0});
  }
  uint64_t item_id(size_t i) const {
    return mixed({items[i].is_key, static_cast<uint64_t>(items[i].adjective), static_cast<uint64_t>(items[i].noun)});
  }
  uint64_t spot_id(const Item& item) const {
    switch (item.where) {
      case Where::kSupporter: return lockable_id(supporters, item.at);
      case Where::kContainer: return lockable_id(containers, item.at);
      default: return room_id(item.at);
    }
  }
  static std::string material(const Lockable& l, const char* const* nouns) {
    return std::string(kMaterials[static_cast<size_t>(l.adjective)]) + " " + nouns[l.noun];
  }
};

// ---- Keyquest: sampling ---------------------------------------------------------------------------------------------
class KeyquestSampler {
 public:
  KeyquestSampler(const KeyquestParams& params, Dice& dice) : p_(params), dice_(dice) {}

  Layout run() {
    static_cast<Map&>(out_) = Map::sample(dice_, dice_.choose(p_.rooms, static_cast<int>(kRooms.size())), 0);
    furniture();
    things();
    keys();
    return std::move(out_);
  }

 private:
  // Names are unique: materials are spent on what has a lock first, so that a key belongs to one thing.
  void furniture() {
    const std::vector<int> materials =
        dice_.choose(static_cast<int>(kMaterials.size()), static_cast<int>(kMaterials.size()));
    size_t next = 0;
    const auto material = [&] { return materials[next++ % materials.size()]; };
    std::vector<int> with_door = dice_.choose(p_.doors, static_cast<int>(out_.edges.size()));
    std::sort(with_door.begin(), with_door.end());  // the map's order: a door is further away than those before it
    for (const int edge : with_door) {
      out_.edges[static_cast<size_t>(edge)].door = static_cast<int>(out_.doors.size());
      out_.doors.push_back({material(), static_cast<int>(dice_.below(kDoorNouns.size())), -1, -1});
    }
    for (int i = 0; i < p_.containers; ++i)
      out_.containers.push_back(thing_in_a_room(material(), kContainerNouns.size()));
    for (int i = 0; i < p_.supporters; ++i)
      out_.supporters.push_back(thing_in_a_room(material(), kSupporterNouns.size()));
    make_unique(out_.containers, kContainerNouns.size());
    make_unique(out_.supporters, kSupporterNouns.size());
  }
  Lockable thing_in_a_room(int material, size_t nouns) {
    return {material, static_cast<int>(dice_.below(static_cast<uint32_t>(nouns))),
            static_cast<int>(dice_.below(static_cast<uint32_t>(p_.rooms))), -1};
  }
  static void make_unique(std::vector<Lockable>& list, size_t nouns) {
    for (size_t i = 0; i < list.size(); ++i)
      for (bool again = true; again;) {
        again = false;
        for (size_t j = 0; j < i; ++j)
          if (list[j].adjective == list[i].adjective && list[j].noun == list[i].noun) {
            list[i].noun = (list[i].noun + 1) % static_cast<int>(nouns);
            again = true;
          }
      }
  }

  void things() {
    const int count = p_.goals + p_.distractors;
    const std::vector<int> names = dice_.choose(count, static_cast<int>(kColours.size() * kThings.size()));
    for (int i = 0; i < count; ++i) {
      Item item;
      item.adjective = names[static_cast<size_t>(i)] % static_cast<int>(kColours.size());
      item.noun = names[static_cast<size_t>(i)] / static_cast<int>(kColours.size());
      put_anywhere(item, p_.rooms - 1, true);
      out_.items.push_back(item);
    }
    for (int i = 0; i < p_.goals; ++i) out_.goals.push_back(goal(i));
  }
  void put_anywhere(Item& item, int last_room, bool in_containers) {
    std::vector<std::pair<Where, int>> spots;
    for (int r = 0; r <= last_room; ++r) spots.push_back({Where::kFloor, r});
    for (size_t s = 0; s < out_.supporters.size(); ++s)
      if (out_.supporters[s].room <= last_room)
        for (int weight = 0; weight < 2; ++weight) spots.push_back({Where::kSupporter, static_cast<int>(s)});
    for (size_t c = 0; c < out_.containers.size(); ++c)
      if (in_containers && out_.containers[c].room <= last_room)
        for (int weight = 0; weight < 3; ++weight) spots.push_back({Where::kContainer, static_cast<int>(c)});
    const auto& spot = dice_.pick(spots);
    item.where = spot.first;
    item.at = spot.second;
  }
  Goal goal(int item) {
    const auto places = static_cast<uint32_t>(out_.supporters.size() + out_.containers.size());
    for (;;) {
      const auto place = static_cast<int>(dice_.below(places));
      const bool into = place >= static_cast<int>(out_.supporters.size());
      const Goal goal{item, into, into ? place - static_cast<int>(out_.supporters.size()) : place};
      const Item& thing = out_.items[static_cast<size_t>(item)];
      const bool there = thing.where == (into ? Where::kContainer : Where::kSupporter) && thing.at == goal.place;
      if (!there || places == 1) return goal;
    }
  }

  // The key of the i-th locked door lies where only doors before it are on the way; keys of containers lie anywhere but
  // in containers. So there is an order in which everything opens.
  void keys() {
    std::vector<int> doors = dice_.choose(p_.locked_doors, static_cast<int>(out_.doors.size()));
    std::sort(doors.begin(), doors.end());
    for (const int door : doors) {
      const int before = first_room_behind(door) - 1;
      Item key;
      key.is_key = true;
      key.adjective = out_.doors[static_cast<size_t>(door)].adjective;
      put_anywhere(key, before, false);
      out_.doors[static_cast<size_t>(door)].key = static_cast<int>(out_.items.size());
      out_.items.push_back(key);
    }
    lock_containers();
  }
  // Rooms are numbered in the order in which they were attached, so a room's ancestors have smaller numbers: rooms
  // before the first one behind the door can be reached without it.
  int first_room_behind(int door) const {
    for (const Edge& edge : out_.edges)
      if (edge.door == door) return edge.b;
    return p_.rooms;
  }
  void lock_containers() {
    std::vector<int> wanted;  // those that a goal needs first
    const auto want = [&](int c) {
      if (std::find(wanted.begin(), wanted.end(), c) == wanted.end()) wanted.push_back(c);
    };
    for (const Goal& goal : out_.goals) {
      const Item& item = out_.items[static_cast<size_t>(goal.item)];
      if (item.where == Where::kContainer) want(item.at);
      if (goal.into) want(goal.place);
    }
    for (const int c : dice_.choose(p_.containers, p_.containers)) want(c);
    for (int i = 0; i < p_.locked_containers; ++i) {
      Lockable& container = out_.containers[static_cast<size_t>(wanted[static_cast<size_t>(i)])];
      Item key;
      key.is_key = true;
      key.adjective = container.adjective;
      put_anywhere(key, p_.rooms - 1, false);
      container.key = static_cast<int>(out_.items.size());
      out_.items.push_back(key);
    }
  }

  const KeyquestParams& p_;
  Dice& dice_;
  Layout out_;
};

// ---- Oracle: a walk that wins, found by doing what is needed next ---------------------------------------------------
class Oracle {
 public:
  explicit Oracle(const Layout& layout) : l_(layout), items_(layout.items), room_(layout.start) {
    door_open_.assign(l_.doors.size(), false);
    container_open_.assign(l_.containers.size(), false);
    door_locked_.resize(l_.doors.size());
    container_locked_.resize(l_.containers.size());
    for (size_t i = 0; i < l_.doors.size(); ++i) door_locked_[i] = l_.doors[i].key >= 0;
    for (size_t i = 0; i < l_.containers.size(); ++i) container_locked_[i] = l_.containers[i].key >= 0;
  }

  std::vector<std::string> run() {
    for (const Goal& goal : l_.goals) {
      obtain(goal.item);
      if (goal.into) {
        open_container(goal.place);
        say("insert " + l_.item_name(goal.item) + " into " + l_.container_name(goal.place));
        items_[static_cast<size_t>(goal.item)].where = Where::kContainer;
      } else {
        go(l_.supporters[static_cast<size_t>(goal.place)].room);
        say("put " + l_.item_name(goal.item) + " on " + l_.supporter_name(goal.place));
        items_[static_cast<size_t>(goal.item)].where = Where::kSupporter;
      }
      items_[static_cast<size_t>(goal.item)].at = goal.place;
    }
    return std::move(walk_);
  }
  // Which items had to be taken and which locks opened on the way, in order: the sub-goals that give reward.
  const std::vector<int>& taken() const { return taken_; }
  const std::vector<int>& unlocked_doors() const { return unlocked_doors_; }
  const std::vector<int>& unlocked_containers() const { return unlocked_containers_; }

 private:
  void say(std::string command) { walk_.push_back(std::move(command)); }
  bool carried(int item) const { return items_[static_cast<size_t>(item)].where == Where::kCarried; }

  void obtain(int which) {
    if (carried(which)) return;
    Item& item = items_[static_cast<size_t>(which)];
    switch (item.where) {
      case Where::kFloor:
        go(item.at);
        say("take " + l_.item_name(which));
        break;
      case Where::kSupporter:
        go(l_.supporters[static_cast<size_t>(item.at)].room);
        say("take " + l_.item_name(which) + " from " + l_.supporter_name(item.at));
        break;
      case Where::kContainer:
        open_container(item.at);
        say("take " + l_.item_name(which) + " from " + l_.container_name(item.at));
        break;
      case Where::kCarried: return;
    }
    item.where = Where::kCarried;
    taken_.push_back(which);
  }

  void open_container(int which) {
    const Lockable& container = l_.containers[static_cast<size_t>(which)];
    if (container_locked_[static_cast<size_t>(which)]) obtain(container.key);
    go(container.room);
    if (container_locked_[static_cast<size_t>(which)]) {
      say("unlock " + l_.container_name(which) + " with " + l_.item_name(container.key));
      container_locked_[static_cast<size_t>(which)] = false;
      unlocked_containers_.push_back(which);
    }
    if (!container_open_[static_cast<size_t>(which)]) say("open " + l_.container_name(which));
    container_open_[static_cast<size_t>(which)] = true;
  }

  void go(int to) {
    bool fetched = true;
    while (fetched) {  // keys first; fetching one may lead elsewhere
      fetched = false;
      for (const int e : l_.path(room_, to)) {
        const int door = l_.edges[static_cast<size_t>(e)].door;
        if (door < 0 || !door_locked_[static_cast<size_t>(door)] || carried(l_.doors[static_cast<size_t>(door)].key))
          continue;
        obtain(l_.doors[static_cast<size_t>(door)].key);
        fetched = true;
        break;
      }
    }
    for (const int e : l_.path(room_, to)) pass(l_.edges[static_cast<size_t>(e)]);
  }
  void pass(const Edge& edge) {
    const int door = edge.door;
    if (door >= 0 && door_locked_[static_cast<size_t>(door)]) {
      say("unlock " + l_.door_name(door) + " with " + l_.item_name(l_.doors[static_cast<size_t>(door)].key));
      door_locked_[static_cast<size_t>(door)] = false;
      unlocked_doors_.push_back(door);
    }
    if (door >= 0 && !door_open_[static_cast<size_t>(door)]) {
      say("open " + l_.door_name(door));
      door_open_[static_cast<size_t>(door)] = true;
    }
    const bool forward = edge.a == room_;
    say(std::string("go ") + kDirections[static_cast<size_t>(forward ? edge.direction : (edge.direction + 2) % 4)]);
    room_ = forward ? edge.b : edge.a;
  }

  const Layout& l_;
  std::vector<Item> items_;
  int room_;
  std::vector<bool> door_open_, container_open_, door_locked_, container_locked_;
  std::vector<std::string> walk_;
  std::vector<int> taken_, unlocked_doors_, unlocked_containers_;
};

// ---- Source ---------------------------------------------------------------------------------------------------------
enum TypeId { kP, kI, kR, kT, kD, kC, kS, kO, kK, kNumTypes };
enum PredicateId {
  kAt,
  kIn,
  kOn,
  kOpen,
  kClosed,
  kLocked,
  kMatch,
  kLink,
  kFree,
  kExit0,
  kExit1,
  kExit2,
  kExit3,
  kNumPredicates
};

// Rules, their texts and the frame: the same for every keyquest game.
class KeyquestRules {
 public:
  static const Source& shared() {
    static const Source source = KeyquestRules().build();
    return source;
  }

 private:
  Source build() {
    s_.family = "keyquest";
    s_.types = {{"P", {}},   {"I", {}},   {"r", {}},   {"t", {}},  {"d", {kT}},
                {"c", {kT}}, {"s", {kT}}, {"o", {kT}}, {"k", {kO}}};
    s_.predicates = {{"at", true},       {"in", true},        {"on", true},      {"open", false}, {"closed", false},
                     {"locked", false},  {"match", false},    {"link", false},   {"free", false}, {"north_of", false},
                     {"east_of", false}, {"south_of", false}, {"west_of", false}};
    s_.place_predicate = kAt;
    s_.player = 0;
    s_.inventory = 1;
    const int32_t moved = t_.add({});
    for (int d = 0; d < 4; ++d) {
      Rule rule = base(std::string("go/") + kDirections[static_cast<size_t>(d)], {{kR, -1}, {kR, -1}});
      rule.preconditions = {atom(kAt, {0, 2}), atom(kExit0 + d, {3, 2}), atom(kFree, {2, 3})};
      rule.deletes = {atom(kAt, {0, 2})};
      rule.adds = {atom(kAt, {0, 3})};
      rule.command = {{std::string("go ") + kDirections[static_cast<size_t>(d)], -1}};
      finish(rule, moved, {});
    }
    lock_rules();
    carry_rules();
    frame();
    return std::move(s_);
  }

  // Parameters 0 and 1 are the player and the inventory.
  static Rule base(const std::string& name, std::vector<Parameter> more) {
    Rule rule;
    rule.name = name;
    rule.parameters = {{kP, 0}, {kI, 1}};
    rule.parameters.insert(rule.parameters.end(), more.begin(), more.end());
    return rule;
  }
  void finish(Rule& rule, int32_t text, std::vector<int32_t> operands) {
    Outcome outcome;
    outcome.text = text;
    rule.outcomes = {outcome};
    rule.operands = std::move(operands);
    s_.rules.push_back(std::move(rule));
  }
  // "You <verb> the A." or "You <verb> the A <word> the B."
  int32_t sentence(const std::string& verb, const std::string& word = "") {
    TextProgram text;
    t_.say(text, "You " + verb + " ");
    text.code.push_back({Op::kName, kOperand0, static_cast<int32_t>(Article::kThe), 0, 0});
    if (!word.empty()) {
      t_.say(text, " " + word + " ");
      text.code.push_back({Op::kName, kOperand0 - 1, static_cast<int32_t>(Article::kThe), 0, 0});
    }
    t_.say(text, ".\n");
    return t_.add(std::move(text));
  }

  void lock_rules() {
    const int32_t opened = sentence("open"), closed = sentence("close"), unlocked = sentence("unlock", "with");
    for (const bool door : {true, false}) {
      // door: 2 room, 3 door, 4 other room, 5 key; container: 2 room, 3 container, 4 key
      const std::string suffix = door ? "/d" : "/c";
      std::vector<Parameter> parameters = {{kR, -1}, {door ? kD : kC, -1}};
      if (door) parameters.push_back({kR, -1});
      std::vector<Atom> here = {atom(kAt, {0, 2})};
      if (door) {
        here.push_back(atom(kLink, {2, 3, 4}));
        here.push_back(atom(kLink, {4, 3, 2}));
      } else {
        here.push_back(atom(kAt, {3, 2}));
      }
      const std::vector<Atom> ways =
          door ? std::vector<Atom>{atom(kFree, {2, 4}), atom(kFree, {4, 2})} : std::vector<Atom>{};
      toggle("open" + suffix, "open ", parameters, here, atom(kClosed, {3}), atom(kOpen, {3}), {}, ways, opened);
      toggle("close" + suffix, "close ", parameters, here, atom(kOpen, {3}), atom(kClosed, {3}), ways, {}, closed);
      Rule rule = base("unlock" + suffix, parameters);
      const auto key = static_cast<int32_t>(rule.parameters.size());
      rule.parameters.push_back({kK, -1});
      rule.preconditions = here;
      rule.preconditions.push_back(atom(kIn, {key, 1}));
      rule.preconditions.push_back(atom(kMatch, {key, 3}));
      rule.preconditions.push_back(atom(kLocked, {3}));
      rule.deletes = {atom(kLocked, {3})};
      rule.adds = {atom(kClosed, {3})};
      rule.command = {{"unlock ", -1}, {"", 3}, {" with ", -1}, {"", key}};
      finish(rule, unlocked, {3, key});
    }
  }
  void toggle(const std::string& name, const std::string& verb, const std::vector<Parameter>& parameters,
              const std::vector<Atom>& here, const Atom& from, const Atom& to, const std::vector<Atom>& also_from,
              const std::vector<Atom>& also_to, int32_t text) {
    Rule rule = base(name, parameters);
    rule.preconditions = here;
    rule.preconditions.push_back(from);
    rule.deletes = also_from;
    rule.deletes.push_back(from);
    rule.adds = also_to;
    rule.adds.push_back(to);
    rule.command = {{verb, -1}, {"", 3}};
    finish(rule, text, {3});
  }

  void carry_rules() {
    const int32_t take = sentence("take"), take_from = sentence("take", "from"), drop = sentence("drop"),
                  put = sentence("put", "on"), insert = sentence("put", "into");
    // 2 room, 3 thing, 4 furniture
    const Atom carried = atom(kIn, {3, 1});
    move("take", "take ", "", {}, atom(kAt, {3, 2}), carried, take);
    move("drop", "drop ", "", {}, carried, atom(kAt, {3, 2}), drop);
    const std::vector<Atom> open_here = {atom(kAt, {4, 2}), atom(kOpen, {4})}, here = {atom(kAt, {4, 2})};
    furniture_type_ = kC;
    move("take/c", "take ", " from ", open_here, atom(kIn, {3, 4}), carried, take_from);
    move("insert", "insert ", " into ", open_here, carried, atom(kIn, {3, 4}), insert);
    furniture_type_ = kS;
    move("take/s", "take ", " from ", here, atom(kOn, {3, 4}), carried, take_from);
    move("put", "put ", " on ", here, carried, atom(kOn, {3, 4}), put);
  }
  void move(const std::string& name, const std::string& verb, const std::string& word, const std::vector<Atom>& more,
            const Atom& from, const Atom& to, int32_t text) {
    std::vector<Parameter> parameters = {{kR, -1}, {kO, -1}};
    if (!word.empty()) parameters.push_back({furniture_type_, -1});
    Rule rule = base(name, parameters);
    rule.preconditions = {atom(kAt, {0, 2})};
    rule.preconditions.insert(rule.preconditions.end(), more.begin(), more.end());
    rule.preconditions.push_back(from);
    rule.deletes = {from};
    rule.adds = {to};
    rule.command = {{verb, -1}, {"", 3}};
    if (!word.empty()) {
      rule.command.push_back({word, -1});
      rule.command.push_back({"", 4});
    }
    finish(rule, text, word.empty() ? std::vector<int32_t>{3} : std::vector<int32_t>{3, 4});
  }

  // What happened, the room, what is carried, the task, and the end.
  void frame() {
    TextProgram invalid;
    t_.say(invalid, "Nothing happens.\n");
    s_.texts.invalid = t_.add(std::move(invalid));
    s_.texts.start = t_.add({});
    TextProgram frame;
    frame.code.push_back({Op::kCallEvent, 0, 0, 0, 0});
    frame.code.push_back({Op::kCallPlace, 0, static_cast<int32_t>(ObjectText::kLook), 0, 0});
    const size_t nothing = TextBuilder::jump(frame, {Op::kUnlessAny, 1, 1, 0, 0});
    t_.say(frame, "You carry ");
    frame.code.push_back({Op::kList, 1, 1, 0, 0});
    t_.say(frame, ".\n");
    const size_t over = TextBuilder::jump(frame, {Op::kJump, 0, 0, 0, 0});
    TextBuilder::patch(frame, nothing);
    t_.say(frame, "You carry nothing.\n");
    TextBuilder::patch(frame, over);
    frame.code.push_back({Op::kSection, static_cast<int32_t>(Section::kObjective), 0, 0, 0});
    frame.code.push_back({Op::kCallObject, 1, static_cast<int32_t>(ObjectText::kDescription), 0, 0});
    frame.code.push_back({Op::kSection, static_cast<int32_t>(Section::kEnd), 0, 0, 0});
    const size_t not_won =
        TextBuilder::jump(frame, {Op::kUnless, kPseudoWon, static_cast<int32_t>(CompareOp::kSet), 0, 0});
    t_.say(frame, "You have done it!\n");
    TextBuilder::patch(frame, not_won);
    frame.code.push_back({Op::kEnd, 0, 0, 0, 0});
    s_.texts.frame = t_.add(std::move(frame));
  }

  Source s_;
  TextBuilder t_{s_};
  int32_t furniture_type_ = kS;
};

constexpr int32_t kThing = 1, kFurniture = 2;  // object classes: what lists show

class KeyquestEmitter {
 public:
  KeyquestEmitter(const Layout& layout, Source& out) : l_(layout), s_(out) {}

  // The oracle has run: what it had to do becomes the quests.
  void run(const std::string& name, const Oracle& oracle, int32_t max_episode_steps) {
    s_ = KeyquestRules::shared();
    s_.name = name;
    s_.max_episode_steps = max_episode_steps;
    objects();
    facts();
    looks();
    TextProgram task;
    t_.say(task, "Your task: " + objective() + ".\n");
    s_.objects[1].description = t_.add(std::move(task));
    quests(oracle);
  }

  std::string objective() const {
    std::string text;
    for (size_t i = 0; i < l_.goals.size(); ++i) {
      const Goal& goal = l_.goals[i];
      text += (i == 0 ? "put the " : (i + 1 == l_.goals.size() ? " and the " : ", the ")) + l_.item_name(goal.item) +
              (goal.into ? " into the " : " on the ") +
              (goal.into ? l_.container_name(goal.place) : l_.supporter_name(goal.place));
    }
    return text;
  }

 private:
  int32_t object(const std::string& id, int32_t type, const std::string& name, int32_t object_class) {
    Object o;
    o.id = id;
    o.type = type;
    o.name = name;
    o.object_class = object_class;
    s_.objects.push_back(std::move(o));
    return static_cast<int32_t>(s_.objects.size()) - 1;
  }
  void objects() {
    object("P", kP, "", 0);
    object("I", kI, "", 0);
    for (size_t i = 0; i < l_.rooms.size(); ++i)
      rooms_.push_back(object("r_" + std::to_string(i), kR, kRooms[static_cast<size_t>(l_.rooms[i].name)], 0));
    for (size_t i = 0; i < l_.doors.size(); ++i)
      doors_.push_back(object("d_" + std::to_string(i), kD, l_.door_name(static_cast<int>(i)), kFurniture));
    for (size_t i = 0; i < l_.containers.size(); ++i)
      containers_.push_back(object("c_" + std::to_string(i), kC, l_.container_name(static_cast<int>(i)), kFurniture));
    for (size_t i = 0; i < l_.supporters.size(); ++i)
      supporters_.push_back(object("s_" + std::to_string(i), kS, l_.supporter_name(static_cast<int>(i)), kFurniture));
    for (size_t i = 0; i < l_.items.size(); ++i)
      items_.push_back(object((l_.items[i].is_key ? "k_" : "o_") + std::to_string(i), l_.items[i].is_key ? kK : kO,
                              l_.item_name(static_cast<int>(i)), kThing));
  }
  void fact(int predicate, std::vector<int32_t> args) { s_.init.push_back(atom(predicate, std::move(args))); }
  int32_t room(int i) const { return rooms_[static_cast<size_t>(i)]; }

  void facts() {
    fact(kAt, {0, room(l_.start)});
    for (const Edge& edge : l_.edges) {
      fact(kExit0 + edge.direction, {room(edge.b), room(edge.a)});  // b is north of a
      fact(kExit0 + (edge.direction + 2) % 4, {room(edge.a), room(edge.b)});
      if (edge.door < 0) {
        fact(kFree, {room(edge.a), room(edge.b)});
        fact(kFree, {room(edge.b), room(edge.a)});
        continue;
      }
      const int32_t door = doors_[static_cast<size_t>(edge.door)];
      fact(kLink, {room(edge.a), door, room(edge.b)});
      fact(kLink, {room(edge.b), door, room(edge.a)});
    }
    locks(l_.doors, doors_);
    locks(l_.containers, containers_);
    for (size_t i = 0; i < l_.containers.size(); ++i) fact(kAt, {containers_[i], room(l_.containers[i].room)});
    for (size_t i = 0; i < l_.supporters.size(); ++i) fact(kAt, {supporters_[i], room(l_.supporters[i].room)});
    for (size_t i = 0; i < l_.items.size(); ++i) {
      const Item& item = l_.items[i];
      const auto at = static_cast<size_t>(item.at);
      switch (item.where) {
        case Where::kSupporter: fact(kOn, {items_[i], supporters_[at]}); break;
        case Where::kContainer: fact(kIn, {items_[i], containers_[at]}); break;
        default: fact(kAt, {items_[i], room(item.at)}); break;
      }
    }
  }
  void locks(const std::vector<Lockable>& list, const std::vector<int32_t>& ids) {
    for (size_t i = 0; i < list.size(); ++i) {
      fact(list[i].key >= 0 ? kLocked : kClosed, {ids[i]});
      if (list[i].key >= 0) fact(kMatch, {items_[static_cast<size_t>(list[i].key)], ids[i]});
    }
  }

  // "The X is open.", "closed", "locked"; `open` continues with what an open one shows.
  template <class Open>
  void state(TextProgram& text, int32_t id, bool can_be_locked, const std::string& name, Open&& open) {
    t_.say(text, "The " + name + " is ");
    const size_t not_open = t_.unless_fact(text, atom(kOpen, {id}));
    open(text);
    const size_t end_open = TextBuilder::jump(text, {Op::kJump, 0, 0, 0, 0});
    TextBuilder::patch(text, not_open);
    size_t end_locked = 0;
    if (can_be_locked) {
      const size_t not_locked = t_.unless_fact(text, atom(kLocked, {id}));
      t_.say(text, "locked.\n");
      end_locked = TextBuilder::jump(text, {Op::kJump, 0, 0, 0, 0});
      TextBuilder::patch(text, not_locked);
    }
    t_.say(text, "closed.\n");
    TextBuilder::patch(text, end_open);
    if (can_be_locked) TextBuilder::patch(text, end_locked);
  }
  void contents(TextProgram& text, int32_t holder, const std::string& some, const std::string& none) {
    const size_t empty = TextBuilder::jump(text, {Op::kUnlessAny, holder, kThing, 0, 0});
    t_.say(text, some);
    text.code.push_back({Op::kList, holder, kThing, 0, 0});
    t_.say(text, ".\n");
    const size_t end = TextBuilder::jump(text, {Op::kJump, 0, 0, 0, 0});
    TextBuilder::patch(text, empty);
    if (!none.empty()) t_.say(text, none);
    TextBuilder::patch(text, end);
  }

  void looks() {
    for (size_t r = 0; r < l_.rooms.size(); ++r) {
      TextProgram text;
      t_.say(text, "You are in the " + std::string(kRooms[static_cast<size_t>(l_.rooms[r].name)]) + ".\n");
      exits(text, static_cast<int>(r));
      for (size_t i = 0; i < l_.containers.size(); ++i) {
        if (l_.containers[i].room != static_cast<int>(r)) continue;
        state(text, containers_[i], l_.containers[i].key >= 0, l_.container_name(static_cast<int>(i)),
              [&](TextProgram& to) { contents(to, containers_[i], "open and holds ", "open and empty.\n"); });
      }
      for (size_t i = 0; i < l_.supporters.size(); ++i) {
        if (l_.supporters[i].room != static_cast<int>(r)) continue;
        const std::string name = l_.supporter_name(static_cast<int>(i));
        contents(text, supporters_[i], "On the " + name + " you see ", "The " + name + " is empty.\n");
      }
      contents(text, room(static_cast<int>(r)), "On the floor you see ", "");
      text.code.push_back({Op::kEnd, 0, 0, 0, 0});
      s_.objects[static_cast<size_t>(rooms_[r])].look = t_.add(std::move(text));
    }
  }
  void exits(TextProgram& text, int r) {
    for (int d = 0; d < 4; ++d) {
      for (const Edge& edge : l_.edges) {
        const bool forward = edge.a == r && edge.direction == d,
                   backward = edge.b == r && (edge.direction + 2) % 4 == d;
        if (!forward && !backward) continue;
        if (edge.door < 0) {
          t_.say(text, std::string("You can go ") + kDirections[static_cast<size_t>(d)] + ".\n");
        } else {
          const Lockable& door = l_.doors[static_cast<size_t>(edge.door)];
          state(text, doors_[static_cast<size_t>(edge.door)], door.key >= 0,
                l_.door_name(edge.door) + " " + kDirections[static_cast<size_t>(d)],
                [&](TextProgram& to) { t_.say(to, "open.\n"); });
        }
      }
    }
  }

  void quest(std::vector<Atom> win, bool needed) {
    Quest quest;
    quest.win_events = {std::move(win)};
    quest.reward = 1;
    quest.optional = !needed;
    s_.quests.push_back(std::move(quest));
    ++s_.max_score;
  }
  // One point the first time for each thing the oracle had to take and each lock it had to open; one for each goal.
  void quests(const Oracle& oracle) {
    std::vector<int> seen;
    for (const int item : oracle.taken()) {
      if (std::find(seen.begin(), seen.end(), item) != seen.end()) continue;
      seen.push_back(item);
      quest({atom(kIn, {items_[static_cast<size_t>(item)], 1})}, false);
    }
    for (const int door : oracle.unlocked_doors()) quest({unlocked(doors_[static_cast<size_t>(door)])}, false);
    for (const int c : oracle.unlocked_containers()) quest({unlocked(containers_[static_cast<size_t>(c)])}, false);
    for (const Goal& goal : l_.goals)
      quest({goal.into
                 ? atom(kIn, {items_[static_cast<size_t>(goal.item)], containers_[static_cast<size_t>(goal.place)]})
                 : atom(kOn, {items_[static_cast<size_t>(goal.item)], supporters_[static_cast<size_t>(goal.place)]})},
            true);
  }
  static Atom unlocked(int32_t id) {
    Atom out = atom(kLocked, {id});
    out.negated = true;
    return out;
  }

  const Layout& l_;
  Source& s_;
  TextBuilder t_{s_};
  std::vector<int32_t> rooms_, doors_, containers_, supporters_, items_;
};

void check(const KeyquestParams& p) {
  check_range("rooms", p.rooms, 1, static_cast<int32_t>(kRooms.size()));
  check_range("doors", p.doors, 0, std::min(p.rooms - 1, 8));
  check_range("locked_doors", p.locked_doors, 0, p.doors);
  check_range("containers", p.containers, 0, 12);
  check_range("locked_containers", p.locked_containers, 0, p.containers);
  check_range("doors + containers", p.doors + p.containers, 0, static_cast<int32_t>(kMaterials.size()));
  check_range("supporters", p.supporters, 0, 12);
  check_range("containers + supporters", p.containers + p.supporters, 2, 24);
  check_range("goals", p.goals, 1, 6);
  check_range("distractors", p.distractors, 0, 40);
  check_range("min_oracle", p.min_oracle, 2, 200);
  check_range("max_oracle", p.max_oracle, p.min_oracle, 1000);
  check_range("max_episode_steps", p.max_episode_steps, 1, 100000);
}

}  // namespace

GeneratedGame keyquest(const KeyquestParams& params, uint64_t seed, uint32_t index) {
  check(params);
  const int32_t longest = std::min(params.max_oracle, params.max_episode_steps);
  for (uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    Dice dice(seed, index, attempt);
    const Layout layout = KeyquestSampler(params, dice).run();
    Oracle oracle(layout);
    const std::vector<std::string> walk = oracle.run();
    const auto length = static_cast<int32_t>(walk.size());
    if (length < params.min_oracle || length > longest) continue;
    GeneratedGame game;
    game.layout_hash = layout.hash();
    KeyquestEmitter emitter(layout, game.source);
    emitter.run("keyquest-" + std::to_string(seed) + "-" + std::to_string(index), oracle, params.max_episode_steps);
    const Told told{"keyquest-v0", emitter.objective(), walk, game.source.max_score, seed, index};
    game.source.extra_json = extra_json(told, params, kKeyquestNumbers);
    return game;
  }
  fail_to_find("layout", params.min_oracle, longest);
}

std::vector<std::string> keyquest_texts() {
  std::vector<std::string> out = shared_texts();
  out.push_back("key");
  const auto add = [&](const auto& list) { out.insert(out.end(), list.begin(), list.end()); };
  add(kRooms);
  add(kMaterials);
  add(kColours);
  add(kDoorNouns);
  add(kContainerNouns);
  add(kSupporterNouns);
  add(kThings);
  return out;
}

}  // namespace ae::logic
