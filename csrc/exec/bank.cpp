#include "exec/bank.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace ae {

Bank::Bank(const std::vector<std::string_view>& games) {
  if (games.empty()) throw logic::CompileError{"a suite needs at least one game"};
  storage_.reserve(games.size());
  for (size_t i = 0; i < games.size(); ++i) {
    const auto bytes = games[i];
    Aligned aligned{std::make_unique<uint64_t[]>((bytes.size() + 7) / 8), bytes.size()};
    if (!bytes.empty()) std::memcpy(aligned.words.get(), bytes.data(), bytes.size());
    try {
      programs_.push_back(logic::decode(reinterpret_cast<const uint8_t*>(aligned.words.get()), aligned.size));
    } catch (const logic::CompileError& error) {
      throw logic::CompileError{"game " + std::to_string(i) + ": " + error.message};
    }
    storage_.push_back(std::move(aligned));
    const logic::ProgramHeader& h = *programs_.back().header;
    stride_ = std::max(stride_, h.row_bytes);
    max_text_ = std::max(max_text_, h.max_text);
    max_admissible_ = std::max(max_admissible_, h.max_admissible);
    max_episode_steps_ = std::max(max_episode_steps_, h.max_episode_steps);
    max_score_ = std::max(max_score_, h.max_score);
  }
  std::unordered_set<std::string_view> seen;
  for (const auto& program : programs_)
    for (uint32_t c = 0; c < program.num_commands(); ++c) seen.insert(program.command(c));
  std::vector<std::string_view> sorted(seen.begin(), seen.end());
  std::sort(sorted.begin(), sorted.end());
  commands_.assign(sorted.begin(), sorted.end());
  std::unordered_map<std::string_view, int32_t> id;
  id.reserve(sorted.size() * 2);
  for (size_t i = 0; i < sorted.size(); ++i) id.emplace(sorted[i], static_cast<int32_t>(i));
  for (const auto& program : programs_) {
    command_begin_.push_back(command_map_.size());
    for (uint32_t c = 0; c < program.num_commands(); ++c) command_map_.push_back(id.at(program.command(c)));
  }
}

int32_t Bank::local_command(uint32_t game, int32_t suite_command) const {
  const int32_t* first = this->suite_command(game);
  const int32_t* last = first + programs_[game].num_commands();
  const int32_t* found = std::lower_bound(first, last, suite_command);  // both numberings are in byte order
  return found != last && *found == suite_command ? static_cast<int32_t>(found - first) : -1;
}

std::string_view Bank::bytes(uint32_t game) const {
  return {reinterpret_cast<const char*>(storage_[game].words.get()), storage_[game].size};
}

BoundCodec::BoundCodec(const Bank& bank, const Vocabulary& vocabulary, uint32_t sections) {
  for (int d = 0; d < 10; ++d) digits_[d] = vocabulary.id(std::string(1, static_cast<char>('0' + d)));
  word_offset_.push_back(0);
  for (uint32_t n = 0; n <= logic::kMinusWord; ++n) {
    const auto ids = vocabulary.encode(n < kNumberWords ? small_number_words(n) : std::string("minus "));
    word_ids_.insert(word_ids_.end(), ids.begin(), ids.end());
    word_offset_.push_back(static_cast<uint32_t>(word_ids_.size()));
  }
  std::vector<size_t> begin;
  for (uint32_t game = 0; game < bank.size(); ++game) {
    const logic::Program& program = bank.program(game);
    begin.push_back(offsets_.size());
    logic::TextCosts costs;
    costs.number = 12;
    costs.number_words = 12;
    for (uint32_t i = 0; i < program.header->literals.count; ++i) {
      offsets_.push_back(static_cast<uint32_t>(ids_.size()));
      const auto ids = vocabulary.encode(program.literal(i));
      ids_.insert(ids_.end(), ids.begin(), ids.end());
      costs.literal.push_back(static_cast<uint32_t>(ids.size()));
    }
    offsets_.push_back(static_cast<uint32_t>(ids_.size()));
    max_tokens_ =
        std::max(max_tokens_, static_cast<uint32_t>(std::max<uint64_t>(1, logic::text_bound(program, costs))));
  }
  for (uint32_t game = 0; game < bank.size(); ++game)
    tables_.push_back(logic::TokenTable{offsets_.data() + begin[game], ids_.data(), digits_, word_offset_.data(),
                                        word_ids_.data(), sections});
}

std::vector<std::string> bank_words(const Bank& bank) {
  std::set<std::string, std::less<>> words;
  const auto add = [&](std::string_view text) {
    split_words(text, [&](std::string_view w) {
      if (words.find(w) == words.end()) words.emplace(w);
    });
  };
  for (int d = 0; d < 10; ++d) words.insert(std::string(1, static_cast<char>('0' + d)));
  for (uint32_t n = 0; n < kNumberWords; ++n) add(small_number_words(n));
  add("minus");
  std::unordered_set<std::string_view> seen;
  for (uint32_t game = 0; game < bank.size(); ++game) {
    const logic::Program& program = bank.program(game);
    for (uint32_t i = 0; i < program.header->literals.count; ++i)
      if (seen.insert(program.literal(i)).second) add(program.literal(i));
  }
  for (const std::string& command : bank.commands()) add(command);
  return {words.begin(), words.end()};
}

const logic::NumberText& number_text() {
  struct Table {
    std::string bytes;
    std::vector<uint32_t> offset;
    logic::NumberText view;
    Table() {
      for (uint32_t n = 0; n <= logic::kMinusWord; ++n) {
        offset.push_back(static_cast<uint32_t>(bytes.size()));
        bytes += n < kNumberWords ? small_number_words(n) : std::string("minus ");
      }
      offset.push_back(static_cast<uint32_t>(bytes.size()));
      view = {offset.data(), bytes.data()};
    }
  };
  static const Table table;
  return table.view;
}

}  // namespace ae
