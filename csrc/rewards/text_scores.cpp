#include "rewards/text_scores.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "rewards/answers.h"
#include "rewards/edit.h"
#include "rewards/edit_short.h"

namespace ae::rewards {
namespace {

uint64_t mixed(uint64_t x) {  // the finaliser of MurmurHash3
  x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDull;
  x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53ull;
  return x ^ x >> 33;
}

uint64_t hash_of(Bytes key) {
  uint64_t hash = key.size * 0x9E3779B97F4A7C15ull;
  uint64_t at = 0;
  for (; at + 8 <= key.size; at += 8) {
    uint64_t chunk;
    std::memcpy(&chunk, key.data + at, 8);
    hash = mixed(hash ^ chunk);
  }
  if (at != key.size) {
    uint64_t chunk = 0;
    std::memcpy(&chunk, key.data + at, key.size - at);
    hash = mixed(hash ^ chunk);
  }
  return hash;
}

bool equal(Bytes a, Bytes b) { return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0); }

// Slices of bytes → 0, 1, 2, ... in the order of their first coming. Begun anew in time that does not depend on its
// size.
class SliceTable {
 public:
  void begin(uint64_t most) {
    uint64_t size = 16;
    while (size < most * 2) size *= 2;
    if (entries_.size() < size) entries_.assign(size, {});
    mask_ = size - 1;
    count_ = 0;
    if (++stamp_ == 0) {  // after 2^32 texts
      entries_.assign(entries_.size(), {});
      stamp_ = 1;
    }
  }
  uint32_t count() const { return count_; }
  uint32_t intern(Bytes key) {
    Entry& entry = slot(key);
    if (entry.stamp != stamp_) entry = {key, stamp_, count_++};
    return entry.id;
  }
  uint32_t find(Bytes key, uint32_t absent) {
    const Entry& entry = slot(key);
    return entry.stamp == stamp_ ? entry.id : absent;
  }

 private:
  struct Entry {
    Bytes key;
    uint32_t stamp, id;
  };
  Entry& slot(Bytes key) {
    for (uint64_t at = hash_of(key);; ++at) {
      Entry& entry = entries_[at & mask_];
      if (entry.stamp != stamp_ || equal(entry.key, key)) return entry;
    }
  }
  std::vector<Entry> entries_;
  uint64_t mask_ = 0;
  uint32_t stamp_ = 0, count_ = 0;
};

// What a byte is to normalisation: its lower case, or one of these.
constexpr uint8_t kDrop = 0x80, kSpaceMark = 0x81, kOther = 0x82, kWide = 0x83;

constexpr std::array<uint8_t, 256> normal_table() {
  std::array<uint8_t, 256> table{};
  for (uint32_t c = 0; c < 256; ++c) {
    if (c >= 0x80) {
      table[c] = kWide;
    } else if (is_letter(c)) {
      table[c] = static_cast<uint8_t>(c | 32);
    } else if (is_digit(c)) {
      table[c] = static_cast<uint8_t>(c);
    } else if (is_punctuation(c)) {
      table[c] = kDrop;
    } else {
      table[c] = is_ascii_space(c) ? kSpaceMark : kOther;
    }
  }
  return table;
}
constexpr auto kNormal = normal_table();

bool ascii(Bytes text) {
  uint64_t all = 0, at = 0;
  for (; at + 8 <= text.size; at += 8) {
    uint64_t chunk;
    std::memcpy(&chunk, text.data + at, 8);
    all |= chunk;
  }
  for (; at < text.size; ++at) all |= text.data[at];
  return (all & 0x8080808080808080ull) == 0;
}

using Words = std::vector<Bytes>;

// The words of one text. Slices point into `bytes`.
struct Split {
  std::vector<uint8_t> bytes;
  Words words;
};

// Twice the bytes: a lower case takes at most that (İ and Ⱥ: 2 bytes become 3); one more for the separator at the end.
uint8_t* room(Split& out, Bytes text) {
  out.words.clear();
  if (out.bytes.size() < text.size * 2 + 8) out.bytes.resize(text.size * 3 + 64);
  return out.bytes.data();
}

// Lower case, without ASCII punctuation and the words a, an, the; words separated by one space. As SQuAD's
// evaluate-v2.0.py (Rajpurkar et al. 2018), with the lower case of each character by itself.
class Normaliser {
 public:
  explicit Normaliser(Split& out, Bytes text) : out_(out), text_(text), start_(room(out, text)), to_(start_) {
    token_ = run_ = to_;
  }

  Bytes run() {
    const uint8_t* at = text_.data;
    const uint8_t* const end = at + text_.size;
    while (at < end) {
      const uint8_t kind = kNormal[*at];
      if (kind < 0x80) {
        *to_++ = kind;
        ++at;
      } else if (kind == kDrop) {
        ++at;
      } else if (kind == kSpaceMark) {
        end_token();
        ++at;
      } else if (kind == kOther) {
        end_run();
        *to_++ = *at++;
        run_ = to_;
      } else {
        wide(decode(at, end, &at));
      }
    }
    end_token();
    const auto size = static_cast<uint64_t>(to_ - start_);
    return {start_, size == 0 ? 0 : size - 1};  // without the last separator
  }

 private:
  void wide(uint32_t code) {
    if (is_space(code)) return end_token();
    uint32_t lowered[2];
    const uint32_t count = lower(code, lowered);
    for (uint32_t i = 0; i < count; ++i) {
      const bool word = is_word(lowered[i]);
      if (!word) end_run();
      to_ += encode(lowered[i], to_);
      if (!word) run_ = to_;
    }
  }
  // The run of word characters ends here: if it is an article, a space takes its place.
  void end_run() {
    const auto size = to_ - run_;
    const bool article = (size == 1 && run_[0] == 'a') || (size == 2 && run_[0] == 'a' && run_[1] == 'n') ||
                         (size == 3 && run_[0] == 't' && run_[1] == 'h' && run_[2] == 'e');
    if (!article) return;
    to_ = run_;
    close_token();
  }
  void end_token() {
    end_run();
    close_token();
  }
  void close_token() {
    if (to_ != token_) {
      out_.words.push_back({token_, static_cast<uint64_t>(to_ - token_)});
      *to_++ = ' ';
    }
    token_ = run_ = to_;
  }

  Split& out_;
  Bytes text_;
  uint8_t* start_;
  uint8_t* to_;
  uint8_t* token_;  // where the current word begins
  uint8_t* run_;    // where the current run of word characters begins
};

// rouge_score's tokenizer without a stemmer: lower case, then the runs of [a-z0-9].
void rouge_words(Split& out, Bytes text) {
  uint8_t* to = room(out, text);
  uint8_t* word = to;
  const auto close = [&] {
    if (to != word) out.words.push_back({word, static_cast<uint64_t>(to - word)});
    word = to;
  };
  const uint8_t* at = text.data;
  const uint8_t* const end = at + text.size;
  while (at < end) {
    const uint8_t kind = kNormal[*at];
    if (kind < 0x80) {
      *to++ = kind;
      ++at;
    } else if (kind != kWide) {
      close();
      ++at;
    } else {
      uint32_t lowered[2];
      const uint32_t count = lower(decode(at, end, &at), lowered);
      for (uint32_t i = 0; i < count; ++i) {
        if (is_letter(lowered[i])) {  // K (U+212A) and the first half of İ
          *to++ = static_cast<uint8_t>(lowered[i]);
        } else {
          close();
        }
      }
    }
  }
  close();
}

// text.lower().split()
void lower_words(Split& out, Bytes text) {
  uint8_t* to = room(out, text);
  uint8_t* word = to;
  const uint8_t* at = text.data;
  const uint8_t* const end = at + text.size;
  const auto close = [&] {
    if (to != word) out.words.push_back({word, static_cast<uint64_t>(to - word)});
    word = to;
  };
  while (at < end) {
    const uint32_t code = decode(at, end, &at);
    if (is_space(code)) {
      close();
      continue;
    }
    uint32_t lowered[2];
    const uint32_t count = lower(code, lowered);
    for (uint32_t i = 0; i < count; ++i) to += encode(lowered[i], to);
  }
  close();
}

void id_words(Split& out, Bytes ids) {
  out.words.clear();
  for (uint64_t at = 0; at < ids.size; at += 4) out.words.push_back({ids.data + at, 4});
}

void code_points(Bytes text, std::vector<uint32_t>& out) {
  out.clear();
  out.reserve(text.size);
  const uint8_t* at = text.data;
  const uint8_t* const end = at + text.size;
  while (at < end) out.push_back(decode(at, end, &at));
}

template <class T>
struct Run {  // borrowed symbols
  const T* data;
  uint64_t size;
};

template <class T>
uint64_t strip_common(Run<T>& a, Run<T>& b) {
  const uint64_t shorter = std::min(a.size, b.size);
  uint64_t prefix = 0;
  while (prefix < shorter && a.data[prefix] == b.data[prefix]) ++prefix;
  uint64_t suffix = 0;
  while (suffix < shorter - prefix && a.data[a.size - 1 - suffix] == b.data[b.size - 1 - suffix]) ++suffix;
  a = {a.data + prefix, a.size - prefix - suffix};
  b = {b.data + prefix, b.size - prefix - suffix};
  return prefix + suffix;
}

// Copies a text of at most 64 bytes into 64 bytes of pads, to their left or right end; false if it is not ASCII.
bool copy_short(Bytes text, bool to_right, uint8_t pad, uint8_t* out) {
  std::memset(out, pad, kShort);
  const uint64_t size = text.size;
  uint8_t* to = to_right ? out + kShort - size : out;
  uint64_t all = 0;
  const auto copy = [&]<class T>(uint64_t at, T) {
    T chunk;
    std::memcpy(&chunk, text.data + at, sizeof(T));
    std::memcpy(to + at, &chunk, sizeof(T));
    all |= chunk;
  };
  if (size >= 8) {
    for (uint64_t at = 0; at + 8 < size; at += 8) copy(at, uint64_t{});
    copy(size - 8, uint64_t{});  // overlaps what came before
  } else if (size >= 4) {
    copy(0, uint32_t{});
    copy(size - 4, uint32_t{});
  } else {
    for (uint64_t at = 0; at < size; ++at) copy(at, uint8_t{});
  }
  return (all & 0x8080808080808080ull) == 0;
}

double edit_similarity(Score score, uint64_t a, uint64_t b, uint64_t result) {  // result: a distance, or an LCS
  if (score == Score::kIndel) return static_cast<double>(2 * result) / static_cast<double>(a + b);
  const uint64_t longest = std::max(a, b);
  return static_cast<double>(longest - result) / static_cast<double>(longest);
}

// Collects short pairs and solves them four at a time.
class ShortQueue {
 public:
  ShortQueue(Score score, float* out) : score_(score), out_(out), solver_(short_solver()) {}

  bool takes(Bytes a, Bytes b, uint64_t row) {
    if (solver_ == nullptr || a.size > kShort || b.size > kShort || a.size == 0 || b.size == 0) return false;
    if (a.size < b.size) std::swap(a, b);  // fewer columns are fewer steps
    if (!copy_short(a, false, kPatternPad, pairs_.pattern[count_]) ||
        !copy_short(b, true, kTextPad, pairs_.text[count_]))
      return false;
    pairs_.rows[count_] = static_cast<uint32_t>(a.size);
    pairs_.columns[count_] = static_cast<uint32_t>(b.size);
    rows_[count_++] = row;
    if (count_ == kPairs) flush();
    return true;
  }
  void flush() {
    if (count_ == 0) return;
    for (uint32_t k = count_; k < kPairs; ++k) pairs_.rows[k] = pairs_.columns[k] = 0;
    uint32_t result[kPairs];
    for (uint32_t k = count_; k < kPairs; ++k) {
      std::memset(pairs_.pattern[k], kPatternPad, kShort);
      std::memset(pairs_.text[k], kTextPad, kShort);
    }
    solver_(pairs_, score_ == Score::kLevenshtein, result);
    for (uint32_t k = 0; k < count_; ++k)
      out_[rows_[k]] = static_cast<float>(edit_similarity(score_, pairs_.rows[k], pairs_.columns[k], result[k]));
    count_ = 0;
  }

 private:
  Score score_;
  float* out_;
  ShortSolver solver_;
  ShortPairs pairs_;
  uint64_t rows_[kPairs];
  uint32_t count_ = 0;
};

}  // namespace

struct TextScorer::Memory {
  Split a, b;
  SliceTable table;
  std::vector<uint32_t> a_ids, b_ids, counts, rows, columns;
  std::vector<uint8_t> carry;
  std::array<uint64_t, 256> byte_masks{};  // all zero between two calls
  std::vector<uint64_t> masks;             // likewise

  bool score(Score score, const Options& options, Bytes text, Bytes reference, bool ids, float& out);
  void words(Score score, Bytes text, bool ids, Split& out) const;
  double token_f1(const Words& text, const Words& reference);
  double rouge_l(const Words& text, const Words& reference);
  double repetition(const Words& words, uint32_t gram);
  double edit(Score score, Bytes text, Bytes reference, bool ids);

  template <class T>
  double similarity(Score score, Run<T> a, Run<T> b);
  template <class T>
  uint64_t lcs(Run<T> a, Run<T> b);
  template <bool kLevenshtein, class T>
  int64_t blocks(Run<T> pattern, Run<T> text);
  template <bool kLevenshtein, class T>
  int64_t all_blocks(Run<T> pattern, Run<T> text, uint64_t* masks);
  void number(const Words& words, std::vector<uint32_t>& out, bool find);
};

// One block at a time over the whole text: memory grows with the text, not with the matrix.
template <bool kLevenshtein, class T>
int64_t TextScorer::Memory::all_blocks(Run<T> pattern, Run<T> text, uint64_t* masks) {
  const bool many = pattern.size > 64;
  if (many) carry.assign(text.size, kLevenshtein ? 1 : 0);
  const auto mask = [&](uint64_t i) { return masks[text.data[i]]; };
  int64_t sum = 0;
  for (uint64_t begin = 0; begin < pattern.size; begin += 64) {
    const auto rows = static_cast<uint32_t>(std::min<uint64_t>(64, pattern.size - begin));
    for (uint32_t i = 0; i < rows; ++i) masks[pattern.data[begin + i]] |= uint64_t{1} << i;
    if constexpr (kLevenshtein) {  // only the lowest edge counts
      sum = many ? levenshtein_block<true>(text.size, rows, mask, carry.data())
                 : levenshtein_block<false>(text.size, rows, mask, nullptr);
    } else {
      sum += static_cast<int64_t>(many ? lcs_block<true>(text.size, rows, mask, carry.data())
                                       : lcs_block<false>(text.size, rows, mask, nullptr));
    }
    for (uint32_t i = 0; i < rows; ++i) masks[pattern.data[begin + i]] = 0;
  }
  return sum;
}

// Bytes index their masks directly; other symbols are numbered first, 0 for those that the pattern lacks.
template <bool kLevenshtein, class T>
int64_t TextScorer::Memory::blocks(Run<T> pattern, Run<T> text) {
  if constexpr (sizeof(T) == 1) return all_blocks<kLevenshtein>(pattern, text, byte_masks.data());
  const auto bytes = [](const T& symbol) { return Bytes{reinterpret_cast<const uint8_t*>(&symbol), sizeof(T)}; };
  table.begin(pattern.size);
  rows.resize(pattern.size);
  columns.resize(text.size);
  for (uint64_t i = 0; i < pattern.size; ++i) rows[i] = table.intern(bytes(pattern.data[i])) + 1;
  for (uint64_t i = 0; i < text.size; ++i) columns[i] = table.find(bytes(text.data[i]), ~0u) + 1;
  if (masks.size() < table.count() + 1) masks.resize(table.count() + 1, 0);
  return all_blocks<kLevenshtein>(Run<uint32_t>{rows.data(), rows.size()},
                                  Run<uint32_t>{columns.data(), columns.size()}, masks.data());
}

template <class T>
uint64_t TextScorer::Memory::lcs(Run<T> a, Run<T> b) {
  const uint64_t common = strip_common(a, b);
  if (a.size > b.size) std::swap(a, b);
  return a.size == 0 ? common : common + static_cast<uint64_t>(blocks<false>(a, b));
}

template <class T>
double TextScorer::Memory::similarity(Score score, Run<T> a, Run<T> b) {
  const uint64_t first = a.size, second = b.size;
  if (first + second == 0) return 1;
  if (score == Score::kIndel) return edit_similarity(score, first, second, lcs(a, b));
  strip_common(a, b);
  if (a.size > b.size) std::swap(a, b);
  const uint64_t change = a.size == 0 ? b.size : a.size + static_cast<uint64_t>(blocks<true>(a, b));
  return edit_similarity(score, first, second, change);
}

double TextScorer::Memory::edit(Score score, Bytes text, Bytes reference, bool ids) {
  if (ids)
    return similarity(score, Run<int32_t>{reinterpret_cast<const int32_t*>(text.data), text.size / 4},
                      Run<int32_t>{reinterpret_cast<const int32_t*>(reference.data), reference.size / 4});
  if (ascii(text) && ascii(reference))
    return similarity(score, Run<uint8_t>{text.data, text.size}, Run<uint8_t>{reference.data, reference.size});
  code_points(text, a_ids);
  code_points(reference, b_ids);
  return similarity(score, Run<uint32_t>{a_ids.data(), a_ids.size()}, Run<uint32_t>{b_ids.data(), b_ids.size()});
}

void TextScorer::Memory::number(const Words& words, std::vector<uint32_t>& out, bool find) {
  out.clear();
  for (const Bytes& word : words) out.push_back(find ? table.find(word, ~0u) : table.intern(word));
}

double TextScorer::Memory::token_f1(const Words& text, const Words& reference) {
  if (text.empty() || reference.empty()) return text.empty() && reference.empty() ? 1 : 0;
  table.begin(reference.size());
  number(reference, b_ids, false);
  counts.assign(table.count(), 0);
  for (const uint32_t id : b_ids) ++counts[id];
  number(text, a_ids, true);
  uint64_t same = 0;
  for (const uint32_t id : a_ids)
    if (id != ~0u && counts[id] != 0) {
      --counts[id];
      ++same;
    }
  if (same == 0) return 0;
  const double precision = static_cast<double>(same) / static_cast<double>(text.size());
  const double recall = static_cast<double>(same) / static_cast<double>(reference.size());
  return 2 * precision * recall / (precision + recall);
}

double TextScorer::Memory::rouge_l(const Words& text, const Words& reference) {
  if (text.empty() || reference.empty()) return 0;
  table.begin(text.size() + reference.size());
  number(reference, b_ids, false);
  number(text, a_ids, false);
  const uint64_t same = lcs(Run<uint32_t>{a_ids.data(), a_ids.size()}, Run<uint32_t>{b_ids.data(), b_ids.size()});
  const double precision = static_cast<double>(same) / static_cast<double>(text.size());
  const double recall = static_cast<double>(same) / static_cast<double>(reference.size());
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

double TextScorer::Memory::repetition(const Words& words, uint32_t gram) {
  if (words.size() < gram) return 0;
  table.begin(words.size());
  number(words, a_ids, false);
  const uint64_t total = words.size() - gram + 1;
  uint64_t distinct = table.count();
  if (gram > 1) {
    table.begin(total);
    for (uint64_t i = 0; i < total; ++i)
      table.intern({reinterpret_cast<const uint8_t*>(a_ids.data() + i), uint64_t{gram} * 4});
    distinct = table.count();
  }
  return 1 - static_cast<double>(distinct) / static_cast<double>(total);
}

void TextScorer::Memory::words(Score score, Bytes text, bool ids, Split& out) const {
  if (ids) return id_words(out, text);
  if (score == Score::kRougeL) return rouge_words(out, text);
  if (score == Score::kRepetition) return lower_words(out, text);
  Normaliser(out, text).run();
}

namespace {
bool too_many_cells(uint64_t a, uint64_t b) { return b != 0 && a > kMostCells / b; }
}  // namespace

bool TextScorer::Memory::score(Score score, const Options& options, Bytes text, Bytes reference, bool ids, float& out) {
  double value = 0;
  switch (score) {
    case Score::kExact: value = equal(text, reference) ? 1 : 0; break;
    case Score::kExactNormalised:
      value = equal(Normaliser(a, text).run(), Normaliser(b, reference).run()) ? 1 : 0;
      break;
    case Score::kNumber: value = numbers_match(text, reference, options.tolerance, options.units) ? 1 : 0; break;
    case Score::kChoice: {
      const int32_t want = ChoiceReader(reference, options.choices).chosen();
      value = want >= 0 && ChoiceReader(text, options.choices).chosen() == want ? 1 : 0;
      break;
    }
    case Score::kTokenF1:
      words(score, text, ids, a);
      words(score, reference, ids, b);
      value = token_f1(a.words, b.words);
      break;
    case Score::kRougeL:
      words(score, text, ids, a);
      words(score, reference, ids, b);
      if (too_many_cells(a.words.size(), b.words.size())) return false;
      value = rouge_l(a.words, b.words);
      break;
    case Score::kRepetition:
      words(score, text, ids, a);
      value = repetition(a.words, options.gram);
      break;
    case Score::kLevenshtein:
    case Score::kIndel:
      if (too_many_cells(text.size, reference.size)) return false;
      value = edit(score, text, reference, ids);
      break;
  }
  out = static_cast<float>(value);
  return true;
}

TextScorer::TextScorer() : memory_(std::make_unique<Memory>()) {}
TextScorer::~TextScorer() = default;

uint64_t TextScorer::score(Score score, const Options& options, Texts texts, Texts references, uint64_t begin,
                           uint64_t end, float* out) {
  const bool short_pairs = (score == Score::kLevenshtein || score == Score::kIndel) && !texts.ids;
  ShortQueue queue(score, out);
  for (uint64_t row = begin; row < end; ++row) {
    const Bytes text = texts.rows[row];
    const Bytes reference = references.rows == nullptr ? Bytes{nullptr, 0} : references.rows[row];
    if (short_pairs && queue.takes(text, reference, row)) continue;
    if (!memory_->score(score, options, text, reference, texts.ids, out[row])) return row;
  }
  queue.flush();
  return end;
}

Bytes TextScorer::normalised(Bytes text) { return Normaliser(memory_->a, text).run(); }

uint64_t TextScorer::length(Bytes text, Unit unit) {
  switch (unit) {
    case Unit::kBytes: return text.size;
    case Unit::kTokens: return text.size / 4;
    case Unit::kWords: lower_words(memory_->a, text); return memory_->a.words.size();
    case Unit::kCharacters: break;
  }
  uint64_t count = 0;
  const uint8_t* at = text.data;
  const uint8_t* const end = at + text.size;
  for (; at < end; ++count) decode(at, end, &at);
  return count;
}

double power_of_ten(uint32_t k) {
#define AE_TEN(n) 1e##n##0, 1e##n##1, 1e##n##2, 1e##n##3, 1e##n##4, 1e##n##5, 1e##n##6, 1e##n##7, 1e##n##8, 1e##n##9
  static constexpr double kPowers[] = {
      AE_TEN(),   AE_TEN(1),  AE_TEN(2),  AE_TEN(3),  AE_TEN(4),  AE_TEN(5),  AE_TEN(6),  AE_TEN(7),
      AE_TEN(8),  AE_TEN(9),  AE_TEN(10), AE_TEN(11), AE_TEN(12), AE_TEN(13), AE_TEN(14), AE_TEN(15),
      AE_TEN(16), AE_TEN(17), AE_TEN(18), AE_TEN(19), AE_TEN(20), AE_TEN(21), AE_TEN(22), AE_TEN(23),
      AE_TEN(24), AE_TEN(25), AE_TEN(26), AE_TEN(27), AE_TEN(28), AE_TEN(29), 1e300,      1e301,
      1e302,      1e303,      1e304,      1e305,      1e306,      1e307,      1e308};
#undef AE_TEN
  static_assert(sizeof kPowers == 309 * sizeof(double));
  return kPowers[k];
}

}  // namespace ae::rewards
