// SPDX-License-Identifier: BSD-3-Clause
// y = 2 A x - y, exact. Row i of A has entries in three neighbouring columns, of which i is one. Where the kernel takes
// other matrices alone, change first(), width() and entry(): the matrix and its answer both follow from them.
#pragma once

#include <sextant/plugin/kinds/spmv.h>

#include <algorithm>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_spmv_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_SPMV, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000, 4097}, bench_size = 1000000;

  Problem(const sextant::Context &context, std::int64_t n) : Problem(context, n, matrix(context, n)) {}

  double error() const {
    const std::vector<double> got = y_.to_host<double>();
    trial::Distance distance(1e-15);
    for (std::int64_t i = 0; i < n_; ++i) {
      double sum = 0;
      for (std::int64_t j = first(i, n_); j < first(i, n_) + width(n_); ++j) sum += entry(i, j) * trial::number(j);
      distance.add(got[static_cast<std::size_t>(i)], 2 * sum - trial::number(i));
    }
    return distance.worst();
  }

 private:
  // The columns first(i, n), first(i, n) + 1, ... of row i, and A's entry in column j.
  static std::int64_t width(std::int64_t n) { return std::min<std::int64_t>(n, 3); }
  static std::int64_t first(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i - 1, 0, n - width(n)); }
  static double entry(std::int64_t i, std::int64_t j) { return static_cast<double>(1 + (i + 2 * j) % 5); }

  static sextant::Matrix matrix(const sextant::Context &context, std::int64_t n) {
    std::vector<std::int32_t> row_ptr{0}, col;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = first(i, n); j < first(i, n) + width(n); ++j) {
        col.push_back(static_cast<std::int32_t>(j));
        values.push_back(entry(i, j));
      }
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
    return sextant::Matrix::from_csr(context, n, n, row_ptr, col, values);
  }
  static sxt_spmv_query query() {
    auto query = trial::matrix_query_of<sxt_spmv_query>(SXT_KIND_SPMV);
    query.op = SXT_NO_TRANSPOSE;
    query.n_rhs = 1;
    return query;
  }
  Problem(const sextant::Context &context, std::int64_t n, const sextant::Matrix &matrix)
      : Selected(context, SXT_KIND_SPMV, query(), matrix),
        n_(n),
        x_(sextant::Vector::copy_of(context, trial::numbers(n))),
        y_(sextant::Vector::copy_of(context, trial::numbers(n))) {
    args_.op = SXT_NO_TRANSPOSE;
    args_.n_rhs = 1;
    args_.alpha = {&alpha_, 0, 0};
    args_.beta = {&beta_, 0, 0};
    args_.x = x_.data<double>().data();
    args_.y = y_.data<double>().data();
  }

  const double alpha_ = 2, beta_ = -1;
  std::int64_t n_;
  sextant::Vector x_, y_;
};
