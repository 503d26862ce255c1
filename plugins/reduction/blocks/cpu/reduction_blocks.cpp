// SPDX-License-Identifier: BSD-3-Clause
// reduction.blocks.cpu: every reduction with eight full-width accumulators a thread and fused multiply-adds; one range
// a thread, scratch for one partial result each. Bound by memory bandwidth from the second cache on. Bits depend on the
// number of threads and on the instruction set.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

#include "blocks_table.hpp"
#include "plugins/reduction/shared/reduction.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/team_sums.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(sextant_reduction_blocks, Table)

using namespace sextant::plugin;
namespace lanes = sextant_reduction_blocks;

namespace {

using State = TeamSums<lanes::Table>;

constexpr std::int64_t line_elements = 64;  // borders between threads

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = n * static_cast<double>(value_bytes(q.q.value_type)) * (reads_two_vectors(q.operation) ? 2 : 1);
  cost.working_set = cost.stream_bytes;
  cost.flops = n * multiply_add_flops(q.q.value_type);
  // An iteration takes eight registers; folding takes about as long as thirty of them.
  const double registers = n * static_cast<double>(value_bytes(q.q.value_type)) / register_bytes_of(machine->level);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    const double steps = 30.0 * threads + registers / 8;
    sxt_candidate &candidate = fill_team_sums(list.add(), machine->level, threads, cost, q.operation, steps);
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = threads > 1 ? sizeof(lanes::Partial) * static_cast<std::uint64_t>(threads) : 0;
  });
  return SXT_OK;
}

// One run.
struct Run {
  const lanes::Table &table;
  int type;  // index into the table
  int team;
  lanes::Partial *partials;
  lanes::Call call;
};

// Calls f on the range of every thread and joins the results in order.
template <class Join>
lanes::Partial reduce_ranges(const Run &run, lanes::Function f, Join &&join) {
  if (run.team == 1) return f(run.call, 0, run.call.n);
  for_each_part(run.team, run.team, [&](int part) {
    const Range range = part_of(run.call.n, run.team, part, line_elements);
    run.partials[part] = f(run.call, range.begin, range.end);
  });
  lanes::Partial total = run.partials[0];
  for (int part = 1; part < run.team; ++part) join(total, run.partials[part]);
  return total;
}

lanes::Partial sum(const Run &run, lanes::Terms kind) {
  return reduce_ranges(run, run.table.sum[run.type][kind], [](lanes::Partial &total, const lanes::Partial &part) {
    total.value[0] += part.value[0];
    total.value[1] += part.value[1];
  });
}

// NaN is better than all, then by `better`; of equals the first.
template <class F>
double extreme(const Run &run, lanes::Function f, F &&better) {
  const auto join = [&](lanes::Partial &best, const lanes::Partial &part) {
    if (!std::isnan(best.value[0]) && (std::isnan(part.value[0]) || better(part.value[0], best.value[0]))) best = part;
  };
  return reduce_ranges(run, f, join).value[0];
}

// f: largest or first_largest of the table.
lanes::Partial largest(const Run &run, lanes::Function f) {
  if (run.call.n == 0) return {{0, 0}, -1};
  return reduce_ranges(run, f, [](lanes::Partial &best, const lanes::Partial &part) {
    if (part.index < 0 || std::isnan(best.value[0])) return;
    if (best.index < 0 || std::isnan(part.value[0]) || part.value[0] > best.value[0]) best = part;
  });
}

template <class T>
double norm(Run run) {
  const auto squares = [&](double scale) { return run.call.scale = scale, sum(run, lanes::squares).value[0]; };
  const auto most = [&] { return largest(run, run.table.largest[run.type]).value[0]; };
  return scaled_norm<double>(static_cast<const T *>(run.call.x), run.call.n, squares, most);
}

template <class T>
T value_of(const lanes::Partial &total) {
  if constexpr (is_complex<T>)
    return T(static_cast<real_of<T>>(total.value[0]), static_cast<real_of<T>>(total.value[1]));
  else
    return static_cast<T>(total.value[0]);
}

template <class T>
sxt_status reduce(const sxt_reduction_args &args, const Run &run, const sxt_exec *exec) {
  using R = real_of<T>;
  T *value = static_cast<T *>(args.result);
  R *real = static_cast<R *>(args.result);
  if constexpr (!is_complex<T>) {  // 0 + makes either zero +0
    if (args.operation == SXT_REDUCTION_MIN)
      return *real = static_cast<R>(0 + extreme(run, run.table.least[run.type], std::less<>())), SXT_OK;
    if (args.operation == SXT_REDUCTION_MAX)
      return *real = static_cast<R>(0 + extreme(run, run.table.most[run.type], std::greater<>())), SXT_OK;
  }
  switch (args.operation) {
    case SXT_REDUCTION_SUM: *value = value_of<T>(sum(run, lanes::values)); break;
    case SXT_REDUCTION_DOT: *value = value_of<T>(sum(run, lanes::products)); break;
    case SXT_REDUCTION_DOTC: *value = value_of<T>(sum(run, lanes::conjugate_products)); break;
    case SXT_REDUCTION_NRM2: *real = static_cast<R>(norm<T>(run)); break;
    case SXT_REDUCTION_ASUM: *real = static_cast<R>(sum(run, lanes::magnitudes).value[0]); break;
    case SXT_REDUCTION_AMAX: *real = static_cast<R>(largest(run, run.table.largest[run.type]).value[0]); break;
    case SXT_REDUCTION_IAMAX:
      *static_cast<std::int64_t *>(args.result) = largest(run, run.table.first_largest[run.type]).index;
      break;
    default:
      return error(exec, SXT_E_NOT_SUPPORTED, "reduction %d of %s is unknown", args.operation,
                   is_complex<T> ? "complex numbers" : "real numbers");
  }
  return SXT_OK;
}

// The terms of plain sums; `squares` for everything else.
lanes::Terms kind_of(std::int32_t operation) {
  switch (operation) {
    case SXT_REDUCTION_SUM: return lanes::values;
    case SXT_REDUCTION_DOT: return lanes::products;
    case SXT_REDUCTION_DOTC: return lanes::conjugate_products;
    case SXT_REDUCTION_ASUM: return lanes::magnitudes;
    default: return lanes::squares;
  }
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_reduction_args>(head);
  const int team = team_size(state.threads, *exec);
  if (team > 1) {
    const sxt_status status = need_scratch(exec, sizeof(lanes::Partial) * static_cast<std::uint64_t>(team));
    if (status != SXT_OK) return status;
  }
  if (team == 1 && kind_of(args.operation) < lanes::squares) {
    state.table->whole[state.type - 1][kind_of(args.operation)]({args.x, args.y, args.n, 1}, args.result);
    return SXT_OK;
  }
  const Run run = {
      *state.table, state.type - 1, team, static_cast<lanes::Partial *>(exec->scratch), {args.x, args.y, args.n, 1}};
  return with_value_type(state.type, [&](auto tag) { return reduce<typename decltype(tag)::type>(args, run, exec); });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, "reduction.blocks.cpu", "cpu",
                            "eight full-width accumulators a thread, one range a thread", run);
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {working_precision_applicable, candidates, prepare_team_sums<lanes::Table, lanes::isa_table>});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("reduction-blocks", out);
}
