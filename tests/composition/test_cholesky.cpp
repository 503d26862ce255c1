// SPDX-License-Identifier: BSD-3-Clause
// A sparse Cholesky scheduler that does all dense work through slots: its answers against a dense factorisation, and a
// pivot that is not positive, named by its column. The symbolic structure reaches it as problem->data, so the test goes
// through core where the C interface has no such argument.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <numeric>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "plugins/cholesky/shared/structure.hpp"
#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/dense.h"
#include "support.hpp"

namespace composition {
namespace {

using ::testing::HasSubstr;

class Cholesky : public HardCase {};

constexpr const char *kind_id = "com.example.cholesky_levels/1";  // mocks/cholesky_levels.cpp

// The lower triangle of a matrix; entry k of A has the value k.
sextant_cholesky::LowerPattern lower_of(const Csr &a) {
  sextant_cholesky::LowerPattern lower;
  lower.n = a.n;
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col[k] <= i) lower.col.push_back(a.col[k]), lower.from.push_back(k);
    lower.row_ptr.push_back(static_cast<std::int64_t>(lower.col.size()));
  }
  return lower;
}

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
      : structure(lower_of(a), perm, {}),
        symbolic(structure.view()),
        matrix(make_matrix(context, a)),
        values(a.values) {
    sextant::Matrix &inner = *matrix->matrix;
    sextant::Selector selector(*context->context, &inner, {.forced = {{kind_id, "cholesky.levels.cpu"}}});
    sxt_cholesky_query query{};
    query.m = inner.query_part(kind_id, sizeof query, 1);
    query.n_super = symbolic.n_super;
    query.nnz_l = symbolic.nnz_l;
    query.max_rows = a.n;
    query.flops = 1e4;
    runner = std::make_unique<sextant::Runner>(
        *context->context, selector.select({sextant::Query(&query.m.q), "cholesky"}), &inner, &symbolic.h);
  }
  sxt_status factor() {
    args.h = {sizeof args, kind_id};
    args.phase = SXT_CHOLESKY_FACTOR;
    args.value_type = args.value_type_a = SXT_F64;
    args.n_sets = 1;
    args.values = values.data();
    l.resize(static_cast<std::size_t>(symbolic.values));
    args.factor = l.data();
    args.failed_column = &failed_column, args.failed_pivot = &failed_pivot, args.changed = &changed;
    return runner->ask(&args.h);
  }
  // x of A x = b, both in the caller's numbering.
  std::vector<double> solve(const std::vector<double> &b) {
    std::vector<double> x(b);
    sxt_cholesky_args solving = args;
    solving.phase = SXT_CHOLESKY_SOLVE;
    solving.n_rhs = 1;
    solving.b = x.data();
    solving.ldb = static_cast<std::int64_t>(b.size());
    EXPECT_EQ(runner->ask(&solving.h), SXT_OK);
    return x;
  }
  std::vector<std::int32_t> order() const { return {symbolic.perm, symbolic.perm + symbolic.n}; }
  sextant_cholesky::Structure structure;
  const sxt_symbolic &symbolic;
  Matrix matrix;
  std::vector<double> values, l;
  std::int64_t failed_column = -7, changed = 0;
  double failed_pivot = 0;
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
  // The reference steps in only where nothing else applies.
  EXPECT_STRNE(choice.slots[0].parts[0]->kernel->name(), "dense.reference.cpu");
}

TEST_F(Cholesky, SolvesAsADenseFactorisationDoes) {
  const Context context = open_context("cpu");
  const Csr a = five_point(5, 5);
  std::vector<std::int32_t> natural(a.n);
  std::iota(natural.begin(), natural.end(), 0);
  for (const auto &perm : {dissection, natural}) {
    Factorisation f(context, a, perm);
    ASSERT_GT(f.symbolic.n_super, 3);
    EXPECT_LT(f.symbolic.n_super, a.n) << "no supernode is wider than a column";
    ASSERT_EQ(f.factor(), SXT_OK);
    EXPECT_EQ(f.failed_column, -1);
    std::vector<double> l;
    double pivot = 0;
    const std::vector<std::int32_t> eliminated = f.order();
    ASSERT_EQ(dense_factor(a, eliminated, l, &pivot), -1);
    for (std::int64_t unit = 0; unit < a.n; ++unit) {
      std::vector<double> b(a.n, 0), y(a.n);
      b[unit] = 1;
      const std::vector<double> x = f.solve(b);
      // L y = P b, L' z = y by the dense factor; x = P' z.
      for (std::int64_t i = 0; i < a.n; ++i) {
        y[i] = b[eliminated[i]];
        for (std::int64_t j = 0; j < i; ++j) y[i] -= l[i * a.n + j] * y[j];
        y[i] /= l[i * a.n + i];
      }
      for (std::int64_t i = a.n; i-- > 0;) {
        for (std::int64_t j = i + 1; j < a.n; ++j) y[i] -= l[j * a.n + i] * y[j];
        y[i] /= l[i * a.n + i];
        EXPECT_NEAR(x[eliminated[i]], y[i], 1e-14);
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
    const std::int64_t column = dense_factor(a, f.order(), l, &pivot);
    ASSERT_GT(column, 0);
    f.values = a.values;
    EXPECT_EQ(f.factor(), SXT_OK);  // which set failed, and where, is told beside the status
    EXPECT_EQ(f.failed_column, column);
    EXPECT_NEAR(f.failed_pivot, pivot, 1e-12);
  }
  f.values = good;
  ASSERT_EQ(f.factor(), SXT_OK);
  a.values = good;
  const std::vector<double> b(a.n, 1.0);
  EXPECT_LT(relative_residual(a, f.solve(b), b), 1e-14);
}

TEST_F(Cholesky, WithoutASymbolicStructureThePreparationIsRefused) {
  const Context context = open_context("cpu");
  const Matrix matrix = make_matrix(context, five_point(3, 3));
  ASSERT_EQ(sxt_context_force(context.get(), kind_id, "cholesky.levels.cpu"), SXT_OK);
  sxt_cholesky_query query{};
  query.m.q = {{sizeof query, kind_id}, 1, SXT_QUERY_MATRIX, SXT_F64};
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
