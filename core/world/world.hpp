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

// What a rank brings to a gather. In a world all are of one size, so that ranks in different calls still meet.
struct FrameHead {
  char call[32] = "";       // the function of the C interface
  std::uint64_t about = 0;  // its step, or what it was asked for: equal on all ranks
  std::int32_t status = 0;  // of what it did before
  std::int32_t wish = 0;    // sxt_reason: to end a solve for
  std::array<std::int64_t, 8> numbers{};
};
struct Frame : FrameHead {
  static constexpr std::size_t most_values = 16;
  // Of each member of the rank: sums over members take them in order, whatever ranks they belong to.
  struct OfMember {
    std::array<double, most_values> values{};
    std::int64_t number = 0;
  };
  std::vector<OfMember> members;
};

// Calls f(what a member brought) in the order of members.
template <class F>
void each_member(const std::vector<Frame> &frames, F &&f) {
  for (const Frame &frame : frames)
    for (const Frame::OfMember &member : frame.members) f(member);
}

// One call at a time.
class World {
 public:
  using Contexts = std::vector<std::shared_ptr<Context>>;
  // contexts: gives this process's; what it throws, every rank answers. Throws SXT_E_ARGUMENT, SXT_E_COMM, SXT_E_STATE.
  World(const std::function<Contexts()> &contexts, const sxt_comm *comm, double time_limit);
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

  // One call that all ranks make. What fails on this rank alone, outside of the steps below, is told to the others at
  // the next gather, so that none waits for this rank in vain.
  template <class F>
  auto collective(const char *call, F &&f);
  // Runs f(frame) here, then all ranks meet. Where it threw on some rank, every rank throws the status and sentence of
  // the first such rank. All frames in the order of ranks. Throws SXT_E_COMM, and SXT_E_STATE where calls or what they
  // are about differ.
  template <class F>
  const std::vector<Frame> &together(const char *call, std::uint64_t about, F &&f);
  // Bytes for each rank, which pack() gives, and from each: whole records of so many bytes. Two gathers of frames, about `about`
  // and the number after it.
  // For what a gather brought. Ends the world where it cannot be: throws SXT_E_COMM.
  template <class... Parts>
  void require_sound(bool sound, const Parts &...parts) {
    if (!sound) comm_.give_up(text("the communicator delivered what no rank sent: ", parts...));
  }
  using Parcels = std::vector<std::vector<char>>;
  Parcels swap(const char *call, std::uint64_t about, std::size_t record, const std::function<Parcels()> &pack);

 private:
  struct Hello;
  void meet_first(const std::function<Contexts()> &contexts);
  void say_hello(std::vector<Hello> &all, Hello &mine, const std::exception_ptr &failure);
  void count_members(const std::vector<Hello> &all);
  void make_room();
  void learn_rates();
  void begin_frame(const char *call, std::uint64_t about) noexcept;
  void meet();
  void write_own() noexcept;
  void read(std::size_t rank);
  void require_one_call();
  void agree(const std::exception_ptr &failure);
  void tell(const char *call, const std::exception_ptr &failure);
  void require_lengths(std::size_t record) const;

  Contexts contexts_;
  Comm comm_;
  std::size_t most_own_ = 0;
  std::vector<std::int32_t> first_of_;  // members before each rank, and all
  std::vector<std::int32_t> rank_of_;
  std::vector<double> rates_;
  // Room for gathers, made once: what meets must not run out of memory.
  std::vector<Frame> frames_;
  Frame mine_, blank_;
  std::vector<char> packed_, all_packed_;  // a frame, and those of all
  std::vector<char> sentence_, sentences_;
  std::vector<std::int64_t> own_lengths_, lengths_;  // of what a swap sends: to each rank, and of all ranks
  bool told_ = false;                                // what is thrown now, every rank throws
};

// The same within a step, so that the others learn of it: every rank throws SXT_E_COMM, and the world has ended.
template <class... Parts>
void require_delivered(bool sound, const Parts &...parts) {
  require(sound, SXT_E_COMM, "the communicator delivered what no rank sent: ", parts...);
}

// Of what was thrown; SXT_E_INTERNAL where it is none of the library's.
sxt_status status_of(const std::exception_ptr &failure) noexcept;

// Begins of consecutive parts of `rows` rows, and their end, so that part i has a share of `work` as its rate has of
// all rates. work(row): of the rows before it, which never falls; a function of its argument.
std::vector<std::int64_t> divide(std::int64_t rows, const std::vector<double> &rates,
                                 const std::function<double(std::int64_t)> &work);

template <class F>
const std::vector<Frame> &World::together(const char *call, std::uint64_t about, F &&f) {
  begin_frame(call, about);
  std::exception_ptr failure;
  try {
    f(mine_);
  } catch (...) {
    failure = std::current_exception();
    mine_.status = status_of(failure);
  }
  meet();
  agree(failure);
  return frames_;
}

template <class F>
auto World::collective(const char *call, F &&f) {
  told_ = false;
  try {
    return f();
  } catch (...) {
    if (told_ || comm_.ended()) throw;
    tell(call, std::current_exception());
    throw;  // tell has thrown
  }
}

}  // namespace sextant
