// SPDX-License-Identifier: BSD-3-Clause
// For tests of spmv kernels: one product through the tables.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Matrix;
using sextant::plugin::cases::Pattern;
using sextant::plugin::cases::Random;
using sextant::plugin::cases::Wide;

inline sxt_spmv_query spmv_query(const Matrix &matrix, sxt_value_type type, sxt_op op = SXT_NO_TRANSPOSE,
                                 std::int32_t n_rhs = 1) {
  sxt_spmv_query query{};
  query.m = matrix.query(SXT_KIND_SPMV, sizeof query, type);
  query.op = op;
  query.n_rhs = n_rhs;
  return query;
}

// y = alpha op(A) x + beta y with arrays of the type as bytes. x and y are packed columns.
struct Product {
  sxt_spmv_args args{};
  Array alpha, beta;
  Product(const Array &x, Array &y, sxt_op op, std::int32_t n_rhs, Wide a, Wide b)
      : alpha(x.type(), 1), beta(x.type(), 1) {
    alpha.set(0, a);
    beta.set(0, b);
    args.h = {sizeof args, SXT_KIND_SPMV};
    args.op = op;
    args.n_rhs = n_rhs;
    args.ldx = x.size() / n_rhs;
    args.ldy = y.size() / n_rhs;
    args.alpha = {alpha.data(), 0, 0};
    args.beta = {beta.data(), 0, 0};
    args.x = x.data();
    args.y = y.data();
  }
};

inline bool equal(const Array &a, const Array &b) {
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (a.at(i) != b.at(i)) return false;
  return a.size() == b.size();
}

// The same matrix with other index types. CSR only borrows them.
struct WideCsr {
  std::vector<std::int64_t> row_ptr, col;
  sxt_csr csr;
  WideCsr(Matrix &matrix, bool wide_offsets, bool wide_columns)
      : row_ptr(matrix.row_ptr().begin(), matrix.row_ptr().end()),
        col(matrix.col().begin(), matrix.col().end()),
        csr(matrix.csr()) {
    if (wide_offsets) csr.row_ptr = row_ptr.data(), csr.s.offset_type = SXT_I64;
    if (wide_columns) csr.col = col.data(), csr.s.index_type = SXT_I64;
  }
};

}  // namespace plugin_test
