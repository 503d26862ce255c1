// SPDX-License-Identifier: BSD-3-Clause
// Matrices over CSR arrays of the caller: products, and new values with the same pattern.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {
namespace {

std::shared_ptr<Context> cpu() {
  ContextSettings settings;
  settings.device = "cpu";
  settings.threads = 2;
  return std::make_shared<Context>(settings);
}

// 2 on the diagonal, `above` behind it.
struct Upper {
  explicit Upper(std::int64_t n, double above) : n(n) {
    for (std::int64_t i = 0; i < n; ++i) {
      col.push_back(static_cast<std::int32_t>(i));
      values.push_back(2);
      if (i + 1 < n) col.push_back(static_cast<std::int32_t>(i + 1)), values.push_back(above);
      ptr.push_back(static_cast<std::int64_t>(col.size()));
    }
    narrow.assign(ptr.begin(), ptr.end());
  }
  sxt_csr view(bool wide) const {
    sxt_csr out{};
    out.s.h = {sizeof out, SXT_KIND_STORAGE_CSR};
    out.s.value_type = SXT_F64;
    out.s.index_type = SXT_I32;
    out.s.offset_type = wide ? SXT_I64 : SXT_I32;
    out.s.space = SXT_SPACE_HOST;
    out.s.rows = out.s.cols = n;
    out.s.nnz = static_cast<std::int64_t>(col.size());
    out.row_ptr = wide ? static_cast<const void *>(ptr.data()) : narrow.data();
    out.col = col.data();
    out.values = values.data();
    return out;
  }
  std::int64_t n;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> narrow, col;
  std::vector<double> values;
};

std::vector<double> product(Runner &runner, std::int64_t n) {
  std::vector<double> x(static_cast<std::size_t>(n), 1), y(static_cast<std::size_t>(n), -1);
  const double one = 1, zero = 0;
  sxt_spmv_args args{
      {sizeof args, SXT_KIND_SPMV}, SXT_NO_TRANSPOSE, 1, n, n, {&one, 0, 0}, {&zero, 0, 0}, x.data(), y.data()};
  runner.run(&args.h);
  return y;
}

// Every storage format that a product reads follows the arrays to new values and new addresses.
TEST(MatrixOfAView, EveryStorageFollowsNewValues) {
  const auto context = cpu();
  constexpr std::int64_t n = 300;
  for (const bool wide : {false, true}) {
    const Upper first(n, 1), second(n, 5);
    const auto matrix = Matrix::of_view(context, first.view(wide), SXT_GENERAL);
    EXPECT_EQ(matrix->csr().offset_type, SXT_I32);
    EXPECT_NE(matrix->pattern_hash(), 0u);
    sxt_spmv_query query{};
    query.m = matrix->query_part(SXT_KIND_SPMV, sizeof query, 1e6);
    query.n_rhs = 1;
    std::vector<std::unique_ptr<Runner>> runners;
    for (const ChoicePtr &choice : Selector(*context, matrix.get()).every({Query(&query.m.q), "factor"}))
      runners.push_back(std::make_unique<Runner>(*context, choice, matrix.get()));
    EXPECT_GE(matrix->storages().size(), 3u);
    for (const Upper *values : {&first, &second}) {
      if (values == &second) matrix->view_changed(second.view(wide));
      for (const auto &runner : runners) {
        const std::vector<double> y = product(*runner, n);
        EXPECT_EQ(y.front(), 2 + values->values[1]) << runner->choice().kernel->name();
        EXPECT_EQ(y.back(), 2) << runner->choice().kernel->name();
      }
    }
  }
}

TEST(MatrixOfAView, WhatCannotBeIsRefused) {
  const auto context = cpu();
  const Upper arrays(20, 1), others(21, 1);
  const auto refused = [&](auto &&change) {
    sxt_csr view = arrays.view(false);
    change(view);
    EXPECT_THROW(Matrix::of_view(context, view, SXT_GENERAL), Error);
  };
  refused([](sxt_csr &view) { view.values = nullptr; });
  refused([](sxt_csr &view) { view.row_ptr = nullptr; });
  refused([](sxt_csr &view) { view.s.rows = -1; });
  refused([](sxt_csr &view) { view.s.index_type = SXT_I64; });
  const auto matrix = Matrix::of_view(context, arrays.view(false), SXT_GENERAL);
  EXPECT_THROW(matrix->view_changed(others.view(false)), Error);
}

}  // namespace
}  // namespace sextant
