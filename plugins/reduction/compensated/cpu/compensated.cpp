// SPDX-License-Identifier: BSD-3-Clause
// reduction.compensated.cpu: sum, dot, dotc, asum and nrm2 as if in twice the working precision and rounded once, by
// the error-free transformations of Ogita, Rump and Oishi. Leaves of 4096 elements are joined in index order, so bits
// depend neither on threads nor on the instruction set. Beyond the caches it takes as long as a plain sum.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "compensated_table.hpp"
#include "plugins/reduction/shared/reduction.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/team_sums.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/wide.hpp"

SXT_ISA_TABLE(sextant_reduction_compensated, Table)

using namespace sextant::plugin;
namespace lanes = sextant_reduction_compensated;

namespace {

using State = TeamSums<lanes::Table>;

std::int64_t leaf_count(std::int64_t n) { return n / lanes::leaf_size + (n % lanes::leaf_size != 0); }
std::uint64_t scratch_bytes(std::int64_t n) { return static_cast<std::uint64_t>(leaf_count(n)) * sizeof(lanes::Leaf); }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.operation >= SXT_REDUCTION_SUM && q.operation <= SXT_REDUCTION_ASUM) return SXT_OK;
  return refuse(reason, "operation %d is no sum; %d to %d are", q.operation, SXT_REDUCTION_SUM, SXT_REDUCTION_ASUM);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const double n = static_cast<double>(q.n);
  const bool single = q.q.value_type == SXT_F32 || q.q.value_type == SXT_C64;
  CpuCost cost;
  cost.stream_bytes = n * static_cast<double>(value_bytes(q.q.value_type)) * (reads_two_vectors(q.operation) ? 2 : 1);
  cost.working_set = cost.stream_bytes;
  // Seven operations where a plain sum has one multiply-add, none of them fused; single precision is done in double.
  cost.flops = 7 * n * multiply_add_flops(q.q.value_type) * (single ? 2 : 1);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    const double whole = share_leaves(leaf_count(q.n), threads, cost);
    // Of every leaf the lanes are folded, losses and all.
    sxt_candidate &candidate = fill_team_sums(list.add(), machine->level, threads, cost, q.operation, 60.0 * whole);
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
  lanes::Leaf *leaves;
  lanes::Call call;
};

// Where nothing overflowed, the sum with its losses; else the sum as plain addition gives it: an infinity or NaN.
double rounded(double sum, double lost) { return std::isfinite(lost) ? sum + lost : sum; }

std::complex<double> sum(const Run &run, lanes::Terms kind) {
  const std::int64_t leaves = leaf_count(run.call.n);
  const int parts = static_cast<int>(std::min<std::int64_t>(run.team, leaves));
  for_each_part(parts, parts, [&](int part) {
    const Range range = part_of(leaves, parts, part);
    run.table.leaves[run.type][kind](run.call, range.begin, range.end, run.leaves);
  });
  double total[2] = {0, 0}, lost[2] = {0, 0};
  for (std::int64_t l = 0; l < leaves; ++l)
    for (int k = 0; k < 2; ++k) {
      const double next = run.leaves[l].sum[k], joined = total[k] + next, part = joined - total[k];
      lost[k] += run.leaves[l].lost[k] + ((total[k] - (joined - part)) + (next - part));
      total[k] = joined;
    }
  return {rounded(total[0], lost[0]), rounded(total[1], lost[1])};
}

// The largest part of an element; NaN when there is one, else infinity when there is one.
template <class T>
double largest_part(const T *x, std::int64_t n) {
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (const double part : {std::abs(double(std::real(x[i]))), std::abs(double(std::imag(x[i])))}) {
      if (std::isnan(part)) return part;
      most = std::max(most, part);
    }
  return most;
}

// Where the losses of squares could vanish or squares overflow, elements are scaled by a power of two.
template <class T>
double norm(Run run) {
  using Limits = std::numeric_limits<double>;
  const double plain = sum(run, lanes::squares).real();
  const double safe = std::ldexp(static_cast<double>(run.call.n), -860);  // losses above 2^-1022 count
  if (std::isnan(plain) || (plain > safe && plain <= Limits::max())) return std::sqrt(plain);
  const double most = largest_part(static_cast<const T *>(run.call.x), run.call.n);
  if (most == 0 || !std::isfinite(most)) return most;
  const int exponent = std::clamp(-std::ilogb(most), Limits::min_exponent, Limits::max_exponent - 1);
  run.call.scale = std::ldexp(1.0, exponent);
  return std::ldexp(std::sqrt(sum(run, lanes::squares).real()), -exponent);
}

template <class T>
sxt_status reduce(const sxt_reduction_args &args, const Run &run, const sxt_exec *exec) {
  T *value = static_cast<T *>(args.result);
  auto *real = static_cast<real_of<T> *>(args.result);
  switch (args.operation) {
    case SXT_REDUCTION_SUM: *value = narrow<T>(sum(run, lanes::values)); break;
    case SXT_REDUCTION_DOT: *value = narrow<T>(sum(run, lanes::products)); break;
    case SXT_REDUCTION_DOTC: *value = narrow<T>(sum(run, lanes::conjugate_products)); break;
    case SXT_REDUCTION_NRM2: *real = static_cast<real_of<T>>(norm<T>(run)); break;
    case SXT_REDUCTION_ASUM: *real = static_cast<real_of<T>>(sum(run, lanes::magnitudes).real()); break;
    default: return error(exec, SXT_E_NOT_SUPPORTED, "reduction %d is no sum", args.operation);
  }
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_reduction_args>(head);
  const sxt_status status = need_scratch(exec, scratch_bytes(args.n));
  if (status != SXT_OK) return status;
  const Run run = {*state.table,
                   state.type - 1,
                   team_size(state.threads, *exec),
                   static_cast<lanes::Leaf *>(exec->scratch),
                   {args.x, args.y, args.n, 1}};
  return with_value_type(state.type, [&](auto tag) { return reduce<typename decltype(tag)::type>(args, run, exec); });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, "reduction.compensated.cpu", "cpu",
                            "sums as if in twice the working precision, rounded once", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {applicable, candidates, prepare_team_sums<lanes::Table, lanes::isa_table>});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("reduction-compensated", out);
}
