// SPDX-License-Identifier: BSD-3-Clause
// The bounds that kernels of kind sxt.residual/1 promise, on all cases of the kind, against exact arithmetic
// (tests/exact.hpp); equal bits for any number of threads; all index types.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

#include "sextant/plugin/kinds/residual.h"
#include "tests/exact.hpp"
#include "tests/plugins/conformance.hpp"
#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

const sxt_kind &kind() {
  static const sxt_kind *const found = load_own("residual-reference")->kinds[0];
  return *found;
}
std::vector<const sxt_kernel *> kernels() {
  return {&find_kernel(load_own("residual-reference"), "residual.reference.cpu"),
          &find_kernel(load_own("residual-csr"), "residual.csr.cpu")};
}

struct Exactly {
  long double squares = 0, max = 0, rhs_squares = 0, rhs_max = 0;
};

// Column c; false where a number is not finite.
template <class T>
bool exactly(const sxt_csr &a, const sxt_residual_args &args, std::int32_t c, Exactly &out) {
  const T *x = static_cast<const T *>(args.x) + c * args.ldx, *b = static_cast<const T *>(args.b) + c * args.ldb;
  const T *values = static_cast<const T *>(a.values);
  const auto re = [](T v) { return static_cast<double>(std::real(v)); };
  const auto im = [](T v) { return static_cast<double>(std::imag(v)); };
  bool all_finite = true;
  const auto add = [&](exact::Sum &sum, double u, double v, int sign = 1) {
    all_finite = all_finite && std::isfinite(u) && std::isfinite(v);
    if (all_finite) sum.add(u, v, sign);
  };
  for (std::int64_t i = 0; i < a.s.rows; ++i) {
    exact::Sum real, imaginary;
    add(real, re(b[i]), 1);
    add(imaginary, im(b[i]), 1);
    for (std::int32_t k = static_cast<const std::int32_t *>(a.row_ptr)[i];
         k < static_cast<const std::int32_t *>(a.row_ptr)[i + 1]; ++k) {
      const T v = values[k], w = x[static_cast<const std::int32_t *>(a.col)[k]];
      add(real, re(v), re(w), -1);
      add(real, im(v), im(w));
      add(imaginary, re(v), im(w), -1);
      add(imaginary, im(v), re(w), -1);
    }
    const long double r = std::fabs(real.value()), s = std::fabs(imaginary.value());
    const long double b_re = std::fabs(re(b[i])), b_im = std::fabs(im(b[i]));
    out.squares += r * r + s * s;
    out.max = std::max(out.max, r + s);
    out.rhs_squares += b_re * b_re + b_im * b_im;
    out.rhs_max = std::max(out.rhs_max, b_re + b_im);
  }
  return all_finite;
}

void within(long double exact, double norm, double bound, const char *what) {
  EXPECT_LE(std::fabs(exact - norm), bound + 1e-17L * exact) << what << " is " << norm;
}

TEST(ResidualExact, NormsAreWithinTheirBounds) {
  for (const sxt_kernel *kernel : kernels())
    for (std::uint64_t i = 0; i < kind().n_cases; ++i) {
      Case c(kind(), i);
      SCOPED_TRACE(std::string(kernel->name) + ", " + c.value.description);
      Ready ready(*kernel, c.value.query, ask_candidates(*kernel, c.value.query, make_machine())[0], c.value.a);
      ASSERT_EQ(ready.run(c.value.args), SXT_OK) << Host::sentence;
      const auto &a = sextant::plugin::as<sxt_csr>(c.value.a);
      const auto &args = sextant::plugin::as<sxt_residual_args>(c.value.args);
      for (std::int32_t column = 0; column < args.n_rhs; ++column) {
        Exactly truth;
        bool finite = false;
        sextant::plugin::with_value_type(a.s.value_type, [&](auto tag) {
          finite = exactly<typename decltype(tag)::type>(a, args, column, truth);
          return SXT_OK;
        });
        const sxt_residual_norms &got = args.norms[column];
        if (!finite) {
          EXPECT_FALSE(std::isfinite(got.norm_2) && std::isfinite(got.norm_max));
          continue;
        }
        within(std::sqrt(truth.squares), got.norm_2, got.bound_2, "norm_2");
        within(truth.max, got.norm_max, got.bound_max, "norm_max");
        within(std::sqrt(truth.rhs_squares), got.rhs_2, got.rhs_bound_2, "rhs_2");
        within(truth.rhs_max, got.rhs_max, got.rhs_bound_max, "rhs_max");
      }
    }
}

TEST(ResidualExact, EqualBitsForAnyNumberOfThreads) {
  const sxt_kernel &kernel = *kernels()[1];
  for (std::uint64_t i = 0; i < kind().n_cases; ++i) {
    std::vector<sxt_residual_norms> first;
    for (const int threads : {1, 2, 5}) {
      Case c(kind(), i);
      Ready ready(kernel, c.value.query, candidate_of(kernel, c.value.query, threads), c.value.a);
      ASSERT_EQ(ready.run(c.value.args), SXT_OK);
      const auto &args = sextant::plugin::as<sxt_residual_args>(c.value.args);
      const std::vector<sxt_residual_norms> norms(args.norms, args.norms + args.n_rhs);
      if (first.empty()) first = norms;
      EXPECT_EQ(std::memcmp(first.data(), norms.data(), norms.size() * sizeof norms[0]), 0) << c.value.description;
    }
  }
}

// 3e18 + 0.25 - 3e18 and the like: a residual that is lost in working precision.
TEST(ResidualExact, SeesWhatWorkingPrecisionDoesNot) {
  Random random(1, 1);
  Matrix matrix(Pattern{1, 3, {{0, 1, 2}}}, SXT_F64, random);
  matrix.values().set(0, 3e18);
  matrix.values().set(1, 1);
  matrix.values().set(2, -3e18);
  for (int types = 0; types < 4; ++types) {
    WideCsr wide(matrix, types & 1, types & 2);
    for (const sxt_kernel *kernel : kernels()) {
      Array x(SXT_F64, 3), b(SXT_F64, 1), r(SXT_F64, 1);
      x.set(0, 1), x.set(1, 0.25), x.set(2, 1);
      b.set(0, 0.25 + 0x1p-50);
      sxt_residual_query query{};
      query.m = matrix.query(SXT_KIND_RESIDUAL, sizeof query, SXT_F64);
      query.n_rhs = 1;
      sxt_residual_norms norms{};
      sxt_residual_args args{};
      args.h = {sizeof args, SXT_KIND_RESIDUAL};
      args.n_rhs = 1;
      args.x = x.data();
      args.b = b.data();
      args.r = r.data();
      args.norms = &norms;
      Ready ready(*kernel, &query.m.q, candidate_of(*kernel, &query.m.q, 1), &wide.csr.s.h);
      ASSERT_EQ(ready.run(&args.h), SXT_OK);
      EXPECT_EQ(r.at(0), 0x1p-50) << kernel->name;
      EXPECT_DOUBLE_EQ(norms.norm_2, 0x1p-50);
      EXPECT_LT(norms.bound_2, 1e-8);
      EXPECT_NEAR(norms.size_2, 6e18, 6e16);
    }
  }
}

}  // namespace
}  // namespace plugin_test
