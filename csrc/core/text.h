// Words: how observation text becomes token ids, and the tables that hold a suite's literals as tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ae {

constexpr int32_t kPadId = 0, kUnknownId = 1;
constexpr uint32_t kNumberWords = 100;  // "zero" ... "ninety-nine"

// Splits text into words: runs of letters (ASCII letters, bytes >= 0x80, an apostrophe between letters), lower-cased;
// every digit is a word of its own; everything else separates. So text may be cut anywhere but inside a run of letters.
template <class Sink>
void split_words(std::string_view text, Sink&& sink) {
  const auto letter = [](unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80; };
  std::string word;
  size_t i = 0;
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= '0' && c <= '9') {
      sink(std::string_view(text.data() + i, 1));
      ++i;
    } else if (letter(c)) {
      word.clear();
      for (; i < text.size(); ++i) {
        const auto d = static_cast<unsigned char>(text[i]);
        const bool apostrophe = d == '\'' && i + 1 < text.size() && letter(static_cast<unsigned char>(text[i + 1]));
        if (!letter(d) && !apostrophe) break;
        word.push_back(d >= 'A' && d <= 'Z' ? static_cast<char>(d - 'A' + 'a') : static_cast<char>(d));
      }
      sink(std::string_view(word));
    } else {
      ++i;
    }
  }
}

// A word vocabulary: id 0 pads, 1 is unknown, words from 2 in the given order.
class Vocabulary {
 public:
  explicit Vocabulary(const std::vector<std::string>& words);
  int32_t id(std::string_view word) const;
  std::vector<int32_t> encode(std::string_view text) const;
  const std::vector<std::string>& words() const { return words_; }
  size_t size() const { return words_.size() + 2; }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, int32_t> ids_;
};

// The number in English words as Inform prints it: "twenty-one", "minus three"; above 99 in digits.
std::string number_words(int64_t value);
const std::string& small_number_words(uint32_t value);  // value < kNumberWords

// Token ids of the literals of one game; digits and number words are shared by all.
struct LiteralTokens {
  std::vector<uint32_t> offset;  // num_literals + 1
  std::vector<int32_t> ids;
};
struct NumberTokens {
  int32_t digit[10];
  std::vector<int32_t> words[kNumberWords];
  std::vector<int32_t> minus;
};

}  // namespace ae
