// What a row says about its last step. The numbers never change: they are written into files and read by other
// programs.
#pragma once

#include <cstdint>

namespace ae {

enum class RowStatus : uint8_t {
  kOk = 0,
  kInvalidAction = 1,   // index outside [0, admissible_count)
  kUnknownCommand = 2,  // a typed command that cannot be answered exactly
  kTimeout = 3,         // instruction budget spent
  kFault = 4,
  kDenied = 5,          // refused by a guard
};

// Bits of `overflow`: what did not fit into the caller's buffers. Truncation is never silent.
enum Overflow : uint8_t { kOverflowText = 1, kOverflowTokens = 2, kOverflowAdmissible = 4 };

enum class Autoreset : uint8_t { kSameStep = 0, kNextStep = 1, kDisabled = 2 };

// How TextWorld prints its feedback; see docs/concepts.md.
enum class TextMode : uint8_t { kTracked = 0, kRaw = 1, kExtra = 2 };

}  // namespace ae
