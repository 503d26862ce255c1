// SPDX-License-Identifier: BSD-3-Clause
// A batch of Hermitian systems of different orders behind pointers, with separate leading dimensions, one switched off,
// one that is not positive definite: each is treated separately, and none touches another's memory.
#include <gmock/gmock.h>

#include <complex>
#include <cstdint>

#include "sextant/plugin/kinds/hermitian.h"
#include "support.hpp"

namespace composition {
namespace {

using Complex = std::complex<double>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Hermitian : public HardCase {};

constexpr Complex untouched{-7, 7};  // above the diagonal and in the padding

// Order n behind leading dimension ld: diagonally dominant in the lower triangle.
std::vector<Complex> definite(std::int32_t n, std::int64_t ld) {
  std::vector<Complex> a(static_cast<std::size_t>(ld) * n, untouched);
  for (std::int32_t j = 0; j < n; ++j)
    for (std::int32_t i = j; i < n; ++i)
      a[i + j * ld] = i == j ? Complex(n + 1.0) : Complex(0.5 / (1 + i - j), 0.25 * (i - j) / n);
  return a;
}

// The batch of every test: its memory, and the old content.
struct Batch {
  const std::vector<std::int32_t> orders{1, 5, 9, 4, 3};
  const std::vector<std::int64_t> ld{1, 8, 9, 7, 3};
  std::vector<std::vector<Complex>> before;
  std::vector<std::unique_ptr<DeviceArray<Complex>>> matrices;
  DeviceArray<void *> pointers{5};
  DeviceArray<std::int64_t> ld_each{std::vector<std::int64_t>(ld)};
  DeviceArray<std::uint8_t> active{std::vector<std::uint8_t>{1, 1, 1, 0, 1}};
  DeviceArray<std::int32_t> info{std::vector<std::int32_t>(5, 99)};
  sxt_hermitian_query query{};
  sxt_hermitian_args args{};

  Batch() {
    for (std::size_t s = 0; s < orders.size(); ++s) before.push_back(definite(orders[s], ld[s]));
    before[1][2 + 2 * ld[1]] = -1;  // the third pivot of the second system
    for (std::size_t s = 0; s < orders.size(); ++s) {
      matrices.push_back(std::make_unique<DeviceArray<Complex>>(before[s]));
      pointers[s] = matrices.back()->data();
    }
    query.q = {{sizeof query, SXT_KIND_HERMITIAN}, 1, 0, SXT_C128};
    query.batch = 5;
    query.n_max = 9;
    for (const double n : orders) query.sum_n1 += n, query.sum_n2 += n * n, query.sum_n3 += n * n * n;
    query.phase = SXT_HERMITIAN_FACTOR;
    query.definiteness = SXT_HERMITIAN_DEFINITE;
    query.triangle = SXT_LOWER;
    query.pointer_array = query.orders_vary = 1;
    args.h = {sizeof args, SXT_KIND_HERMITIAN};
    args.phase = query.phase;
    args.definiteness = query.definiteness;
    args.value_type = SXT_C128;
    args.triangle = SXT_LOWER;
    args.batch = 5;
    args.n_max = 9;
    args.orders = orders.data();
    args.a_array = pointers.data();
    args.lda_each = ld_each.data();
    args.active = active.data();
    args.info = info.data();
  }
};

// Whether L L^H, from the lower triangle of `factor`, is the lower triangle of `a`; and that nothing else was written.
void expect_factor(const std::vector<Complex> &factor, const std::vector<Complex> &a, std::int32_t n, std::int64_t ld) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < ld; ++i) {
      if (i < j || i >= n) {
        EXPECT_EQ(factor[i + j * ld], untouched) << "written at " << i << ", " << j;
        continue;
      }
      Complex sum = 0;
      for (std::int64_t k = 0; k <= j; ++k) sum += factor[i + k * ld] * std::conj(factor[j + k * ld]);
      EXPECT_LT(std::abs(sum - a[i + j * ld]), 1e-13 * (n + 1)) << i << ", " << j;
    }
}

TEST_F(Hermitian, MixedOrdersBehindPointersAreFactoredSeparately) {
  const Context context = open_context("deferred");
  Batch batch;
  const Selection selection = select(context, batch.query.q);
  ASSERT_STREQ(sxt_selection_kernel(selection.get()), "hermitian.each.deferred");
  ASSERT_EQ(sxt_kernel_run(selection.get(), &batch.args.h), SXT_OK) << sxt_last_error(context.get());
  EXPECT_THAT(batch.info.host(), ElementsAre(0, 3, 0, -2, 0));
  for (const std::size_t s : {0, 2, 4})
    expect_factor(batch.matrices[s]->host(), batch.before[s], batch.orders[s], batch.ld[s]);
  EXPECT_EQ(batch.matrices[3]->host(), batch.before[3]) << "a system that is switched off was touched";
}

TEST_F(Hermitian, TheModelSeesTheOrdersWithoutReadingTheDevice) {
  const Context context = open_context("deferred");
  Batch batch;
  double mixed_s = 0, uniform_s = 0;
  sxt_selection_cost(select(context, batch.query.q).get(), nullptr, &mixed_s);
  batch.query.sum_n3 = 5 * 9.0 * 9 * 9;  // all of the largest order
  sxt_selection_cost(select(context, batch.query.q).get(), nullptr, &uniform_s);
  EXPECT_NEAR(mixed_s, 5e-7 + 4e-9 / 3 * (1 + 125 + 729 + 64 + 27), 1e-15);
  EXPECT_GT(uniform_s, 2 * mixed_s);
}

TEST_F(Hermitian, WhatNoKernelOffersIsRefusedWithTheReason) {
  const Context context = open_context("deferred");
  Batch batch;
  batch.query.definiteness = SXT_HERMITIAN_INDEFINITE;
  EXPECT_EQ(try_select(context, batch.query.q), SXT_E_NO_KERNEL);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("it knows no pivoting"));
  batch.query.definiteness = SXT_HERMITIAN_DEFINITE;
  batch.query.q.value_type = SXT_F32;
  EXPECT_EQ(try_select(context, batch.query.q), SXT_E_NO_KERNEL);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("does not compute in f32"));
}

}  // namespace
}  // namespace composition
