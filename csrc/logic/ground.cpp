// Source → Ground: every instance of every rule that can ever happen, found by delete-relaxed reachability.
// Facts that never change vanish; facts that do become flags; the player's place becomes one variable.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "core/rng.h"
#include "logic/source.h"

namespace ae::logic {
namespace {

constexpr size_t kMaxArgs = 7;
constexpr uint32_t kUnknownFact = 0xFFFFFFFFu;

[[noreturn]] void fail(const std::string& message) { throw CompileError{message}; }

// Predicate and arguments in 16-bit fields.
struct Key {
  std::array<uint16_t, kMaxArgs + 1> part{};
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t low, high;
    std::memcpy(&low, key.part.data(), 8);
    std::memcpy(&high, key.part.data() + 4, 8);
    return mix64(low ^ mix64(high));
  }
};

struct Fact {
  uint16_t predicate = 0;
  uint8_t arity = 0;
  std::array<uint16_t, kMaxArgs> args{};
  bool in_init = false;
  bool deleted = false;  // by some ground action
  int32_t flag = -1;     // number of its variable, once known
};

// ---- Checks of an untrusted Source ----------------------------------------------------------------------------------
class SourceChecker {
 public:
  explicit SourceChecker(const Source& source) : s_(source) {}

  void run() const {
    if (s_.objects.size() > 60000 || s_.predicates.size() > 60000 || s_.types.size() > 60000 || s_.rules.size() > 60000)
      fail(s_.name + ": more than 60000 objects, predicates, types or rules");
    types();
    for (size_t i = 0; i < s_.objects.size(); ++i) object(i);
    for (size_t i = 0; i < s_.rules.size(); ++i) rule(s_.rules[i]);
    for (size_t i = 0; i < s_.init.size(); ++i) ground_atom(s_.init[i], "init[" + std::to_string(i) + "]");
    for (size_t i = 0; i < s_.quests.size(); ++i) quest(s_.quests[i], "quests[" + std::to_string(i) + "]");
    texts();
    index(s_.place_predicate, s_.predicates.size(), "place_predicate", true);
    index(s_.player, s_.objects.size(), "player", true);
    index(s_.inventory, s_.objects.size(), "inventory", true);
    if (s_.place_predicate >= 0 && s_.player < 0) fail(s_.name + ": a place predicate but no player");
  }

 private:
  void index(int64_t got, size_t count, const std::string& what, bool optional = false) const {
    if (optional && got == -1) return;
    if (got < 0 || static_cast<size_t>(got) >= count)
      fail(s_.name + ": " + what + " " + std::to_string(got) + " outside [0, " + std::to_string(count) + ")");
  }
  void types() const {
    std::vector<uint8_t> state(s_.types.size(), 0);
    for (size_t root = 0; root < s_.types.size(); ++root) {
      std::vector<std::pair<size_t, size_t>> path;
      if (state[root] == 0) path.push_back({root, 0});
      while (!path.empty()) {
        auto& [type, next] = path.back();
        state[type] = 1;
        if (next == s_.types[type].parents.size()) {
          state[type] = 2;
          path.pop_back();
          continue;
        }
        const int32_t parent = s_.types[type].parents[next++];
        index(parent, s_.types.size(), "type " + s_.types[type].name + ": parent");
        if (state[static_cast<size_t>(parent)] == 1) fail(s_.name + ": type " + s_.types[type].name + " is its own ancestor");
        if (state[static_cast<size_t>(parent)] == 0) path.push_back({static_cast<size_t>(parent), 0});
      }
    }
  }
  void object(size_t i) const {
    const Object& o = s_.objects[i];
    const std::string where = "object " + o.id + ": ";
    index(o.type, s_.types.size(), where + "type");
    for (const int32_t program : {o.description, o.listed, o.look, o.title})
      index(program, s_.programs.size(), where + "text program", true);
  }
  void arity(const Atom& atom, const std::string& where) const {
    index(atom.predicate, s_.predicates.size(), where + ": predicate");
    if (atom.args.size() > kMaxArgs)
      fail(s_.name + ": " + where + ": " + s_.predicates[static_cast<size_t>(atom.predicate)].name + " has " +
           std::to_string(atom.args.size()) + " arguments, at most " + std::to_string(kMaxArgs));
    const bool placement = s_.predicates[static_cast<size_t>(atom.predicate)].placement || atom.predicate == s_.place_predicate;
    if (placement && atom.args.size() != 2)
      fail(s_.name + ": " + where + ": " + s_.predicates[static_cast<size_t>(atom.predicate)].name +
           " places a child in a container and so takes 2 arguments, got " + std::to_string(atom.args.size()));
  }
  void ground_atom(const Atom& atom, const std::string& where) const {
    arity(atom, where);
    for (const int32_t arg : atom.args) index(arg, s_.objects.size(), where + ": object");
  }
  void rule(const Rule& rule) const {
    const std::string where = "rule " + rule.name;
    if (rule.parameters.size() > 64) fail(s_.name + ": " + where + ": more than 64 parameters");
    for (const Parameter& p : rule.parameters) {
      if (p.constant >= 0) index(p.constant, s_.objects.size(), where + ": constant");
      else index(p.type, s_.types.size(), where + ": parameter type");
    }
    const auto atoms = [&](const std::vector<Atom>& list) {
      for (const Atom& atom : list) {
        arity(atom, where);
        for (const int32_t arg : atom.args) index(arg, rule.parameters.size(), where + ": parameter");
      }
    };
    atoms(rule.preconditions);
    atoms(rule.adds);
    atoms(rule.deletes);
    for (const Rule::Piece& piece : rule.command)
      if (piece.parameter != -1) index(piece.parameter, rule.parameters.size(), where + ": command parameter");
    if (rule.operands.size() > 4) fail(s_.name + ": " + where + ": " + std::to_string(rule.operands.size()) + " operands, at most 4");
    for (const int32_t operand : rule.operands) index(operand, rule.parameters.size(), where + ": operand");
    for (const Outcome& outcome : rule.outcomes) {
      atoms(outcome.conditions);
      index(outcome.text, s_.programs.size(), where + ": outcome text", true);
    }
  }
  void quest(const Quest& quest, const std::string& where) const {
    for (const auto* events : {&quest.fail_events, &quest.win_events})
      for (const auto& event : *events)
        for (const Atom& atom : event) ground_atom(atom, where);
  }
  void texts() const {
    for (size_t i = 0; i < s_.programs.size(); ++i) {
      const TextProgram& text = s_.programs[i];
      const std::string where = "programs[" + std::to_string(i) + "]";
      for (size_t f = 0; f < text.facts.size(); ++f) ground_atom(text.facts[f], where);
      for (const Instruction& code : text.code) {
        if (code.op == Op::kUnlessFact) index(code.a, text.facts.size(), where + ": fact");
        const bool reads = code.op == Op::kUnless || code.op == Op::kNumber || code.op == Op::kNumberWords;
        if (reads && code.a < kPseudoScoreChange) fail(s_.name + ": " + where + ": a text names facts, not variables");
      }
    }
    for (const int32_t program : {s_.texts.frame, s_.texts.start, s_.texts.invalid})
      index(program, s_.programs.size(), "texts", true);
    for (const Refusal& refusal : s_.refusals) index(refusal.text, s_.programs.size(), "refusal " + refusal.name, true);
  }

  const Source& s_;
};

// ---- Facts ----------------------------------------------------------------------------------------------------------
class FactTable {
 public:
  FactTable(size_t predicates, size_t objects) : by_predicate_(predicates), by_arg_(predicates), objects_(objects) {}

  static Key key(uint16_t predicate, const uint16_t* args, size_t arity) {
    Key out;
    out.part[0] = static_cast<uint16_t>(predicate + 1);
    for (size_t i = 0; i < arity; ++i) out.part[i + 1] = static_cast<uint16_t>(args[i] + 1);
    return out;
  }
  uint32_t find(uint16_t predicate, const uint16_t* args, size_t arity) const {
    const auto found = ids_.find(key(predicate, args, arity));
    return found == ids_.end() ? kUnknownFact : found->second;
  }
  // The id, and whether the fact is new.
  std::pair<uint32_t, bool> add(uint16_t predicate, const uint16_t* args, size_t arity) {
    const auto [at, is_new] = ids_.try_emplace(key(predicate, args, arity), static_cast<uint32_t>(facts_.size()));
    if (is_new) {
      Fact fact;
      fact.predicate = predicate;
      fact.arity = static_cast<uint8_t>(arity);
      std::copy(args, args + arity, fact.args.begin());
      facts_.push_back(fact);
      by_predicate_[predicate].push_back(at->second);
      auto& index = by_arg_[predicate];
      if (index.size() < arity * objects_) index.resize(arity * objects_);
      for (size_t i = 0; i < arity; ++i) index[i * objects_ + args[i]].push_back(at->second);
    }
    return {at->second, is_new};
  }
  const std::vector<uint32_t>& of(uint16_t predicate) const { return by_predicate_[predicate]; }
  const std::vector<uint32_t>& with(uint16_t predicate, size_t position, uint16_t object) const {
    static const std::vector<uint32_t> none;
    const auto& index = by_arg_[predicate];
    return index.empty() ? none : index[position * objects_ + object];
  }
  Fact& operator[](uint32_t id) { return facts_[id]; }
  const Fact& operator[](uint32_t id) const { return facts_[id]; }
  size_t size() const { return facts_.size(); }

 private:
  std::vector<Fact> facts_;
  std::unordered_map<Key, uint32_t, KeyHash> ids_;
  std::vector<std::vector<uint32_t>> by_predicate_;
  std::vector<std::vector<std::vector<uint32_t>>> by_arg_;
  size_t objects_;
};

using Binding = std::vector<int32_t>;  // object of each parameter, -1: not yet

struct Instance {
  uint32_t rule;
  Binding binding;
};

// ---- Reachability ---------------------------------------------------------------------------------------------------
class Grounder {
 public:
  Grounder(const Source& source, const GroundLimits& limits)
      : s_(source), limits_(limits), facts_(source.predicates.size(), source.objects.size()) {}

  Ground run() {
    SourceChecker(s_).run();
    close_types();
    find_static_predicates();
    reach();
    sort_instances();
    mark_deleted();
    number_variables();
    copy_plain_parts();
    actions();
    quests();
    texts();
    tree();
    return std::move(out_);
  }

 private:
  // -- types
  void close_types() {
    is_a_.assign(s_.types.size(), std::vector<bool>(s_.types.size(), false));
    for (size_t t = 0; t < s_.types.size(); ++t) {
      std::vector<size_t> todo{t};
      while (!todo.empty()) {
        const size_t at = todo.back();
        todo.pop_back();
        if (is_a_[t][at]) continue;
        is_a_[t][at] = true;
        for (const int32_t parent : s_.types[at].parents) todo.push_back(static_cast<size_t>(parent));
      }
    }
    of_type_.resize(s_.types.size());
    for (size_t o = 0; o < s_.objects.size(); ++o)
      for (size_t t = 0; t < s_.types.size(); ++t)
        if (is_a_[static_cast<size_t>(s_.objects[o].type)][t]) of_type_[t].push_back(static_cast<int32_t>(o));
  }
  bool fits(const Parameter& parameter, int32_t object) const {
    if (parameter.constant >= 0) return parameter.constant == object;
    return is_a_[static_cast<size_t>(s_.objects[static_cast<size_t>(object)].type)][static_cast<size_t>(parameter.type)];
  }

  void find_static_predicates() {
    changes_.assign(s_.predicates.size(), false);
    for (const Rule& rule : s_.rules) {
      for (const Atom& atom : rule.adds) changes_[static_cast<size_t>(atom.predicate)] = true;
      for (const Atom& atom : rule.deletes) changes_[static_cast<size_t>(atom.predicate)] = true;
    }
  }

  // -- semi-naive joins: an instance is found when the last of its changing facts is taken from the queue
  struct Join {
    uint32_t rule;
    int32_t trigger;              // precondition that the new fact matches, -1: none
    std::vector<uint32_t> order;  // the other positive preconditions, most bound first
  };

  void plan_joins() {
    triggers_.resize(s_.predicates.size());
    for (uint32_t r = 0; r < s_.rules.size(); ++r) {
      const Rule& rule = s_.rules[r];
      bool any = false;
      for (uint32_t j = 0; j < rule.preconditions.size(); ++j) {
        const Atom& atom = rule.preconditions[j];
        if (atom.negated || !changes_[static_cast<size_t>(atom.predicate)]) continue;
        any = true;
        joins_.push_back({r, static_cast<int32_t>(j), order(rule, static_cast<int32_t>(j))});
        triggers_[static_cast<size_t>(atom.predicate)].push_back(static_cast<uint32_t>(joins_.size() - 1));
      }
      if (!any) joins_.push_back({r, -1, order(rule, -1)});
    }
  }
  std::vector<uint32_t> order(const Rule& rule, int32_t trigger) const {
    std::vector<bool> bound(rule.parameters.size()), used(rule.preconditions.size());
    for (size_t p = 0; p < rule.parameters.size(); ++p) bound[p] = rule.parameters[p].constant >= 0;
    const auto bind = [&](size_t j) {
      used[j] = true;
      for (const int32_t arg : rule.preconditions[j].args) bound[static_cast<size_t>(arg)] = true;
    };
    if (trigger >= 0) bind(static_cast<size_t>(trigger));
    std::vector<uint32_t> out;
    for (;;) {
      int best = -1, best_score = -1;
      for (size_t j = 0; j < rule.preconditions.size(); ++j) {
        const Atom& atom = rule.preconditions[j];
        if (used[j] || atom.negated) continue;
        int free = 0, have = 0;
        for (const int32_t arg : atom.args) ++(bound[static_cast<size_t>(arg)] ? have : free);
        const int score = (free == 0 ? 1000 : 0) + 10 * have - 3 * free + (changes_[static_cast<size_t>(atom.predicate)] ? 0 : 4) + 100;
        if (score > best_score) {
          best_score = score;
          best = static_cast<int>(j);
        }
      }
      if (best < 0) return out;
      bind(static_cast<size_t>(best));
      out.push_back(static_cast<uint32_t>(best));
    }
  }

  void reach() {
    plan_joins();
    std::vector<uint32_t> queue;
    for (const Atom& atom : s_.init) {
      if (atom.negated) continue;
      const auto args = packed(atom.args);
      const auto [id, is_new] = facts_.add(static_cast<uint16_t>(atom.predicate), args.data(), atom.args.size());
      facts_[id].in_init = true;
      (void)is_new;
    }
    for (const Join& join : joins_)
      if (join.trigger < 0) start(join, kUnknownFact);
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      const uint16_t predicate = facts_[id].predicate;
      if (!changes_[predicate]) continue;
      for (const uint32_t j : triggers_[predicate]) start(joins_[j], id);
    }
  }
  std::array<uint16_t, kMaxArgs> packed(const std::vector<int32_t>& args) const {
    std::array<uint16_t, kMaxArgs> out{};
    for (size_t i = 0; i < args.size(); ++i) out[i] = static_cast<uint16_t>(args[i]);
    return out;
  }

  void start(const Join& join, uint32_t fact) {
    const Rule& rule = s_.rules[join.rule];
    binding_.assign(rule.parameters.size(), -1);
    for (size_t p = 0; p < rule.parameters.size(); ++p)
      if (rule.parameters[p].constant >= 0) binding_[p] = rule.parameters[p].constant;
    std::vector<uint32_t> bound_here;
    if (join.trigger >= 0 && !unify(rule, rule.preconditions[static_cast<size_t>(join.trigger)], fact, bound_here)) return;
    extend(join, rule, 0, fact);
  }

  bool unify(const Rule& rule, const Atom& atom, uint32_t id, std::vector<uint32_t>& bound_here) {
    const Fact& fact = facts_[id];
    if (fact.arity != atom.args.size()) return false;
    for (size_t i = 0; i < atom.args.size(); ++i) {
      const auto p = static_cast<size_t>(atom.args[i]);
      const int32_t object = fact.args[i];
      if (binding_[p] == object) continue;
      if (binding_[p] >= 0 || !fits(rule.parameters[p], object) || taken(rule, object)) return false;
      binding_[p] = object;
      bound_here.push_back(static_cast<uint32_t>(p));
    }
    return true;
  }
  bool taken(const Rule& rule, int32_t object) const {
    for (size_t p = 0; p < rule.parameters.size(); ++p)
      if (binding_[p] == object) return true;
    return false;
  }

  void count_step(const Rule& rule) {
    if (++steps_ > limits_.max_join_steps)
      fail(s_.name + ": grounding took more than " + std::to_string(limits_.max_join_steps) + " steps, in rule " + rule.name);
  }

  // Facts that are newer than the trigger are left for their own turn; older positions may not repeat the trigger.
  bool in_time(const Rule& rule, const Join& join, uint32_t j, uint32_t id, uint32_t trigger_fact) const {
    if (join.trigger < 0 || !changes_[static_cast<size_t>(rule.preconditions[j].predicate)]) return true;
    return static_cast<int32_t>(j) < join.trigger ? id < trigger_fact : id <= trigger_fact;
  }

  void extend(const Join& join, const Rule& rule, size_t depth, uint32_t trigger_fact) {
    count_step(rule);
    if (depth == join.order.size()) return bind_free(rule, join.rule, 0);
    const uint32_t j = join.order[depth];
    const Atom& atom = rule.preconditions[j];
    const auto predicate = static_cast<uint16_t>(atom.predicate);
    std::array<uint16_t, kMaxArgs> args{};
    bool all = true;
    const std::vector<uint32_t>* shortest = &facts_.of(predicate);
    for (size_t i = 0; i < atom.args.size(); ++i) {
      const int32_t object = binding_[static_cast<size_t>(atom.args[i])];
      if (object < 0) {
        all = false;
        continue;
      }
      args[i] = static_cast<uint16_t>(object);
      const auto& list = facts_.with(predicate, i, args[i]);
      if (list.size() < shortest->size()) shortest = &list;
    }
    if (all) {
      const uint32_t id = facts_.find(predicate, args.data(), atom.args.size());
      if (id != kUnknownFact && in_time(rule, join, j, id, trigger_fact)) extend(join, rule, depth + 1, trigger_fact);
      return;
    }
    const std::vector<uint32_t>& index = *shortest;  // may grow and move while instances are added: read by position
    const size_t count = index.size();
    const std::vector<uint32_t> candidates(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<uint32_t> bound_here;
    for (const uint32_t id : candidates) {
      count_step(rule);
      bound_here.clear();
      if (in_time(rule, join, j, id, trigger_fact) && unify(rule, atom, id, bound_here)) extend(join, rule, depth + 1, trigger_fact);
      for (const uint32_t p : bound_here) binding_[p] = -1;
    }
  }

  // Parameters that no positive precondition binds range over their type.
  void bind_free(const Rule& rule, uint32_t r, size_t from) {
    while (from < rule.parameters.size() && binding_[from] >= 0) ++from;
    if (from == rule.parameters.size()) return found(rule, r);
    for (const int32_t object : of_type_[static_cast<size_t>(rule.parameters[from].type)]) {
      count_step(rule);
      if (taken(rule, object)) continue;
      binding_[from] = object;
      bind_free(rule, r, from + 1);
      binding_[from] = -1;
    }
  }

  std::array<uint16_t, kMaxArgs> bound_args(const Atom& atom, const Binding& binding) const {
    std::array<uint16_t, kMaxArgs> out{};
    for (size_t i = 0; i < atom.args.size(); ++i) out[i] = static_cast<uint16_t>(binding[static_cast<size_t>(atom.args[i])]);
    return out;
  }
  uint32_t lookup(const Atom& atom, const Binding& binding) const {
    const auto args = bound_args(atom, binding);
    return facts_.find(static_cast<uint16_t>(atom.predicate), args.data(), atom.args.size());
  }

  void found(const Rule& rule, uint32_t r) {
    for (const Atom& atom : rule.preconditions) {  // a negated fact that can never be false
      if (!atom.negated || changes_[static_cast<size_t>(atom.predicate)]) continue;
      if (lookup(atom, binding_) != kUnknownFact) return;
    }
    if (instances_.size() >= limits_.max_actions)
      fail(s_.name + ": more than " + std::to_string(limits_.max_actions) + " ground actions, the last of rule " + rule.name);
    instances_.push_back({r, binding_});
    for (const Atom& atom : rule.adds) {
      const auto args = bound_args(atom, binding_);
      facts_.add(static_cast<uint16_t>(atom.predicate), args.data(), atom.args.size());
      if (facts_.size() > 4u * limits_.max_fluents + 100000u)
        fail(s_.name + ": more facts than the limit, the last by rule " + rule.name);
    }
  }

  void sort_instances() {
    std::sort(instances_.begin(), instances_.end(), [](const Instance& a, const Instance& b) {
      return a.rule != b.rule ? a.rule < b.rule : a.binding < b.binding;
    });
  }

  bool adds(const Rule& rule, const Binding& binding, uint32_t fact) const {
    return std::any_of(rule.adds.begin(), rule.adds.end(), [&](const Atom& a) { return lookup(a, binding) == fact; });
  }
  void mark_deleted() {
    for (const Instance& instance : instances_) {
      const Rule& rule = s_.rules[instance.rule];
      for (const Atom& atom : rule.deletes) {
        const uint32_t id = lookup(atom, instance.binding);
        if (id != kUnknownFact && !adds(rule, instance.binding, id)) facts_[id].deleted = true;
      }
    }
  }

  // -- variables
  bool is_place(const Fact& fact) const {
    return s_.place_predicate >= 0 && fact.predicate == s_.place_predicate && fact.args[0] == s_.player;
  }
  std::string name_of(const Fact& fact) const {
    std::string text = s_.predicates[fact.predicate].name + "(";
    for (size_t i = 0; i < fact.arity; ++i) text += (i > 0 ? ", " : "") + s_.objects[fact.args[i]].id;
    return text + ")";
  }

  void number_variables() {
    place_index_.assign(s_.objects.size(), -1);
    std::vector<int32_t> rooms;
    int32_t first_place = -1;
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      Fact& fact = facts_[id];
      if (is_place(fact)) {
        rooms.push_back(fact.args[1]);
        if (fact.in_init) first_place = fact.args[1];
      } else if (fact.in_init && !fact.deleted) {
        out_.static_facts.push_back(name_of(fact));
      } else {
        fact.flag = out_.num_flags++;
        out_.init_values.push_back(fact.in_init ? 1 : 0);
        out_.fluent_names.push_back(name_of(fact));
      }
    }
    if (static_cast<uint32_t>(out_.num_flags) > limits_.max_fluents)
      fail(s_.name + ": " + std::to_string(out_.num_flags) + " changing facts, at most " + std::to_string(limits_.max_fluents));
    if (s_.place_predicate < 0) return;
    if (first_place < 0) fail(s_.name + ": the player is nowhere at the start");
    std::sort(rooms.begin(), rooms.end());
    for (const int32_t room : rooms) {
      place_index_[static_cast<size_t>(room)] = static_cast<int32_t>(out_.places.size());
      out_.places.push_back(room);
    }
    out_.has_place = true;
    first_place_ = place_index_[static_cast<size_t>(first_place)];
  }
  int32_t place_var() const { return out_.num_flags; }  // final only once the quests' flags are counted

  void copy_plain_parts() {
    for (const Quest& quest : s_.quests) {
      GroundQuest g;
      g.done_var = out_.num_flags++;
      out_.init_values.push_back(0);
      out_.fluent_names.push_back("done(quest" + std::to_string(out_.quests.size()) + ")");
      g.reward = quest.reward;
      g.optional = quest.optional;
      g.repeatable = quest.repeatable;
      g.has_win_events = !quest.win_events.empty();
      out_.quests.push_back(g);
    }
    if (out_.has_place) {
      out_.num_vars = 1;
      out_.init_values.push_back(first_place_);
    }
    out_.name = s_.name;
    out_.family = s_.family;
    out_.extra_json = s_.extra_json;
    out_.objects = s_.objects;
    out_.types = s_.types;
    for (const Rule& rule : s_.rules) out_.rule_names.push_back(rule.name);
    out_.player = s_.player;
    out_.inventory = s_.inventory;
    out_.literals = s_.literals;
    out_.refusals = s_.refusals;
    out_.texts = s_.texts;
    out_.max_score = s_.max_score;
    out_.max_episode_steps = s_.max_episode_steps;
  }

  // -- conditions: true, false, or a condition on a variable
  enum class Truth { kTrue, kFalse, kDepends };
  Truth condition(uint32_t id, bool negated, Condition& out) const {
    Truth truth = Truth::kDepends;
    if (id == kUnknownFact) {
      truth = Truth::kFalse;
    } else if (const Fact& fact = facts_[id]; is_place(fact)) {
      out = {place_var(), negated ? CompareOp::kNotEqual : CompareOp::kEqual, place_index_[fact.args[1]]};
    } else if (fact.flag < 0) {
      truth = Truth::kTrue;
    } else {
      out = {fact.flag, negated ? CompareOp::kClear : CompareOp::kSet, 0};
    }
    if (truth == Truth::kDepends || !negated) return truth;
    return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
  }
  bool conjunction(const std::vector<Atom>& atoms, const Binding* binding, Conjunction& out) const {
    for (const Atom& atom : atoms) {
      const uint32_t id = binding != nullptr ? lookup(atom, *binding) : constant_fact(atom);
      Condition one;
      switch (condition(id, atom.negated, one)) {
        case Truth::kFalse: return false;
        case Truth::kTrue: break;
        case Truth::kDepends: out.push_back(one); break;
      }
    }
    return true;
  }
  uint32_t constant_fact(const Atom& atom) const {
    const auto args = packed(atom.args);
    return facts_.find(static_cast<uint16_t>(atom.predicate), args.data(), atom.args.size());
  }

  // -- actions
  void actions() {
    for (const Instance& instance : instances_) {
      const Rule& rule = s_.rules[instance.rule];
      GroundAction action;
      action.rule = static_cast<int32_t>(instance.rule);
      Conjunction all;
      if (!conjunction(rule.preconditions, &instance.binding, all)) continue;
      take_place(all, action);
      action.when = {all};
      action.command = command(rule, instance.binding);
      for (const int32_t p : rule.operands) action.operands.push_back(instance.binding[static_cast<size_t>(p)]);
      outcomes(rule, instance.binding, action);
      out_.actions.push_back(std::move(action));
    }
  }
  // A condition "the player is at p" is what sorts the action by place.
  void take_place(Conjunction& all, GroundAction& action) const {
    if (!out_.has_place) return;
    for (auto at = all.begin(); at != all.end(); ++at) {
      if (at->var != place_var() || at->op != CompareOp::kEqual) continue;
      action.place = at->value;
      all.erase(at);
      return;
    }
  }
  std::string command(const Rule& rule, const Binding& binding) const {
    std::string text;
    for (const Rule::Piece& piece : rule.command)
      text += piece.parameter < 0 ? piece.literal : s_.objects[static_cast<size_t>(binding[static_cast<size_t>(piece.parameter)])].name;
    return text;
  }
  void outcomes(const Rule& rule, const Binding& binding, GroundAction& action) {
    static const std::vector<Outcome> kPlain{Outcome{}};
    const std::vector<Outcome>& list = rule.outcomes.empty() ? kPlain : rule.outcomes;
    for (const Outcome& outcome : list) {
      Conjunction when;
      if (!conjunction(outcome.conditions, &binding, when)) continue;
      GroundOutcome g;
      g.when = {when};
      g.turn_passes = outcome.turn_passes;
      g.counts_as_move = outcome.applies && outcome.counts_as_move;
      g.text = outcome.text;
      if (outcome.applies) effects(rule, binding, g);
      action.outcomes.push_back(std::move(g));
      if (when.empty()) return;
    }
    if (action.outcomes.empty()) fail(s_.name + ": rule " + rule.name + ": '" + action.command + "' has no outcome that can happen");
  }
  void effects(const Rule& rule, const Binding& binding, GroundOutcome& out) const {
    for (const Atom& atom : rule.deletes) {
      const uint32_t id = lookup(atom, binding);
      if (id == kUnknownFact || facts_[id].flag < 0 || adds(rule, binding, id)) continue;
      out.effects.push_back({facts_[id].flag, false, 0, {}});
    }
    for (const Atom& atom : rule.adds) {
      const Fact& fact = facts_[lookup(atom, binding)];
      if (is_place(fact)) out.effects.push_back({place_var(), false, place_index_[fact.args[1]], {}});
      else if (fact.flag >= 0) out.effects.push_back({fact.flag, false, 1, {}});
    }
    moves(rule, binding, out);
  }
  void moves(const Rule& rule, const Binding& binding, GroundOutcome& out) const {
    const auto placement = [&](const Atom& atom) {
      return s_.predicates[static_cast<size_t>(atom.predicate)].placement && !at_place(atom, binding);
    };
    const auto argument = [&](const Atom& atom, size_t i) { return binding[static_cast<size_t>(atom.args[i])]; };
    for (const Atom& atom : rule.deletes) {
      if (!placement(atom) || adds(rule, binding, lookup(atom, binding))) continue;
      out.moves.push_back({argument(atom, 0), argument(atom, 1), -1});
    }
    for (const Atom& atom : rule.adds) {
      if (!placement(atom)) continue;
      const auto from = std::find_if(out.moves.begin(), out.moves.end(),
                                     [&](const Move& m) { return m.object == argument(atom, 0) && m.to < 0; });
      if (from != out.moves.end()) from->to = argument(atom, 1);
      else out.moves.push_back({argument(atom, 0), -1, argument(atom, 1)});
    }
  }
  bool at_place(const Atom& atom, const Binding& binding) const {
    return atom.predicate == s_.place_predicate && binding[static_cast<size_t>(atom.args[0])] == s_.player;
  }

  // -- quests, texts, tree
  void quests() {
    for (size_t i = 0; i < s_.quests.size(); ++i) {
      events(s_.quests[i].fail_events, out_.quests[i].fail);
      events(s_.quests[i].win_events, out_.quests[i].win);
    }
  }
  void events(const std::vector<std::vector<Atom>>& from, Disjunction& out) const {
    for (const auto& event : from) {
      Conjunction all;
      if (conjunction(event, nullptr, all)) out.push_back(all);
    }
  }

  void texts() {
    for (const TextProgram& text : s_.programs) {
      GroundTextProgram g;
      for (size_t i = 0; i < text.code.size(); ++i) {
        Instruction code = text.code[i];
        if (code.op == Op::kUnlessFact) code = resolved(text, code, static_cast<int32_t>(i));
        g.code.push_back(code);
      }
      out_.programs.push_back(std::move(g));
    }
  }
  Instruction resolved(const TextProgram& text, const Instruction& code, int32_t at) const {
    const Atom& atom = text.facts[static_cast<size_t>(code.a)];
    Condition c;
    switch (condition(constant_fact(atom), atom.negated, c)) {
      case Truth::kTrue: return {Op::kJump, 0, 0, at + 1, 0};
      case Truth::kFalse: return {Op::kJump, 0, 0, code.c, 0};
      case Truth::kDepends: break;
    }
    return {Op::kUnless, c.var, static_cast<int32_t>(c.op), code.c, c.value};
  }

  void tree() {
    std::vector<bool> movable(s_.objects.size()), container(s_.objects.size());
    for (uint32_t id = 0; id < facts_.size(); ++id) {
      const Fact& fact = facts_[id];
      if (!s_.predicates[fact.predicate].placement || is_place(fact)) continue;
      movable[fact.args[0]] = true;
      container[fact.args[1]] = true;
    }
    for (size_t o = 0; o < s_.objects.size(); ++o) {
      if (movable[o]) out_.movables.push_back(static_cast<int32_t>(o));
      if (container[o]) out_.containers.push_back(static_cast<int32_t>(o));
    }
    for (const Atom& atom : s_.init) {
      if (atom.negated || !s_.predicates[static_cast<size_t>(atom.predicate)].placement) continue;
      if (atom.predicate == s_.place_predicate && atom.args[0] == s_.player) continue;
      out_.init_children.push_back({atom.args[0], atom.args[1]});
    }
  }

  const Source& s_;
  const GroundLimits& limits_;
  FactTable facts_;
  std::vector<std::vector<bool>> is_a_;
  std::vector<std::vector<int32_t>> of_type_;
  std::vector<bool> changes_;
  std::vector<Join> joins_;
  std::vector<std::vector<uint32_t>> triggers_;  // joins by the predicate of their trigger
  Binding binding_;
  std::vector<Instance> instances_;
  std::vector<int32_t> place_index_;
  int32_t first_place_ = -1;
  uint64_t steps_ = 0;
  Ground out_;
};

}  // namespace

Ground ground(const Source& source, const GroundLimits& limits) { return Grounder(source, limits).run(); }

}  // namespace ae::logic
