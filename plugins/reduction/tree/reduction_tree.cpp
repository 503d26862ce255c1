// SPDX-License-Identifier: BSD-3-Clause
// reduction.tree.cpu: every reduction over the fixed tree of plugin_tree.hpp, leaves shared among threads. Equal bits
// for equal input whatever the threads. After memory bandwidth: an element costs its bytes and one multiply-add.
#include <algorithm>
#include <cstdint>

#include "sextant/kinds/reduction.h"
#include "sextant/plugin_cpu.hpp"
#include "sextant/plugin_tree.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_value_type type;
  std::int64_t threads;
};

// Scratch: one leaf result each, at most the size of a value (a magnitude and its index need 16).
std::uint64_t scratch_bytes(std::int64_t n, sxt_value_type) { return tree::leaf_count(n) * std::uint64_t{16}; }

bool two_vectors(std::int32_t operation) { return operation == SXT_REDUCTION_DOT || operation == SXT_REDUCTION_DOTC; }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.operation >= SXT_REDUCTION_SUM && q.operation <= SXT_REDUCTION_IAMAX) return SXT_OK;
  return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_REDUCTION_SUM, SXT_REDUCTION_IAMAX);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = n * static_cast<double>(value_bytes(q.q.value_type)) * (two_vectors(q.operation) ? 2 : 1);
  cost.working_set = cost.stream_bytes;
  cost.flops = n * multiply_add_flops(q.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    // A team shares whole leaves.
    const std::int64_t leaves = tree::leaf_count(q.n);
    const std::int64_t busiest = (leaves + threads - 1) / threads;
    cost.imbalance = leaves ? static_cast<double>(busiest * threads) / static_cast<double>(leaves) : 1;
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = scratch_bytes(q.n, q.q.value_type);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{problem->query->value_type, candidate ? candidate->launch[0] : exec->threads}, state);
  });
}

// What one run needs everywhere.
struct Call {
  std::int64_t n;
  int team;
  void *scratch;
};

// Calls leaf(index, first, count) for every leaf.
template <class F>
void for_each_leaf(const Call &call, F &&leaf) {
  const std::int64_t leaves = tree::leaf_count(call.n);
  const int parts = static_cast<int>(std::min<std::int64_t>(call.team, leaves));
  for_each_part(parts, parts, [&](int part) {
    const Range range = part_of(leaves, parts, part);
    for (std::int64_t l = range.begin; l < range.end; ++l) {
      const std::int64_t first = l * tree::leaf_size;
      leaf(l, first, std::min(tree::leaf_size, call.n - first));
    }
  });
}

// The sum of term(0) .. term(n-1) over the tree, in A.
template <class A, class F>
A sum(const Call &call, F &&term) {
  A *leaves = static_cast<A *>(call.scratch);
  for_each_leaf(call, [&](std::int64_t l, std::int64_t first, std::int64_t count) {
    leaves[l] = tree::sum_leaf<A>(count, [&term, first](std::int64_t i) { return term(first + i); });
  });
  return tree::combine(leaves, tree::leaf_count(call.n));
}

template <class R>
struct Largest {
  R value;
  std::int64_t index;
};

// The largest magnitude of a leaf and where it is first; a NaN counts as larger than everything.
template <class T>
Largest<real_of<T>> largest_of_leaf(const T *x, std::int64_t first, std::int64_t count) {
  real_of<T> most = 0;
  std::int64_t nans = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const real_of<T> a = abs1(x[first + i]);
    most = a > most ? a : most;
    nans += a != a;
  }
  std::int64_t i = first;
  if (nans)
    while (!std::isnan(abs1(x[i]))) ++i;
  else
    while (abs1(x[i]) != most) ++i;
  return {abs1(x[i]), i};
}

template <class T>
Largest<real_of<T>> largest(const Call &call, const T *x) {
  using Found = Largest<real_of<T>>;
  static_assert(sizeof(Found) <= 16);
  if (call.n == 0) return {0, -1};
  Found *leaves = static_cast<Found *>(call.scratch);
  for_each_leaf(call, [&](std::int64_t l, std::int64_t first, std::int64_t count) {
    leaves[l] = largest_of_leaf(x, first, count);
  });
  Found best = leaves[0];
  for (std::int64_t l = 1; l < tree::leaf_count(call.n) && !std::isnan(best.value); ++l)
    if (leaves[l].value > best.value || std::isnan(leaves[l].value)) best = leaves[l];
  return best;
}

template <class T>
real_of<T> squared(T a) {
  if constexpr (is_complex<T>)
    return a.real() * a.real() + a.imag() * a.imag();
  else
    return a * a;
}

// The plain sum of squares where it is safe; else every element scaled by a power of two, which rounds nothing.
template <class T>
real_of<T> norm(const Call &call, const T *x) {
  using R = real_of<T>;
  using Limits = std::numeric_limits<R>;
  const R plain = sum<R>(call, [x](std::int64_t i) { return squared(x[i]); });
  // Squares below the normal numbers lose digits: together at most n times the least normal one.
  const R safe = static_cast<R>(call.n) * Limits::min() / Limits::epsilon();
  if (std::isnan(plain) || (plain > safe && plain <= Limits::max())) return std::sqrt(plain);
  R most = largest(call, x).value;
  if (most == 0 || std::isnan(most)) return most;
  if (std::isinf(most)) {  // infinite, or |re| + |im| beyond the largest number
    for (std::int64_t i = 0; i < call.n; ++i)
      if (std::isinf(std::real(x[i])) || std::isinf(std::imag(x[i]))) return most;
    most = Limits::max();
  }
  int exponent = std::clamp(-std::ilogb(most), Limits::min_exponent, Limits::max_exponent - 1);
  // Room for the sum of n squares below 4.
  const R scale = std::ldexp(R(1), exponent);
  const R scaled = sum<R>(call, [x, scale](std::int64_t i) { return squared(T(x[i] * scale)); });
  return std::ldexp(std::sqrt(scaled), -exponent);
}

template <class T>
sxt_status reduce(const sxt_reduction_args &args, const Call &call, const sxt_exec *exec) {
  using R = real_of<T>;
  const T *x = static_cast<const T *>(args.x), *y = static_cast<const T *>(args.y);
  T *value = static_cast<T *>(args.result);
  R *real = static_cast<R *>(args.result);
  switch (args.operation) {
    case SXT_REDUCTION_SUM: *value = sum<T>(call, [x](std::int64_t i) { return x[i]; }); break;
    case SXT_REDUCTION_DOT: *value = sum<T>(call, [x, y](std::int64_t i) { return product(x[i], y[i]); }); break;
    case SXT_REDUCTION_DOTC:
      *value = sum<T>(call, [x, y](std::int64_t i) { return product(conjugate(x[i]), y[i]); });
      break;
    case SXT_REDUCTION_NRM2: *real = norm(call, x); break;
    case SXT_REDUCTION_ASUM: *real = sum<R>(call, [x](std::int64_t i) { return abs1(x[i]); }); break;
    case SXT_REDUCTION_AMAX: *real = largest(call, x).value; break;
    case SXT_REDUCTION_IAMAX: *static_cast<std::int64_t *>(args.result) = largest(call, x).index; break;
    default: return error(exec, SXT_E_NOT_SUPPORTED, "reduction %d is unknown", args.operation);
  }
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_reduction_args>(head);
  const sxt_status status = need_scratch(exec, scratch_bytes(args.n, state.type));
  if (status != SXT_OK) return status;
  const Call call = {args.n, team_size(state.threads, *exec), exec->scratch};
  return with_value_type(state.type, [&](auto tag) { return reduce<typename decltype(tag)::type>(args, call, exec); });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, "reduction.tree.cpu", "cpu",
                            "leaves of 1024 elements added in a fixed tree, threads share the leaves", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("reduction-tree", kernels);
  return *out = &plugin, SXT_OK;
}
