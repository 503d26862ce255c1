// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners by name through the C interface: correct answers, fewer iterations, refusals, new values.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

// 5-point stencil with coefficients that jump by three decades between neighbours, so that the diagonal has little
// information.
Csr jumping(int side) {
  Csr a = laplacian(side, 0.001);
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows), 0.001);
  const auto weight = [side](std::int64_t i, std::int64_t j) {
    return std::pow(10.0, 1.5 * std::sin(static_cast<double>((i + j) * (i + j))) * (std::llabs(i - j) == side));
  };
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] != i) a.values[k] = -weight(i, a.col[k]), diagonal[i] += weight(i, a.col[k]);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] == i) a.values[k] = diagonal[i];
  return a;
}

struct Solved {
  sxt_pcg_report report;
  double residual;  // |b - A x| / |b|, computed here
};

Solved solve(const Pcg &pcg, const Csr &a) {
  std::vector<double> b(static_cast<std::size_t>(a.rows)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i));
  Solved out{new_report(), 0};
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, &out.report), SXT_OK)
      << sxt_last_error(nullptr);
  out.residual = relative_residual(a, b, x);
  return out;
}

Pcg create(const Matrix &a, const std::string &method, sxt_status expected = SXT_OK, const char *format = nullptr) {
  sxt_pcg_options options = pcg_options();
  options.preconditioner = method.c_str();
  options.format = format;
  options.rtol = 1e-9;
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), &options, out); }, expected);
}

const char *const methods[] = {"block-jacobi", "block-jacobi:32", "ssor-ai",   "ssor-ai:1",  "ssor-ai-2",
                               "fsai",         "fsai-2",          "chebyshev", "chebyshev:9"};

TEST(Preconditioners, EachTakesFewerIterationsThanTheDiagonal) {
  const Context context = cpu();
  const Csr a = jumping(30);
  const Matrix matrix = a.matrix(context);
  const Solved plain = solve(create(matrix, "jacobi"), a);
  EXPECT_EQ(plain.report.reason, SXT_REASON_CONVERGED);
  for (const char *method : methods) {
    SCOPED_TRACE(method);
    const Solved other = solve(create(matrix, method), a);
    EXPECT_EQ(other.report.reason, SXT_REASON_CONVERGED);
    EXPECT_LE(other.residual, 1.0001e-9);
    EXPECT_LT(other.report.iterations, plain.report.iterations);
  }
}

// The product may read another storage than the preconditioner was made from.
TEST(Preconditioners, WorkWithEveryStorageFormatOfA) {
  const Context context = cpu();
  const Csr a = jumping(12);
  const Matrix matrix = a.matrix(context);
  for (const char *format : {"csr", "dia", "coo"})
    for (const char *method : {"block-jacobi", "ssor-ai", "fsai", "chebyshev"}) {
      SCOPED_TRACE(std::string(method) + " beside " + format);
      EXPECT_LE(solve(create(matrix, method, SXT_OK, format), a).residual, 1.0001e-9);
    }
}

TEST(Preconditioners, FollowNewValues) {
  const Context context = cpu();
  Csr a = jumping(12);
  const Matrix matrix = a.matrix(context);
  for (const char *method : methods) {
    SCOPED_TRACE(method);
    const Pcg pcg = create(matrix, method);
    solve(pcg, a);
    a = a.renewed();
    a.update(matrix);
    const Solved later = solve(pcg, a);
    EXPECT_EQ(later.report.reason, SXT_REASON_CONVERGED);
    EXPECT_LE(later.residual, 1.0001e-9);
  }
}

TEST(Preconditioners, RefuseWithTheRowOrTheNumber) {
  const Context context = cpu();
  // 1 2; 2 1: indefinite, with a good diagonal.
  Csr a = diagonal({1, 1, 1});
  a.ptr = {0, 1, 3, 5};
  a.col = {0, 1, 2, 1, 2};
  a.values = {1, 1, 2, 2, 1};
  const Matrix matrix = a.matrix(context);
  for (const char *method : {"block-jacobi", "fsai", "fsai-2"}) {
    create(matrix, method, SXT_E_NOT_POSITIVE_DEFINITE);
    EXPECT_NE(last_error(context).find("row 2"), std::string::npos) << last_error(context);
  }
  create(matrix, "block-jacobi:33", SXT_E_NO_KERNEL);
  EXPECT_NE(last_error(context).find("2 to 32"), std::string::npos) << last_error(context);
  create(matrix, "chebyshev:4", SXT_E_NO_KERNEL);
  EXPECT_NE(last_error(context).find("even"), std::string::npos) << last_error(context);
  create(matrix, "fsay:2", SXT_E_UNKNOWN_NAME);
}

}  // namespace
}  // namespace api_test
