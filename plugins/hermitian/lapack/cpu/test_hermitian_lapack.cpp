// SPDX-License-Identifier: BSD-3-Clause
// hermitian.lapack.cpu: its scratch, its limits of integers, and that it does not change the threads of the
// application's OpenBLAS. Conformance is tested with all kernels of the kind.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "sextant/plugin/kinds/hermitian.h"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel() { return find_kernel(load_own("hermitian-lapack"), "hermitian.lapack.cpu"); }

sxt_hermitian_query query_of(std::int64_t n, std::int64_t batch, std::int32_t definiteness) {
  sxt_hermitian_query q{};
  q.q = {{sizeof q, SXT_KIND_HERMITIAN}, 1, 0, SXT_F64};
  q.batch = batch;
  q.n_max = q.n_min = n;
  const double order = static_cast<double>(n), systems = static_cast<double>(batch);
  q.sum_n1 = systems * order, q.sum_n2 = q.sum_n1 * order, q.sum_n3 = q.sum_n2 * order;
  q.phase = SXT_HERMITIAN_FACTOR;
  q.definiteness = definiteness;
  q.triangle = SXT_LOWER;
  return q;
}

sxt_hermitian_args args_of(const sxt_hermitian_query &q, std::vector<double> &a, std::vector<std::int32_t> &info) {
  sxt_hermitian_args args{};
  args.h = {sizeof args, SXT_KIND_HERMITIAN};
  args.phase = q.phase;
  args.definiteness = q.definiteness;
  args.value_type = SXT_F64;
  args.triangle = SXT_LOWER;
  args.batch = q.batch;
  args.n_max = args.lda = q.n_max;
  args.stride_a = q.n_max * q.n_max;
  args.a = a.data();
  args.info = info.data();
  return args;
}

TEST(HermitianLapack, ScratchIsForPivotingOnly) {
  const sxt_hermitian_query definite = query_of(10, 4, SXT_HERMITIAN_DEFINITE);
  const sxt_hermitian_query indefinite = query_of(10, 4, SXT_HERMITIAN_INDEFINITE);
  EXPECT_EQ(candidate_of(kernel(), &definite.q, 4).scratch_bytes, 0u);
  EXPECT_EQ(candidate_of(kernel(), &indefinite.q, 4).scratch_bytes, (4u * 64 + 1) * 10 * 8);
}

// Complex xGEMV of OpenBLAS up to 0.3.23 reads one element of x further than it uses, in xHETRF one column of work
// space (https://github.com/OpenMathLib/OpenBLAS/issues/4013).
TEST(HermitianLapack, WhatLapackReadsTooFarIsInScratch) {
  if (!dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) && !dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL))
    GTEST_SKIP() << "no LAPACK here";
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
    for (const std::int64_t n : {65, 66, 67, 130, 147}) {
      sxt_hermitian_query q = query_of(n, 1, SXT_HERMITIAN_INDEFINITE);
      q.q.value_type = SXT_C64;
      q.triangle = triangle;
      std::vector<double> a(static_cast<std::size_t>(n * n));  // as complex numbers of four bytes a part
      auto *const values = reinterpret_cast<float *>(a.data());
      for (std::int64_t i = 0; i < n * n; ++i) values[2 * i] = i % (n + 1) ? 0.01F : 0, values[2 * i + 1] = 0;
      for (std::int64_t i = 0; i + 1 < n; ++i) values[2 * (i + 1 + i * n)] = values[2 * (i + (i + 1) * n)] = 1;
      std::vector<std::int32_t> info(1, 9), pivots(static_cast<std::size_t>(n));
      sxt_hermitian_args args = args_of(q, a, info);
      args.value_type = SXT_C64;
      args.triangle = triangle;
      args.pivots = pivots.data();
      args.stride_pivots = n;
      Ready ready(kernel(), &q.q, candidate_of(kernel(), &q.q, 1));
      ASSERT_EQ(ready.status(), SXT_OK) << Host::sentence;
      ASSERT_EQ(ready.run(&args.h), SXT_OK) << Host::sentence;
      EXPECT_EQ(info[0], 0);
    }
}

TEST(HermitianLapack, WhatIntegersOfLapackCannotHoldIsRefused) {
  sxt_hermitian_query q = query_of(40000000, 1, SXT_HERMITIAN_INDEFINITE);
  EXPECT_NE(refusal(kernel(), &q.q), "");
  q = query_of(4, 1, SXT_HERMITIAN_SIGNED);
  EXPECT_NE(refusal(kernel(), &q.q).find("LAPACK pivots"), std::string::npos);
  q = query_of(4, 1, SXT_HERMITIAN_TRY_DEFINITE);
  EXPECT_NE(refusal(kernel(), &q.q), "");
  q = query_of(2, 1, SXT_HERMITIAN_DEFINITE);
  std::vector<double> a{1, 0, 0, 1};
  std::vector<std::int32_t> info(1);
  sxt_hermitian_args args = args_of(q, a, info);
  args.lda = std::int64_t{1} << 31;
  EXPECT_EQ(Ready(kernel(), &q.q, candidate_of(kernel(), &q.q, 1)).run(&args.h), SXT_E_NOT_SUPPORTED);
}

// The application's own OpenBLAS keeps the number of threads that it set, before a set is worked on, meanwhile and
// after.
TEST(HermitianLapack, ThreadsOfTheApplicationsOpenBlasAreNeverTouched) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) GTEST_SKIP() << "no OpenBLAS here";
  auto *set = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  auto *get = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads"));
  ASSERT_TRUE(set && get);
  const int before = get();
  set(2);
  const sxt_hermitian_query q = query_of(3, 4000, SXT_HERMITIAN_DEFINITE);
  std::vector<double> a;
  for (int system = 0; system < 2000; ++system)
    a.insert(a.end(), {4, 2, 2, 0, 5, 3, 0, 0, 6, 4, 2, 2, 0, 1, 3, 0, 0, 6});
  std::vector<std::int32_t> info(4000, 9);
  sxt_hermitian_args args = args_of(q, a, info);
  Ready ready(kernel(), &q.q, candidate_of(kernel(), &q.q, 2));
  ASSERT_EQ(ready.status(), SXT_OK) << Host::sentence;
  std::atomic<bool> running{true};
  std::thread work([&] {
    EXPECT_EQ(ready.run(&args.h), SXT_OK);
    running = false;
  });
  int looks = 0, others = 0;
  for (; running || looks == 0; ++looks) others += get() != 2;
  set(1);  // as an application may at any time
  work.join();
  EXPECT_EQ(others, 0) << "of " << looks << " looks while the set was worked on";
  EXPECT_EQ(get(), 1);
  set(before);
  EXPECT_EQ(info[0], 0);
  EXPECT_EQ(info[1], 2);
  EXPECT_DOUBLE_EQ(a[0], 2);  // [4 2 2; 2 5 3; 2 3 6] = L L^T with L = [2; 1 2; 1 1 2]
  EXPECT_DOUBLE_EQ(a[4], 2);
  EXPECT_DOUBLE_EQ(a[8], 2);
}

}  // namespace
}  // namespace plugin_test
