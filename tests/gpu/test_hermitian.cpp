// SPDX-License-Identifier: BSD-3-Clause
// Batches of Hermitian systems on a GPU: every type and layout by backward error, masks and infos on the device, large
// sets, inertia and shifts.
#include <complex>
#include <cstdint>
#include <cstring>

#include "hermitian_batches.hpp"

namespace gpu_test {
namespace {

class HermitianLayouts : public HermitianGpu {
 protected:
  template <class T>
  void every_layout() {
    for (const std::int64_t n : {1, 7, 32, 65, 200})
      for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
        for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE}) {
          Systems<T> systems(9, n, 2, triangle, 100, definiteness != SXT_DEFINITE, 40);
          sxt_hermitian_options options = systems.options();
          options.definiteness = definiteness;
          options.refine_steps = n == 65;
          options.equilibrate = n == 32;
          const Batch batch = make_batch(options);
          ASSERT_NE(batch, nullptr);
          OnDevice<T> there(device(), systems);
          const sxt_hermitian_set set = there.set();
          ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
          there.bring();
          expect_solved(systems);
          if (testing::Test::HasFatalFailure()) return;
        }
  }
};

TEST_F(HermitianLayouts, EveryLayoutOfF32) { every_layout<float>(); }
TEST_F(HermitianLayouts, EveryLayoutOfF64) { every_layout<double>(); }
TEST_F(HermitianLayouts, EveryLayoutOfC64) { every_layout<std::complex<float>>(); }
TEST_F(HermitianLayouts, EveryLayoutOfC128) { every_layout<Complex>(); }

// Backward errors do not grow with the condition number.
TEST_F(HermitianGpu, FromWellToIllConditioned) {
  for (const double digits : {0.0, 4.0, 8.0, 12.0, 14.0})
    for (const bool indefinite : {false, true}) {
      Systems<Complex> systems(4, 40, 1, SXT_LOWER, std::pow(10.0, digits), indefinite, 41);
      sxt_hermitian_options options = systems.options();
      options.definiteness = indefinite ? SXT_INDEFINITE : SXT_DEFINITE;
      const Batch batch = make_batch(options);
      OnDevice<Complex> there(device(), systems);
      sxt_hermitian_set set = there.set();
      Array<double> residual(device(), std::vector<double>(4, -1));
      set.residual = residual.data();
      ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
      there.bring();
      expect_solved(systems);
      const std::vector<double> told = residual.get();
      for (std::int64_t s = 0; s < 4; ++s)
        EXPECT_NEAR(told[s], systems.backward_error(s, systems.b), 0.1 * told[s] + 1e-16);
    }
}

TEST_F(HermitianGpu, EveryKernelThatAppliesGivesTheFactorsOfTheOthers) {
  Systems<Complex> original(20, 50, 1, SXT_LOWER, 100, false, 42);
  int kernels = 0;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(sxt_kernel_get(i, &info), SXT_OK);
    if (std::strcmp(info.kind, "sxt.hermitian/1") || std::strcmp(info.device, "cuda")) continue;
    Systems<Complex> systems = original;
    sxt_hermitian_options options = systems.options();
    options.kernel = info.name;
    options.may_spoil = is_baseline(info.name);
    sxt_hermitian *made = nullptr;
    if (sxt_hermitian_create(context_.get(), &options, &made) != SXT_OK) continue;  // it declines other sets
    const Batch batch(made);
    OnDevice<Complex> there(device(), systems);
    const sxt_hermitian_set set = there.set();
    ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << info.name << ": " << error();
    ASSERT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_OK) << info.name << ": " << error();
    there.bring();
    SCOPED_TRACE(info.name);
    if (is_baseline(info.name))
      for (std::int64_t s = 0; s < 20; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 1e-13);
    else
      expect_solved(systems);
    ++kernels;
  }
  EXPECT_GT(kernels, 0);
}

TEST_F(HermitianGpu, MixedOrdersBehindPointers) {
  std::vector<std::int32_t> orders;
  std::vector<Systems<double>> each;
  for (int s = 0; s < 40; ++s) {
    orders.push_back(s * 37 % 131);
    each.emplace_back(1, orders.back(), 1, SXT_UPPER, 50, s % 5 == 0, 200 + s, s % 3);
  }
  std::vector<std::unique_ptr<OnDevice<double>>> there;
  std::vector<void *> a, b;
  std::vector<std::int64_t> ld;
  for (Systems<double> &one : each) {
    there.push_back(std::make_unique<OnDevice<double>>(device(), one));
    a.push_back(there.back()->a.data());
    b.push_back(there.back()->b.data());
    ld.push_back(one.lda);
  }
  a[7] = nullptr;
  ld[9] = orders[9] - 1;
  sxt_hermitian_options options = hermitian_options(SXT_F64, 40, 130);
  options.triangle = SXT_UPPER;
  options.orders = orders.data();
  options.pointer_array = options.leading_vary = 1;
  options.definiteness = SXT_TRY_DEFINITE;
  const Batch batch = make_batch(options);
  Array<void *> a_there(device(), a), b_there(device(), b);
  Array<std::int64_t> ld_there(device(), ld);
  Array<std::int32_t> info(device(), Numbers(40, 99));
  sxt_hermitian_set set = hermitian_set();
  set.a_array = a_there.data();
  set.b_array = b_there.data();
  set.lda_each = set.ldb_each = ld_there.data();
  set.info = info.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  const Numbers infos = info.get();
  for (int s = 0; s < 40; ++s) {
    there[s]->bring();
    EXPECT_EQ(infos[s], s == 7 ? SXT_INFO_POINTER : s == 9 ? SXT_INFO_LEADING : 0) << s;
    EXPECT_TRUE(infos[s] != 0 || each[s].backward_error(0, each[s].b) <= 1e-12) << s << ", order " << orders[s];
  }
}

TEST_F(HermitianGpu, MasksInfosAndNeighbours) {
  Systems<double> good(400, 30, 1, SXT_LOWER, 10, false, 43), bad = good;
  bad.at(3, 0, 0) = -1;
  bad.at(100, 17, 17) = -4;
  bad.at(399, 29, 4) = std::nan("");
  std::vector<std::uint8_t> active(400, 1);
  active[50] = active[51] = 0;
  const Batch batch = make_batch(good.options());
  OnDevice<double> good_there(device(), good), bad_there(device(), bad);
  sxt_hermitian_set good_set = good_there.set(), bad_set = bad_there.set();
  Array<std::uint8_t> mask(device(), active), all(device(), std::vector<std::uint8_t>(400, 1));
  good_set.active = good_set.active_out = all.data();  // the same path through the library
  bad_set.active = bad_set.active_out = mask.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &good_set), SXT_OK) << error();
  const auto before = bad;
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &bad_set), SXT_OK) << error();
  good_there.bring();
  bad_there.bring();
  const std::vector<std::uint8_t> done = mask.get();
  for (std::int64_t s = 0; s < 400; ++s) {
    const bool off = s == 50 || s == 51;
    const std::int32_t want = s == 3     ? 1
                              : s == 100 ? 18
                              : s == 399 ? SXT_INFO_NOT_FINITE
                              : off      ? SXT_INFO_NOT_ACTIVE
                                         : 0;
    ASSERT_EQ(bad.info[s], want) << s;
    ASSERT_EQ(done[s], want == 0) << s;
    if (want > 0 || want == SXT_INFO_NOT_FINITE) continue;
    const Systems<double> &like = off ? before : good;
    ASSERT_EQ(0, std::memcmp(&bad.a[s * bad.stride_a], &like.a[s * bad.stride_a], 8 * bad.stride_a)) << s;
    ASSERT_EQ(0, std::memcmp(&bad.b[s * bad.stride_b], &like.b[s * bad.stride_b], 8 * bad.stride_b)) << s;
  }
}

TEST_F(HermitianGpu, SeventyThousandSystems) {
  constexpr std::int64_t count = 70000;
  std::vector<float> a(count * 4), b(count * 2);
  for (std::int64_t s = 0; s < count; ++s) {
    const float d = static_cast<float>(1 + s % 5);
    a[4 * s] = d, a[4 * s + 1] = 1, a[4 * s + 2] = 55, a[4 * s + 3] = s == 66000 ? 0.5f / d : 2 / d;
    b[2 * s] = d + 1, b[2 * s + 1] = 1 + 2 / d;  // x = (1, 1)
  }
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_TRY_DEFINITE}) {
    Array<float> a_there(device(), a), b_there(device(), b);
    Array<std::int32_t> info(device(), Numbers(count, 99));
    sxt_hermitian_options options = hermitian_options(SXT_F32, count, 2);
    options.definiteness = definiteness;
    const Batch batch = make_batch(options);
    sxt_hermitian_set set = hermitian_set();
    set.a = a_there.data();
    set.b = b_there.data();
    set.info = info.data();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
    const Numbers infos = info.get();
    const std::vector<float> x = b_there.get();
    for (std::int64_t s = 0; s < count; ++s) {
      ASSERT_EQ(infos[s], s == 66000 && definiteness == SXT_DEFINITE ? 2 : 0) << s;
      if (s == 66000) continue;
      ASSERT_NEAR(x[2 * s], 1, 1e-5) << s;
      ASSERT_NEAR(x[2 * s + 1], 1, 1e-5) << s;
    }
  }
}

TEST_F(HermitianGpu, MoreThanTwoToThe31Values) {
  constexpr std::int64_t stride = std::int64_t{1} << 30, count = 3;
  sextant::DeviceBuffer memory;
  try {
    memory = sextant::DeviceBuffer(device(), count * stride * sizeof(double));
  } catch (const sextant::Error &problem) {
    GTEST_SKIP() << problem.what();
  }
  std::vector<double> b;
  for (std::int64_t s = 0; s < count; ++s) {
    const double one[4] = {4, 2, 0, 3 + static_cast<double>(s)};
    device().copy(memory.as<double>() + s * stride, one, sizeof one);
    b.insert(b.end(), {6, 5 + static_cast<double>(s)});
  }
  Array<double> b_there(device(), b);
  Array<std::int32_t> info(device(), Numbers(count, 99));
  const Batch batch = make_batch(hermitian_options(SXT_F64, count, 2));
  sxt_hermitian_set set = hermitian_set();
  set.a = memory.data();
  set.stride_a = stride;
  set.b = b_there.data();
  set.info = info.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << error();
  EXPECT_EQ(info.get(), Numbers(count, 0));
  for (const double x : b_there.get()) EXPECT_NEAR(x, 1, 1e-15);
}

TEST_F(HermitianGpu, InertiaConditionAndShifts) {
  Systems<Complex> systems(6, 45, 1, SXT_UPPER, 1e4, true, 49);
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_INDEFINITE;
  const Batch batch = make_batch(options);
  OnDevice<Complex> there(device(), systems);
  Array<std::int32_t> inertia(device(), Numbers(18, -1));
  Array<double> rcond(device(), std::vector<double>(6, -1));
  sxt_hermitian_set set = there.set();
  set.inertia = inertia.data();
  set.rcond = rcond.data();
  ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << error();
  const Numbers signs = inertia.get();
  for (const double r : rcond.get()) EXPECT_TRUE(r >= 1e-4 / 45 && r <= 45 * 1e-4) << r;
  for (int s = 0; s < 6; ++s) {
    EXPECT_EQ(signs[3 * s], 30);
    EXPECT_EQ(signs[3 * s + 1], 15);
    EXPECT_EQ(signs[3 * s + 2], 0);
  }
  // Indefinite, tried with rising shifts until Cholesky succeeds: eigenvalues are -1 at least.
  const double shifts[] = {0, 0.1, 1.5};
  options.definiteness = SXT_DEFINITE;
  options.shifts = shifts;
  options.n_shifts = 3;
  const Batch ladder = make_batch(options);
  Array<double> shift(device(), std::vector<double>(6, -1));
  there.reset(systems);
  set.inertia = nullptr;
  set.rcond = nullptr;
  set.shift = shift.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(ladder.get(), &set), SXT_OK) << error();
  EXPECT_EQ(shift.get(), std::vector<double>(6, 1.5));
  there.bring();
  for (std::int64_t s = 0; s < 6; ++s) {
    EXPECT_EQ(systems.info[s], 0);
    EXPECT_LE(systems.backward_error(s, systems.b, 1.5), 1e-13);
  }
}

}  // namespace
}  // namespace gpu_test
