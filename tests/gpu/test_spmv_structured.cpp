// SPDX-License-Identifier: BSD-3-Clause
// Products by diagonals, ELL, HYB and blocks on a GPU at the borders that these formats have: sizes around blocks of
// threads and marches, offsets far out, planes that do not come out even, block edges that do not divide n, rows that
// end at the borders of a block's coordinates. Chains of products whose launches begin early, and captured ones. Values
// and vectors are small integers, so that every order of additions gives the same bits: an answer is right or wrong.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "rows.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant;

class Structured : public Gpu {
 protected:
  using Visit = std::function<void(const std::string &, Prepared &)>;

  // Every candidate of every kernel that reads one of these storages; returns how many there were.
  int each(Matrix &matrix, const std::vector<std::string> &storages, const Visit &visit, std::int32_t n_dots = -1) {
    sxt_spmv_dots_query query{};
    const char *kind = n_dots < 0 ? SXT_KIND_SPMV : SXT_KIND_SPMV_DOTS;
    query.m.m = matrix.query_part(kind, n_dots < 0 ? sizeof(sxt_spmv_query) : sizeof query, 1000);
    query.m.m.q.value_type = SXT_F64;
    query.m.n_rhs = 1;
    query.n_dots = std::max(0, n_dots);
    int visited = 0;
    for (const std::string &storage : storages)
      for (const ChoicePtr &choice : Selector(matrix.context(), &matrix).every({Query(&query.m.m.q), kind, storage})) {
        const std::int64_t *launch = choice->candidate.launch;
        Prepared prepared(matrix.context(), choice, &matrix, nullptr);
        visit(std::string(choice->kernel->name()) + " " + std::to_string(launch[0]) + " " + std::to_string(launch[1]) +
                  " " + std::to_string(launch[2]),
              prepared);
        ++visited;
      }
    return visited;
  }

  static sxt_spmv_args args(const void *x, void *y) {
    sxt_spmv_args a{};
    a.h = {sizeof a, SXT_KIND_SPMV};
    a.n_rhs = 1;
    a.x = x;
    a.y = y;
    return a;
  }

  // y = A x by every candidate; y holds arbitrary values before, beta is 0.
  void check(const Rows &host, const std::vector<std::string> &storages, const std::string &what,
             sxt_symmetry symmetry = SXT_GENERAL) {
    const std::vector<double> x = integers(host.cols()), want = host.times(x), rubbish(want.size() + 1, NAN);
    const DeviceBuffer dx(device(), (x.size() + 1) * sizeof(double)), dy(device(), rubbish.size() * sizeof(double));
    device().copy(dx.data(), x.data(), x.size() * sizeof(double));
    for (const sxt_value_type type : {SXT_F64, SXT_F32}) {
      const auto matrix = host.on(context_->context, type, symmetry);
      const int visited = each(*matrix, storages, [&](const std::string &name, Prepared &prepared) {
        device().copy(dy.data(), rubbish.data(), dy.bytes());
        sxt_spmv_args a = args(dx.data(), dy.data());
        ASSERT_NO_THROW(prepared.open()->run(&a.h));
        EXPECT_EQ(read(dy.data(), want.size()), want) << name << ", " << what;
        EXPECT_TRUE(std::isnan(read(dy.as<double>() + want.size(), 1)[0])) << name << " wrote beyond y, " << what;
      });
      EXPECT_GT(visited, 0) << what;
      if (HasFailure()) return;
    }
  }

  static inline const std::vector<std::string> diagonals = {SXT_KIND_STORAGE_DIA, SXT_KIND_STORAGE_DIA_SYMMETRIC};
};

TEST_F(Structured, DiagonalsAroundEveryBorder) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4097}) {
    check(Rows::bands(n, {-2, -1, 0, 1, 2}), diagonals, "five diagonals, n = " + std::to_string(n), SXT_SYMMETRIC);
    check(Rows::bands(n, {-31, 0, 7}), {SXT_KIND_STORAGE_DIA}, "three diagonals, n = " + std::to_string(n));
    if (HasFailure()) return;
  }
}

TEST_F(Structured, DiagonalsFarOut) {
  for (const std::int64_t n : {700, 5000})
    check(Rows::bands(n, {1 - n, -1024, 0, 1024, n - 1}), diagonals, "corners", SXT_SYMMETRIC);
  check(Rows::bands(300, {-299, -100, 100, 299}), diagonals, "no main diagonal", SXT_SYMMETRIC);
}

// More diagonals than one launch takes, and numbers of them around what is loaded at once.
TEST_F(Structured, ManyDiagonals) {
  for (const std::int64_t reach : {2, 3, 4, 5, 13, 31, 32, 33, 70}) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t offset = -reach; offset <= reach; ++offset) offsets.push_back(offset);
    check(Rows::bands(600, offsets), diagonals, std::to_string(2 * reach + 1) + " diagonals", SXT_SYMMETRIC);
    if (HasFailure()) return;
  }
}

// Seven diagonals are marched through: planes narrower and wider than a block, one plane, planes that do not come out
// even.
TEST_F(Structured, MarchesThroughBoxes) {
  const std::int64_t sizes[][3] = {{2, 2, 2},    {5, 7, 11},  {3, 3, 100}, {33, 2, 9},   {16, 16, 16},
                                   {16, 16, 17}, {32, 16, 3}, {257, 2, 5}, {19, 27, 34}, {40, 40, 7}};
  for (const auto &s : sizes) {
    check(Rows::box(s[0], s[1], s[2]), diagonals,
          std::to_string(s[0]) + " x " + std::to_string(s[1]) + " x " + std::to_string(s[2]), SXT_SYMMETRIC);
    if (HasFailure()) return;
  }
  // Not a stencil, and its last plane is cut: rows are no multiple of the outermost offset.
  for (const std::int64_t n : {901, 1000, 2047})
    check(Rows::bands(n, {-300, -17, -4, 0, 4, 17, 300}), diagonals, "seven diagonals", SXT_SYMMETRIC);
}

// A main diagonal of ones is not stored, until new values bring another one.
TEST_F(Structured, DiagonalsOfOnes) {
  check(Rows::box(12, 9, 10, 1), diagonals, "a box", SXT_SYMMETRIC);
  check(Rows::box(700, 1, 1, 1), diagonals, "three diagonals", SXT_SYMMETRIC);
  const Rows ones = Rows::box(11, 10, 9, 1), others = Rows::box(11, 10, 9, 5);
  const auto matrix = ones.on(context_->context, SXT_F64, SXT_SYMMETRIC);
  const auto other = others.on(context_->context, SXT_F64, SXT_SYMMETRIC);
  const std::vector<double> x = integers(ones.cols());
  const DeviceBuffer dx(device(), x.size() * sizeof(double)), dy(device(), x.size() * sizeof(double));
  device().copy(dx.data(), x.data(), dx.bytes());
  each(*matrix, {SXT_KIND_STORAGE_DIA_SYMMETRIC}, [&](const std::string &name, Prepared &prepared) {
    sxt_spmv_args a = args(dx.data(), dy.data());
    for (const auto &[from, want] :
         {std::pair(other, &others), std::pair(ones.on(context_->context, SXT_F64, SXT_SYMMETRIC), &ones)}) {
      matrix->update_values(from->csr().values.data(), from->csr().nnz);
      prepared.refresh_if_stale();
      ASSERT_NO_THROW(prepared.open()->run(&a.h));
      EXPECT_EQ(read(dy.data(), x.size()), want->times(x)) << name;
    }
  });
}

TEST_F(Structured, RowsOfEveryWidth) {
  for (const std::int64_t width : {1, 3, 4, 5, 8, 9, 12, 13, 16, 17, 24, 25}) {
    Rows a(517, 600);
    for (std::int64_t i = 0; i < a.rows(); ++i)
      for (std::int64_t k = 0; k < width; ++k)
        if ((i + k) % 5) a.set(i, (i * 3 + k * 23) % 600, static_cast<double>(1 + k % 3));
    check(a, {SXT_KIND_STORAGE_ELL, SXT_KIND_STORAGE_HYB}, "width " + std::to_string(width));
    if (HasFailure()) return;
  }
}

// Coordinates of a block of 256 rows are cut into shares: long rows that begin, end and lie inside of shares.
TEST_F(Structured, LongRowsAmongShort) {
  for (const std::int64_t length : {40, 127, 128, 129, 1023, 1024, 1025, 3000}) {
    Rows a(1500, 3000);
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      a.set(i, i, 2);
      const bool is_long = i == 0 || i == 255 || i == 256 || i == 700 || i == 701 || i == 1499;
      for (std::int64_t k = 0; k < (is_long ? length : i % 11 == 3 ? 9 : 0); ++k)
        a.set(i, (i + k * 7) % 3000, 1 + k % 4);
    }
    check(a, {SXT_KIND_STORAGE_HYB}, "rows of " + std::to_string(length));
    if (HasFailure()) return;
  }
}

// Every edge on sizes that it does not divide.
TEST_F(Structured, BlocksThatDoNotDivide) {
  for (int edge = 2; edge <= 8; ++edge) {
    ASSERT_EQ(setenv("SEXTANT_BSR_BLOCK", std::to_string(edge).c_str(), 1), 0);
    for (const std::int64_t n : {1, 7, 8, 9, 31, 33, 256, 257, 511, 1000, 1009}) {
      Rows a(n, n + 3);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < (i % 50 == 7 ? std::min<std::int64_t>(n, 300) : 1 + i % 6); ++k)
          a.set(i, (i * 2 + k * 3) % (n + 3), static_cast<double>(1 + k % 5));
      check(a, {SXT_KIND_STORAGE_BSR}, "blocks of " + std::to_string(edge) + ", n = " + std::to_string(n));
      if (HasFailure()) break;
    }
  }
  unsetenv("SEXTANT_BSR_BLOCK");
}

// Products that feed each other: a launch that begins early must wait for what the one before writes.
TEST_F(Structured, ChainsOfProducts) {
  const Rows host = Rows::box(12, 11, 10);
  const std::size_t n = static_cast<std::size_t>(host.rows());
  const auto matrix = host.on(context_->context, SXT_F64, SXT_SYMMETRIC);
  std::vector<double> start = integers(host.rows());
  // Values stay small: the factor that scales each product is a power of two.
  const double quarter = 1.0 / 64;
  const DeviceBuffer a(device(), n * sizeof(double)), b(device(), n * sizeof(double));
  const std::vector<std::string> all = {SXT_KIND_STORAGE_DIA, SXT_KIND_STORAGE_DIA_SYMMETRIC, SXT_KIND_STORAGE_ELL,
                                        SXT_KIND_STORAGE_HYB, SXT_KIND_STORAGE_BSR};
  each(*matrix, all, [&](const std::string &name, Prepared &prepared) {
    const std::unique_ptr<Session> session = prepared.open();
    const auto chain = [&](bool waits) {
      device().copy(a.data(), start.data(), a.bytes());
      for (int step = 0; step < 40; ++step) {
        sxt_spmv_args there = args(step % 2 ? b.data() : a.data(), step % 2 ? a.data() : b.data());
        there.alpha = {&quarter, 0, 0};
        session->run(&there.h);
        if (waits && sxt_context_synchronize(context_.get()) != SXT_OK) ADD_FAILURE() << sxt_last_error(context_.get());
      }
      return read(a.data(), n);
    };
    const std::vector<double> slow = chain(true);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(chain(false), slow) << name;
  });
}

// Captured once, replayed with other numbers in x: what the eager call gives.
TEST_F(Structured, CapturedProductsReadNewVectors) {
  const Rows host = Rows::box(9, 8, 13);
  const std::size_t n = static_cast<std::size_t>(host.rows());
  const auto matrix = host.on(context_->context, SXT_F64, SXT_SYMMETRIC);
  const DeviceBuffer x(device(), n * sizeof(double)), y(device(), n * sizeof(double)), z(device(), n * sizeof(double));
  void *stream = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
  const std::vector<std::string> all = {SXT_KIND_STORAGE_DIA, SXT_KIND_STORAGE_DIA_SYMMETRIC, SXT_KIND_STORAGE_ELL,
                                        SXT_KIND_STORAGE_HYB, SXT_KIND_STORAGE_BSR};
  each(*matrix, all, [&](const std::string &name, Prepared &prepared) {
    const std::unique_ptr<Session> session = prepared.open();
    std::vector<double> numbers = integers(host.rows());
    device().copy(x.data(), numbers.data(), x.bytes());
    sxt_spmv_args first = args(x.data(), y.data()), second = args(y.data(), z.data());
    session->run(&first.h);
    void *graph = nullptr;
    ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
    session->run(&first.h);
    session->run(&second.h);
    ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
    for (double &number : numbers) number = 2 - number;
    device().copy(x.data(), numbers.data(), x.bytes());
    for (int again = 0; again < 3; ++again) {
      ASSERT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
      ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
      EXPECT_EQ(read(z.data(), n), host.times(host.times(numbers))) << name;
    }
    ops().graph_destroy(handle(), graph);
  });
  EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  ops().stream_destroy(handle(), stream);
}

// The inner products of a fused pass, at borders of blocks and with every pair of the new y and x.
TEST_F(Structured, InnerProductsInTheSamePass) {
  for (const auto &s : {std::vector<std::int64_t>{2, 2, 2}, {8, 8, 8}, {7, 9, 33}, {32, 32, 9}}) {
    const Rows host = Rows::box(s[0], s[1], s[2]);
    const std::size_t n = static_cast<std::size_t>(host.rows());
    const auto matrix = host.on(context_->context, SXT_F64, SXT_SYMMETRIC);
    const std::vector<double> x = integers(host.rows()), y = host.times(x);
    double want[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < n; ++i) want[0] += x[i] * y[i], want[1] += y[i] * y[i], want[2] += x[i] * x[i];
    want[3] = want[0];
    const DeviceBuffer dx(device(), n * sizeof(double)), dy(device(), n * sizeof(double)), dots(device(), 64);
    device().copy(dx.data(), x.data(), dx.bytes());
    const void *u[] = {dx.data(), nullptr, dx.data(), nullptr}, *v[] = {nullptr, nullptr, dx.data(), dx.data()};
    for (std::int32_t n_dots : {0, 1, 2, 3, 4}) {
      const int visited = each(
          *matrix, diagonals,
          [&](const std::string &name, Prepared &prepared) {
            sxt_spmv_dots_args a{};
            a.m = args(dx.data(), dy.data());
            a.m.h = {sizeof a, SXT_KIND_SPMV_DOTS};
            a.n_dots = n_dots;
            a.u = u, a.v = v;
            a.dots = dots.data();
            const std::unique_ptr<Session> session = prepared.open();
            for (int again = 0; again < 3; ++again) {  // the ticket is back at zero after every run
              ASSERT_NO_THROW(session->run(&a.m.h));
              const std::vector<double> got = read(dots.data(), 4);
              for (std::int32_t k = 0; k < n_dots; ++k)
                EXPECT_EQ(got[static_cast<std::size_t>(k)], want[k]) << name << ", pair " << k;
              EXPECT_EQ(read(dy.data(), n), y) << name;
            }
          },
          n_dots);
      EXPECT_GT(visited, 0);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gpu_test
