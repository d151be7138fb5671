// The border of the compiler: a Source may come from a hostile file, and what passes here can be indexed blindly.
#pragma once

#include "logic/source.h"

namespace ae::logic {

constexpr size_t kMaxArity = 7;        // arguments of a fact
constexpr size_t kMaxParameters = 64;  // of a rule
constexpr size_t kMaxAtoms = 64;       // of one list of a rule
constexpr size_t kMaxTypes = 4096;
constexpr size_t kMaxThings = 60000;  // objects, predicates, rules

// Throws CompileError: what, got, wanted, where.
void check_source(const Source& source);

}  // namespace ae::logic
