// SPDX-License-Identifier: BSD-3-Clause
// reduction.tree.cpu: every reduction over the fixed tree of sdk/tree.hpp, leaves shared among threads. Equal bits
// for equal input for any number of threads and any instruction set. Bound by memory bandwidth: an element costs its
// bytes.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

#include "plugins/reduction/shared/reduction.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/team_sums.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/tree.hpp"
#include "tree_table.hpp"

SXT_ISA_TABLE(sextant_reduction_tree, Table)

using namespace sextant::plugin;
namespace lanes = sextant_reduction_tree;

namespace {

using State = TeamSums<lanes::Table>;

// Scratch: one leaf result each, at most the size of a value; a magnitude and its index need 16.
std::uint64_t scratch_bytes(std::int64_t n) { return tree::leaf_count(n) * std::uint64_t{16}; }

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = n * static_cast<double>(value_bytes(q.q.value_type)) * (reads_two_vectors(q.operation) ? 2 : 1);
  cost.working_set = cost.stream_bytes;
  cost.flops = n * multiply_add_flops(q.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    const double whole = share_leaves(tree::leaf_count(q.n), threads, cost);
    // Of every leaf the lanes are folded.
    sxt_candidate &candidate = fill_team_sums(list.add(), machine->level, threads, cost, q.operation, 8.0 * whole);
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = scratch_bytes(q.n);
  });
  return SXT_OK;
}

// One run.
struct Run {
  const lanes::Table &table;
  int type;  // index into the table
  int team;
  void *scratch;
  lanes::Call call;
};

// Calls f(part, leaves) for every part of the team.
template <class F>
int for_each_share(const Run &run, F &&f) {
  const std::int64_t leaves = tree::leaf_count(run.call.n);
  const int parts = static_cast<int>(std::min<std::int64_t>(run.team, leaves));
  for_each_part(parts, parts, [&](int part) { f(part, part_of(leaves, parts, part)); });
  return parts;
}

// The sum of all terms of a kind, whose type is A.
template <class A>
A sum(const Run &run, lanes::Terms kind) {
  A *leaves = static_cast<A *>(run.scratch);
  const auto sum_leaves = run.table.leaves[run.type][kind];
  for_each_share(run, [&](int, Range range) { sum_leaves(run.call, range.begin, range.end, leaves + range.begin); });
  return tree::combine(leaves, tree::leaf_count(run.call.n));
}

using Search = lanes::Place (*)(const lanes::Call &, std::int64_t, std::int64_t);

// The best result of all threads: NaN first, then by `better`; of equals the first.
template <class F>
lanes::Place search(const Run &run, Search find, lanes::Place nothing, F &&better) {
  auto *found = static_cast<lanes::Place *>(run.scratch);
  const int parts = for_each_share(run, [&](int part, Range leaves) {
    const std::int64_t end = std::min(leaves.end * tree::leaf_size, run.call.n);
    found[part] = find(run.call, leaves.begin * tree::leaf_size, end);
  });
  lanes::Place best = parts ? found[0] : nothing;
  for (int part = 1; part < parts && !std::isnan(best.value); ++part)
    if (std::isnan(found[part].value) || better(found[part].value, best.value)) best = found[part];
  return best;
}

lanes::Place largest(const Run &run) {
  return search(run, run.table.largest[run.type], {0, -1}, [](double a, double b) { return a > b; });
}

// +0 for either zero, so that the order does not matter.
template <class R>
R least(const Run &run) {
  const lanes::Place nothing = {std::numeric_limits<double>::infinity(), -1};
  return static_cast<R>(0 + search(run, run.table.least[run.type], nothing, std::less<>()).value);
}
template <class R>
R most(const Run &run) {
  const lanes::Place nothing = {-std::numeric_limits<double>::infinity(), -1};
  return static_cast<R>(0 + search(run, run.table.most[run.type], nothing, std::greater<>()).value);
}

template <class T>
real_of<T> norm(Run run) {
  using R = real_of<T>;
  const auto squares = [&](double scale) { return run.call.scale = scale, sum<R>(run, lanes::squares); };
  const auto most = [&] { return static_cast<R>(largest(run).value); };
  return scaled_norm<R>(static_cast<const T *>(run.call.x), run.call.n, squares, most);
}

template <class T>
sxt_status reduce(const sxt_reduction_args &args, const Run &run, const sxt_exec *exec) {
  using R = real_of<T>;
  T *value = static_cast<T *>(args.result);
  R *real = static_cast<R *>(args.result);
  if constexpr (!is_complex<T>) {
    if (args.operation == SXT_REDUCTION_MIN) return *real = least<R>(run), SXT_OK;
    if (args.operation == SXT_REDUCTION_MAX) return *real = most<R>(run), SXT_OK;
  }
  switch (args.operation) {
    case SXT_REDUCTION_SUM: *value = sum<T>(run, lanes::values); break;
    case SXT_REDUCTION_DOT: *value = sum<T>(run, lanes::products); break;
    case SXT_REDUCTION_DOTC: *value = sum<T>(run, lanes::conjugate_products); break;
    case SXT_REDUCTION_NRM2: *real = norm<T>(run); break;
    case SXT_REDUCTION_ASUM: *real = sum<R>(run, lanes::magnitudes); break;
    case SXT_REDUCTION_AMAX: *real = static_cast<R>(largest(run).value); break;
    case SXT_REDUCTION_IAMAX: *static_cast<std::int64_t *>(args.result) = largest(run).index; break;
    default:
      return error(exec, SXT_E_NOT_SUPPORTED, "reduction %d of %s is unknown", args.operation,
                   is_complex<T> ? "complex numbers" : "real numbers");
  }
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_reduction_args>(head);
  const sxt_status status = need_scratch(exec, scratch_bytes(args.n));
  if (status != SXT_OK) return status;
  const Run run = {
      *state.table, state.type - 1, team_size(state.threads, *exec), exec->scratch, {args.x, args.y, args.n, 1}};
  return with_value_type(state.type, [&](auto tag) { return reduce<typename decltype(tag)::type>(args, run, exec); });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, "reduction.tree.cpu", "cpu",
                            "leaves of 1024 elements added in a fixed tree, threads share the leaves", run);
  k.version = 2;
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {working_precision_applicable, candidates, prepare_team_sums<lanes::Table, lanes::isa_table>});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("reduction-tree", out);
}
