// Answers in prose: the last number, and the letter chosen. docs/rewards.md defines both.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "rewards/text_chars.h"

namespace ae::rewards {

struct Number {
  bool found = false;
  double value = 0;
  uint64_t unit_begin = 0, unit_size = 0;  // bytes of the text
  uint8_t currency = 0;                    // '$', 'E' (€), 'L' (£), or 0
};

// 10^k, 0 <= k <= 308, each the double nearest to it.
double power_of_ten(uint32_t k);

// Reads numbers out of one text. Every read_* returns the position after what it read, or `at` if it read nothing.
class NumberReader {
 public:
  AE_HD explicit NumberReader(Bytes text) : text_(text) {}

  AE_HD Number last() {
    Number out;
    uint64_t at = 0;
    while (at < text_.size) {
      Number number;
      const uint64_t end = read(at, number);
      if (end == at) {
        ++at;
      } else {
        out = number;
        at = end;
      }
    }
    return out;
  }

 private:
  AE_HD uint32_t byte(uint64_t at) const { return at < text_.size ? text_.data[at] : 0; }
  AE_HD bool digit(uint64_t at) const { return is_digit(byte(at)); }
  AE_HD uint64_t digits_end(uint64_t at) const {
    while (digit(at)) ++at;
    return at;
  }

  // [sign][currency] (\frac{a}{b} | whole a/b | a[/b]) [unit]
  AE_HD uint64_t read(uint64_t begin, Number& out) const {
    uint64_t at = begin;
    const bool negative = read_sign(at);
    read_currency(at, out);
    const uint64_t start = at;
    at = read_frac(start, out.value);
    if (at == start) {
      if (start == begin && begin != 0 && is_ascii_word(byte(begin - 1))) return begin;
      at = read_mixed(start, out.value);
    }
    if (at == start) at = read_ratio(start, out.value);
    if (at == start) return begin;
    out.found = true;
    if (negative) out.value = -out.value;
    read_unit(at, out);
    return at;
  }

  AE_HD bool read_sign(uint64_t& at) const {
    const bool minus = byte(at) == '-';
    const bool wide = byte(at) == 0xE2 && byte(at + 1) == 0x88 && byte(at + 2) == 0x92;  // U+2212
    if (!minus && !wide && byte(at) != '+') return false;
    if (at != 0) {
      const uint32_t before = byte(at - 1);
      if (is_ascii_word(before) || before == ')' || before == ']' || before == '}' || before == '%') return false;
    }
    const bool negative = minus || wide;
    at += wide ? 3 : 1;
    return negative;
  }

  AE_HD void read_currency(uint64_t& at, Number& out) const {
    if (byte(at) == '$') {
      out.currency = '$';
      at += 1;
    } else if (byte(at) == 0xE2 && byte(at + 1) == 0x82 && byte(at + 2) == 0xAC) {  // €
      out.currency = 'E';
      at += 3;
    } else if (byte(at) == 0xC2 && byte(at + 1) == 0xA3) {  // £
      out.currency = 'L';
      at += 2;
    }
  }

  AE_HD uint64_t read_frac(uint64_t start, double& value) const {
    uint64_t at = start;
    if (byte(at++) != '\\') return start;
    if (byte(at) == 'd' || byte(at) == 't') ++at;
    for (const char* name = "frac{"; *name != 0; ++name)
      if (byte(at++) != static_cast<uint8_t>(*name)) return start;
    double above = 0, below = 0;
    uint64_t end = read_unsigned(at, above);
    if (end == at || byte(end) != '}' || byte(end + 1) != '{') return start;
    at = end + 2;
    end = read_unsigned(at, below);
    if (end == at || byte(end) != '}' || below == 0) return start;
    value = above / below;
    return end + 1;
  }

  AE_HD uint64_t read_mixed(uint64_t start, double& value) const {
    const uint64_t whole = digits_end(start);
    if (whole == start || byte(whole) != ' ') return start;
    const uint64_t above = digits_end(whole + 1);
    if (above == whole + 1 || byte(above) != '/') return start;
    const uint64_t below = digits_end(above + 1);
    if (below == above + 1) return start;
    const double a = decimal(whole + 1, above, 0), b = decimal(above + 1, below, 0);
    if (!(a < b)) return start;
    value = (decimal(start, whole, 0) * b + a) / b;
    return below;
  }

  AE_HD uint64_t read_ratio(uint64_t start, double& value) const {
    const uint64_t end = read_unsigned(start, value);
    if (end == start || byte(end) != '/') return end;
    double below = 0;
    const uint64_t after = read_unsigned(end + 1, below);
    if (after == end + 1 || below == 0) return end;
    value /= below;
    return after;
  }

  // digits with or without thousands separators, a fraction part, an exponent
  AE_HD uint64_t read_unsigned(uint64_t start, double& value) const {
    uint64_t at = digits_end(start);
    if (at != start && at - start <= 3) {
      while (byte(at) == ',' && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4)) at += 4;
    }
    if (byte(at) == '.' && digit(at + 1)) at = digits_end(at + 1);
    if (at == start) return start;
    const uint64_t mantissa_end = at;
    int64_t exponent = 0;
    if (byte(at) == 'e' || byte(at) == 'E') {
      const bool sign = byte(at + 1) == '+' || byte(at + 1) == '-';
      const uint64_t first = at + 1 + (sign ? 1 : 0);
      if (digit(first)) {
        at = first;
        for (; digit(at); ++at) exponent = exponent > 99999 ? exponent : exponent * 10 + (byte(at) - '0');
        if (byte(first - 1) == '-') exponent = -exponent;
      }
    }
    value = decimal(start, mantissa_end, exponent);
    return at;
  }

  // The first 19 significant digits times a power of ten; the digits after them count as zeros.
  AE_HD double decimal(uint64_t begin, uint64_t end, int64_t exponent) const {
    uint64_t mantissa = 0;
    uint32_t kept = 0;
    bool after_point = false;
    for (uint64_t at = begin; at < end; ++at) {
      if (byte(at) == ',') continue;
      if (byte(at) == '.') {
        after_point = true;
        continue;
      }
      if (kept == 19) {
        exponent += after_point ? 0 : 1;
        continue;
      }
      mantissa = mantissa * 10 + (byte(at) - '0');
      kept += mantissa != 0 ? 1 : 0;
      exponent -= after_point ? 1 : 0;
    }
    const auto value = static_cast<double>(mantissa);
    if (mantissa == 0) return 0;
    if (exponent > 308) return value * power_of_ten(308) * power_of_ten(308);  // infinite
    if (exponent >= 0) return value * power_of_ten(static_cast<uint32_t>(exponent));
    if (exponent >= -308) return value / power_of_ten(static_cast<uint32_t>(-exponent));
    return value / power_of_ten(308) / power_of_ten(exponent < -616 ? 308 : static_cast<uint32_t>(-exponent - 308));
  }

  // At most one space, then letters, %, ° µ μ Ω ² ³, and after the first of them / ^ * and digits: cm, km/h, m^2, °C
  AE_HD void read_unit(uint64_t& at, Number& out) const {
    const uint64_t begin = at + (byte(at) == ' ' ? 1 : 0);
    uint64_t end = begin + unit_sign(begin);
    if (end == begin) return;
    for (uint64_t before = begin; end != before;) {
      before = end;
      end += unit_sign(end);
      while (digit(end) || byte(end) == '/' || byte(end) == '^' || byte(end) == '*') ++end;
    }
    out.unit_begin = begin;
    out.unit_size = end - begin;
    at = end;
  }
  AE_HD uint64_t unit_sign(uint64_t at) const {  // bytes of the sign that stands here, or 0
    const uint32_t c = byte(at), next = byte(at + 1);
    if (is_letter(c) || c == '%') return 1;
    if (c == 0xC2 && (next == 0xB0 || next == 0xB5 || next == 0xB2 || next == 0xB3)) return 2;
    return c == 0xCE && (next == 0xBC || next == 0xA9) ? 2 : 0;
  }

  Bytes text_;
};

// 1 if the last number of each are equal to within `tolerance` of the larger, and the units too where `units` is set
// and the reference has one.
AE_HD inline bool numbers_match(Bytes text, Bytes reference, double tolerance, bool units) {
  const Number want = NumberReader(reference).last(), got = NumberReader(text).last();
  if (!want.found || !got.found) return false;
  const auto magnitude = [](double x) { return x < 0 ? -x : x; };
  const double a = magnitude(want.value), b = magnitude(got.value), most = a > b ? a : b;
  if (!(most <= 1.7976931348623157e308)) return false;  // beyond the range of doubles
  if (!(magnitude(want.value - got.value) <= tolerance * most)) return false;
  if (!units) return true;
  if (want.currency != 0 && want.currency != got.currency) return false;
  if (want.unit_size == 0) return true;
  if (want.unit_size != got.unit_size) return false;
  for (uint64_t i = 0; i < want.unit_size; ++i)
    if (reference.data[want.unit_begin + i] != text.data[got.unit_begin + i]) return false;
  return true;
}

// Finds the chosen letter of a text: 0 for the first choice, -1 for none.
class ChoiceReader {
 public:
  AE_HD ChoiceReader(Bytes text, uint32_t choices) : text_(text), choices_(choices) {}

  AE_HD int32_t chosen() const {
    int32_t after_cue = -1, in_brackets = -1, marked = -1, whole = -1;
    uint64_t first = 0, last = text_.size;
    while (first < last && is_ascii_space(text_.data[first])) ++first;
    while (last > first && is_ascii_space(text_.data[last - 1])) --last;
    uint64_t cue_end = ~uint64_t{0};  // where a letter would follow a cue
    for (uint64_t at = 0; at < text_.size; ++at) {
      if (cue_end == ~uint64_t{0} || at + 1 >= cue_end) {  // an earlier cue among what was skipped leads here
        if (const uint64_t end = cue(at); end != at) cue_end = skip(end);
      }
      const int32_t letter = letter_at(at);
      if (letter < 0) continue;
      const bool upper = text_.data[at] < 'a';
      const uint32_t next = byte(at + 1);
      const bool ends = at + 1 >= text_.size || (next != ' ' && next < 0x80);
      if (at == cue_end && (upper || ends)) after_cue = letter;
      if (at != 0 && bracketed(byte(at - 1), next)) in_brackets = letter;
      if (upper && (at + 1 >= text_.size || next == '\n' || next == '\r' || next == '.' || next == ')' || next == ':' ||
                    next == ',' || next == '*'))
        marked = letter;
      if (at == first && at + 1 == last) whole = letter;
    }
    if (after_cue >= 0) return after_cue;
    if (in_brackets >= 0) return in_brackets;
    if (marked >= 0) return marked;
    return whole;
  }

 private:
  AE_HD uint32_t byte(uint64_t at) const { return at < text_.size ? text_.data[at] : 0; }

  // A letter of the choices that stands alone: no word character, apostrophe or byte above ASCII beside it.
  AE_HD int32_t letter_at(uint64_t at) const {
    const uint32_t letter = (byte(at) | 32u) - 'a';
    if (!is_letter(byte(at)) || letter >= choices_) return -1;
    const auto joins = [](uint32_t c) { return is_ascii_word(c) || c == '\'' || c >= 0x80; };
    if (at != 0 && joins(byte(at - 1))) return -1;
    return joins(byte(at + 1)) ? -1 : static_cast<int32_t>(letter);
  }

  AE_HD static bool bracketed(uint32_t before, uint32_t after) {
    return (before == '(' && after == ')') || (before == '[' && after == ']') || (before == '{' && after == '}');
  }

  AE_HD bool word_at(uint64_t at, const char* word, uint64_t& end) const {
    for (end = at; *word != 0; ++word, ++end)
      if ((byte(end) | 32u) != static_cast<uint8_t>(*word)) return false;
    return true;
  }

  // The end of a cue that begins here: the words answer, choice, option (any case, whole words), or \boxed.
  AE_HD uint64_t cue(uint64_t at) const {
    uint64_t end = at;
    if (byte(at) == '\\') return word_at(at + 1, "boxed", end) && !is_ascii_word(byte(end)) ? end : at;
    if (!is_letter(byte(at)) || (at != 0 && is_ascii_word(byte(at - 1)))) return at;
    if ((word_at(at, "answer", end) || word_at(at, "choice", end) || word_at(at, "option", end)) &&
        !is_ascii_word(byte(end)))
      return end;
    return at;
  }

  // Over what may stand between a cue and the letter: marks, and the words is, the, option, choice, answer, text.
  AE_HD uint64_t skip(uint64_t at) const {
    const char* const words[] = {"is", "the", "option", "choice", "answer", "text"};
    for (;;) {
      const uint64_t before = at;
      while (at < text_.size && skipped(text_.data[at])) ++at;
      for (const char* word : words) {
        uint64_t end = at;
        if (word_at(at, word, end) && !is_ascii_word(byte(end))) at = end;
      }
      if (at == before) return at;
    }
  }
  AE_HD static bool skipped(uint32_t c) {
    return is_ascii_space(c) || c == ':' || c == '=' || c == '(' || c == '[' || c == '{' || c == '*' || c == '"' ||
           c == '`' || c == '$' || c == '\\' || c == '#' || c == '>' || c == '-' || c == '_';
  }

  Bytes text_;
  uint32_t choices_;
};

}  // namespace ae::rewards
