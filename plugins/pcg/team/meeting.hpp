// SPDX-License-Identifier: BSD-3-Clause
// A barrier for the members of one parallel region, at which the first member may act while all others wait: a tenth of
// what leaving the region and forking again costs. Members wait by looking; who waits long gives its core away.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

namespace team {

// Two cache lines, which some processors fetch together.
inline constexpr std::size_t apart = 128;

struct alignas(apart) Counter {
  std::atomic<std::uint64_t> value{0};
};

// A member of the region that runs now.
struct Member {
  int index, count;
  std::uint64_t met;  // meetings so far
};

class Meeting {
 public:
  explicit Meeting(int most_members)
      : patience_(most_members > cores() ? 0 : patient),
        arrived_(std::make_unique<Counter[]>(static_cast<std::size_t>(most_members))) {}

  // A member at the beginning of a region.
  Member member(int index, int count) const { return {index, count, released_.value.load(std::memory_order_relaxed)}; }

  // Returns when everybody has called it and the first member has run f. What a member wrote before is seen by f, and
  // what f wrote by all.
  template <class F>
  void meet(Member &me, F &&f) {
    ++me.met;
    if (me.count == 1) return released_.value.store(me.met, std::memory_order_relaxed), f();
    // Arrivals are collected up a tree, so that no line is written by many.
    for (int i = 1; i <= fan; ++i)
      if (const int child = fan * me.index + i; child < me.count) await(arrived_[child].value, me.met);
    if (me.index == 0) {
      f();
      released_.value.store(me.met, std::memory_order_release);
    } else {
      arrived_[me.index].value.store(me.met, std::memory_order_release);
      await(released_.value, me.met);
    }
  }

 private:
  static constexpr int fan = 4;
  static constexpr int eager = 64, patient = 2048;  // looks without a pause; looks before the core is given away

  void await(const std::atomic<std::uint64_t> &counter, std::uint64_t value) const {
    for (int looks = 0; counter.load(std::memory_order_acquire) != value; ++looks) {
      if (looks >= patience_)
        std::this_thread::yield();
      else if (looks >= eager)
        pause();
    }
  }
  static int cores() {
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
  }
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
};

// Calls f(index, count) once in each of at most `threads` threads at the same time. f must not throw.
template <class F>
void in_region(int threads, F &&f) {
  if (threads <= 1) return f(0, 1);
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  f(omp_get_thread_num(), omp_get_num_threads());
#else
  f(0, 1);
#endif
}

}  // namespace team
