// SPDX-License-Identifier: BSD-3-Clause
// The process's one pool of threads, for core and, as service "sxt.team/1", for kernels. Threads are made when they are
// first wanted, sleep when they have nothing to do, and are lent to one caller at a time: callers that compute at once
// share them. Nothing waits for a thread that has not come, so that busy cores cost what they take and no more.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sextant::threads {

// Most threads that one call may use.
inline constexpr int most = 1024;

// work(arg, part) for every part, on at most `threads` threads with the caller. One part or one thread wakes none.
void run(int parts, int threads, void (*work)(void *, std::int32_t part), void *arg) noexcept;
// work(arg, rank, size) at the same time on as many of `threads` threads as come soon.
void meet(int threads, void (*work)(void *, std::int32_t rank, std::int32_t size), void *arg) noexcept;

// How often this process was forked off another that used the library: 0 in the first.
std::uint64_t forks() noexcept;

// f(part) for every part. f must not throw.
template <class F>
void for_parts(int parts, int team, F &&f) {
  if (parts <= 1 || team <= 1) {
    for (int part = 0; part < parts; ++part) f(part);
    return;
  }
  run(
      parts, team, [](void *arg, std::int32_t part) { (*static_cast<std::remove_reference_t<F> *>(arg))(part); },
      const_cast<void *>(static_cast<const void *>(&f)));
}

}  // namespace sextant::threads
