// Typed commands: text → what the row does with it. CPU only, apart from the step itself.
#pragma once

#include <string_view>

#include "core/row.h"
#include "logic/admissible.h"

namespace ae::logic {

struct Typed {
  enum Kind : uint8_t { kAction, kRefusal, kUnknown };
  Kind kind = kUnknown;
  uint32_t id = 0;  // action or refusal
  uint8_t operand[kMaxOperands] = {0, 0, 0, 0};
};

// Everything admissible by its text, in any case and spacing; then the family's refusals; else unknown.
// Reads the row, changes nothing; any bytes are harmless.
Typed parse_typed(const Program& program, const RowHeader& row, const World& world, std::string_view text);

}  // namespace ae::logic
