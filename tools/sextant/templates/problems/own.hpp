// SPDX-License-Identifier: BSD-3-Clause
// A vector of ones: smoothing leaves 1 inside and 3/4 at the ends.
#pragma once

#include "kind.hpp"
#include "trial.hpp"

class Problem : public trial::Selected<OwnArgs> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = KIND_OWN, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000, 65537}, bench_size = 4000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Selected(context, KIND_OWN, query(n)),
        n_(n),
        x_(sextant::Vector::copy_of(context, std::vector<double>(static_cast<std::size_t>(n), 1.0))),
        y_(sextant::Vector::zeros<double>(context, n)) {
    args_.n = n;
    args_.x = x_.data<double>().data();
    args_.y = y_.data<double>().data();
  }

  double error() const {
    const std::vector<double> got = y_.to_host<double>();
    trial::Distance distance(1e-15);
    for (std::int64_t i = 0; i < n_; ++i)
      distance.add(got[static_cast<std::size_t>(i)], 1 - 0.25 * (i == 0) - 0.25 * (i == n_ - 1));
    return distance.worst();
  }

 private:
  static OwnQuery query(std::int64_t n) {
    auto query = trial::query_of<OwnQuery>(KIND_OWN);
    query.n = n;
    return query;
  }

  std::int64_t n_;
  sextant::Vector x_, y_;
};
