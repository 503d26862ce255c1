// SPDX-License-Identifier: BSD-3-Clause
// Loops of the symbolic phase over the library's threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/threads/pool.hpp"

namespace sextant::cholesky {

// f(begin, end) for parts of 0 .. n-1; each thread takes the next part when it is done with one. f must not throw.
template <class F>
void for_ranges(std::int64_t n, int threads, F &&f) {
  constexpr std::int64_t least = 4096, parts_each = 8;  // below: not worth a thread
  const std::int64_t parts = std::clamp<std::int64_t>(n / least, 1, parts_each * std::max(1, threads));
  const int team = static_cast<int>(std::min<std::int64_t>(threads, parts));
  if (team <= 1) return f(std::int64_t{0}, n);
  std::atomic<std::int64_t> next{0};
  threads::for_parts(team, team, [&](int) {
    for (std::int64_t part; (part = next.fetch_add(1, std::memory_order_relaxed)) < parts;)
      f(n * part / parts, n * (part + 1) / parts);
  });
}

// f(task, worker) for tasks 0 .. n-1, begun in that order; worker < threads tells what a task may work with. f must not
// throw.
template <class F>
void for_tasks(std::int64_t n, int threads, F &&f) {
  const int team = static_cast<int>(std::clamp<std::int64_t>(n, 1, std::max(1, threads)));
  std::atomic<std::int64_t> next{0};
  threads::for_parts(team, team, [&](int worker) {
    for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < n;) f(task, worker);
  });
}

// Keeps the least of what threads find.
inline void keep_least(std::atomic<std::int64_t> &least, std::int64_t value) {
  std::int64_t before = least.load(std::memory_order_relaxed);
  while (value < before && !least.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

}  // namespace sextant::cholesky
