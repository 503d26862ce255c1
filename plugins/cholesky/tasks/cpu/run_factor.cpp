// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <limits>

#include "factor_tiles.hpp"
#include "runs.hpp"

namespace sextant_cholesky_tasks {
namespace {

using namespace sextant::plugin;
using sextant_cholesky::pivot_rule;
using sextant_cholesky::set_of;

// The first column, in the order of elimination, with a value of A that is not finite; -1: all are.
template <class A>
std::int64_t first_bad_column(const sxt_symbolic &s, const A *values) {
  std::int64_t first = -1;
  for (std::int64_t k = 0; k < s.n_entries; ++k) {
    const A value = values[s.entry_from[k]];
    if (std::isfinite(std::real(value)) && std::isfinite(std::imag(value))) continue;
    const std::int64_t p = std::upper_bound(s.value_ptr, s.value_ptr + s.n_super + 1, s.entry_to[k]) - s.value_ptr - 1;
    const std::int64_t j = s.super_ptr[p] + (s.entry_to[k] - s.value_ptr[p]) / (s.row_ptr[p + 1] - s.row_ptr[p]);
    if (first < 0 || j < first) first = j;
  }
  return first;
}

// Numbers of columns that are marked; the first of them go to `list`.
std::int64_t count_marks(const std::uint8_t *marks, std::int64_t n, std::int64_t *list, std::int64_t capacity) {
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    if (!marks[j]) continue;
    if (list && count < capacity) list[count] = j;
    ++count;
  }
  return count;
}

template <class T>
class Sets {
 public:
  Sets(const Session &session, const sxt_cholesky_args &args, const sxt_exec &exec)
      : session_(session), args_(args), exec_(exec), half_(args.value_type != args.value_type_a) {}

  sxt_status run(int threads) {
    if (session_.state.is_small()) {
      for_each_item(args_.n_sets, threads, [&](std::int64_t set, int rank) { worst_.keep(one(set, rank, 0)); });
      return worst_.get();
    }
    if (session_.state.apart) {
      for_each_item(args_.n_sets, threads, [&](std::int64_t set, int lane) { worst_.keep(one(set, 0, 1, lane)); });
      return worst_.get();
    }
    for (std::int64_t set = 0; set < args_.n_sets; ++set)
      if (const sxt_status status = one(set, 0, threads)) return status;
    return SXT_OK;
  }

 private:
  // threads 0: alone, with the memory of this rank.
  sxt_status one(std::int64_t set, int rank, int threads, int lane = 0) {
    if (is_cancelled(exec_.cancel)) return SXT_NOT_CONVERGED;
    const Plan &plan = session_.state.plan;
    const FactorSpace space = session_.factor_space(rank, lane);
    const bool changes = args_.pivot_policy != SXT_PIVOT_POLICY_FAIL;
    if (changes) std::memset(space.marks, 0, static_cast<std::size_t>(plan.s.n));
    const std::int64_t step = half_ ? static_cast<std::int64_t>(sizeof(T) / 2) : static_cast<std::int64_t>(sizeof(T));
    FactorCall<T> call{};
    call.values = static_cast<const std::byte *>(args_.values) + set * args_.stride_values * step;
    call.half = half_;
    call.l = set_of<T>(args_.factor, args_.stride_factor, set);
    call.rule = pivot_rule(args_);
    call.marks = changes ? space.marks : nullptr;
    call.type = args_.value_type;
    call.parts = session_.parts;
    Factorisation<T> factorisation(plan, space, call, exec_);
    if (threads == 0)
      factorisation.run_alone(rank);
    else if (!factorisation.run(threads))
      return SXT_NOT_CONVERGED;
    tell(set, factorisation, call);
    return factorisation.status();
  }

  void tell(std::int64_t set, const Factorisation<T> &done, const FactorCall<T> &call) {
    const sxt_symbolic &s = session_.state.plan.s;
    std::int64_t column = done.failed_column();
    double pivot = 0;
    if (column == Factorisation<T>::none)
      column = -1;
    else
      pivot = done.failed_pivot();
    if (column >= 0 || done.saw_bad_value()) {
      const std::int64_t bad = half_ ? first_bad_column(s, static_cast<const typename HalfOf<T>::type *>(call.values))
                                     : first_bad_column(s, static_cast<const T *>(call.values));
      if (bad >= 0) column = bad, pivot = std::numeric_limits<double>::quiet_NaN();
    }
    args_.failed_column[set] = column, args_.failed_pivot[set] = pivot;
    std::int64_t *list = args_.pivots ? args_.pivots + set * args_.pivots_capacity : nullptr;
    args_.changed[set] = call.marks ? count_marks(call.marks, s.n, list, args_.pivots_capacity) : 0;
  }

  const Session &session_;
  const sxt_cholesky_args &args_;
  const sxt_exec &exec_;
  const bool half_;
  Worst worst_;
};

}  // namespace

sxt_status run_factor(const Session &session, const sxt_cholesky_args &args, const sxt_exec &exec, int threads) {
  return with_value_type(
      args.value_type, [&](auto tag) { return Sets<typename decltype(tag)::type>(session, args, exec).run(threads); });
}

}  // namespace sextant_cholesky_tasks
