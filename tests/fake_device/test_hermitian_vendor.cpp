// SPDX-License-Identifier: BSD-3-Clause
// cuBLAS' LU and the Toeplitz recursion over the fake libraries, through their tables: what they refuse, and that each
// vendor call may fail without a leak.
#include <cstdint>
#include <string>

#include "tests/fake_device/hermitian_kernels.hpp"

namespace {

using namespace fake_test;

constexpr std::int64_t kOrder = 40;

sxt_hermitian_query query(const char *kind, std::int64_t n) {
  sxt_hermitian_query q = hermitian_query(n, 12, SXT_HERMITIAN_INDEFINITE, SXT_C128, kind);
  q.n_rhs = 2;
  q.may_spoil = q.solution_only = 1;
  return q;
}

class HermitianVendor : public HermitianKernels {
 protected:
  static const sxt_kernel &cublas() { return find("hermitian-cuda-cusolver", "hermitian.cublas.cuda"); }
  static const sxt_kernel &streams() { return find("hermitian-cuda-cusolver", "hermitian.cusolver_streams.cuda"); }
  static const sxt_kernel &toeplitz() { return find("hermitian-toeplitz-cuda", "hermitian_toeplitz.recursion.cuda"); }
  void every_call_may_fail(const sxt_kernel &kernel, const sxt_hermitian_query &q, int at_least) {
    HermitianKernels::every_call_may_fail(kernel, q, offered(kernel, q).front(), -1, at_least);
  }
};

TEST_F(HermitianVendor, RefuseWhatTheyCannotDo) {
  sxt_hermitian_query q = query(SXT_KIND_HERMITIAN, kOrder);
  EXPECT_EQ(refusal(cublas(), q), "");
  q.definiteness = SXT_HERMITIAN_DEFINITE;
  EXPECT_THAT(refusal(cublas(), q), HasSubstr("does not give a leading minor"));
  q = query(SXT_KIND_HERMITIAN, kOrder);
  q.solution_only = 0;
  EXPECT_THAT(refusal(cublas(), q), HasSubstr("not the Hermitian factor requested"));
  q = query(SXT_KIND_HERMITIAN, kOrder);
  q.may_spoil = 0;
  EXPECT_THAT(refusal(cublas(), q), HasSubstr("the other triangle"));
  EXPECT_EQ(refusal(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, 1700)), "");
  EXPECT_THAT(refusal(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, 3000)), HasSubstr("bytes of shared memory"));
}

TEST_F(HermitianVendor, EveryCallOfCuBlasMayFail) {
  every_call_may_fail(cublas(), query(SXT_KIND_HERMITIAN, kOrder), 6);
}

// Two calls a system, two events and a wait a stream, and what a session is made of.
TEST_F(HermitianVendor, EveryCallOnStreamsMayFail) {
  sxt_hermitian_query q = query(SXT_KIND_HERMITIAN, kOrder);
  q.definiteness = SXT_HERMITIAN_DEFINITE;
  EXPECT_THAT(refusal(streams(), q), HasSubstr("only factors"));
  q.phase = SXT_HERMITIAN_FACTOR;
  every_call_may_fail(streams(), q, 100);
  q.pointer_array = 1;
  EXPECT_THAT(refusal(streams(), q), HasSubstr("addresses of the systems"));
  q.pointer_array = 0, q.solution_only = 0;
  EXPECT_THAT(refusal(streams(), q), HasSubstr("only in measurements"));
}

TEST_F(HermitianVendor, EveryCallOfTheToeplitzKernelMayFail) {
  every_call_may_fail(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, kOrder), 3);
}

// Detection and recursion are O(n^2): four times as much at twice the order, at most.
TEST_F(HermitianVendor, TheToeplitzModelGrowsWithTheSquareOfTheOrder) {
  const auto of_small = offered(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, 300)),
             of_large = offered(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, 600));
  ASSERT_EQ(of_small.size(), of_large.size());
  for (std::size_t c = 0; c < of_small.size(); ++c)
    for (std::uint32_t t = 0; t < of_small[c].n_terms; ++t) {
      EXPECT_GE(of_large[c].terms[t], of_small[c].terms[t]) << t;
      EXPECT_LE(of_large[c].terms[t], 4.1 * of_small[c].terms[t]) << t;
    }
}

}  // namespace
