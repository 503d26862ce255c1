// SPDX-License-Identifier: BSD-3-Clause
// A path of n rows in a shuffled order: the ordering must be a permutation, and neighbours must come close together.
#pragma once

#include <sextant/plugin/kinds/ordering.h>

#include <algorithm>
#include <numeric>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_ordering_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_ORDERING, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000}, bench_size = 10000;

  Problem(const sextant::Context &context, std::int64_t n) : Problem(context, n, path(context, n)) {}

  double error() const {
    std::vector<std::int32_t> place(perm_.size(), -1);
    for (std::size_t k = 0; k < perm_.size(); ++k)
      if (perm_[k] >= 0 && perm_[k] < args_.n) place[static_cast<std::size_t>(perm_[k])] = static_cast<std::int32_t>(k);
    std::int32_t bandwidth = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (place[i] < 0) return std::numeric_limits<double>::infinity();  // a row is missing
      for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k)
        bandwidth = std::max(bandwidth,
                             std::abs(place[i] - place[static_cast<std::size_t>(col_[static_cast<std::size_t>(k)])]));
    }
    return bandwidth;  // 1 for a path
  }

 private:
  // Neighbours on the path are rows i and i + 7 (modulo n); n is no multiple of 7, but for 7 itself.
  static sextant::Matrix path(const sextant::Context &context, std::int64_t n) {
    std::vector<std::int32_t> row, col;
    std::vector<double> values;
    const auto at = [n](std::int64_t k) { return static_cast<std::int32_t>(n == 7 ? k : k * 7 % n); };
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t l = std::max<std::int64_t>(0, k - 1); l <= std::min(n - 1, k + 1); ++l)
        row.push_back(at(k)), col.push_back(at(l)), values.push_back(k == l ? 2 : -1);
    return sextant::Matrix::from_coo(context, n, n, row, col, values);
  }
  Problem(const sextant::Context &context, std::int64_t n, const sextant::Matrix &matrix)
      : Selected(context, SXT_KIND_ORDERING, trial::matrix_query_of<sxt_ordering_query>(SXT_KIND_ORDERING), matrix),
        perm_(static_cast<std::size_t>(n)) {
    const auto csr = matrix.csr<double>();
    row_ptr_.assign(csr.row_ptr.begin(), csr.row_ptr.end());
    col_.assign(csr.col.begin(), csr.col.end());
    args_.n = n;
    args_.index_type = args_.offset_type = SXT_I32;
    args_.row_ptr = row_ptr_.data();
    args_.col = col_.data();
    args_.perm = perm_.data();
  }

  std::vector<std::int32_t> row_ptr_, col_, perm_;
};
