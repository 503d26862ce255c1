// SPDX-License-Identifier: BSD-3-Clause
// What every preconditioner on the CPU must do, one after the other: the cases of its kind, equal bits for any number
// of threads, M Hermitian and positive definite in every type, refreshes, refusals, missing memory and scratch, and
// fewer iterations than with the diagonal.
#include <complex>
#include <ostream>
#include <string>
#include <vector>

#include "plugins/preconditioner/test_support.hpp"

using namespace preconditioner_test;

namespace {

struct Member {
  const char *plugin, *kernel;
  double most_iterations;  // over those with the diagonal
  bool keeps_old = false;  // after a refused refresh it goes on with the old values
};
const Member members[] = {{"preconditioner-jacobi", "preconditioner.jacobi.cpu", 1, true},
                          {"preconditioner-block-jacobi", "preconditioner.block-jacobi.cpu", 0.999},
                          {"preconditioner-chebyshev", "preconditioner.chebyshev.cpu", 0.7},
                          {"preconditioner-fsai", "preconditioner.fsai.cpu", 0.7},
                          {"preconditioner-fsai", "preconditioner.fsai-2.cpu", 0.7},
                          {"preconditioner-ssor-ai", "preconditioner.ssor-ai.cpu", 0.7},
                          {"preconditioner-ssor-ai", "preconditioner.ssor-ai-2.cpu", 0.7}};
void PrintTo(const Member &member, std::ostream *out) { *out << member.kernel; }

const sxt_kernel &find(const char *plugin, const char *kernel) { return find_kernel(load_own(plugin), kernel); }
Matrix<double> rough_grid() {
  return grid<double>(24, [](std::int32_t i) { return 1.5 + noise(i); });
}

class PreconditionerMember : public testing::TestWithParam<Member> {
 protected:
  const sxt_kernel &kernel() const { return find(GetParam().plugin, GetParam().kernel); }

  template <class T>
  void expect_definite_in(int threads) {
    const Matrix<T> a = coupled<T>(13, 3);
    Prepared m(kernel(), a.view(), Codes<T>::type, threads);
    ASSERT_EQ(m.status, SXT_OK) << Host::sentence;
    expect_definite(dense_of<T>(m, a.n));
  }
};

TEST_P(PreconditionerMember, PassesTheCasesOfItsKind) { expect_cases_pass(kernel()); }
TEST_P(PreconditionerMember, GivesEqualBitsForAnyThreads) { expect_equal_bits(kernel()); }
TEST_P(PreconditionerMember, RefreshesLikeAFreshOne) { expect_refresh_equals_prepare(kernel()); }
TEST_P(PreconditionerMember, SurvivesMissingMemory) { expect_memory_failures_survived(kernel()); }

TEST_P(PreconditionerMember, IsDefiniteInEveryType) {
  expect_definite_in<double>(1);
  expect_definite_in<float>(2);
  expect_definite_in<std::complex<double>>(3);
  expect_definite_in<std::complex<float>>(1);
}

TEST_P(PreconditionerMember, NeedsFewerIterationsThanTheDiagonal) {
  const Matrix<double> a = rough_grid();
  const int count = iterations(a, kernel());
  EXPECT_GT(count, 0);
  EXPECT_LE(count, GetParam().most_iterations * iterations(a, jacobi()));
}

TEST_P(PreconditionerMember, RefusesARefreshWithANegativeMatrix) {
  Matrix<double> a = coupled<double>(10, 1);
  Prepared m(kernel(), a.view(), SXT_F64);
  const std::vector<double> r(10, 1.0), z = m.apply(r);
  std::vector<double> got;
  for (double &value : a.values) value = -value;
  EXPECT_LT(m.refresh(a.view()), 0);
  EXPECT_NE(Host::sentence.find("row "), std::string::npos) << Host::sentence;
  EXPECT_EQ(m.run(r, got), GetParam().keeps_old ? SXT_OK : SXT_E_STATE);
  for (double &value : a.values) value = -value;
  EXPECT_EQ(m.refresh(a.view()), SXT_OK);
  EXPECT_EQ(m.apply(r), z);
  EXPECT_EQ(m.run(std::vector<double>(9, 1.0), got), SXT_E_DIMENSION);
}

TEST_P(PreconditionerMember, WantsItsScratch) {
  const Matrix<double> a = coupled<double>(10, 1);
  Prepared m(kernel(), a.view(), SXT_F64);
  if (m.candidate().scratch_bytes == 0) return;
  m.exec().scratch_bytes = 8;
  std::vector<double> z;
  EXPECT_EQ(m.run(std::vector<double>(10, 1.0), z), SXT_E_STATE);
}

TEST_P(PreconditionerMember, NeedsADiagonal) {
  Matrix<double> hole;  // none in row 1
  hole.append_row({{0, 1}, {1, 0.5}});
  hole.append_row({{0, 0.5}});
  EXPECT_LT(Prepared(kernel(), hole.view(), SXT_F64).status, 0);
  EXPECT_NE(Host::sentence.find("row 1"), std::string::npos) << Host::sentence;
}

INSTANTIATE_TEST_SUITE_P(Cpu, PreconditionerMember, testing::ValuesIn(members));

// What costs more in an application takes fewer of them.
TEST(Preconditioners, TheStrongerOfAFamilyNeedsFewerIterations) {
  const Matrix<double> a = rough_grid();
  EXPECT_LT(iterations(a, find("preconditioner-fsai", "preconditioner.fsai-2.cpu")),
            iterations(a, find("preconditioner-fsai", "preconditioner.fsai.cpu")));
  EXPECT_LT(iterations(a, find("preconditioner-ssor-ai", "preconditioner.ssor-ai-2.cpu")),
            iterations(a, find("preconditioner-ssor-ai", "preconditioner.ssor-ai.cpu")));
  const sxt_kernel &blocks = find("preconditioner-block-jacobi", "preconditioner.block-jacobi.cpu");
  EXPECT_LE(iterations(a, blocks, "block-jacobi:32"), iterations(a, blocks));
}

}  // namespace
