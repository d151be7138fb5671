// A suite as the engine sees it: decoded programs, their commands numbered for the whole suite, token tables.
// Immutable once built; shared by every env that plays it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text.h"
#include "logic/program.h"
#include "logic/render.h"

namespace ae {

class Bank {
 public:
  // Copies the bytes of each game. Throws logic::CompileError naming the game that cannot be decoded.
  explicit Bank(const std::vector<std::string_view>& games);
  Bank(const Bank&) = delete;
  Bank& operator=(const Bank&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(programs_.size()); }
  const logic::Program& program(uint32_t game) const { return programs_[game]; }
  const std::vector<std::string>& commands() const { return commands_; }  // byte order
  const int32_t* suite_command(uint32_t game) const { return command_map_.data() + command_begin_[game]; }
  // Local command id of a suite command, -1 if the game does not have it.
  int32_t local_command(uint32_t game, int32_t suite_command) const;
  std::string_view bytes(uint32_t game) const;

  uint32_t stride() const { return stride_; }
  uint32_t max_text() const { return max_text_; }
  uint32_t max_admissible() const { return max_admissible_; }
  uint32_t max_episode_steps() const { return max_episode_steps_; }
  int32_t max_score() const { return max_score_; }

 private:
  struct Aligned {
    std::unique_ptr<uint64_t[]> words;
    size_t size;
  };
  std::vector<Aligned> storage_;
  std::vector<logic::Program> programs_;
  std::vector<std::string> commands_;
  std::vector<size_t> command_begin_;
  std::vector<int32_t> command_map_;
  uint32_t stride_ = 0, max_text_ = 0, max_admissible_ = 0, max_episode_steps_ = 0;
  int32_t max_score_ = 0;
};

// A codec bound to a bank: the token ids of every literal of every game.
class BoundCodec {
 public:
  BoundCodec(const Bank& bank, const Vocabulary& vocabulary, uint32_t sections);
  BoundCodec(const BoundCodec&) = delete;
  BoundCodec& operator=(const BoundCodec&) = delete;
  const logic::TokenTable& table(uint32_t game) const { return tables_[game]; }
  uint32_t max_tokens() const { return max_tokens_; }

 private:
  std::vector<logic::TokenTable> tables_;
  std::vector<uint32_t> offsets_;
  std::vector<int32_t> ids_;
  std::vector<uint32_t> word_offset_;
  std::vector<int32_t> word_ids_;
  int32_t digits_[10] = {};
  uint32_t max_tokens_ = 0;
};

// Suite commands by their token ids; of equal sequences the first command counts.
class CommandTokens {
 public:
  void add(const std::vector<int32_t>& ids, int32_t command) {
    commands_.try_emplace(std::string(bytes(ids.data(), ids.size())), command);
  }
  bool empty() const { return commands_.empty(); }
  void clear() { commands_.clear(); }
  // -1: no command reads so. Allocates nothing.
  int32_t find(const int32_t* ids, size_t count) const {
    const auto found = commands_.find(bytes(ids, count));
    return found == commands_.end() ? -1 : found->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  static std::string_view bytes(const int32_t* ids, size_t count) {
    return {reinterpret_cast<const char*>(ids), count * sizeof(int32_t)};
  }
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> commands_;
};

// Every word that the literals and commands of a bank hold, sorted; digits and number words included.
std::vector<std::string> bank_words(const Bank& bank);

const logic::NumberText& number_text();

}  // namespace ae
