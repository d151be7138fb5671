// The border of the compiler: a Source may come from a hostile file, and what passes here can be indexed blindly.
#pragma once

#include "logic/source.h"

namespace ae::logic {

constexpr size_t kMaxArity = 7;        // arguments of a fact
constexpr size_t kMaxParameters = 64;  // of a rule
constexpr size_t kMaxAtoms = 64;       // of one list of a rule
constexpr size_t kMaxTypes = 4096;
constexpr size_t kMaxThings = 60000;  // objects, predicates, rules
constexpr size_t kMaxFormulaDepth = 128;
constexpr size_t kMaxFormulaParts = 1024;  // of one condition of a rule or an axiom
constexpr size_t kMaxGoalParts = 60000;
constexpr size_t kMaxLiftedEffects = 4096;

// Throws CompileError: what, got, wanted, where.
void check_source(const Source& source);

}  // namespace ae::logic
