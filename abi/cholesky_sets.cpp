// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "abi/analysis.hpp"
#include "abi/guard.hpp"
#include "abi/overlap.hpp"
#include "abi/places.hpp"
#include "abi/sized.hpp"
#include "core/base/aligned.hpp"
#include "core/base/types.hpp"
#include "core/cholesky/sets.hpp"
#include "core/explain/explain.hpp"
#include "core/explain/explain_model.hpp"

using namespace sextant;
using namespace sextant::abi;

struct sxt_cholesky_sets {
  sxt_cholesky_sets(const sxt_analysis &made_from, std::int64_t count)
      : sets(made_from.analysis, count), index_base(made_from.index_base) {}
  cholesky::Sets sets;
  int index_base;
};

namespace {

std::uint64_t id_of(const sxt_cholesky_sets *handle) { return handle ? handle->sets.analysis().context().id() : 0; }
using abi::id_of;

sxt_cholesky_sets_options defaults() {
  sxt_cholesky_sets_options options{};
  options.struct_size = sizeof options;
  return options;
}

sxt_cholesky_sets_outcomes no_outcomes() {
  sxt_cholesky_sets_outcomes outcomes{};
  outcomes.struct_size = sizeof outcomes;
  return outcomes;
}

cholesky::Watch watch_of(const sxt_cholesky_sets_options *options) {
  const sxt_cholesky_sets_options own = read_sized(options, defaults(), "options");
  return {own.cancel, own.progress, own.progress_user};
}

void check_range(const sxt_cholesky_sets &handle, std::int64_t first, std::int64_t count) {
  const std::int64_t all = handle.sets.count();
  require(count >= 0, SXT_E_ARGUMENT, "count is negative (", count, ")");
  require(first >= 0 && first <= all && count <= all - first, SXT_E_INDEX, "first is ", first, " and count ", count,
          "; there are ", all, " sets, counted from 0");
}

// Columns of sets: they do not overlap whichever of the two lies between the others, and all lie in the address space.
void check_columns(std::int64_t count, std::int64_t n, std::int64_t n_rhs, std::int64_t ld, std::int64_t stride,
                   const char *ld_name, const char *stride_name) {
  require(ld >= n, SXT_E_DIMENSION, ld_name, " (", ld, ") must be at least ", n, ", the rows of the matrix");
  require(stride >= 0, SXT_E_ARGUMENT, stride_name, " is negative (", stride, ")");
  constexpr std::int64_t most = INT64_MAX / 64;
  require((n_rhs <= 1 || ld <= most / n_rhs) && (count <= 1 || stride <= most / count), SXT_E_OVERFLOW, count,
          " sets of ", n_rhs, " columns, ", stride_name, " (", stride, ") and ", ld_name, " (", ld,
          ") values apart, do not fit the address space");
  const bool columns_inside = n_rhs == 0 || stride >= (n_rhs - 1) * ld + n;
  const bool sets_inside = stride >= n && ld >= (count - 1) * stride + n;
  require(count <= 1 || n == 0 || columns_inside || sets_inside, SXT_E_DIMENSION, stride_name, " (", stride, ") and ",
          ld_name, " (", ld, ") let columns of different sets overlap: ", stride_name, " must be at least ",
          n_rhs > 0 ? (n_rhs - 1) * ld + n : 0, ", or ", ld_name, " at least (count - 1) ", stride_name, " + ", n);
}

std::int64_t extent(std::int64_t count, std::int64_t n, std::int64_t n_rhs, std::int64_t ld, std::int64_t stride) {
  return count == 0 || n_rhs == 0 ? 0 : (count - 1) * stride + (n_rhs - 1) * ld + n;
}

void check_solve(const sxt_cholesky_sets &handle, std::int64_t n, const cholesky::SetsSolveCall &call) {
  const cholesky::Analysis &analysis = handle.sets.analysis();
  const std::int64_t rows = analysis.symbolic().n, each = value_bytes(analysis.value_type());
  check_range(handle, call.first, call.count);
  require(n == rows, SXT_E_DIMENSION, "b and x have ", n, " values, the matrix ", rows, " rows");
  require(call.n_rhs >= 0, SXT_E_ARGUMENT, "n_rhs is negative (", call.n_rhs, ")");
  require(n == 0 || call.n_rhs == 0 || call.count == 0 || (call.b && call.x), SXT_E_ARGUMENT, call.b ? "x" : "b",
          " is NULL");
  require_aligned(call.b, value_alignment(analysis.value_type()), "b");
  require_aligned(call.x, value_alignment(analysis.value_type()), "x");
  check_columns(call.count, n, call.n_rhs, call.ldb, call.stride_b, "ldb", "stride_b");
  check_columns(call.count, n, call.n_rhs, call.ldx, call.stride_x, "ldx", "stride_x");
  const bool same = call.b == call.x && call.ldb == call.ldx && call.stride_b == call.stride_x;
  const std::int64_t b_values = extent(call.count, n, call.n_rhs, call.ldb, call.stride_b),
                     x_values = extent(call.count, n, call.n_rhs, call.ldx, call.stride_x);
  require(same || apart(call.b, b_values * each, call.x, x_values * each), SXT_E_ARGUMENT,
          "b and x overlap; they may only be one array with one leading dimension and stride");
}

// Writes f(set) for each set to the caller's array, where there is one.
template <class T, class F>
void tell(T *to, const char *name, std::int64_t first, std::int64_t count, F &&f) {
  if (!to) return;
  require_aligned(to, sizeof *to, name);
  for (std::int64_t k = 0; k < count; ++k) to[k] = static_cast<T>(f(static_cast<std::size_t>(first + k)));
}

void tell_outcomes(const sxt_cholesky_sets &handle, std::int64_t first, std::int64_t count,
                   const sxt_cholesky_sets_outcomes &to) {
  const cholesky::SetsOutcome &known = handle.sets.outcome();
  tell(to.status, "outcomes->status", first, count, [&](std::size_t k) { return known.status[k]; });
  tell(to.failed_row, "outcomes->failed_row", first, count,
       [&](std::size_t k) { return known.failed_row[k] < 0 ? -1 : known.failed_row[k] + handle.index_base; });
  tell(to.failed_pivot, "outcomes->failed_pivot", first, count, [&](std::size_t k) { return known.failed_pivot[k]; });
  tell(to.changed_pivots, "outcomes->changed_pivots", first, count, [&](std::size_t k) { return known.changed[k]; });
  if (!to.log_determinant && !to.sign && !to.positive && !to.negative && !to.zero && !to.least_pivot &&
      !to.largest_pivot)
    return;
  const std::vector<cholesky::SetFacts> &facts = handle.sets.facts();
  tell(to.log_determinant, "outcomes->log_determinant", first, count,
       [&](std::size_t k) { return facts[k].log_determinant; });
  tell(to.sign, "outcomes->sign", first, count, [&](std::size_t k) { return facts[k].sign; });
  tell(to.positive, "outcomes->positive", first, count, [&](std::size_t k) { return facts[k].positive; });
  tell(to.negative, "outcomes->negative", first, count, [&](std::size_t k) { return facts[k].negative; });
  tell(to.zero, "outcomes->zero", first, count, [&](std::size_t k) { return facts[k].zero; });
  tell(to.least_pivot, "outcomes->least_pivot", first, count, [&](std::size_t k) { return facts[k].least_pivot; });
  tell(to.largest_pivot, "outcomes->largest_pivot", first, count,
       [&](std::size_t k) { return facts[k].largest_pivot; });
}

}  // namespace

void sxt_cholesky_sets_options_init(sxt_cholesky_sets_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, defaults());
}
void sxt_cholesky_sets_outcomes_init(sxt_cholesky_sets_outcomes *outcomes, uint64_t struct_size) {
  write_sized(outcomes, struct_size, no_outcomes());
}

sxt_status sxt_cholesky_sets_create(const sxt_analysis *analysis, int64_t count, sxt_cholesky_sets **sets) {
  return guarded(id_of(analysis), [&] {
    given(analysis, "analysis");
    given(sets, "sets");
    require(count >= 1, SXT_E_ARGUMENT, "count is ", count, "; it must be 1 or more");
    *sets = std::make_unique<sxt_cholesky_sets>(*analysis, count).release();
  });
}

sxt_status sxt_cholesky_sets_factor(sxt_cholesky_sets *sets, int64_t first, int64_t count, int64_t nnz,
                                    const void *values, int64_t stride, const sxt_cholesky_sets_options *options) {
  return guarded(id_of(sets), [&] {
    given(sets, "sets");
    const cholesky::Watch watch = watch_of(options);
    check_range(*sets, first, count);
    const std::int64_t own = sets->sets.n_values();
    require(nnz == own, SXT_E_DIMENSION, "nnz is ", nnz, "; a set of this pattern has ", own, " values");
    require(stride >= nnz, SXT_E_DIMENSION, "stride (", stride, ") is less than nnz (", nnz, ")");
    require(count <= 1 || stride <= INT64_MAX / 64 / count, SXT_E_OVERFLOW, count, " sets of values, ", stride,
            " apart, do not fit the address space");
    require(values || count == 0 || nnz == 0, SXT_E_ARGUMENT, "values is NULL");
    require_aligned(values, value_alignment(sets->sets.analysis().value_type()), "values");
    return counting_from(sets->index_base, [&] {
      return tell_cancelled(sets->sets.factor({first, count, values, stride, watch}), id_of(sets), "factorisation");
    });
  });
}

sxt_status sxt_cholesky_sets_solve(const sxt_cholesky_sets *sets, int64_t first, int64_t count, int64_t n,
                                   int64_t n_rhs, const void *b, int64_t ldb, int64_t stride_b, void *x, int64_t ldx,
                                   int64_t stride_x, const sxt_cholesky_sets_options *options) {
  return guarded(id_of(sets), [&] {
    given(sets, "sets");
    const cholesky::SetsSolveCall call{first, count, n_rhs, b, ldb, stride_b, x, ldx, stride_x, watch_of(options)};
    check_solve(*sets, n, call);
    return tell_cancelled(sets->sets.solve(call), id_of(sets), "solve");
  });
}

sxt_status sxt_cholesky_sets_get_outcomes(const sxt_cholesky_sets *sets, int64_t first, int64_t count,
                                          const sxt_cholesky_sets_outcomes *outcomes) {
  return guarded(id_of(sets), [&] {
    given(sets, "sets");
    given(outcomes, "outcomes");
    check_range(*sets, first, count);
    tell_outcomes(*sets, first, count, read_sized(outcomes, no_outcomes(), "outcomes"));
  });
}

sxt_status sxt_cholesky_sets_get_info(const sxt_cholesky_sets *sets, sxt_cholesky_sets_info *info) {
  return guarded(id_of(sets), [&] {
    given(sets, "sets");
    check_sized(info, "info");
    answer_sized(info, sets->sets.info(), "info");
  });
}

sxt_status sxt_cholesky_sets_explain(const sxt_cholesky_sets *sets, int32_t form, char *buffer, int64_t capacity,
                                     int64_t *length) {
  return guarded(id_of(sets), [&] {
    const cholesky::Sets &about = given(sets, "sets").sets;
    require(form == SXT_TEXT || form == SXT_JSON, SXT_E_ARGUMENT, "form ", form,
            " is not SXT_TEXT (0) or SXT_JSON (1)");
    const Explanation explanation = about.explain();
    fill(form == SXT_JSON ? explain_json(explanation, about.analysis().context().machine()) : explain_text(explanation),
         buffer, capacity, length);
  });
}

void sxt_cholesky_sets_destroy(sxt_cholesky_sets *sets) { destroy(sets); }
