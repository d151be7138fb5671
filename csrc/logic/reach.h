// What can ever happen: semi-naive joins over facts, shared by both translations (plain rules and formulas).
// Also the budget that bounds the work and memory of one source, and the table of types.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "logic/facts.h"
#include "logic/source.h"
#include "logic/source_check.h"

namespace ae::logic {

using Args = std::array<uint16_t, kMaxArity>;
constexpr uint16_t kUnbound = 0xFFFF;
constexpr size_t kMaxTextBytes = size_t{1} << 26;  // of all commands and names of facts together
constexpr size_t kMaxParts = 8'000'000;            // conditions, effects and moves of all ground actions together

// Work and memory that a source may cost before it is refused.
class Budget {
 public:
  Budget(const Source& source, const GroundLimits& limits) : source_(source), limits_(limits) {}
  void step(const Rule& rule) const {
    if (++steps_ > limits_.max_join_steps) over("grounding took more than", limits_.max_join_steps, "steps", rule);
  }
  void instances(size_t count, const Rule& rule) const {
    if (count > limits_.max_actions) over("more than", limits_.max_actions, "ground actions", rule);
  }
  void facts(size_t count, const Rule& rule) const {
    const size_t most = 4 * size_t{limits_.max_fluents} + 100'000;
    if (count > most) over("more than", most, "facts", rule);
  }
  void parts(size_t count, const Rule& rule) const {
    if ((parts_ += count) > kMaxParts) over("more than", kMaxParts, "conditions and effects", rule);
  }
  void text(size_t bytes) const {
    if ((text_ += bytes) > kMaxTextBytes)
      throw CompileError{source_.name + ": commands and names of facts take more than " +
                         std::to_string(kMaxTextBytes) + " bytes"};
  }

 private:
  [[noreturn]] void over(const char* how, size_t limit, const char* what, const Rule& rule) const {
    throw CompileError{source_.name + ": " + how + " " + std::to_string(limit) + " " + what + ", the last in rule " +
                       rule.name};
  }
  const Source& source_;
  const GroundLimits& limits_;
  mutable uint64_t steps_ = 0, parts_ = 0, text_ = 0;
};

// Which type is a kind of which: a row of bits per type.
class TypeTable {
 public:
  explicit TypeTable(const Source& source)
      : words_((source.types.size() + 63) / 64), bits_(source.types.size() * words_) {
    std::vector<bool> done(source.types.size());
    for (size_t t = 0; t < source.types.size(); ++t) close(source, t, done);
  }
  bool is_a(int32_t type, int32_t other) const {
    return (row(static_cast<size_t>(type))[static_cast<size_t>(other) / 64] >> (other % 64)) & 1;
  }

 private:
  uint64_t* row(size_t type) { return bits_.data() + type * words_; }
  const uint64_t* row(size_t type) const { return bits_.data() + type * words_; }

  // Parents first; check_source() has made sure that this ends.
  void close(const Source& source, size_t root, std::vector<bool>& done) {
    std::vector<std::pair<size_t, size_t>> path{{root, 0}};
    while (!path.empty()) {
      auto& [type, next] = path.back();
      const std::vector<int32_t>& parents = source.types[type].parents;
      if (done[type] || next == parents.size()) {
        if (!done[type]) finish(type, parents);
        done[type] = true;
        path.pop_back();
      } else {
        path.push_back({static_cast<size_t>(parents[next++]), 0});
      }
    }
  }
  void finish(size_t type, const std::vector<int32_t>& parents) {
    row(type)[type / 64] |= uint64_t{1} << (type % 64);
    for (const int32_t parent : parents)
      for (size_t w = 0; w < words_; ++w) row(type)[w] |= row(static_cast<size_t>(parent))[w];
  }

  size_t words_;
  std::vector<uint64_t> bits_;
};

inline Args packed(const std::vector<int32_t>& args) {
  Args out{};
  for (size_t i = 0; i < args.size(); ++i) out[i] = static_cast<uint16_t>(args[i]);
  return out;
}
inline Args bound(const Atom& atom, const uint16_t* binding) {
  Args out{};
  for (size_t i = 0; i < atom.args.size(); ++i) out[i] = binding[static_cast<size_t>(atom.args[i])];
  return out;
}
inline uint16_t predicate_of(const Atom& atom) { return static_cast<uint16_t>(atom.predicate); }

struct Instance {
  uint32_t rule;
  uint32_t binding;  // the first of its objects in Reachable::objects
};

struct Reachable {
  FactTable facts;
  std::vector<Instance> instances;  // by rule, then by the objects bound, in order of declaration
  std::vector<uint16_t> objects;
};

// ---- Reachability: semi-naive joins ---------------------------------------------------------------------------------
// An instance is found once: when the newest of its changing facts is taken from the queue (facts are the queue).
class Reachability {
 public:
  // `kept`: by rule, whether its instances are wanted; none: all are.
  Reachability(const Source& source, const Budget& budget, std::vector<bool> kept = {})
      : s_(source),
        budget_(budget),
        kept_(std::move(kept)),
        types_(source),
        changes_(source.predicates.size()),
        triggers_(source.predicates.size()) {}

  Reachable run() {
    found_.facts.prepare(s_);
    find_changing_predicates();
    plan_joins();
    for (const Atom& atom : s_.init)
      found_.facts[found_.facts.add(predicate_of(atom), packed(atom.args), atom.args.size())].in_init = true;
    for (const Join& join : joins_)
      if (join.trigger == kNoTrigger) start(join, kNoFact);
    for (uint32_t id = 0; id < found_.facts.size(); ++id)
      for (const uint32_t join : triggers_[found_.facts[id].predicate]) start(joins_[join], id);
    sort_instances();
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kNoTrigger = 0xFFFFFFFFu;
  struct Join {
    uint32_t rule;
    uint32_t trigger;             // precondition that the new fact matches
    std::vector<uint32_t> order;  // the other positive preconditions, most bound first
  };

  void find_changing_predicates() {
    for (const Rule& rule : s_.rules)
      for (const auto* effects : {&rule.adds, &rule.deletes})
        for (const Atom& atom : *effects) changes_[predicate_of(atom)] = true;
  }
  bool changes(const Atom& atom) const { return changes_[predicate_of(atom)]; }

  void plan_joins() {
    for (uint32_t r = 0; r < s_.rules.size(); ++r) {
      const Rule& rule = s_.rules[r];
      bool triggered = false;
      for (uint32_t j = 0; j < rule.preconditions.size(); ++j) {
        const Atom& atom = rule.preconditions[j];
        if (atom.negated || !changes(atom)) continue;
        triggered = true;
        triggers_[predicate_of(atom)].push_back(static_cast<uint32_t>(joins_.size()));
        joins_.push_back({r, j, order(rule, j)});
      }
      if (!triggered) joins_.push_back({r, kNoTrigger, order(rule, kNoTrigger)});
    }
  }

  std::vector<uint32_t> order(const Rule& rule, uint32_t trigger) const {
    std::vector<bool> known(rule.parameters.size()), used(rule.preconditions.size());
    for (size_t p = 0; p < rule.parameters.size(); ++p) known[p] = rule.parameters[p].constant >= 0;
    const auto use = [&](uint32_t j) {
      used[j] = true;
      for (const int32_t arg : rule.preconditions[j].args) known[static_cast<size_t>(arg)] = true;
    };
    if (trigger != kNoTrigger) use(trigger);
    std::vector<uint32_t> out;
    for (;;) {
      const uint32_t best = most_bound(rule, known, used);
      if (best == kNoTrigger) return out;
      use(best);
      out.push_back(best);
    }
  }
  // The precondition to match next: one that is bound altogether, else few free arguments, else a static one.
  uint32_t most_bound(const Rule& rule, const std::vector<bool>& known, const std::vector<bool>& used) const {
    uint32_t best = kNoTrigger;
    int best_score = 0;
    for (uint32_t j = 0; j < rule.preconditions.size(); ++j) {
      const Atom& atom = rule.preconditions[j];
      budget_.step(rule);
      if (used[j] || atom.negated) continue;
      int free = 0, have = 0;
      for (const int32_t arg : atom.args) ++(known[static_cast<size_t>(arg)] ? have : free);
      const int score = (free == 0 ? 1000 : 100) + 10 * have - 3 * free + (changes(atom) ? 0 : 4);
      if (score > best_score) {
        best_score = score;
        best = j;
      }
    }
    return best;
  }

  void start(const Join& join, uint32_t fact) {
    const Rule& rule = s_.rules[join.rule];
    binding_.fill(kUnbound);
    for (size_t p = 0; p < rule.parameters.size(); ++p)
      if (rule.parameters[p].constant >= 0) binding_[p] = static_cast<uint16_t>(rule.parameters[p].constant);
    uint64_t bound_here = 0;
    if (join.trigger == kNoTrigger || unify(rule, rule.preconditions[join.trigger], fact, bound_here))
      extend(join, rule, 0, fact);
  }

  // Binds the atom's arguments to the fact's; bit p of `bound_here`: parameter p was free before.
  bool unify(const Rule& rule, const Atom& atom, uint32_t id, uint64_t& bound_here) {
    const Args objects = found_.facts[id].args;
    for (size_t i = 0; i < atom.args.size(); ++i) {
      const auto p = static_cast<size_t>(atom.args[i]);
      if (binding_[p] == objects[i]) continue;
      if (binding_[p] != kUnbound || !fits(rule.parameters[p], objects[i]) || taken(rule, objects[i])) return false;
      binding_[p] = objects[i];
      bound_here |= uint64_t{1} << p;
    }
    return true;
  }
  bool fits(const Parameter& parameter, uint16_t object) const {
    return types_.is_a(s_.objects[object].type, parameter.type);
  }
  bool taken(const Rule& rule, uint16_t object) const {
    if (!s_.distinct_parameters) return false;
    return std::find(binding_.begin(), binding_.begin() + static_cast<std::ptrdiff_t>(rule.parameters.size()),
                     object) != binding_.begin() + static_cast<std::ptrdiff_t>(rule.parameters.size());
  }
  void unbind(uint64_t parameters) {
    for (; parameters != 0; parameters &= parameters - 1)
      binding_[static_cast<size_t>(__builtin_ctzll(parameters))] = kUnbound;
  }

  void extend(const Join& join, const Rule& rule, size_t depth, uint32_t newest) {
    budget_.step(rule);
    if (depth == join.order.size()) return bind_free(rule, join.rule, 0);
    const uint32_t j = join.order[depth];
    const Atom& atom = rule.preconditions[j];
    const FactTable::Chain* chain = &found_.facts.of(predicate_of(atom));
    size_t position = kMaxArity;
    bool all_bound = true;
    for (size_t i = 0; i < atom.args.size(); ++i) {
      const uint16_t object = binding_[static_cast<size_t>(atom.args[i])];
      if (object == kUnbound) {
        all_bound = false;
      } else if (const auto& other = found_.facts.with(predicate_of(atom), i, object); other.count < chain->count) {
        chain = &other;
        position = i;
      }
    }
    if (all_bound) {
      const uint32_t id = found_.facts.find(predicate_of(atom), bound(atom, binding_.data()));
      if (id != kNoFact && in_time(join, rule, j, id, newest)) extend(join, rule, depth + 1, newest);
      return;
    }
    for (uint32_t id = chain->first; id != kNoFact; id = found_.facts.next(id, position)) {
      budget_.step(rule);
      uint64_t bound_here = 0;
      if (in_time(join, rule, j, id, newest) && unify(rule, atom, id, bound_here))
        extend(join, rule, depth + 1, newest);
      unbind(bound_here);
    }
  }

  // Facts newer than the trigger wait for their own turn; a precondition before the trigger's may not repeat it.
  bool in_time(const Join& join, const Rule& rule, uint32_t j, uint32_t id, uint32_t newest) const {
    if (join.trigger == kNoTrigger || !changes(rule.preconditions[j])) return true;
    return j < join.trigger ? id < newest : id <= newest;
  }

  // Parameters that no positive precondition binds range over the objects of their type.
  void bind_free(const Rule& rule, uint32_t r, size_t from) {
    while (from < rule.parameters.size() && binding_[from] != kUnbound) ++from;
    if (from == rule.parameters.size()) return found(rule, r);
    for (uint16_t object = 0; object < s_.objects.size(); ++object) {
      budget_.step(rule);
      if (!fits(rule.parameters[from], object) || taken(rule, object)) continue;
      binding_[from] = object;
      bind_free(rule, r, from + 1);
      binding_[from] = kUnbound;
    }
  }

  void found(const Rule& rule, uint32_t r) {
    for (const Atom& atom : rule.preconditions)  // a negated fact that can never be false
      if (atom.negated && !changes(atom) &&
          found_.facts.find(predicate_of(atom), bound(atom, binding_.data())) != kNoFact)
        return;
    if (kept_.empty() || kept_[r]) {
      budget_.instances(found_.instances.size() + 1, rule);
      found_.instances.push_back({r, static_cast<uint32_t>(found_.objects.size())});
      found_.objects.insert(found_.objects.end(), binding_.begin(),
                            binding_.begin() + static_cast<std::ptrdiff_t>(rule.parameters.size()));
    }
    for (const Atom& atom : rule.adds) {
      budget_.step(rule);
      found_.facts.add(predicate_of(atom), bound(atom, binding_.data()), atom.args.size());
    }
    budget_.facts(found_.facts.size(), rule);
  }

  void sort_instances() {
    const uint16_t* objects = found_.objects.data();
    std::sort(found_.instances.begin(), found_.instances.end(), [&](const Instance& a, const Instance& b) {
      if (a.rule != b.rule) return a.rule < b.rule;
      const size_t count = s_.rules[a.rule].parameters.size();
      return std::lexicographical_compare(objects + a.binding, objects + a.binding + count, objects + b.binding,
                                          objects + b.binding + count);
    });
  }

  const Source& s_;
  const Budget& budget_;
  std::vector<bool> kept_;
  TypeTable types_;
  std::vector<bool> changes_;  // predicates that some rule adds or deletes
  std::vector<Join> joins_;
  std::vector<std::vector<uint32_t>> triggers_;  // joins by the predicate of their trigger
  std::array<uint16_t, kMaxParameters> binding_{};
  Reachable found_;
};

}  // namespace ae::logic
