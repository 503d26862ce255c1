// SPDX-License-Identifier: BSD-3-Clause
// For tests of spmv kernels with their own storage format: products over shapes, threads and instruction sets, against
// a plain sum.
#pragma once

#include <cmath>
#include <cstdint>

#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {

// How one product is run.
struct Course {
  int threads = 1, lent = 0;  // lent 0: as many as planned
  int level = 1;              // instruction set: 1 baseline, 2 AVX2, 3 AVX-512, as far as this processor has them
  sxt_op op = SXT_NO_TRANSPOSE;
  std::int32_t n_rhs = 1;
  Wide alpha = {0.5, 0.25}, beta = {-1, 0.5};
};

inline Array inputs(sxt_value_type type, std::int64_t n, std::uint64_t stream) {
  Random random(3, stream);
  return Array(type, n, random);
}

// y of a product through storage and kernel.
inline Array product_of(const sxt_kernel &storage, const sxt_kernel &kernel, Matrix &matrix, sxt_value_type type,
                        const Course &c) {
  const sxt_csr &a = matrix.csr();
  const bool plain = c.op == SXT_NO_TRANSPOSE;
  Array x = inputs(type, c.n_rhs * (plain ? a.s.cols : a.s.rows), 1);
  Array y = inputs(type, c.n_rhs * (plain ? a.s.rows : a.s.cols), 2);
  const sxt_spmv_query query = spmv_query(matrix, type, c.op, c.n_rhs);
  Ready form(storage, &query.m.q, candidate_of(storage, &query.m.q, c.threads), &a.s.h);
  EXPECT_EQ(form.status(), SXT_OK) << Host::sentence;
  sxt_candidate candidate = candidate_of(kernel, &query.m.q, c.threads);
  candidate.launch[1] = c.level;
  Ready ready(kernel, &query.m.q, candidate, view_of(storage, form));
  EXPECT_EQ(ready.status(), SXT_OK) << Host::sentence;
  Product product(x, y, c.op, c.n_rhs, c.alpha, c.beta);
  EXPECT_EQ(ready.run(&product.args.h, c.lent ? c.lent : c.threads), SXT_OK) << Host::sentence;
  EXPECT_TRUE(y.guard_intact());
  return y;
}

// The same by a plain sum in double precision; distances in units of the rounding bound.
inline double error_of(const Array &got, const Matrix &matrix, std::int64_t rows, std::int64_t cols,
                       sxt_value_type type, const Course &c) {
  const bool plain = c.op == SXT_NO_TRANSPOSE, real = !sextant::plugin::cases::complex_type(type);
  const std::int64_t in = plain ? cols : rows, out = plain ? rows : cols;
  const Array x = inputs(type, c.n_rhs * in, 1), before = inputs(type, c.n_rhs * out, 2);
  const Wide alpha = real ? c.alpha.real() : c.alpha, beta = real ? c.beta.real() : c.beta;
  double worst = 0;
  for (std::int32_t r = 0; r < c.n_rhs; ++r) {
    std::vector<Wide> sum(out);
    std::vector<double> size(out, 0);
    matrix.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
      if (c.op == SXT_CONJUGATE_TRANSPOSE) value = std::conj(value);
      const Wide element = x.at(r * in + (plain ? j : i));
      sum[plain ? i : j] += value * element;
      size[plain ? i : j] += std::abs(value) * std::abs(element) + 1e-3;
    });
    for (std::int64_t i = 0; i < out; ++i) {
      const Wide y = before.at(r * out + i), want = alpha * sum[i] + beta * y;
      const double bound = 60 * sextant::plugin::cases::epsilon(type) * (size[i] + std::abs(y) + 1e-3);
      worst = std::max(worst, std::abs(got.at(r * out + i) - want) / bound);
    }
  }
  return worst;
}

// Shapes around the width of vectors, slices and blocks, and those with empty or long rows.
inline std::vector<Pattern> tricky_patterns(Random &random) {
  using sextant::plugin::cases::banded_pattern;
  using sextant::plugin::cases::random_pattern;
  std::vector<Pattern> all = {{}, {1, 1, {{}}}, {5, 0, {{}, {}, {}, {}, {}}}, {0, 5, {}}};
  for (std::int64_t rows : {1, 7, 8, 9, 63, 64, 65, 255, 257, 511, 513, 1030})
    all.push_back(random_pattern(rows, 77, random, [&](auto i) { return (i * 7 + rows) % 19; }));
  for (std::int64_t length : {0, 1, 7, 8, 9, 15, 16, 17, 33})
    all.push_back(random_pattern(19, 50, random, [&](auto) { return length; }));
  all.push_back(random_pattern(60, 900, random, [](auto i) { return i == 41 ? 900 : 2; }));  // one dense row
  all.push_back(random_pattern(70, 3, random, [](auto i) { return i == 69 ? 3 : 0; }));      // only a last row
  all.push_back(banded_pattern(300, 310, {-20, -1, 0, 1, 20}));
  return all;
}

// Every shape on these threads and instruction sets is within the rounding bound.
inline void expect_products(const sxt_kernel &storage, const sxt_kernel &kernel, sxt_value_type type,
                            sxt_value_type stored, std::vector<sxt_op> ops = {SXT_NO_TRANSPOSE}) {
  Random random(11, static_cast<std::uint64_t>(type));
  int number = 0;
  for (const Pattern &pattern : tricky_patterns(random)) {
    Matrix matrix(pattern, stored, random);
    for (sxt_op op : ops)
      for (int threads : {1, 2, 3, 8, 61}) {
        Course c{threads, std::min(threads, 3), 1 + number % 3, op, 1 + 4 * (number % 2), {0.5, 0.25}, {-1, 0.5}};
        if (++number % 5 == 0) c.beta = 0;
        const Array y = product_of(storage, kernel, matrix, type, c);
        EXPECT_LE(error_of(y, matrix, pattern.rows, pattern.cols, type, c), 1)
            << pattern.rows << " x " << pattern.cols << ", " << threads << " threads, level " << c.level << ", op "
            << op;
      }
  }
}

// The same bits for any number of threads.
inline void expect_equal_bits(const sxt_kernel &storage, const sxt_kernel &kernel, sxt_value_type type) {
  Random random(12, 1);
  const Pattern pattern = sextant::plugin::cases::random_pattern(1100, 400, random, [&](auto i) {
    return i == 100 ? 60 : i % 7 ? random.below(30) : 0;
  });
  Matrix matrix(pattern, type, random);
  for (int level : {1, 2, 3}) {
    const Array one = product_of(storage, kernel, matrix, type, {1, 1, level, SXT_NO_TRANSPOSE, 3});
    for (int threads : {2, 3, 8, 61})
      EXPECT_TRUE(equal(one, product_of(storage, kernel, matrix, type, {threads, 2, level, SXT_NO_TRANSPOSE, 3})))
          << threads << " threads, level " << level;
  }
}

// NaN in an element of x reaches only the rows that have an entry there; NaN in y none when beta is 0.
inline void expect_no_stray_reads(const sxt_kernel &storage, const sxt_kernel &kernel) {
  Matrix matrix;
  Random random(13, 1);
  matrix = Matrix(Pattern{11, 4, {{0, 1}, {}, {1}, {1, 2, 3}, {}, {}, {0}, {2}, {1}, {}, {3}}}, SXT_F64, random);
  for (int level : {1, 2, 3}) {
    Array x = inputs(SXT_F64, 4, 1), y(SXT_F64, 11);
    x.set(0, std::nan(""));
    for (int i = 0; i < 11; ++i) y.set(i, std::nan(""));
    const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
    Ready form(storage, &query.m.q, candidate_of(storage, &query.m.q, 1), &matrix.csr().s.h);
    sxt_candidate candidate = candidate_of(kernel, &query.m.q, 1);
    candidate.launch[1] = level;
    Ready ready(kernel, &query.m.q, candidate, view_of(storage, form));
    Product product(x, y, SXT_NO_TRANSPOSE, 1, 1, 0);
    ASSERT_EQ(ready.run(&product.args.h), SXT_OK);
    for (int i = 0; i < 11; ++i) EXPECT_EQ(std::isnan(y.at(i).real()), i == 0 || i == 6) << i << ", level " << level;
  }
}

// New values through the storage and then the kernel.
inline void expect_refresh(const sxt_kernel &storage, const sxt_kernel &kernel) {
  Random random(14, 1);
  const Pattern pattern = sextant::plugin::cases::random_pattern(70, 60, random, [](auto i) { return i % 13; });
  Matrix matrix(pattern, SXT_F64, random), other(pattern, SXT_F64, random);
  const Course c{3, 3, 3};
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  Ready form(storage, &query.m.q, candidate_of(storage, &query.m.q, 3), &matrix.csr().s.h);
  Ready ready(kernel, &query.m.q, candidate_of(kernel, &query.m.q, 3), view_of(storage, form));
  ASSERT_EQ(form.refresh(&other.csr().s.h), SXT_OK);
  ASSERT_EQ(ready.refresh(view_of(storage, form)), SXT_OK);
  Array x = inputs(SXT_F64, 60, 1), y = inputs(SXT_F64, 70, 2);
  Product product(x, y, SXT_NO_TRANSPOSE, 1, c.alpha, c.beta);
  ASSERT_EQ(ready.run(&product.args.h), SXT_OK);
  EXPECT_LE(error_of(y, other, 70, 60, SXT_F64, c), 1);
  Matrix smaller({70, 60, std::vector<std::vector<std::int64_t>>(70)}, SXT_F64, random);
  EXPECT_EQ(form.refresh(&smaller.csr().s.h), SXT_E_DIMENSION);
  EXPECT_NE(Host::sentence.find("0 new values for a pattern of "), std::string::npos) << Host::sentence;
}

// Scaling reaches the product, and the diagonal is the matrix's; neither touches the source.
inline void expect_scale_and_diagonal(const sxt_kernel &storage, const sxt_kernel &kernel, sxt_value_type type) {
  Random random(15, 1);
  const Pattern pattern =
      sextant::plugin::cases::random_pattern(90, 90, random, [](auto i) { return i == 5 ? 80 : i % 9; });
  Matrix matrix(pattern, type, random), scaled(pattern, type, random);
  const sxt_spmv_query query = spmv_query(matrix, type);
  Ready form(storage, &query.m.q, candidate_of(storage, &query.m.q, 2), &matrix.csr().s.h);
  const auto &ops = *static_cast<const sxt_storage_ops *>(storage.ops);
  const sxt_exec exec = make_exec(2);
  Array diagonal(type, 90), s(sextant::plugin::cases::real_type(type), 90);
  ASSERT_EQ(ops.diagonal(form.state(), diagonal.data(), &exec), SXT_OK);
  std::vector<Wide> expected(90);
  for (int i = 0; i < 90; ++i) s.set(i, 1 << (i % 4));
  std::int64_t k = 0;
  matrix.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
    if (i == j) expected[i] = value;
    scaled.values().set(k++, value * s.at(i) * s.at(j));
  });
  for (int i = 0; i < 90; ++i) EXPECT_EQ(diagonal.at(i), expected[i]) << i;
  ASSERT_EQ(ops.scale(form.state(), s.data(), &exec), SXT_OK);
  if (!sextant::plugin::cases::complex_type(type)) {
    const Course c{2, 2, 3};
    Ready ready(kernel, &query.m.q, candidate_of(kernel, &query.m.q, 2), view_of(storage, form));
    Array x = inputs(type, 90, 1), y = inputs(type, 90, 2);
    Product product(x, y, SXT_NO_TRANSPOSE, 1, c.alpha, c.beta);
    ASSERT_EQ(ready.run(&product.args.h), SXT_OK);
    EXPECT_LE(error_of(y, scaled, 90, 90, type, c), 1);
  }
}

// Every failed allocation is reported, and nothing leaks.
inline void expect_no_leaks(const sxt_kernel &storage, int allocations) {
  Random random(16, 1);
  Matrix matrix(sextant::plugin::cases::random_pattern(40, 40, random, [](auto i) { return i % 5; }), SXT_F64, random);
  const sxt_matrix_query query = matrix.query(storage.kind, sizeof query, SXT_F64);
  const int before = Host::blocks;
  for (int allowed = 0; allowed < allocations; ++allowed) {
    Host::fail_after = allowed;
    Ready form(storage, &query.q, candidate_of(storage, &query.q, 2), &matrix.csr().s.h);
    Host::fail_after = -1;
    EXPECT_EQ(form.status(), SXT_E_MEMORY) << allowed;
  }
  EXPECT_EQ(Host::blocks, before);
}

}  // namespace plugin_test
