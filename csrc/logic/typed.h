// Typed commands: text → what the row does with it. CPU only, apart from the step itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/row.h"
#include "logic/admissible.h"

namespace ae::logic {

struct Typed {
  enum Kind : uint8_t { kAction, kRefusal, kUnknown, kInvalid };
  Kind kind = kUnknown;
  uint32_t id = 0;  // action or refusal
  uint8_t operand[kMaxOperands] = {0, 0, 0, 0};
};

// Everything admissible by its text, in any case and spacing; then the family's refusals; else unknown. Of ALFWorld the
// original's way: blanks at the ends are dropped, then the text must be the command; all else is invalid.
// Reads the row, changes nothing; any bytes are harmless.
Typed parse_typed(const Program& program, const RowHeader& row, const World& world, std::string_view text);

// The action whose command reads like the text (lower case, single blanks), kNone32 if the row admits none.
using AdmissibleLookup = std::function<uint32_t(const std::string&)>;

// TextWorld's common short forms and refusals; `text` is in lower case, with single blanks.
Typed refuse_textworld(const Program& program, const World& world, const std::string& text,
                       const AdmissibleLookup& admissible);

}  // namespace ae::logic
