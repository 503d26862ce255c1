// SPDX-License-Identifier: BSD-3-Clause
// A barrier for the members of one team, at which the first member may act while all others wait: it costs a tenth of
// ending and restarting the region. Members poll; a member that waits long sleeps, so that its core is free for the
// work that delays the others.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace team {

// Two cache lines, which some processors fetch together.
inline constexpr std::size_t apart = 128;

struct alignas(apart) Counter {
  std::atomic<std::uint64_t> value{0};
};

// A member of the present region.
struct Member {
  int index, count;
  std::uint64_t passed;  // barriers so far
};

class Barrier {
 public:
  explicit Barrier(int most_members)
      : patience_(most_members > cores() ? 0 : patient),
        arrived_(std::make_unique<Counter[]>(static_cast<std::size_t>(most_members))) {}

  // Total nanoseconds that the first member has waited for others beyond its normal polling. Only the first member may
  // call it.
  std::int64_t delayed() const { return delayed_; }
  static std::int64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }

  // A member at the beginning of a region.
  Member member(int index, int count) const { return {index, count, released_.value.load(std::memory_order_relaxed)}; }

  // Returns when all members have called it and the first one has run f. Writes of a member before it are visible to f,
  // and those of f to all.
  template <class F>
  void wait(Member &me, F &&f) {
    ++me.passed;
    if (me.count == 1) return released_.value.store(me.passed, std::memory_order_relaxed), f();
    // Arrivals are collected up a tree, so that no line is written by many.
    for (int i = 1; i <= fan; ++i)
      if (const int child = fan * me.index + i; child < me.count) {
        if (me.index == 0)
          await_timed(arrived_[child].value, me.passed);
        else
          await(arrived_[child].value, me.passed);
      }
    if (me.index == 0) {
      f();
      released_.value.store(me.passed, std::memory_order_release);
    } else {
      arrived_[me.index].value.store(me.passed, std::memory_order_release);
      await(released_.value, me.passed);
    }
  }

 private:
  static constexpr int fan = 4;
  static constexpr int eager = 64, patient = 2048;  // polls without a pause; polls before the core is yielded
  static constexpr int yields = 4;
  static constexpr std::chrono::microseconds nap{20};

  void await(const std::atomic<std::uint64_t> &counter, std::uint64_t value) const {
    for (int looks = 0; counter.load(std::memory_order_acquire) != value; ++looks) {
      if (looks < eager) continue;
      if (looks < patience_) {
        pause();
      } else if (looks < patience_ + yields) {  // enough where members share the core; other processes keep it longer
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(nap);
      }
    }
  }
  // The same for the first member, which measures long waits.
  void await_timed(const std::atomic<std::uint64_t> &counter, std::uint64_t value) {
    for (int looks = 0; looks < eager + patience_; ++looks) {
      if (counter.load(std::memory_order_acquire) == value) return;
      if (looks >= eager) pause();
    }
    const std::int64_t start = now();
    await(counter, value);
    delayed_ += now() - start;
  }
  static int cores() { return static_cast<int>(std::thread::hardware_concurrency()); }
  static void pause() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  int patience_;  // none where members share cores
  std::unique_ptr<Counter[]> arrived_;
  Counter released_;
  std::int64_t delayed_ = 0;
};

}  // namespace team
