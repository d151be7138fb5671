#include "core/text.h"

#include <array>

namespace ae {
namespace {

constexpr std::array<const char*, 20> kSmall = {
    "zero", "one",    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",    "nine",
    "ten",  "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<const char*, 10> kTens = {"",      "",      "twenty",  "thirty", "forty",
                                               "fifty", "sixty", "seventy", "eighty", "ninety"};

std::array<std::string, kNumberWords> make_number_words() {
  std::array<std::string, kNumberWords> words;
  for (uint32_t n = 0; n < kNumberWords; ++n) {
    if (n < 20) words[n] = kSmall[n];
    else words[n] = std::string(kTens[n / 10]) + (n % 10 != 0 ? std::string("-") + kSmall[n % 10] : "");
  }
  return words;
}

}  // namespace

const std::string& small_number_words(uint32_t value) {
  static const std::array<std::string, kNumberWords> words = make_number_words();
  return words[value];
}

std::string number_words(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const std::string word =
      magnitude < kNumberWords ? small_number_words(static_cast<uint32_t>(magnitude)) : std::to_string(magnitude);
  return value < 0 ? "minus " + word : word;
}

Vocabulary::Vocabulary(const std::vector<std::string>& words) : words_(words) {
  ids_.reserve(words_.size() * 2);
  for (size_t i = 0; i < words_.size(); ++i) ids_.emplace(words_[i], static_cast<int32_t>(i) + 2);
}

int32_t Vocabulary::id(std::string_view word) const {
  const auto found = ids_.find(std::string(word));
  return found == ids_.end() ? kUnknownId : found->second;
}

std::vector<int32_t> Vocabulary::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  split_words(text, [&](std::string_view word) { ids.push_back(id(word)); });
  return ids;
}

}  // namespace ae
