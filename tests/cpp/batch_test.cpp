// Batches over the thread pool: the same bytes for any number of threads, and envs of different threads side by side.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "api.h"
#include "exec/thread_pool.h"
#include "logic/keyquest.h"

using namespace ae;

namespace {

std::shared_ptr<Bank> bank(uint32_t games) {
  logic::KeyquestParams params;
  params.max_episode_steps = 20;
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<std::string_view> views;
  for (uint32_t i = 0; i < games; ++i)
    bytes.push_back(logic::emit(logic::ground(logic::keyquest(params, 3, i).source)));
  for (const auto& one : bytes) views.emplace_back(reinterpret_cast<const char*>(one.data()), one.size());
  return std::make_shared<Bank>(views);
}

// An env of the C++ side: rows and one set of output buffers.
class Batch {
 public:
  Batch(std::shared_ptr<Bank> games, uint32_t rows, uint32_t threads, Autoreset autoreset)
      : bank_(std::move(games)), vocabulary_(bank_words(*bank_)), codec_(*bank_, vocabulary_, 0xFF) {
    engine.bank = bank_.get();
    engine.codec = &codec_;
    engine.num_rows = rows;
    engine.stride = bank_->stride();
    engine.threads = threads;
    engine.rules.num_games = bank_->size();
    engine.rules.autoreset = autoreset;
    engine.widths = {bank_->max_text(), codec_.max_tokens(), bank_->max_admissible(), 0};
    rows_.resize(size_t{rows} * engine.stride / 8);
    engine.rows = reinterpret_cast<uint8_t*>(rows_.data());
    observation(out.obs, rows);
    if (autoreset == Autoreset::kSameStep) observation(out.final_obs, rows);
    out.reward = array<float>(rows);
    out.terminated = array<uint8_t>(rows);
    out.truncated = array<uint8_t>(rows);
    InfoBuffers& info = out.info;
    info.score = array<float>(rows);
    for (uint8_t** flag : {&info.won, &info.lost, &info.status, &info.overflow, &info.first, &info.valid})
      *flag = array<uint8_t>(rows);
    for (int32_t** number : {&info.moves, &info.game, &info.episode, &info.elapsed}) *number = array<int32_t>(rows);
    info.world_hash = array<uint32_t>(2 * size_t{rows});
    info.reward_terms = array<float>(rows);
    for (auto* sizes :
         {&held.text, &held.tokens, &held.admissible, &held.final_text, &held.final_tokens, &held.final_admissible})
      sizes->assign(rows, 0);
    ResetOptions options;
    options.has_seed = true;
    options.seed = 17;
    reset(engine, options, out, held);
  }

  void walk(uint32_t steps) {
    std::vector<Move> moves(engine.num_rows);
    for (uint32_t t = 0; t < steps; ++t) {
      for (uint32_t i = 0; i < engine.num_rows; ++i) {
        const auto count = static_cast<uint32_t>(out.obs.admissible_count[i]);
        moves[i].value = static_cast<int32_t>(philox4x32(1, i, t, 0, 0).v[0] % (count + 1));  // sometimes out of range
      }
      step(engine, {nullptr, engine.num_rows}, moves.data(), out, held);
    }
  }
  uint64_t hash() const {
    uint64_t all = row_hash(engine.rows, engine.num_rows * engine.stride);
    for (const auto& buffer : buffers_)
      all = mix64(all ^
                  row_hash(reinterpret_cast<const uint8_t*>(buffer.data()), static_cast<uint32_t>(buffer.size() * 8)));
    return all;
  }

  Engine engine;
  StepBuffers out{};
  Held held;

 private:
  template <class T>
  T* array(size_t count) {
    buffers_.emplace_back(count * sizeof(T) / 8 + 1, 0);
    return reinterpret_cast<T*>(buffers_.back().data());
  }
  void observation(ObsBuffers& obs, uint32_t rows) {
    obs.text = array<uint8_t>(size_t{rows} * engine.widths.text);
    obs.tokens = array<int32_t>(size_t{rows} * engine.widths.tokens);
    obs.admissible = array<int32_t>(size_t{rows} * engine.widths.admissible);
    for (int32_t** count : {&obs.text_size, &obs.token_count, &obs.admissible_count}) *count = array<int32_t>(rows);
  }

  std::shared_ptr<Bank> bank_;
  Vocabulary vocabulary_;
  BoundCodec codec_;
  std::vector<uint64_t> rows_;
  std::vector<std::vector<uint64_t>> buffers_;
};

}  // namespace

TEST_CASE("a batch writes the same bytes on 1, 2, 3 and 7 threads, in every autoreset mode") {
  const auto games = bank(5);
  for (const Autoreset mode : {Autoreset::kSameStep, Autoreset::kNextStep, Autoreset::kDisabled}) {
    uint64_t first = 0;
    for (const uint32_t threads : {1u, 2u, 3u, 7u}) {
      Batch batch(games, 257, threads, mode);
      batch.walk(45);
      if (threads == 1) first = batch.hash();
      CHECK(batch.hash() == first);
    }
  }
}

TEST_CASE("envs are stepped from several threads at once, all over the one pool") {
  const auto games = bank(3);
  Batch alone(games, 128, 1, Autoreset::kSameStep);
  alone.walk(30);
  std::vector<uint64_t> hashes(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < hashes.size(); ++i)
    threads.emplace_back([&, i] {
      Batch batch(games, 128, 2, Autoreset::kSameStep);
      batch.walk(30);
      hashes[i] = batch.hash();
    });
  for (auto& thread : threads) thread.join();
  for (const uint64_t hash : hashes) CHECK(hash == alone.hash());
}

TEST_CASE("shards cover every index once, however many there are") {
  for (const uint32_t count : {0u, 1u, 5u, 64u, 1000u})
    for (const uint32_t threads : {1u, 2u, 7u, 100u}) {
      std::vector<std::atomic<int>> seen(count);
      parallel_shards(count, threads, [&](uint32_t begin, uint32_t end) {
        for (uint32_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const auto& times : seen) CHECK(times == 1);
    }
}
