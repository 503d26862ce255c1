// SPDX-License-Identifier: BSD-3-Clause
// A world: the contexts of this process, how many others have, and the gathers at which all ranks learn of each other.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/context/context.hpp"
#include "core/world/comm.hpp"

namespace sextant {

// What a rank brings to a gather. Plain data of one size, so that ranks in different calls still meet.
struct Frame {
  static constexpr std::size_t most_values = 16, most_numbers = 8;
  char call[32] = "";       // the function of the C interface, with its step
  std::uint64_t about = 0;  // equal where ranks ask for the same
  std::int32_t status = 0;  // of what it did before
  std::int32_t wish = 0;    // sxt_reason: to end a solve for
  std::array<double, most_values> values{};
  std::array<std::int64_t, most_numbers> numbers{};
};

// One call at a time.
class World {
 public:
  // Throws SXT_E_ARGUMENT, SXT_E_COMM, SXT_E_STATE.
  World(std::vector<std::shared_ptr<Context>> contexts, const sxt_comm *comm, double time_limit);
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  std::int32_t rank() const noexcept { return comm_.rank(); }
  std::int32_t ranks() const noexcept { return comm_.size(); }
  std::int32_t members() const noexcept { return static_cast<std::int32_t>(rank_of_.size()); }
  std::int32_t first() const noexcept { return first_of_[static_cast<std::size_t>(rank())]; }
  std::int32_t first_of(std::int32_t rank) const noexcept { return first_of_[static_cast<std::size_t>(rank)]; }
  std::int32_t rank_of(std::int32_t member) const noexcept { return rank_of_[static_cast<std::size_t>(member)]; }
  std::size_t own() const noexcept { return contexts_.size(); }  // members of this process
  std::size_t most_own() const noexcept { return most_own_; }    // of any rank
  Context &context(std::size_t own) const noexcept { return *contexts_[own]; }
  const std::shared_ptr<Context> &shared_context(std::size_t own) const noexcept { return contexts_[own]; }
  std::uint64_t id() const noexcept { return contexts_.front()->id(); }  // that sentences belong to
  const std::vector<double> &rates() const noexcept { return rates_; }   // bytes a second of every member's memory
  Comm &comm() noexcept { return comm_; }

  // All ranks meet, each with its frame: all frames in the order of ranks. Throws SXT_E_COMM, and SXT_E_STATE where
  // calls or what they are about differ.
  const std::vector<Frame> &meet(const Frame &mine);
  // Runs f(frame) here, then meets. Where it threw on some rank, every rank throws the status and sentence of the first
  // such rank. After it nothing of the ranks' answers is left to doubt.
  const std::vector<Frame> &together(const char *call, std::uint64_t about, const std::function<void(Frame &)> &f);
  // The second half of that, after meet: failure is what this rank's own work threw, or NULL.
  void agree(const std::vector<Frame> &frames, const std::exception_ptr &failure);
  // Bytes for each rank, and from each. Collective.
  std::vector<std::vector<char>> swap(const std::vector<std::vector<char>> &out);
  // Blocks of most_own() numbers, those of every member in order. Collective.
  std::vector<std::int64_t> gather_members(const std::vector<std::int64_t> &own);

 private:
  void meet_first();

  std::vector<std::shared_ptr<Context>> contexts_;
  Comm comm_;
  std::size_t most_own_ = 0;
  std::vector<std::int32_t> first_of_;  // members before each rank, and all
  std::vector<std::int32_t> rank_of_;
  std::vector<double> rates_;
  std::vector<Frame> frames_;
};

// Of what was thrown; SXT_E_INTERNAL where it is none of the library's.
sxt_status status_of(const std::exception_ptr &failure) noexcept;
std::string sentence_of(const std::exception_ptr &failure);

// Begins of consecutive parts of `rows` rows, and their end, so that part i has a share of `work` as its rate has of
// all rates. work(row): of the rows before it, which never falls; a function of its argument.
std::vector<std::int64_t> divide(std::int64_t rows, const std::vector<double> &rates,
                                 const std::function<double(std::int64_t)> &work);

}  // namespace sextant
