// SPDX-License-Identifier: BSD-3-Clause
// Bad input to batches of Hermitian systems: an error in one system is reported in its own info, an error in a call by
// its status, and other systems are not affected.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<std::int32_t>;

// Definite sets by every kernel that is loaded for the CPU.
std::vector<std::string> kernels() {
  cpu();  // loads them
  std::vector<std::string> names{""};
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    sxt_kernel_get(i, &info);
    if (std::string(info.kind) == "sxt.hermitian/1" && std::string(info.device) == "cpu") names.push_back(info.name);
  }
  return names;
}

class HermitianBadInput : public testing::TestWithParam<std::string> {
 protected:
  Hermitian make_batch(sxt_hermitian_options options) {
    const std::string &name = GetParam();
    options.kernel = name.empty() ? nullptr : name.c_str();
    return hermitian(context_, options);
  }
  Context context_ = cpu();
};

TEST_P(HermitianBadInput, TheFailingMinorOfASystemIsNamedAndNeighboursAreUntouched) {
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
    Systems<Complex> good(12, 34, 2, triangle, 10, false, 21);
    Systems<Complex> bad = good;
    bad.at(2, 0, 0) = -1;
    bad.at(5, 17, 17) = 0;
    bad.at(6, 33, 33) = -1e-3;
    bad.at(11, 20, 20) = -4;
    const Hermitian batch = make_batch(bad.options());
    const sxt_hermitian_set good_set = good.set(), bad_set = bad.set();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &good_set), SXT_OK) << last_error(context_);
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &bad_set), SXT_OK) << last_error(context_);
    EXPECT_EQ(bad.info, (Numbers{0, 0, 1, 0, 0, 18, 34, 0, 0, 0, 0, 21}));
    for (const std::int64_t s : {0, 1, 3, 4, 7, 8, 9, 10}) {
      EXPECT_EQ(0, std::memcmp(&good.at(s, 0, 0), &bad.at(s, 0, 0), sizeof(Complex) * good.stride_a)) << s;
      EXPECT_EQ(0, std::memcmp(&good.b[s * good.stride_b], &bad.b[s * bad.stride_b], sizeof(Complex) * good.stride_b));
    }
  }
}

TEST_P(HermitianBadInput, ANaNOrInfinityInOneSystemIsItsOwn) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Systems<double> systems(9, 40, 1, SXT_LOWER, 10, false, 22);
    systems.at(1, 39, 0) = value;
    systems.at(4, 12, 12) = value;
    systems.at(8, 30, 7) = value;
    const Hermitian batch = make_batch(systems.options());
    const sxt_hermitian_set set = systems.set();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context_);
    EXPECT_EQ(systems.info[4], SXT_INFO_NOT_FINITE);
    for (const std::int64_t s : {1, 8}) {  // an infinity beside the diagonal leaves a pivot of minus infinity
      EXPECT_NE(systems.info[s], 0);
      EXPECT_TRUE(systems.info[s] == SXT_INFO_NOT_FINITE || std::isinf(value)) << systems.info[s];
    }
    for (const std::int64_t s : {0, 2, 3, 5, 6, 7}) {
      EXPECT_EQ(systems.info[s], 0);
      EXPECT_LE(systems.backward_error(s, systems.b), 1e-13);
    }
  }
}

TEST_P(HermitianBadInput, OrdersNoughtAndOneAndNoSystems) {
  for (const std::int64_t n : {0, 1})
    for (const std::int64_t systems_count : {0, 3}) {
      Systems<Complex> systems(systems_count, n, 2, SXT_UPPER, 1, false, 23);
      if (systems_count && n) systems.at(1, 0, 0) = -1;
      const Hermitian batch = make_batch(systems.options());
      sxt_hermitian_set set = systems.set();
      if (n == 0) set.a = set.b = nullptr;  // no memory is there
      ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context_);
      if (systems_count == 0) continue;
      EXPECT_EQ(systems.info, (n ? Numbers{0, 1, 0} : Numbers{0, 0, 0}));
      EXPECT_LE(systems.backward_error(0, systems.b), 1e-15);
    }
}

TEST_P(HermitianBadInput, SeventyThousandSystems) {
  constexpr std::int64_t batch_size = 70000;
  std::vector<float> a(batch_size * 4), b(batch_size * 2);
  for (std::int64_t s = 0; s < batch_size; ++s) {
    const float d = static_cast<float>(1 + s % 5);
    a[4 * s] = d, a[4 * s + 1] = 1, a[4 * s + 2] = 55, a[4 * s + 3] = s == 66000 ? 0.5f / d : 2 / d;  // [d 1; 1 2/d]
    b[2 * s] = d + 1, b[2 * s + 1] = 1 + 2 / d;                                                       // x = (1, 1)
  }
  Numbers info(batch_size, 99);
  sxt_hermitian_options options = hermitian_options(SXT_F32, batch_size, 2);
  const Hermitian batch = make_batch(options);
  sxt_hermitian_set set = hermitian_set();
  set.a = a.data();
  set.b = b.data();
  set.info = info.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context_);
  for (std::int64_t s = 0; s < batch_size; ++s) {
    ASSERT_EQ(info[s], s == 66000 ? 2 : 0) << s;
    if (s == 66000) continue;
    ASSERT_NEAR(b[2 * s], 1, 1e-5) << s;
    ASSERT_NEAR(b[2 * s + 1], 1, 1e-5) << s;
    ASSERT_EQ(a[4 * s + 2], 55) << s;
  }
}

// Values of the set beyond 2^31, and beyond 2^32 bytes: address space is reserved, and only the touched pages use
// memory.
TEST_P(HermitianBadInput, MoreThanTwoToThe31Values) {
  constexpr std::int64_t stride = std::int64_t{1} << 30, count = 5;
  const std::size_t bytes = static_cast<std::size_t>(count * stride) * sizeof(double);
  void *space = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) GTEST_SKIP() << "this machine lends no address space of " << bytes << " bytes";
  auto *a = static_cast<double *>(space);
  std::vector<double> b;
  for (std::int64_t s = 0; s < count; ++s) {
    a[s * stride] = 4, a[s * stride + 1] = 2, a[s * stride + 3] = 3 + static_cast<double>(s);  // L = [2; 1 sqrt(2 + s)]
    b.insert(b.end(), {6, 5 + static_cast<double>(s)});
  }
  Numbers info(count, 99);
  const Hermitian batch = make_batch(hermitian_options(SXT_F64, count, 2));
  sxt_hermitian_set set = hermitian_set();
  set.a = a;
  set.stride_a = stride;
  set.b = b.data();
  set.info = info.data();
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context_);
  EXPECT_EQ(info, Numbers(count, 0));
  for (std::int64_t s = 0; s < count; ++s) {
    EXPECT_NEAR(a[s * stride + 3], std::sqrt(2.0 + static_cast<double>(s)), 1e-15);
    EXPECT_NEAR(b[2 * s], 1, 1e-15);
  }
  munmap(space, bytes);
}

TEST_P(HermitianBadInput, PointersThatAreNullOrMisalignedAndShortLeadingDimensions) {
  Systems<double> systems(6, 9, 1, SXT_LOWER, 10, false, 25);
  const auto before = systems.a;
  std::vector<void *> a, b;
  std::vector<std::int64_t> ld(6, systems.lda);
  for (std::int64_t s = 0; s < 6; ++s) {
    a.push_back(&systems.at(s, 0, 0));
    b.push_back(&systems.b[s * systems.stride_b]);
  }
  a[1] = nullptr;
  a[2] = reinterpret_cast<char *>(a[2]) + 4;
  b[3] = nullptr;
  ld[4] = 8;
  sxt_hermitian_options options = systems.options();
  options.pointer_array = options.leading_vary = 1;
  const Hermitian batch = make_batch(options);
  sxt_hermitian_set set = systems.set();
  set.a_array = a.data();
  set.b_array = b.data();
  set.lda_each = set.ldb_each = ld.data();
  std::vector<double> residual(6, -1);
  for (const bool with_steps : {false, true}) {
    systems.a = before;
    systems.b = systems.b_before;
    set.residual = with_steps ? residual.data() : nullptr;
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context_);
    EXPECT_EQ(systems.info, (Numbers{0, SXT_INFO_POINTER, SXT_INFO_POINTER, SXT_INFO_POINTER, SXT_INFO_LEADING, 0}));
    for (std::int64_t s = 1; s < 5; ++s)
      EXPECT_EQ(0, std::memcmp(&systems.at(s, 0, 0), &before[s * systems.stride_a], 8 * systems.stride_a)) << s;
    EXPECT_LE(systems.backward_error(5, systems.b), 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, HermitianBadInput, testing::ValuesIn(kernels()), [](const auto &info) {
  std::string name = info.param.empty() ? "chosen" : info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// ---- errors in a call

class HermitianCalls : public testing::Test {
 protected:
  void refused(sxt_hermitian_options options, sxt_status status, const char *word) {
    hermitian(context_, options, status);
    EXPECT_NE(last_error(context_).find(word), std::string::npos) << last_error(context_);
  }
  void refused(const sxt_hermitian_set &set, sxt_status status, const char *word) {
    EXPECT_EQ(sxt_hermitian_factor_solve(batch_.get(), &set), status) << word;
    EXPECT_NE(last_error(context_).find(word), std::string::npos) << last_error(context_);
  }
  Context context_ = cpu();
  Systems<Complex> systems_{2, 5, 1, SXT_LOWER, 10, false, 1};
  Hermitian batch_ = hermitian(context_, systems_.options());
};

TEST_F(HermitianCalls, DescriptionsThatMakeNoSense) {
  const sxt_hermitian_options good = systems_.options();
  const auto with = [&](auto &&change) {
    sxt_hermitian_options o = good;
    change(o);
    return o;
  };
  const std::int32_t orders[] = {5, 6};
  const double nan = std::nan("");
  refused(with([](auto &o) { o.batch = -1; }), SXT_E_ARGUMENT, "batch");
  refused(with([](auto &o) { o.n = -1; }), SXT_E_ARGUMENT, "n is negative");
  refused(with([](auto &o) { o.n = std::int64_t{1} << 31; }), SXT_E_OVERFLOW, "32-bit");
  refused(with([](auto &o) { o.n_rhs = -2; }), SXT_E_ARGUMENT, "n_rhs");
  refused(with([](auto &o) { o.value_type = 9; }), SXT_E_TYPE, "value type 9");
  refused(with([](auto &o) { o.triangle = SXT_FULL; }), SXT_E_ARGUMENT, "triangle");
  refused(with([](auto &o) { o.definiteness = 0; }), SXT_E_ARGUMENT, "definiteness");
  refused(with([](auto &o) { o.space = SXT_SPACE_DEVICE; }), SXT_E_ARGUMENT, "space");
  refused(with([](auto &o) { o.equilibrate = 7; }), SXT_E_ARGUMENT, "equilibrate");
  refused(with([](auto &o) { o.refine_steps = -1; }), SXT_E_ARGUMENT, "refine_steps");
  refused(with([](auto &o) { o.n_shifts = 2; }), SXT_E_ARGUMENT, "shifts");
  refused(with([&](auto &o) { o.shifts = &nan, o.n_shifts = 1; }), SXT_E_ARGUMENT, "shifts[0]");
  refused(with([&](auto &o) { o.orders = orders; }), SXT_E_ARGUMENT, "orders[1]");
  refused(with([](auto &o) { o.kernel = "hermitian"; }), SXT_E_UNKNOWN_NAME, "hermitian");
  EXPECT_EQ(sxt_hermitian_create(context_.get(), nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_hermitian_factor(nullptr, nullptr), SXT_E_ARGUMENT);
  sxt_hermitian_destroy(nullptr);
}

TEST_F(HermitianCalls, SetsThatDoNotFit) {
  const sxt_hermitian_set good = systems_.set();
  const auto with = [&](auto &&change) {
    sxt_hermitian_set set = good;
    change(set);
    return set;
  };
  const auto a_before = systems_.a;
  refused(with([](auto &s) { s.a = nullptr; }), SXT_E_ARGUMENT, "a is NULL");
  refused(with([](auto &s) { s.b = nullptr; }), SXT_E_ARGUMENT, "b is NULL");
  refused(with([](auto &s) { s.info = nullptr; }), SXT_E_ARGUMENT, "info");
  refused(with([](auto &s) { s.lda = 4; }), SXT_E_ARGUMENT, "lda is 4");
  refused(with([](auto &s) { s.ldb = 4; }), SXT_E_ARGUMENT, "ldb is 4");
  refused(with([](auto &s) { s.stride_a = 20; }), SXT_E_ARGUMENT, "stride_a");
  refused(with([](auto &s) { s.stride_b = -9; }), SXT_E_ARGUMENT, "stride_b");
  refused(with([](auto &s) { s.lda = std::int64_t{1} << 62; }), SXT_E_OVERFLOW, "64-bit");
  refused(with([](auto &s) { s.stride_a = std::int64_t{1} << 60; }), SXT_E_OVERFLOW, "64-bit");
  refused(with([](auto &s) { s.a = static_cast<char *>(s.a) + 4; }), SXT_E_ARGUMENT, "aligned");
  refused(with([](auto &s) { s.info = reinterpret_cast<std::int32_t *>(reinterpret_cast<char *>(s.info) + 2); }),
          SXT_E_ARGUMENT, "info is not aligned");
  refused(with([](auto &s) { s.n_rhs = 2; }), SXT_E_ARGUMENT, "n_rhs");
  refused(with([&](auto &s) { s.stream = &s; }), SXT_E_NOT_SUPPORTED, "stream");
  refused(with([](auto &s) { s.struct_size = 4; }), SXT_E_ARGUMENT, "struct_size");
  EXPECT_EQ(systems_.a, a_before) << "a call that was refused wrote something";
  EXPECT_EQ(sxt_hermitian_factor_solve(batch_.get(), &good), SXT_OK) << "the handle stays usable";
}

TEST_F(HermitianCalls, WhatIsNeededBetweenCallsMustBeGiven) {
  sxt_hermitian_options options = systems_.options();
  options.definiteness = SXT_INDEFINITE;
  options.equilibrate = 1;
  options.refine_steps = 2;
  batch_ = hermitian(context_, options);
  sxt_hermitian_set set = systems_.set();
  EXPECT_EQ(sxt_hermitian_factor(batch_.get(), &set), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context_).find("scale"), std::string::npos) << last_error(context_);
  set.pivots = nullptr;
  EXPECT_EQ(sxt_hermitian_factor(batch_.get(), &set), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context_).find("pivots"), std::string::npos) << last_error(context_);
  EXPECT_EQ(sxt_hermitian_factor_solve(batch_.get(), &set), SXT_OK) << last_error(context_);
  std::vector<double> scale(10);
  std::vector<std::int32_t> pivots(10);
  set.scale = scale.data();
  set.pivots = pivots.data();
  EXPECT_EQ(sxt_hermitian_solve(batch_.get(), &set), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context_).find("factor"), std::string::npos) << last_error(context_);
}

// ---- memory

TEST(HermitianMemory, LessWorkMemoryMeansSmallerPiecesAndTooLittleIsReportedInBytes) {
  Systems<double> systems(64, 20, 1, SXT_LOWER, 10, true, 30);
  const Systems<double> original = systems;
  Lender lender;
  const sxt_context_options context_options = lender.options();
  const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&context_options, out); });
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_TRY_DEFINITE;
  const Hermitian batch = hermitian(context, options);
  const sxt_hermitian_set set = systems.set();
  lender.most = 60000;  // 64 systems want 64 * 20 * 20 * 8 bytes and more
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  sxt_hermitian_report report{};
  report.struct_size = sizeof report;
  ASSERT_EQ(sxt_hermitian_get_report(batch.get(), &report), SXT_OK);
  EXPECT_EQ(report.piece, 16);
  for (std::int64_t s = 0; s < 64; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 1e-13) << s;
  lender.most = 1000;
  systems = original;
  const Hermitian another = hermitian(context, options);
  EXPECT_EQ(sxt_hermitian_factor_solve(another.get(), &set), SXT_E_MEMORY);
  EXPECT_NE(last_error(context).find("bytes"), std::string::npos) << last_error(context);
  EXPECT_EQ(systems.a, original.a);
  lender.most = 0;
  EXPECT_EQ(sxt_hermitian_factor_solve(another.get(), &set), SXT_OK) << "the handle stays usable";
  EXPECT_LE(systems.backward_error(63, systems.b), 1e-13);
}

TEST(HermitianMemory, EveryFailedAllocationIsAStatusAndNothingLeaks) {
  Lender counting;
  for (std::int64_t n = 0; n == 0 || n <= counting.calls; ++n) {
    Lender failing;
    failing.fail_at = n;
    Lender &lender = n ? failing : counting;
    Systems<double> systems(3, 6, 1, SXT_LOWER, 10, true, 31);
    {
      const sxt_context_options with = lender.options();
      sxt_context *context = nullptr;
      sxt_hermitian *batch = nullptr;
      sxt_hermitian_options options = systems.options();
      const std::int32_t orders[] = {6, 6, 6};
      options.orders = orders;
      options.definiteness = SXT_TRY_DEFINITE;
      options.refine_steps = options.equilibrate = 1;
      const sxt_hermitian_set set = systems.set();
      sxt_status status = sxt_context_create(&with, &context);
      if (status == SXT_OK) status = sxt_hermitian_create(context, &options, &batch);
      if (status == SXT_OK) status = sxt_hermitian_factor_solve(batch, &set);
      // Work memory that fails once is requested again in smaller pieces, which may succeed.
      if (n)
        EXPECT_TRUE(status == SXT_E_MEMORY || status == SXT_OK)
            << "allocation " << n << ": " << sxt_last_error(nullptr);
      else
        EXPECT_EQ(status, SXT_OK) << sxt_last_error(nullptr);
      EXPECT_TRUE(status != SXT_OK || systems.backward_error(2, systems.b) <= 1e-13) << "allocation " << n;
      sxt_hermitian_destroy(batch);
      sxt_context_destroy(context);
    }
    EXPECT_EQ(lender.held, 0) << "allocation " << n;
  }
  EXPECT_GT(counting.calls, 2);
}

}  // namespace
}  // namespace api_test
