// SPDX-License-Identifier: BSD-3-Clause
// Independent pieces of host work shared out over threads, and memory that they fill.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

namespace persistent {

// f(i) for every i below count; the first of what they throw, in the order of i, goes on to the caller. All of the
// threads, though some be idle: teams that change their size cost the runtime more than what is done here.
template <class F>
void each_in_team(std::int32_t count, [[maybe_unused]] int threads, F &&f) {
  std::exception_ptr problem;
  std::int32_t problem_at = count;
#ifdef _OPENMP  // CUDA files that only see this header come without it
#pragma omp parallel for schedule(dynamic, 1) num_threads(count > 1 ? threads : 1)
#endif
  for (std::int32_t i = 0; i < count; ++i) {
    try {
      f(i);
    } catch (...) {
#ifdef _OPENMP
#pragma omp critical(persistent_problem)
#endif
      if (i < problem_at) {
        problem_at = i;
        problem = std::current_exception();
      }
    }
  }
  if (problem) std::rethrow_exception(problem);
}

// Values that are written once by those who compute them: not cleared first, so pages are first touched by them too.
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
