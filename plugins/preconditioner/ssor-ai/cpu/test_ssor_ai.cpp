// SPDX-License-Identifier: BSD-3-Clause
// SSOR-AI against its formula in dense arithmetic, and the omega it chooses against the exact trace.
#include "plugins/preconditioner/test_support.hpp"

#include <cstdint>

using namespace preconditioner_test;

namespace {

const sxt_kernel &kernel(int order = 1) {
  return find_kernel(load_own("preconditioner-ssor-ai"),
                     order == 1 ? "preconditioner.ssor-ai.cpu" : "preconditioner.ssor-ai-2.cpu");
}

// K = I - w B or I - w B + w^2 B^2 with B = L D^-1.
template <class T>
Dense<T> series(const Dense<T> &a, double omega, int order) {
  Dense<T> b(a.n), k(a.n);
  const auto w = static_cast<plugin::real_of<T>>(omega);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < i; ++j) b(i, j) = a(i, j) / a(j, j);
  const Dense<T> square = b * b;
  for (std::int64_t i = 0; i < a.n; ++i) {
    k(i, i) = T(1);
    for (std::int64_t j = 0; j < i; ++j) k(i, j) = -w * b(i, j) + (order == 2 ? w * w * square(i, j) : T(0));
  }
  return k;
}

// w (2 - w) K' D^-1 K.
template <class T>
Dense<T> formula(const Dense<T> &a, double omega, int order) {
  const Dense<T> k = series(a, omega, order);
  Dense<T> scaled = k;
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j)
      scaled(i, j) *= static_cast<plugin::real_of<T>>(omega * (2 - omega)) / a(i, i);
  return adjoint(k) * scaled;
}

template <class T>
void matches_formula(int order, const char *method, double omega, std::int32_t unknowns, int threads) {
  SCOPED_TRACE(std::string(method) + ", type " + std::to_string(Codes<T>::type));
  const Matrix<T> a = coupled<T>(30 / unknowns, unknowns);
  Prepared m(kernel(order), a.view(), Codes<T>::type, threads, method);
  ASSERT_EQ(m.status, SXT_OK) << Host::sentence;
  const Dense<T> got = dense_of<T>(m, a.n);
  EXPECT_LT(distance(got, formula(dense_of(a), omega, order)), 100);
  expect_definite(got);
}

TEST(SsorAi, FollowsTheFormulaInEveryType) {
  matches_formula<double>(1, "ssor-ai:1", 1, 1, 1);
  matches_formula<double>(1, "ssor-ai:0.6", 0.6, 3, 2);
  matches_formula<float>(1, "ssor-ai:1.25", 1.25, 1, 1);
  matches_formula<std::complex<double>>(1, "ssor-ai:0.9", 0.9, 2, 3);
  matches_formula<std::complex<float>>(1, "ssor-ai:1.5", 1.5, 1, 1);
  matches_formula<double>(2, "ssor-ai-2:1", 1, 1, 2);
  matches_formula<float>(2, "ssor-ai-2:0.75", 0.75, 3, 1);
  matches_formula<std::complex<double>>(2, "ssor-ai-2:1.75", 1.75, 2, 1);
  matches_formula<std::complex<float>>(2, "ssor-ai-2:0.5", 0.5, 1, 2);
}

// trace(F A F') with F = D^-1/2 K, which omega minimises.
double trace(const Dense<double> &a, double omega, int order) {
  const Dense<double> k = series(a, omega, order), product = k * a * adjoint(k);
  double sum = 0;
  for (std::int64_t i = 0; i < a.n; ++i) sum += product(i, i) / a(i, i);
  return sum;
}

// The omega in use, from the last row: M_nn = w (2 - w) / d_n and M_n,j = -w B_nj M_nn.
double omega_of(const Dense<double> &m, const Dense<double> &a) {
  const std::int64_t last = a.n - 1;
  for (std::int64_t j = last - 1; j >= 0; --j)
    if (a(last, j) != 0) {
      bool direct = true;  // in the second order other paths contribute here
      for (std::int64_t k = j + 1; k < last; ++k) direct = direct && (a(last, k) == 0 || a(k, j) == 0);
      if (direct) return -m(last, j) / m(last, last) * a(j, j) / a(last, j);
    }
  return std::nan("");
}

TEST(SsorAi, ChoosesOmegaByTheTrace) {
  const Matrix<double> smooth = grid<double>(9, [](std::int32_t i) { return 1.5 + noise(i); });
  const Matrix<double> nodes = coupled<double>(20, 4);
  for (const int order : {1, 2})
    for (const Matrix<double> *a : {&smooth, &nodes}) {
      const Dense<double> dense = dense_of(*a);
      Prepared m(kernel(order), a->view(), SXT_F64);
      ASSERT_EQ(m.status, SXT_OK);
      const double chosen = omega_of(dense_of<double>(m, a->n), dense);
      double least = trace(dense, 1, order);
      for (double w = 0.1; w < 2; w += 0.1) least = std::min(least, trace(dense, w, order));
      EXPECT_GT(chosen, 0);
      EXPECT_LT(chosen, 2);
      EXPECT_LT(trace(dense, chosen, order), 1.03 * least) << "order " << order << ", omega " << chosen;
    }
}

TEST(SsorAi, RefusesADiagonalThatIsNotPositiveAndNamesTheRow) {
  Matrix<double> a = coupled<double>(6, 1);
  for (std::int32_t k = a.row_ptr[4]; k < a.row_ptr[5]; ++k)
    if (a.col[k] == 4) a.values[k] = -1;
  for (const int order : {1, 2}) {
    EXPECT_EQ(Prepared(kernel(order), a.view(), SXT_F64).status, SXT_E_DIAGONAL);
    EXPECT_NE(Host::sentence.find("row 4"), std::string::npos) << Host::sentence;
  }
}

TEST(SsorAi, ReadsOmegaFromTheMethod) {
  EXPECT_EQ(refusal(kernel(1), "ssor-ai"), "");
  EXPECT_EQ(refusal(kernel(1), "ssor-ai:1.3"), "");
  EXPECT_EQ(refusal(kernel(2), "ssor-ai-2:0.5"), "");
  for (const char *wrong : {"ssor-ai:0", "ssor-ai:2", "ssor-ai:-1", "ssor-ai:one"})
    EXPECT_NE(refusal(kernel(1), wrong).find("from 0.01 to 1.99"), std::string::npos) << wrong;
  EXPECT_NE(refusal(kernel(1), "ssor-ai-2"), "");
  EXPECT_NE(refusal(kernel(2), "ssor-ai"), "");
}

}  // namespace
