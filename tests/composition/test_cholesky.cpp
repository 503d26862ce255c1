// SPDX-License-Identifier: BSD-3-Clause
// A sparse Cholesky scheduler that does all dense work through slots: its answers against a dense factorisation, and a
// pivot that is not positive, named by its column. The symbolic structure reaches it as problem->data, so the test goes
// through core where the C interface has no such argument.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/dense.h"
#include "support.hpp"

namespace composition {
namespace {

using ::testing::HasSubstr;

class Cholesky : public HardCase {};

// Rows of L column by column, by elimination on the pattern of P A P'.
std::vector<std::set<std::int32_t>> fill_of(const Csr &a, const std::vector<std::int32_t> &perm) {
  std::vector<std::int32_t> inverse(a.n);
  for (std::int64_t k = 0; k < a.n; ++k) inverse[perm[k]] = static_cast<std::int32_t>(k);
  std::vector<std::set<std::int32_t>> column(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (inverse[i] >= inverse[a.col[k]]) column[inverse[a.col[k]]].insert(inverse[i]);
  for (std::int64_t j = 0; j < a.n; ++j) {
    auto below = std::next(column[j].begin());  // the first is j itself
    if (below != column[j].end()) column[*below].insert(below, column[j].end());
  }
  return column;
}

// Fundamental supernodes of a matrix under a permutation, as core would hand them to a scheduler.
struct Symbolic {
  std::vector<std::int64_t> super_ptr{0}, row_ptr{0}, value_ptr{0}, block_ptr;
  std::vector<std::int32_t> rows, parent, perm;
  sxt_symbolic s{};

  Symbolic(const Csr &a, std::vector<std::int32_t> order) : perm(std::move(order)) {
    const auto column = fill_of(a, perm);
    for (std::int64_t j = 0; j < a.n; ++j) {
      s.nnz_l += static_cast<std::int64_t>(column[j].size());
      // The next column continues the supernode when this one's rows, without its first, are the next one's.
      const bool goes_on = j + 1 < a.n && column[j].size() == column[j + 1].size() + 1 &&
                           column[j].count(static_cast<std::int32_t>(j + 1));
      if (!goes_on) close(column, j + 1);
    }
    const auto super_of = [&](std::int32_t row) {
      return static_cast<std::int32_t>(std::upper_bound(super_ptr.begin(), super_ptr.end(), row) - super_ptr.begin()) -
             1;
    };
    for (std::size_t i = 0; i + 1 < super_ptr.size(); ++i) {
      const std::int64_t width = super_ptr[i + 1] - super_ptr[i], below = row_ptr[i] + width;
      parent.push_back(below < row_ptr[i + 1] ? super_of(rows[below]) : -1);
    }
    block_ptr = super_ptr;
    s.h = {sizeof s, SXT_KIND_CHOLESKY};
    s.n = a.n;
    s.n_super = s.n_blocks = static_cast<std::int64_t>(parent.size());
    s.values = value_ptr.back();
    s.super_ptr = super_ptr.data(), s.row_ptr = row_ptr.data(), s.block_ptr = block_ptr.data(),
    s.value_ptr = value_ptr.data();
    s.rows = rows.data(), s.parent = parent.data(), s.perm = perm.data();
  }
  Symbolic(const Symbolic &) = delete;

 private:
  void close(const std::vector<std::set<std::int32_t>> &column, std::int64_t end) {
    const auto &first = column[super_ptr.back()];
    rows.insert(rows.end(), first.begin(), first.end());
    value_ptr.push_back(value_ptr.back() + static_cast<std::int64_t>(first.size()) * (end - super_ptr.back()));
    row_ptr.push_back(static_cast<std::int64_t>(rows.size()));
    super_ptr.push_back(end);
  }
};

// A 5 x 5 grid, dissected by its middle column: two independent halves, eliminated first.
const std::vector<std::int32_t> dissection{0, 1,  5,  6,  10, 11, 15, 16, 20, 21, 3,  4, 8,
                                           9, 13, 14, 18, 19, 23, 24, 2,  7,  12, 17, 22};

// Dense L of P A P' by rows; stops at the first pivot that is not positive and returns its column, -1 when there is
// none.
std::int64_t dense_factor(const Csr &a, const std::vector<std::int32_t> &perm, std::vector<double> &l, double *pivot) {
  const std::int64_t n = a.n;
  std::vector<std::int32_t> inverse(n);
  for (std::int64_t k = 0; k < n; ++k) inverse[perm[k]] = static_cast<std::int32_t>(k);
  l.assign(n * n, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) l[inverse[i] * n + inverse[a.col[k]]] = a.values[k];
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t k = 0; k < j; ++k)
      for (std::int64_t i = j; i < n; ++i) l[i * n + j] -= l[i * n + k] * l[j * n + k];
    *pivot = l[j * n + j];
    if (!(*pivot > 0)) return j;
    for (std::int64_t i = n; i-- > j;) l[i * n + j] /= std::sqrt(*pivot);
  }
  return -1;
}

struct Factorisation {
  Factorisation(const Context &context, const Csr &a, const std::vector<std::int32_t> &perm)
      : symbolic(a, perm), matrix(make_matrix(context, a)) {
    sextant::Matrix &inner = *matrix->matrix;
    sextant::Selector selector(*context->context, &inner, {.forced = {{SXT_KIND_CHOLESKY, "cholesky.levels.cpu"}}});
    sxt_cholesky_query query{};
    query.m = inner.query_part(SXT_KIND_CHOLESKY, sizeof query, 1);
    query.n_super = symbolic.s.n_super;
    query.nnz_l = symbolic.s.nnz_l;
    query.max_front = a.n;
    query.flops = 1e4;
    runner = std::make_unique<sextant::Runner>(
        *context->context, selector.select({sextant::Query(&query.m.q), "cholesky"}), &inner, &symbolic.s.h);
  }
  sxt_status factor() {
    args.h = {sizeof args, SXT_KIND_CHOLESKY};
    args.phase = SXT_CHOLESKY_FACTOR;
    args.a = &matrix->matrix->csr_view();
    return runner->ask(&args.h);
  }
  // x of A x = b, both in the caller's numbering.
  std::vector<double> solve(const std::vector<double> &b) {
    std::vector<double> permuted(b.size()), x(b.size());
    for (std::size_t k = 0; k < b.size(); ++k) permuted[k] = b[symbolic.perm[k]];
    sxt_cholesky_args solving{};
    solving.h = args.h;
    solving.phase = SXT_CHOLESKY_SOLVE;
    solving.n_rhs = 1;
    solving.b = permuted.data();
    solving.ldb = static_cast<std::int64_t>(b.size());
    EXPECT_EQ(runner->ask(&solving.h), SXT_OK);
    for (std::size_t k = 0; k < b.size(); ++k) x[symbolic.perm[k]] = permuted[k];
    return x;
  }
  Symbolic symbolic;
  Matrix matrix;
  std::unique_ptr<sextant::Runner> runner;
  sxt_cholesky_args args{};
};

TEST_F(Cholesky, SlotsAreFilledInstanceByInstance) {
  const Context context = open_context("cpu");
  const Factorisation f(context, five_point(5, 5), dissection);
  const sextant::Choice &choice = f.runner->choice();
  ASSERT_EQ(choice.slots.size(), 3u);
  std::vector<std::string> roles;
  std::vector<std::uint32_t> instances;
  for (const sextant::SlotChoice &slot : choice.slots) roles.push_back(slot.role), instances.push_back(slot.instances);
  EXPECT_THAT(roles, ::testing::ElementsAre("potrf", "trsm", "update"));
  EXPECT_THAT(instances, ::testing::ElementsAre(1u, 1u, 2u));
  // Each instance was asked about its own operation.
  const auto operation = [&](int slot, int instance) {
    return reinterpret_cast<const sxt_dense_query *>(choice.slots[slot].parts[instance]->query.get())->operation;
  };
  EXPECT_EQ(operation(2, 0), SXT_DENSE_SYRK);
  EXPECT_EQ(operation(2, 1), SXT_DENSE_GEMM);
  // A kernel that knows panels only serves potrf and trsm; the reference steps in only where nothing else applies.
  EXPECT_STRNE(choice.slots[0].parts[0]->kernel->name(), "dense.textbook.cpu");
  EXPECT_STRNE(choice.slots[2].parts[0]->kernel->name(), "dense.panels.cpu");
}

TEST_F(Cholesky, SolvesAsADenseFactorisationDoes) {
  const Context context = open_context("cpu");
  const Csr a = five_point(5, 5);
  std::vector<std::int32_t> natural(a.n);
  std::iota(natural.begin(), natural.end(), 0);
  for (const auto &perm : {dissection, natural}) {
    Factorisation f(context, a, perm);
    ASSERT_GT(f.symbolic.s.n_super, 3);
    EXPECT_LT(f.symbolic.s.n_super, a.n) << "no supernode is wider than a column";
    ASSERT_EQ(f.factor(), SXT_OK);
    EXPECT_EQ(f.args.failed_column, -1);
    std::vector<double> l;
    double pivot = 0;
    ASSERT_EQ(dense_factor(a, perm, l, &pivot), -1);
    for (std::int64_t unit = 0; unit < a.n; ++unit) {
      std::vector<double> b(a.n, 0), y(a.n);
      b[unit] = 1;
      const std::vector<double> x = f.solve(b);
      // L y = P b, L' z = y by the dense factor; x = P' z.
      for (std::int64_t i = 0; i < a.n; ++i) {
        y[i] = b[perm[i]];
        for (std::int64_t j = 0; j < i; ++j) y[i] -= l[i * a.n + j] * y[j];
        y[i] /= l[i * a.n + i];
      }
      for (std::int64_t i = a.n; i-- > 0;) {
        for (std::int64_t j = i + 1; j < a.n; ++j) y[i] -= l[j * a.n + i] * y[j];
        y[i] /= l[i * a.n + i];
        EXPECT_NEAR(x[perm[i]], y[i], 1e-14);
      }
    }
  }
}

TEST_F(Cholesky, APivotThatIsNotPositiveIsNamedAndTheHandleStaysUsable) {
  const Context context = open_context("cpu");
  Csr a = five_point(5, 5);
  Factorisation f(context, a, dissection);
  std::vector<double> good = a.values;
  for (const std::int64_t row : {12, 18}) {  // in the separator, and within a half
    a.values = good;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      if (a.col[k] == row) a.values[k] = 0.25;
    std::vector<double> l;
    double pivot = 0;
    const std::int64_t column = dense_factor(a, dissection, l, &pivot);
    ASSERT_GT(column, 0);
    ASSERT_EQ(sxt_matrix_update_values(f.matrix.get(), a.values.data(), static_cast<std::int64_t>(a.values.size())),
              SXT_OK);
    try {
      f.factor();
      ADD_FAILURE() << "an indefinite matrix was factored";
    } catch (const sextant::Error &problem) {
      EXPECT_EQ(problem.status(), SXT_E_NOT_POSITIVE_DEFINITE);
      EXPECT_THAT(problem.what(), HasSubstr("column " + std::to_string(column)));
    }
    EXPECT_EQ(f.args.failed_column, column);
    EXPECT_NEAR(f.args.failed_pivot, pivot, 1e-12);
  }
  ASSERT_EQ(sxt_matrix_update_values(f.matrix.get(), good.data(), static_cast<std::int64_t>(good.size())), SXT_OK);
  ASSERT_EQ(f.factor(), SXT_OK);
  a.values = good;
  const std::vector<double> b(a.n, 1.0);
  EXPECT_LT(relative_residual(a, f.solve(b), b), 1e-14);
}

TEST_F(Cholesky, WithoutASymbolicStructureThePreparationIsRefused) {
  const Context context = open_context("cpu");
  const Matrix matrix = make_matrix(context, five_point(3, 3));
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_CHOLESKY, "cholesky.levels.cpu"), SXT_OK);
  sxt_cholesky_query query{};
  query.m.q = {{sizeof query, SXT_KIND_CHOLESKY}, 1, SXT_QUERY_MATRIX, SXT_F64};
  EXPECT_EQ(try_select(context, query.m.q, matrix), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("symbolic structure"));
}

TEST_F(Cholesky, ASchedulerThatReadsNoStorageBuildsNone) {
  const Context context = open_context("cpu");
  const Factorisation f(context, five_point(5, 5), dissection);
  EXPECT_EQ(f.runner->choice().storage, "");
  int times = 0;
  for (const sextant::Considered &line : f.runner->choice().considered) times += line.kernel == "cholesky.levels.cpu";
  EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace composition
