// SPDX-License-Identifier: BSD-3-Clause
// Runs a graph of tasks on a team: one queue, smallest key first, under one lock. The work itself says what a task that
// is done makes ready, so that no graph is stored.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "sextant/sdk/cancel.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant_cholesky_tasks {

// A task: its unit, and its tile where the unit has tiles.
using Key = std::uint64_t;
inline Key key_of(std::int64_t unit, std::int64_t j = 0, std::int64_t i = 0) {
  return static_cast<Key>(unit) << 40 | static_cast<Key>(j) << 20 | static_cast<Key>(i);
}
inline std::int64_t unit_in(Key key) { return static_cast<std::int64_t>(key >> 40); }
inline std::int64_t column_in(Key key) { return static_cast<std::int64_t>(key >> 20 & 0xfffff); }
inline std::int64_t row_in(Key key) { return static_cast<std::int64_t>(key & 0xfffff); }

// A heap in memory that is lent: as many keys as can be ready at once.
class Queue {
 public:
  explicit Queue(Key *memory) : keys_(memory) {}
  void push(Key key) {
    keys_[size_++] = key;
    std::push_heap(keys_, keys_ + size_, std::greater<>());
  }
  bool pop(Key &key) {
    if (size_ == 0) return false;
    std::pop_heap(keys_, keys_ + size_, std::greater<>());
    key = keys_[--size_];
    return true;
  }
  std::int64_t size() const { return size_; }

 private:
  Key *keys_;
  std::int64_t size_ = 0;
};

// Work offers: start(Queue &), once; run(Key, int rank), several at once; finish(Key, Queue &) -> bool, one at a time:
// false after the last task. The same queue order on one thread as on many, where keys allow.
template <class Work>
class Graph {
 public:
  Graph(Work &work, Key *memory, const volatile std::int32_t *cancel) : work_(work), queue_(memory), cancel_(cancel) {}

  // False where it was cancelled. Nothing of it throws: a mutex and a condition variable allocate nothing.
  bool run(int threads) {
    work_.start(queue_);
    done_ = queue_.size() == 0;
    sextant::plugin::in_team(threads, [&](int rank, int) { serve(rank); });
    return !cancelled_;
  }

 private:
  void serve(int rank) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (Key key; !done_;) {
      if (!queue_.pop(key)) {
        wait(lock);
        continue;
      }
      if (sextant::plugin::is_cancelled(cancel_)) {
        cancelled_ = done_ = true;
        break;
      }
      tell();
      lock.unlock();
      work_.run(key, rank);
      lock.lock();
      if (!work_.finish(key, queue_)) done_ = true;
    }
    ready_.store(1, std::memory_order_release);  // a thread that looks finds that it is done
    if (sleeping_ > 0) changed_.notify_all();
  }

  // What is ready beside the task that this thread has taken: a chain of tasks stays on one thread and disturbs no
  // other. One sleeper is woken, which wakes the next.
  void tell() {
    ready_.store(queue_.size(), std::memory_order_release);
    if (sleeping_ > 0 && queue_.size() > 0) changed_.notify_one();
  }

  // Looks for a while, because most tasks are short, then sleeps.
  void wait(std::unique_lock<std::mutex> &lock) {
    ready_.store(0, std::memory_order_relaxed);
    lock.unlock();
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (ready_.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < end) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    lock.lock();
    if (done_ || queue_.size() > 0 || ready_.load(std::memory_order_relaxed) > 0) return;
    ++sleeping_;
    changed_.wait(lock);
    --sleeping_;
  }

  Work &work_;
  Queue queue_;
  const volatile std::int32_t *cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::int64_t> ready_{0};  // tasks in the queue as other threads see them: 0 while one has the lock
  int sleeping_ = 0;
  bool done_ = false, cancelled_ = false;
};

}  // namespace sextant_cholesky_tasks
