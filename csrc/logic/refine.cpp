#include "logic/refine.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ae::logic {
namespace {

// Calls visit(condition list) for every disjunction of the game, those of actions aside.
template <class Visit>
void each_condition(Ground& g, Visit&& visit) {
  for (GroundAction& action : g.actions)
    for (GroundOutcome& outcome : action.outcomes) {
      for (Conjunction& all : outcome.when) visit(all);
      for (Effect& effect : outcome.effects) visit(effect.when);
    }
  for (GroundQuest& quest : g.quests) {
    for (Conjunction& all : quest.fail) visit(all);
    for (Conjunction& all : quest.win) visit(all);
  }
  for (Axiom& axiom : g.axioms)
    for (Conjunction& all : axiom.when) visit(all);
}

// Renumbers every variable of the game by `to`.
template <class To>
void renumber(Ground& g, To&& to) {
  const auto conditions = [&](Conjunction& all) {
    for (Condition& c : all) c.var = to(c.var);
  };
  for (GroundAction& action : g.actions) {
    for (Conjunction& all : action.when) conditions(all);
    for (GroundOutcome& outcome : action.outcomes)
      for (Effect& effect : outcome.effects) effect.var = to(effect.var);
  }
  each_condition(g, conditions);
  for (GroundQuest& quest : g.quests) quest.done_var = to(quest.done_var);
  for (Axiom& axiom : g.axioms) axiom.var = to(axiom.var);
  for (GroundTextProgram& text : g.programs)
    for (Instruction& code : text.code)
      if ((code.op == Op::kUnless || code.op == Op::kNumber || code.op == Op::kNumberWords) &&
          code.a < kPseudoScoreChange)
        code.a = to(code.a);
}

class Places {
 public:
  Places(Ground& ground, const std::vector<int32_t>& flags) : g_(ground), flags_(flags) {
    of_.assign(static_cast<size_t>(g_.num_flags), -1);
    for (size_t i = 0; i < flags.size(); ++i) of_[static_cast<size_t>(flags[i])] = static_cast<int32_t>(i);
  }

  bool possible() const {
    int set = 0;
    for (const int32_t f : flags_) set += g_.init_values[static_cast<size_t>(f)];
    if (g_.has_place || flags_.size() < 2 || set != 1) return false;
    for (const Axiom& axiom : g_.axioms)
      if (place(axiom.var) >= 0) return false;
    for (const GroundQuest& quest : g_.quests)
      if (place(quest.done_var) >= 0) return false;
    return std::all_of(g_.actions.begin(), g_.actions.end(), [&](const GroundAction& action) { return moves(action); });
  }

  std::vector<Condition> run(const std::vector<int32_t>& objects) {
    for (GroundAction& action : g_.actions) take_place(action);
    const int32_t left = g_.num_flags - static_cast<int32_t>(flags_.size());
    std::vector<int32_t> to(of_.size());
    for (size_t v = 0, next = 0; v < of_.size(); ++v) to[v] = of_[v] >= 0 ? -1 : static_cast<int32_t>(next++);
    const auto new_number = [&](int32_t v) {
      return v < g_.num_flags ? to[static_cast<size_t>(v)] : left + 1 + v - g_.num_flags;
    };
    const auto condition = [&](Condition c) -> Condition {
      const int32_t p = place(c.var);
      if (p < 0) return {new_number(c.var), c.op, c.value};
      return {left, (c.op == CompareOp::kSet) ? CompareOp::kEqual : CompareOp::kNotEqual, p};
    };
    const auto conditions = [&](Conjunction& all) {
      for (Condition& c : all) c = condition(c);
    };
    for (GroundAction& action : g_.actions) {
      for (Conjunction& all : action.when) conditions(all);
      for (GroundOutcome& outcome : action.outcomes) {
        std::erase_if(outcome.effects, [&](const Effect& e) { return place(e.var) >= 0 && e.value == 0; });
        for (Effect& e : outcome.effects) {
          const int32_t p = place(e.var);
          if (p >= 0) e = {left, false, p, std::move(e.when)};
          else e.var = new_number(e.var);
        }
      }
    }
    each_condition(g_, conditions);
    for (GroundQuest& quest : g_.quests) quest.done_var = new_number(quest.done_var);
    for (Axiom& axiom : g_.axioms) axiom.var = new_number(axiom.var);

    std::vector<Condition> out;
    for (int32_t v = 0; v < g_.num_flags + g_.num_vars; ++v) out.push_back(condition({v, CompareOp::kSet, 0}));
    std::vector<int32_t> init;
    std::vector<std::string> names;
    int32_t start = 0;
    for (size_t v = 0; v < of_.size(); ++v) {
      if (of_[v] < 0) {
        init.push_back(g_.init_values[v]);
        names.push_back(std::move(g_.fluent_names[v]));
      } else if (g_.init_values[v] != 0) {
        start = of_[v];
      }
    }
    init.push_back(start);
    init.insert(init.end(), g_.init_values.begin() + g_.num_flags, g_.init_values.end());
    g_.init_values = std::move(init);
    g_.fluent_names = std::move(names);
    g_.num_flags = left;
    g_.num_vars += 1;
    g_.has_place = true;
    g_.places = objects;
    return out;
  }

 private:
  int32_t place(int32_t var) const { return var < g_.num_flags ? of_[static_cast<size_t>(var)] : -1; }

  // The place that a conjunction needs, -1 if none.
  int32_t needs(const Conjunction& all) const {
    for (const Condition& c : all)
      if (c.op == CompareOp::kSet && place(c.var) >= 0) return place(c.var);
    return -1;
  }

  // Leaves the group alone, or clears exactly the flag that it needs and sets exactly one.
  bool moves(const GroundAction& action) const {
    for (const GroundOutcome& outcome : action.outcomes) {
      int cleared = 0, set = 0;
      int32_t from = -1;
      for (const Effect& e : outcome.effects) {
        if (place(e.var) < 0) continue;
        if (!e.when.empty() || e.add) return false;
        if (e.value != 0) {
          ++set;
        } else {
          ++cleared;
          from = place(e.var);
        }
      }
      if (cleared == 0 && set == 0) continue;
      if (cleared != 1 || set != 1) return false;
      if (action.when.empty()) return false;
      for (const Conjunction& all : action.when)
        if (needs(all) != from) return false;
    }
    return true;
  }

  // An action that needs one and the same place in every alternative is filed under it.
  void take_place(GroundAction& action) const {
    if (action.when.empty()) return;
    const int32_t here = needs(action.when[0]);
    if (here < 0) return;
    for (const Conjunction& all : action.when)
      if (needs(all) != here) return;
    action.place = here;
    for (Conjunction& all : action.when)
      std::erase_if(all, [&](const Condition& c) { return c.op == CompareOp::kSet && place(c.var) == here; });
  }

  Ground& g_;
  const std::vector<int32_t>& flags_;
  std::vector<int32_t> of_;  // flag → place, or -1
};

}  // namespace

std::vector<int32_t> track_deletions(Ground& ground, const std::vector<int32_t>& flags) {
  std::vector<bool> deleted(static_cast<size_t>(ground.num_flags), false);
  for (const GroundAction& action : ground.actions)
    for (const GroundOutcome& outcome : action.outcomes)
      for (const Effect& e : outcome.effects)
        if (e.var < ground.num_flags && e.value == 0) deleted[static_cast<size_t>(e.var)] = true;
  std::vector<int32_t> out, new_flag(static_cast<size_t>(ground.num_flags), -1);
  int32_t added = 0;
  for (const int32_t f : flags) {
    const auto at = static_cast<size_t>(f);
    if (deleted[at] && new_flag[at] < 0) {
      new_flag[at] = ground.num_flags + added++;
      ground.fluent_names.insert(ground.fluent_names.begin() + new_flag[at], "not_" + ground.fluent_names[at]);
    }
    out.push_back(new_flag[at]);
  }
  if (added == 0) return out;
  const int32_t before = ground.num_flags;
  renumber(ground, [&](int32_t v) { return v < before ? v : v + added; });
  ground.init_values.insert(ground.init_values.begin() + before, static_cast<size_t>(added), 0);
  ground.num_flags += added;
  for (GroundAction& action : ground.actions) {
    for (GroundOutcome& outcome : action.outcomes) {
      std::vector<Effect> more;
      for (const Effect& e : outcome.effects)
        if (e.var < before && new_flag[static_cast<size_t>(e.var)] >= 0)
          more.push_back({new_flag[static_cast<size_t>(e.var)], false, e.value == 0 ? 1 : 0, e.when});
      outcome.effects.insert(outcome.effects.end(), more.begin(), more.end());
    }
  }
  return out;
}

std::vector<Condition> make_places(Ground& ground, const std::vector<int32_t>& flags,
                                   const std::vector<int32_t>& objects) {
  Places places(ground, flags);
  return places.possible() ? places.run(objects) : std::vector<Condition>{};
}

void join_over_places(Ground& ground) {
  if (!ground.has_place) return;
  const size_t count = ground.places.size();
  std::unordered_map<std::string, std::vector<std::vector<size_t>>> alike;  // by command
  for (size_t i = 0; i < ground.actions.size(); ++i) {
    const GroundAction& action = ground.actions[i];
    if (action.place < 0) continue;
    auto& groups = alike[action.command];
    const auto same = [&](const std::vector<size_t>& group) {
      const GroundAction& first = ground.actions[group[0]];
      return first.rule == action.rule && first.when == action.when && first.outcomes == action.outcomes &&
             first.operands == action.operands;
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) groups.push_back({i});
    else found->push_back(i);
  }
  std::vector<bool> drop(ground.actions.size(), false);
  for (const auto& [command, groups] : alike) {
    for (const std::vector<size_t>& group : groups) {
      std::vector<bool> at(count, false);
      for (const size_t i : group) at[static_cast<size_t>(ground.actions[i].place)] = true;
      const auto missing = static_cast<size_t>(std::count(at.begin(), at.end(), false));
      if (missing > 1 || group.size() < 2) continue;
      GroundAction& first = ground.actions[group[0]];
      first.place = -1;
      if (missing == 1) first.not_place = static_cast<int32_t>(std::find(at.begin(), at.end(), false) - at.begin());
      for (size_t k = 1; k < group.size(); ++k) drop[group[k]] = true;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < ground.actions.size(); ++i) {
    if (drop[i]) continue;
    if (kept != i) ground.actions[kept] = std::move(ground.actions[i]);
    ++kept;
  }
  ground.actions.resize(kept);
}

}  // namespace ae::logic
