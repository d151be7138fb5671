// What a front end may do to a Ground game before it is emitted: count deletions, turn a one-hot group of flags into
// the player's place. Both keep the game as it is played.
#pragma once

#include <cstdint>
#include <vector>

#include "logic/source.h"

namespace ae::logic {

// For each of `flags` a new flag that is set while the flag is clear because an action deleted it, and clear otherwise;
// -1 for a flag that no action deletes. New flags stand behind the old ones, before the variables.
std::vector<int32_t> track_deletions(Ground& ground, const std::vector<int32_t>& flags);

// Replaces `flags`, of which exactly one holds in every state, by the player's place: flag i becomes place i, which is
// objects[i]. Returns the condition that stands for each of the old flags, numbered anew; an empty vector, with the
// game unchanged, if some action sets or clears them otherwise than by moving from one to another.
std::vector<Condition> make_places(Ground& ground, const std::vector<int32_t>& flags,
                                   const std::vector<int32_t>& objects);

// Joins actions that differ in nothing but the place they need, if they are possible everywhere, or everywhere but at
// one place.
void join_over_places(Ground& ground);

}  // namespace ae::logic
