// SPDX-License-Identifier: BSD-3-Clause
// Independent parts of host work shared among threads, and memory that they fill.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

#include "sextant/sdk/cpu/threads.hpp"

namespace persistent {

// f(i) for every i below count; of their exceptions the first, in the order of i, is rethrown to the caller.
template <class F>
void each_in_team(std::int32_t count, int threads, F &&f) {
  std::exception_ptr problem;
  std::int32_t problem_at = count;
  std::mutex lock;  // of both
  std::atomic<std::int32_t> next{0};
  const int shares = std::clamp(threads, 1, std::max(1, count));
  sextant::plugin::for_each_part(shares, shares, [&](int) {
    for (std::int32_t i = next++; i < count; i = next++) {
      try {
        f(i);
      } catch (...) {
        const std::lock_guard alone(lock);
        if (i >= problem_at) continue;
        problem_at = i;
        problem = std::current_exception();
      }
    }
  });
  if (problem) std::rethrow_exception(problem);
}

// Values that are written once by the threads that compute them: not cleared, so that these threads also touch the
// pages first.
template <class T>
class Filled {
 public:
  Filled() = default;
  explicit Filled(std::size_t size) : values_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}
  T *data() const { return values_.get(); }
  std::size_t size() const { return size_; }
  T &operator[](std::size_t i) const { return values_[i]; }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
};

}  // namespace persistent
