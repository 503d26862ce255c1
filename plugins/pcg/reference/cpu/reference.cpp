// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients without a preconditioner, straight from CSR, one thread, written to be read: every other engine
// is tested against it. In deterministic mode it adds in the one order (sextant/plugin/order.h), in plain code.
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/order.h"
#include "sextant/sdk/cancel.hpp"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/kernel.hpp"
#include "sextant/sdk/tree.hpp"

namespace pcg_reference {
namespace {

namespace plugin = sextant::plugin;

struct State {
  const sxt_csr *a;  // outlives the state; a refresh changes its values in place or brings another one
  bool one_order;    // of real types only
  bool fused;        // rows by fused multiply-adds, as instruction sets beyond the baseline have them
};

// r, p and q of one caller.
struct Session {
  Session(const sxt_csr &a, const sxt_exec *exec)
      : memory(exec, SXT_SPACE_HOST, 3 * static_cast<std::uint64_t>(a.s.rows) * plugin::value_bytes(a.s.value_type)) {}
  plugin::Memory memory;
};

// A row in the one order: every eighth entry to a lane, lanes in adjacent pairs.
template <class T, class Index>
T row_in_lanes(std::int64_t count, const Index *col, const T *values, const T *x, bool fused) {
  T lane[8] = {};
  for (std::int64_t k = 0; k < count; ++k) {
    T &sum = lane[k % 8];
    sum = fused ? std::fma(values[k], x[col[k]], sum) : sum + values[k] * x[col[k]];
  }
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

// y = A x.
template <class T, class Index, class Offset>
void multiply(const State &state, const T *x, T *y) {
  const sxt_csr &a = *state.a;
  const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
  const auto *col = static_cast<const Index *>(a.col);
  const auto *values = static_cast<const T *>(a.values);
  for (std::int64_t i = 0; i < a.s.rows; ++i) {
    if constexpr (!plugin::is_complex<T>) {
      if (state.one_order) {
        const Offset k = row_ptr[i];
        y[i] = row_in_lanes(row_ptr[i + 1] - k, col + k, values + k, x, state.fused);
        continue;
      }
    }
    T sum{};
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += values[k] * x[col[k]];
    y[i] = sum;
  }
}

// The same in the one order: leaves of the library's tree.
template <class T>
double dot_by_tree(std::int64_t n, const T *u, const T *v) {
  namespace tree = plugin::tree;
  std::vector<T> leaves;
  for (std::int64_t first = 0; first < n; first += tree::leaf_size)
    leaves.push_back(tree::sum_leaf<T>(std::min(tree::leaf_size, n - first),
                                       [&](std::int64_t i) { return u[first + i] * v[first + i]; }));
  return static_cast<double>(tree::combine(leaves.data(), static_cast<std::int64_t>(leaves.size())));
}

// u'v, real in its uses here, accumulated in double precision except in the one order.
template <class T>
double dot(const State &state, std::int64_t n, const T *u, const T *v) {
  if constexpr (!plugin::is_complex<T>)
    if (state.one_order) return dot_by_tree(n, u, v);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += static_cast<double>(std::real(u[i])) * static_cast<double>(std::real(v[i]));
    sum += static_cast<double>(std::imag(u[i])) * static_cast<double>(std::imag(v[i]));
  }
  return sum;
}

// Tells core about the iterate in x, where r was not just replaced. SXT_REASON_NONE: go on, replacing r first when
// *replace requests it.
sxt_reason report(sxt_pcg_args &args, const sxt_exec &exec, std::int64_t k, double r_r, bool replaced, bool *replace) {
  args.iterations = k;
  args.residual = std::sqrt(r_r);
  *replace = !replaced && args.replace_every > 0 && k > 0 && k % args.replace_every == 0;
  if (!std::isfinite(r_r)) return SXT_REASON_NOT_A_NUMBER;
  if (args.observe && !replaced)
    if (const sxt_reason reason = args.observe(args.user, k, 1, &args.residual)) return reason;
  if (args.residual <= args.tolerance) {
    sxt_reason reason = SXT_REASON_NONE;
    const std::int32_t answer = args.confirm(args.user, args.x, k, args.residual, &args.tolerance, &reason);
    if (answer == SXT_CONFIRM_STOP) return reason;
    *replace |= !replaced && answer == SXT_CONFIRM_REPLACE;
  }
  if (plugin::is_cancelled(exec.cancel)) return SXT_REASON_CANCELLED;
  return k >= args.max_iterations ? SXT_REASON_ITERATION_LIMIT : SXT_REASON_NONE;
}

// Is p'Ap a number to divide by?
sxt_reason test_curvature(double p_q) {
  if (!std::isfinite(p_q)) return SXT_REASON_NOT_A_NUMBER;
  if (p_q <= 0) return SXT_REASON_A_INDEFINITE;
  return p_q < std::numeric_limits<double>::min() ? SXT_REASON_BREAKDOWN : SXT_REASON_NONE;
}

template <class T, class Index, class Offset>
void solve(const State &state, T *r, sxt_pcg_args &args, const sxt_exec &exec) {
  const std::int64_t n = args.n;
  T *x = static_cast<T *>(args.x), *p = r + n, *q = p + n;
  const T *b = static_cast<const T *>(args.b);

  // r = b - A x; returns r'r
  const auto start = [&] {
    multiply<T, Index, Offset>(state, x, q);
    for (std::int64_t i = 0; i < n; ++i) r[i] = b[i] - q[i];
    ++args.products, ++args.reductions;
    return dot(state, n, r, r);
  };

  double gamma = start(), gamma_old = 0;
  bool restart = true;
  for (std::int64_t k = 0;; ++k) {
    bool replace = false;
    if ((args.reason = report(args, exec, k, gamma, false, &replace))) return;
    if (replace) {
      const double before = args.residual;
      gamma = start(), ++args.replacements;
      // Where the recursive residual had drifted far from the true one, beta would mix two sequences.
      restart = restart || !(std::fabs(std::sqrt(gamma) - before) <= 0.1 * before);
      if ((args.reason = report(args, exec, k, gamma, true, &replace))) return;
    }

    // p = r + beta p
    const auto beta = static_cast<plugin::real_of<T>>(restart ? 0 : gamma / gamma_old);
    for (std::int64_t i = 0; i < n; ++i) p[i] = restart ? r[i] : r[i] + beta * p[i];
    restart = false;

    // q = A p, alpha = r'r / p'q; a failure is found in iteration k + 1, x stays iterate k
    multiply<T, Index, Offset>(state, p, q);
    const double p_q = dot(state, n, p, q);
    ++args.products, ++args.reductions;
    args.reason = gamma > 0 ? test_curvature(p_q) : SXT_REASON_BREAKDOWN;
    if (args.reason) return void(args.iterations = k + 1);
    const auto alpha = static_cast<plugin::real_of<T>>(gamma / p_q);

    // x += alpha p, r -= alpha q
    for (std::int64_t i = 0; i < n; ++i) x[i] += alpha * p[i];
    for (std::int64_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
    gamma_old = gamma;
    gamma = dot(state, n, r, r);
    ++args.reductions;
  }
}

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = plugin::as<sxt_pcg_query>(head);
  if (query.preconditioned) return plugin::refuse(reason, "the reference takes no preconditioner");
  if (query.recurrence != 0 && query.recurrence != SXT_RECURRENCE_CLASSICAL)
    return plugin::refuse(reason, "the reference knows recurrence 1 (classical), the query asks for %d",
                          query.recurrence);
  if ((query.m.q.flags & SXT_QUERY_ONE_ORDER) && query.m.q.value_type > SXT_F64)
    return plugin::refuse(reason, "the reference adds real numbers only in the one order of deterministic mode");
  if (query.m.rows != query.m.cols)
    return plugin::refuse(reason, "the matrix is not square: %lld rows, %lld columns",
                          static_cast<long long>(query.m.rows), static_cast<long long>(query.m.cols));
  if (query.m.matrix_type != query.m.q.value_type)
    return plugin::refuse(reason, "the reference needs matrix and vectors of one type, these have codes %d and %d",
                          query.m.matrix_type, query.m.q.value_type);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_pcg_query>(head);
  const double iterations = query.iterations > 0 ? query.iterations : 100;
  const double bytes = static_cast<double>(plugin::value_bytes(query.m.q.value_type));
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz);
  plugin::CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  // Matrix once, vectors 13 times an iteration, on one core.
  const double rate = machine && machine->stream_rate_unit > 0 ? machine->stream_rate_unit : 1e9;
  candidate.run_s = (1 + iterations) * (nnz * (bytes + 4) + n * (13 * bytes + 4)) / rate;
  candidate.launch[0] = 1;
  candidate.launch[1] = machine ? machine->level : 0;
  candidate.units = 1;
  candidate.state_bytes = 3 * static_cast<std::uint64_t>(query.m.rows) * plugin::value_bytes(query.m.q.value_type);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return plugin::guard(exec, [&] {
    if (!problem->a || !plugin::is_kind(*problem->a, SXT_KIND_STORAGE_CSR))
      return plugin::error(exec, SXT_E_ARGUMENT, "the reference engine needs the matrix as %s", SXT_KIND_STORAGE_CSR);
    const bool one_order = (problem->query->flags & SXT_QUERY_ONE_ORDER) != 0;
    return plugin::give(new State{&plugin::as<sxt_csr>(problem->a), one_order, plugin::isa_level(candidate) > 1},
                        state);
  });
}

sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **session) {
  return plugin::guard(exec,
                       [&] { return plugin::give(new Session(*static_cast<const State *>(state)->a, exec), session); });
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const sxt_csr &a = *state.a;
  auto &args = *reinterpret_cast<sxt_pcg_args *>(const_cast<sxt_head *>(head));  // results are in the args
  if (args.n != a.s.rows)
    return plugin::error(exec, SXT_E_DIMENSION, "the args have n = %lld, the matrix %lld rows",
                         static_cast<long long>(args.n), static_cast<long long>(a.s.rows));
  if (!args.confirm) return plugin::error(exec, SXT_E_ARGUMENT, "confirm is NULL: an engine cannot decide convergence");
  args.replacements = args.products = args.reductions = 0;
  return plugin::with_value_type(a.s.value_type, [&]<class T>(plugin::Tag<T>) {
    return plugin::with_index_type(a.s.index_type, [&]<class Index>(plugin::Tag<Index>) {
      return plugin::with_index_type(a.s.offset_type, [&]<class Offset>(plugin::Tag<Offset>) {
        solve<T, Index, Offset>(state, static_cast<Session *>(session)->memory.as<T>(), args, *exec);
        return static_cast<sxt_status>(SXT_OK);
      });
    });
  });
}

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

}  // namespace

const sxt_kernel &kernel() {
  static const sxt_kernel table = [] {
    sxt_kernel k =
        plugin::new_kernel(SXT_KIND_PCG, "pcg.reference.cpu", "cpu",
                           "textbook conjugate gradients from CSR on one thread, to test others against", run);
    k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ONE_ORDER;
    k.value_types = plugin::all_value_types;
    k.storages = storages;
    plugin::set_calls<State>(k, {applicable, candidates, prepare, plugin::refresh_pointer<State>});
    k.open = open;
    k.close = plugin::destroy<Session>;
    return k;
  }();
  return table;
}

}  // namespace pcg_reference
