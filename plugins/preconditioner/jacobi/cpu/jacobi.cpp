// SPDX-License-Identifier: BSD-3-Clause
// The Jacobi preconditioner M = diag(A)^-1, kept as its square root s: M = S S. Core can scale A with s once, and then
// no iteration applies M. An application reads r and s and writes z: memory-bound, 2 multiplications an element.
#include <cmath>
#include <cstdint>
#include <memory>

#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

namespace plugin = sextant::plugin;

struct State {
  sxt_value_type type;
  std::int64_t n, threads;
  plugin::Memory s;  // n numbers of the real type: 1 / sqrt(a_ii)
};

// The position of row i's diagonal entry; -1: missing. Columns are sorted.
template <class Index, class Offset>
std::int64_t find_diagonal(const sxt_csr &a, std::int64_t i) {
  const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
  const auto *col = static_cast<const Index *>(a.col);
  const Index *end = col + row_ptr[i + 1];
  const Index *found = std::lower_bound(col + row_ptr[i], end, static_cast<Index>(i));
  return found != end && *found == i ? found - col : -1;
}

// 1 / sqrt(a_ii); only that of a positive real entry, in the range of the vectors' type, is finite and positive.
template <class Real, class T>
Real scale_factor(T entry) {
  return static_cast<Real>(1 / std::sqrt(static_cast<double>(std::real(entry))));
}

// SXT_OK when the entry of row i has a scale factor, else the sentence with the row and the reason.
template <class Real, class T>
sxt_status check_entry(T entry, std::int64_t i, const sxt_exec *exec) {
  const double re = static_cast<double>(std::real(entry)), im = static_cast<double>(std::imag(entry));
  const Real s = scale_factor<Real>(entry);
  if (re > 0 && std::isfinite(re) && im == 0 && s > 0 && std::isfinite(s)) return SXT_OK;
  const char *expected = "Jacobi needs a positive, finite, real diagonal";
  if (im == 0)
    return plugin::error(exec, SXT_E_DIAGONAL, "row %lld (counting from 0) has the diagonal entry %.9g; %s",
                         static_cast<long long>(i), re, expected);
  return plugin::error(exec, SXT_E_DIAGONAL, "row %lld (counting from 0) has the diagonal entry %.9g %+.9g i; %s",
                       static_cast<long long>(i), re, im, expected);
}

// Fills s. Checks every row before it writes the first, so a refused refresh leaves the old scaling.
template <class T, class Real, class Index, class Offset>
sxt_status scale_factors(const sxt_csr &a, Real *s, const sxt_exec *exec) {
  const auto *values = static_cast<const T *>(a.values);
  for (std::int64_t i = 0; i < a.s.rows; ++i) {
    const std::int64_t k = find_diagonal<Index, Offset>(a, i);
    if (k < 0)
      return plugin::error(exec, SXT_E_DIAGONAL,
                           "row %lld (counting from 0) has no diagonal entry; Jacobi needs a positive, finite, real "
                           "diagonal",
                           static_cast<long long>(i));
    if (const sxt_status status = check_entry<Real>(values[k], i, exec); status != SXT_OK) return status;
  }
  for (std::int64_t i = 0; i < a.s.rows; ++i) s[i] = scale_factor<Real>(values[find_diagonal<Index, Offset>(a, i)]);
  return SXT_OK;
}

sxt_status compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  if (a.s.rows != state.n)
    return plugin::error(exec, SXT_E_DIMENSION, "the matrix has %lld rows, the preconditioner was prepared for %lld",
                         static_cast<long long>(a.s.rows), static_cast<long long>(state.n));
  return plugin::with_value_type(state.type, [&]<class Vector>(plugin::Tag<Vector>) {
    return plugin::with_value_type(a.s.value_type, [&]<class T>(plugin::Tag<T>) {
      return plugin::with_index_type(a.s.index_type, [&]<class Index>(plugin::Tag<Index>) {
        return plugin::with_index_type(a.s.offset_type, [&]<class Offset>(plugin::Tag<Offset>) {
          using Real = plugin::real_of<Vector>;
          return scale_factors<T, Real, Index, Offset>(a, state.s.template as<Real>(), exec);
        });
      });
    });
  });
}

// z_i = s_i (s_i r_i): in this order neither product leaves the range before the result does.
template <class T>
void apply(const State &state, const T *r, T *z, int team) {
  const auto *s = state.s.as<plugin::real_of<T>>();
  plugin::for_each_part(team, team, [&](int part) {
    const auto range = plugin::part_of(state.n, team, part, 64);
    for (std::int64_t i = range.begin; i < range.end; ++i) z[i] = s[i] * (s[i] * r[i]);
  });
}

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  if (query.method[0] && std::strncmp(query.method, "jacobi", sizeof query.method) != 0)
    return plugin::refuse(reason, "this is \"jacobi\", the query asks for \"%.24s\"", query.method);
  if (query.m.rows != query.m.cols)
    return plugin::refuse(reason, "the matrix is not square: %lld rows, %lld columns",
                          static_cast<long long>(query.m.rows), static_cast<long long>(query.m.cols));
  return SXT_OK;
}

sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  const sxt_value_type type = query.m.q.value_type;
  const double n = static_cast<double>(query.m.rows), bytes = static_cast<double>(plugin::value_bytes(type));
  const double real_bytes = type == SXT_F32 || type == SXT_C64 ? 4 : 8;

  plugin::CpuCost cost;
  cost.stream_bytes = n * (2 * bytes + real_bytes);
  cost.flops = n * plugin::multiply_add_flops(type);
  cost.working_set = cost.stream_bytes;
  // prepare walks the row pointers and one cache line a row, twice, on one thread.
  const double row_s = machine->gather_rate_unit > 0 ? 1 / machine->gather_rate_unit : 1e-8;

  plugin::CandidateList list(out, capacity, count);
  plugin::for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = plugin::fill(list.add(), threads, cost);
    candidate.setup_s = 2 * n * row_s;
    candidate.state_bytes = static_cast<std::uint64_t>(n * real_bytes);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return plugin::guard(exec, [&]() -> sxt_status {
    if (!problem->a || !plugin::is_kind(*problem->a, SXT_KIND_STORAGE_CSR))
      return plugin::error(exec, SXT_E_ARGUMENT, "Jacobi needs the matrix as %s", SXT_KIND_STORAGE_CSR);
    const auto &a = plugin::as<sxt_csr>(problem->a);
    const sxt_value_type type = problem->query->value_type;
    const std::uint64_t real_bytes = type == SXT_F32 || type == SXT_C64 ? 4 : 8;
    auto state = std::unique_ptr<State>(
        new State{type, a.s.rows, candidate ? candidate->launch[0] : exec->threads,
                  plugin::Memory(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(a.s.rows) * real_bytes)});
    if (const sxt_status status = compute(*state, a, exec); status != SXT_OK) return status;
    return plugin::give(state.release(), out);
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return compute(*static_cast<State *>(state), plugin::as<sxt_csr>(problem->a), exec);
}

sxt_status run(const void *state_pointer, void *, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(state_pointer);
  const auto &args = plugin::as<sxt_preconditioner_args>(head);
  if (args.n != state.n)
    return plugin::error(exec, SXT_E_DIMENSION, "the args have n = %lld, the matrix %lld rows",
                         static_cast<long long>(args.n), static_cast<long long>(state.n));
  return plugin::with_value_type(state.type, [&]<class T>(plugin::Tag<T>) {
    apply(state, static_cast<const T *>(args.r), static_cast<T *>(args.z), plugin::team_size(state.threads, *exec));
    return static_cast<sxt_status>(SXT_OK);
  });
}

sxt_status scaling(const void *state, const void **s) {
  *s = static_cast<const State *>(state)->s.data();
  return SXT_OK;
}

const sxt_preconditioner_ops ops{sizeof(sxt_preconditioner_ops), "jacobi", scaling, nullptr, 1};
const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

const sxt_kernel kernel = [] {
  sxt_kernel k = plugin::new_kernel(SXT_KIND_PRECONDITIONER, "preconditioner.jacobi.cpu", "cpu",
                                    "the inverse of the diagonal; also as a symmetric scaling of the matrix", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = plugin::all_value_types;
  k.storages = storages;
  k.term_names = plugin::cpu_terms;
  k.ops = &ops;
  plugin::set_calls<State>(k, {applicable, candidates, prepare, refresh});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  plugin::take_team(host);
  return plugin::offer<&kernel>("preconditioner-jacobi", out);
}
