// SPDX-License-Identifier: BSD-3-Clause
// The Cholesky factor of min(i, j) + 1: its lower triangle is all ones.
#pragma once

#include <sextant/plugin/kinds/dense.h>

#include <algorithm>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_dense_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_DENSE, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 100}, bench_size = 300;

  Problem(const sextant::Context &context, std::int64_t n)
      : Selected(context, SXT_KIND_DENSE, query(n)),
        order_(static_cast<std::int32_t>(n)),
        ld_(n),
        host_(static_cast<std::size_t>(n * n)),
        a_(sextant::Vector::zeros<double>(context, n * n)),
        pointer_(a_.data<double>().data()) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        host_[static_cast<std::size_t>(i + j * n)] = static_cast<double>(std::min(i, j) + 1);
    args_.operation = SXT_DENSE_POTRF;
    args_.value_type = SXT_F64;
    args_.count = 1;
    args_.n = &order_;
    args_.a = &pointer_;
    args_.lda = &ld_;
    args_.info = &info_;
  }

  void run() {
    a_.write(host_);  // it is factored in place
    Selected::run();
  }
  double error() const {
    const std::vector<double> got = a_.to_host<double>();
    trial::Distance distance(1e-12);
    for (std::int64_t j = 0; j < order_; ++j)
      for (std::int64_t i = j; i < order_; ++i) distance.add(got[static_cast<std::size_t>(i + j * ld_)], 1);
    return info_ == 0 ? distance.worst() : std::numeric_limits<double>::infinity();
  }

 private:
  static sxt_dense_query query(std::int64_t n) {
    auto query = trial::query_of<sxt_dense_query>(SXT_KIND_DENSE);
    query.operation = SXT_DENSE_POTRF;
    query.count = 1;
    query.max_n = n;
    query.flops = static_cast<double>(n * n * n) / 3;
    return query;
  }

  std::int32_t order_, info_ = -1;
  std::int64_t ld_;
  std::vector<double> host_;
  sextant::Vector a_;
  void *pointer_;
};
