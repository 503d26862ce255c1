// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/threads_comm.hpp"

#include <chrono>
#include <cstring>

#include "core/base/error.hpp"

namespace sextant {

namespace {

// A comm's functions must not throw: what went wrong is a status.
template <class F>
sxt_status answered(F &&f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc &) {
    return SXT_E_MEMORY;
  } catch (...) {
    return SXT_E_INTERNAL;
  }
}

}  // namespace

ThreadsComm::ThreadsComm(std::int32_t size) {
  require(size >= 1, SXT_E_ARGUMENT, "size is ", size, "; a communicator has at least one rank");
  for (std::int32_t rank = 0; rank < size; ++rank) ranks_.push_back({this, rank});
  gathered_ = std::make_shared<Gathered>(ranks_.size());
}

sxt_comm ThreadsComm::of(std::int32_t rank) {
  const auto size = static_cast<std::int32_t>(ranks_.size());
  require(rank >= 0 && rank < size, SXT_E_INDEX, "rank ", rank, " is outside 0 to ", size - 1);
  return {sizeof(sxt_comm), &ranks_[static_cast<std::size_t>(rank)], rank, size, gather, exchange, wait, abort};
}

// A deadline that is beyond the clock's range would lie in the past.
template <class F>
bool ThreadsComm::wait_for(std::unique_lock<std::mutex> &lock, double seconds, F &&ready) {
  constexpr double longest = 1e8;
  const auto most = std::chrono::duration<double>(seconds < longest ? seconds : longest);
  changed_.wait_for(lock, std::chrono::duration_cast<std::chrono::nanoseconds>(most),
                    [&] { return ended_ || ready(); });
  return ready();  // what came before the end has come
}

sxt_status ThreadsComm::gather_as(std::int32_t rank, const char *mine, std::int64_t bytes, char *all, double seconds) {
  std::unique_lock lock(mutex_);
  if (ended_) return SXT_E_COMM;
  const std::shared_ptr<Gathered> here = gathered_;
  const auto own = static_cast<std::size_t>(rank);
  if (here->came[own]) return SXT_E_COMM;  // two threads are one rank
  here->blocks[own].assign(mine, mine + bytes);
  here->came[own] = true;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    here->unequal = here->unequal || (here->came[r] && here->blocks[r].size() != static_cast<std::size_t>(bytes));
  if (++here->count == ranks_.size()) {
    gathered_ = std::make_shared<Gathered>(ranks_.size());
    changed_.notify_all();
  } else if (!wait_for(lock, seconds, [&] { return here->count == ranks_.size(); })) {
    ended_ = true;
    changed_.notify_all();
    return SXT_E_COMM;
  }
  if (here->unequal) return SXT_E_COMM;
  for (std::size_t r = 0; r < ranks_.size() && bytes > 0; ++r)
    std::memcpy(all + static_cast<std::int64_t>(r) * bytes, here->blocks[r].data(), static_cast<std::size_t>(bytes));
  return SXT_OK;
}

sxt_status ThreadsComm::receive(std::int32_t rank, const std::vector<sxt_message_part> &parts, double seconds) {
  std::unique_lock lock(mutex_);
  for (const sxt_message_part &part : parts) {
    std::deque<Bytes> &box = boxes_[{part.rank, rank}];
    // One that lies there has arrived, whatever became of its sender.
    if (box.empty() && !wait_for(lock, seconds, [&] { return !box.empty(); })) {
      ended_ = true;
      changed_.notify_all();
      return SXT_E_COMM;
    }
    const Bytes message = std::move(box.front());
    box.pop_front();
    if (message.size() != static_cast<std::size_t>(part.bytes)) return SXT_E_COMM;
    std::memcpy(part.data, message.data(), message.size());
  }
  return SXT_OK;
}

sxt_status ThreadsComm::gather(void *user, const void *mine, std::int64_t bytes, void *all, double seconds) {
  const Rank &own = *static_cast<const Rank *>(user);
  return answered([&] {
    return own.all->gather_as(own.rank, static_cast<const char *>(mine), bytes, static_cast<char *>(all), seconds);
  });
}

sxt_status ThreadsComm::exchange(void *user, std::int32_t n_sends, const sxt_message_part *sends,
                                 std::int32_t n_receives, const sxt_message_part *receives, void **request) {
  const Rank &own = *static_cast<const Rank *>(user);
  return answered([&]() -> sxt_status {
    auto expected = std::make_unique<std::vector<sxt_message_part>>(receives, receives + n_receives);
    const std::lock_guard lock(own.all->mutex_);
    if (own.all->ended_) return SXT_E_COMM;
    for (std::int32_t i = 0; i < n_sends; ++i) {
      const char *data = static_cast<const char *>(sends[i].data);
      own.all->boxes_[{own.rank, sends[i].rank}].emplace_back(data, data + sends[i].bytes);
    }
    own.all->changed_.notify_all();
    *request = expected.release();
    return SXT_OK;
  });
}

sxt_status ThreadsComm::wait(void *user, void **request, double seconds) {
  const Rank &own = *static_cast<const Rank *>(user);
  const std::unique_ptr<std::vector<sxt_message_part>> parts(static_cast<std::vector<sxt_message_part> *>(*request));
  *request = nullptr;
  return answered([&] { return own.all->receive(own.rank, *parts, seconds); });
}

void ThreadsComm::abort(void *user, sxt_status, const char *) {
  ThreadsComm &all = *static_cast<const Rank *>(user)->all;
  const std::lock_guard lock(all.mutex_);
  all.ended_ = true;
  all.changed_.notify_all();
}

}  // namespace sextant
