// SPDX-License-Identifier: BSD-3-Clause
// Values of many matrices of one pattern, in the order in which the analysed matrix takes new values: the structure by
// which schedulers read them where they lie, and their comparison with their mirror images.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cholesky/analysis.hpp"
#include "core/cholesky/array.hpp"

namespace sextant::cholesky {

// The analysis's structure with A's entries found in the caller's order. Read-only once made.
class SetStructure {
 public:
  // Throws SXT_E_NOT_SUPPORTED, SXT_E_NOT_SYMMETRIC where one value of a set is not one entry of a Hermitian matrix.
  explicit SetStructure(const Analysis &analysis);
  SetStructure(const SetStructure &) = delete;

  const sxt_symbolic &view() const noexcept { return view_; }
  std::int64_t n_values() const noexcept { return n_values_; }  // of a set
  std::uint64_t bytes() const noexcept { return from_.bytes() + to_.bytes(); }

 private:
  void find_entries(const Matrix &matrix);

  sxt_symbolic view_;
  std::int64_t n_values_;
  Array<std::int64_t> from_, to_;  // none where the caller's order is A's own
};

// Room to compare sets on several threads, each in memory of its own.
class SetComparison {
 public:
  explicit SetComparison(const Analysis &analysis);  // throws SXT_E_MEMORY

  bool is_needed() const noexcept { return !workers_.empty(); }
  std::uint64_t bytes() const noexcept;
  // f(set, sentence) for each set whose values differ from their mirror images by more than roundings do; from several
  // threads, in no order. values: of `count` sets, `stride` values apart, in host memory.
  template <class F>
  void run(const void *values, std::int64_t stride, std::int64_t count, F &&f);

 private:
  struct Worker {
    CsrArrays csr;  // A's pattern
    Buffer work;
  };
  std::string why_not(Worker &worker, const void *values) const;
  void for_sets(std::int64_t count, void (*one)(void *arg, std::int64_t set, int worker), void *arg) const;

  const Matrix &matrix_;
  double tolerance_;
  bool gathers_;  // the caller's order is not A's own
  std::vector<Worker> workers_;
};

template <class F>
void SetComparison::run(const void *values, std::int64_t stride, std::int64_t count, F &&f) {
  const auto step = static_cast<std::uint64_t>(stride * value_bytes(matrix_.value_type()));
  auto one = [&](std::int64_t set, int worker) {
    const std::string sentence = why_not(workers_[static_cast<std::size_t>(worker)],
                                         static_cast<const char *>(values) + static_cast<std::uint64_t>(set) * step);
    if (!sentence.empty()) f(set, sentence);
  };
  for_sets(
      count, [](void *arg, std::int64_t set, int worker) { (*static_cast<decltype(one) *>(arg))(set, worker); }, &one);
}

}  // namespace sextant::cholesky
