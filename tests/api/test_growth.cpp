// SPDX-License-Identifier: BSD-3-Clause
// Memory: adopted arrays are not copied, and a context does not grow with the number of calls.
#include <malloc.h>

#include <cstdint>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

// Bytes that this process has allocated now. Sanitizers have their own allocator, for which this is 0.
std::int64_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

// f(i) for i from 0 on: bytes that `more` further calls leave allocated, after this many first calls.
template <class F>
std::int64_t left_behind(int first, int more, F &&f) {
  int i = 0;
  for (; i < first; ++i) f(i);
  const std::int64_t before = allocated();
  for (; i < first + more; ++i) f(i);
  return allocated() - before;
}

constexpr std::int64_t some_kilobytes = 64 << 10;  // beside fragmentation

// One entry of the context's plan a pattern: the plan keeps the newest 4096.
TEST(GrowthTest, PatternsLeaveNothing) {
  const Context context = cpu(1);
  const std::int64_t left = left_behind(4500, 2000, [&](int i) {
    Csr a;  // entries beside the diagonal by the bits of i
    a.rows = a.cols = 16;
    for (std::int32_t row = 0; row < 16; ++row) {
      a.entry(row, 2);
      if (row < 15 && (i >> row & 1)) a.entry(row + 1, 1);
      a.end_row();
    }
    const Matrix matrix = a.matrix(context);
    std::vector<double> x(16, 1), y(16);
    ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data()), SXT_OK);
  });
  EXPECT_LT(left, some_kilobytes) << "it was 0.4 kB for each of 2000";
}

// Two entries a set-up here, thirty where everything is chosen.
TEST(GrowthTest, SetUpsLeaveNothing) {
  const Context context = cpu(1);
  const Matrix matrix = diagonal({2}).matrix(context);
  const std::int64_t left = left_behind(2200, 500, [&](int i) {
    sxt_pcg_options how = pcg_options();
    how.preconditioner = "none", how.recurrence = "classical", how.format = "csr";
    how.probe = how.reorder = -1;
    how.expected_solves = 1 + i;
    const Pcg pcg = make<Pcg>([&](auto **out) { return sxt_pcg_create(matrix.get(), &how, out); });
  });
  EXPECT_LT(left, some_kilobytes) << "it was 0.9 kB for each of 500";
}

TEST(GrowthTest, ForcesLeaveNothing) {
  const Context context = cpu(1);
  const Vector x = make<Vector>([&](auto **out) { return sxt_vector_create(context.get(), 100, SXT_F64, out); });
  const std::int64_t left = left_behind(20, 1000, [&](int i) {
    double norm = 0;
    ASSERT_EQ(sxt_context_force(context.get(), "sxt.reduction/1", i % 2 ? "reduction.reference.cpu" : nullptr), SXT_OK)
        << last_error(context);
    ASSERT_EQ(sxt_nrm2(x.get(), &norm), SXT_OK);
  });
  EXPECT_LT(left, some_kilobytes) << "it was 4.3 kB for each of 1000";
}

// A force that was set, removed and set again is still followed.
TEST(GrowthTest, AForceThatComesBackIsFollowed) {
  const Context context = cpu(1);
  std::vector<double> ones(100, 1);
  const Vector x = wrap(context, ones);
  for (int i = 0; i < 4; ++i) {
    double norm = 0;
    ASSERT_EQ(sxt_context_force(context.get(), "sxt.reduction/1", "reduction.tree.cpu"), SXT_OK) << last_error(context);
    ASSERT_EQ(sxt_nrm2(x.get(), &norm), SXT_OK) << last_error(context);
    EXPECT_DOUBLE_EQ(norm, 10);
    ASSERT_EQ(sxt_context_force(context.get(), "sxt.reduction/1", nullptr), SXT_OK);
    ASSERT_EQ(sxt_nrm2(x.get(), &norm), SXT_OK);
    EXPECT_DOUBLE_EQ(norm, 10);
  }
}

TEST(GrowthTest, UnknownKindsAreNotKept) {
  const Context context = cpu(1);
  const std::int64_t left = left_behind(20, 1000, [&](int i) {
    sxt_query query{};
    const std::string kind = "sxt.nothing_of_this_name_" + std::to_string(i) + "/1";
    query.h = {sizeof query, kind.c_str()};
    sxt_selection *selection = nullptr;
    ASSERT_EQ(sxt_kernel_select(context.get(), &query, nullptr, &selection), SXT_E_UNKNOWN_NAME);
  });
  EXPECT_LT(left, some_kilobytes);
}

// Counts the allocated bytes, and their maximum.
struct Meter {
  std::int64_t held = 0, most = 0;
  // Before each block lie its size and its distance from the start of the allocation.
  static void *allocate(void *user, std::uint64_t bytes, std::uint64_t alignment) {
    auto &self = *static_cast<Meter *>(user);
    const std::uint64_t before = std::max<std::uint64_t>(alignment, 16);
    auto *const memory = static_cast<char *>(poison::allocate(nullptr, bytes + before, before)) + before;
    reinterpret_cast<std::uint64_t *>(memory)[-1] = bytes;
    reinterpret_cast<std::uint64_t *>(memory)[-2] = before;
    self.held += static_cast<std::int64_t>(bytes);
    self.most = std::max(self.most, self.held);
    return memory;
  }
  static void release(void *user, void *memory) {
    const auto *const words = static_cast<std::uint64_t *>(memory);
    static_cast<Meter *>(user)->held -= static_cast<std::int64_t>(words[-1]);
    poison::release(nullptr, static_cast<char *>(memory) - words[-2]);
  }
};

TEST(GrowthTest, AdoptedArraysAreNotCopied) {
  Meter meter;
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.threads = 1;
  options.allocate = Meter::allocate;
  options.release = Meter::release;
  options.allocator_user = &meter;
  const Context context = make<Context>([&](auto **out) { return sxt_context_create(&options, out); });
  const Csr a = laplacian(200);
  const auto arrays = static_cast<std::int64_t>(a.ptr.size() * 4 + a.col.size() * 12);
  sxt_matrix_options how = matrix_options();
  how.ownership = SXT_ADOPT;
  how.symmetry = SXT_SYMMETRIC;
  meter.most = meter.held;
  const std::int64_t before = meter.held;
  const Matrix matrix = make<Matrix>([&](auto **out) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), &how, out);
  });
  EXPECT_LT(meter.most - before, arrays / 100);
  const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1);
  std::vector<double> y(ones.size());
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), ones.data(), nullptr, y.data()), SXT_OK);
  EXPECT_EQ(y, a.times(ones));
}

}  // namespace
}  // namespace api_test
