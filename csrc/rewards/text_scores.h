// Scores of many texts against references. docs/rewards.md defines each; a caller cuts the rows into shards.
#pragma once

#include <cstdint>
#include <memory>

#include "rewards/text_chars.h"

namespace ae::rewards {

enum class Score : uint8_t {
  kExact,            // the bytes or ids are equal
  kExactNormalised,  // equal after normalisation
  kNumber,
  kChoice,
  kTokenF1,
  kLevenshtein,
  kIndel,
  kRougeL,
  kRepetition,  // no reference
};

enum class Unit : uint8_t { kBytes, kCharacters, kWords, kTokens };

struct Options {
  double tolerance = 1e-9;  // kNumber
  bool units = false;       // kNumber
  uint32_t choices = 5;     // kChoice
  uint32_t gram = 3;        // kRepetition
};

// N texts: UTF-8, or token ids (int32, aligned to 4; `size` stays in bytes).
struct Texts {
  const Bytes* rows;
  bool ids;
};

// More cells than this (characters of one times characters of the other) are refused: seconds of work for one pair.
inline constexpr uint64_t kMostCells = uint64_t{1} << 36;
inline constexpr uint32_t kMostGram = 64;

// Working memory of one thread; grows to its longest text and is reused.
class TextScorer {
 public:
  TextScorer();
  ~TextScorer();
  TextScorer(const TextScorer&) = delete;

  // out[begin..end) for the rows in [begin, end). Returns the first row that was refused for its cells, or `end`.
  uint64_t score(Score score, const Options& options, Texts texts, Texts references, uint64_t begin, uint64_t end,
                 float* out);

  // The normalised form; valid until the next call.
  Bytes normalised(Bytes text);
  uint64_t length(Bytes text, Unit unit);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace ae::rewards
