// SPDX-License-Identifier: BSD-3-Clause
// reduction.single-pass.cuda: blocks store partial results and draw a ticket; the one that draws the last adds them, in
// block order, so bits do not depend on which block that was. The ticket wraps to zero: nothing is cleared between
// runs. Bound by bandwidth: n x size bytes, one launch. Also reduction.compensated.cuda: the same with twofold sums;
// and reduction.wide.cuda: single precision added in double.
#include "plugins/reduction/shared/cuda/gather.hpp"
#include "plugins/reduction/shared/cuda/reduce_run.hpp"
#include "sextant/sdk/cuda/grid.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

template <class Op, int flight>
__global__ void __launch_bounds__(512)
    reduce(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y, bool streaming,
           typename Op::Acc *partials, unsigned *counter, typename Op::Out *out) {
  announce<Op, flight>(n, x, y);
  await_predecessor();
  release_successor();
  __shared__ typename Op::Acc shared[32];
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t workers = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  auto acc = merge_block<Op>(accumulate<Op, flight>(n, x, y, worker, workers, streaming), shared);
  if (merge_grid_by_ticket<Op>(acc, shared, partials, counter)) *out = Op::result(acc);
}

// Wide accumulators would not stay in registers eight at a time.
template <class Op>
constexpr int deepest = sizeof(typename Op::Acc) > 16 ? 4 : 8;

template <class Op>
struct Kernel {
  static sxt_status load(const sxt_exec *exec) {
    const sxt_status status = cuda::load(exec, reduce<Op, 4>);
    return status == SXT_OK ? cuda::load(exec, reduce<Op, deepest<Op>>) : status;
  }
  static sxt_status launch(const Work<Op> &work, const sxt_exec *exec) {
    const auto kernel = work.flight == 8 ? reduce<Op, deepest<Op>> : reduce<Op, 4>;
    return launch_chained(exec, true, "reduction.single-pass.cuda", kernel, static_cast<unsigned>(work.blocks),
                          static_cast<unsigned>(work.threads), 0, work.n, work.x, work.y, work.streaming,
                          static_cast<typename Op::Acc *>(work.partials), static_cast<unsigned *>(work.counters),
                          work.out);
  }
};

// Grids around the number of blocks that the device holds at once: NB(nt) x i for small i, and fractions of it for
// small n.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const std::int64_t units = std::max(1, machine->units);
  CandidateList list(out, capacity, count);
  const Configuration grids[] = {{0, units, 256, 4},     {1, units, 512, 8},     {2, 2 * units, 256, 8},
                                 {3, 2 * units, 512, 4}, {4, 4 * units, 256, 8}, {5, 8 * units, 256, 4}};
  for (const Configuration &grid : grids)
    fill_reduction(list.add(), q, *machine, grid, merge_by_ticket, 1, may_start_early(*machine));
  return SXT_OK;
}

// A few more additions an element dominate from some size on.
constexpr double additions = 12;
sxt_status compensated_candidates(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                                  const sxt_filled *filled, sxt_candidate *out, std::uint64_t capacity,
                                  std::uint64_t *count) {
  const sxt_status status = candidates(query, features, machine, filled, out, capacity, count);
  for (std::uint64_t i = 0; i < std::min(capacity, *count); ++i) {
    out[i].terms[1] *= 1.1;  // the additions of a round follow its loads
    out[i].terms[3] *= additions;
  }
  return status;
}

template <class T, class F>
sxt_status with_compensated_operation(std::int32_t operation, F &&f) {
  using V = device_form<T>;
  switch (operation) {
    case SXT_REDUCTION_SUM: return f(Tag<CompensatedSum<V>>{});
    case SXT_REDUCTION_DOT: return f(Tag<CompensatedDot<V, false>>{});
    case SXT_REDUCTION_DOTC: return f(Tag<CompensatedDot<V, true>>{});
    case SXT_REDUCTION_ASUM: return f(Tag<CompensatedAbsSum<V>>{});
    default: return SXT_E_NOT_SUPPORTED;
  }
}

sxt_status compensated_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *,
                                  sxt_message *reason) {
  switch (as<sxt_reduction_query>(query).operation) {
    case SXT_REDUCTION_SUM:
    case SXT_REDUCTION_DOT:
    case SXT_REDUCTION_DOTC:
    case SXT_REDUCTION_ASUM: return SXT_OK;
    default: return refuse(reason, "only sum, dot, dotc and asum are offered with twice the precision");
  }
}

// Single precision added in double, which is more than twice as precise.
template <class T, class F>
sxt_status with_wide_operation(std::int32_t operation, F &&f) {
  using V = device_form<T>;
  if constexpr (std::is_same_v<Real<V>, float>) {
    switch (operation) {
      case SXT_REDUCTION_SUM: return f(Tag<Sum<V, Wide<V>>>{});
      case SXT_REDUCTION_DOT: return f(Tag<Dot<V, Wide<V>, false>>{});
      case SXT_REDUCTION_DOTC: return f(Tag<Dot<V, Wide<V>, true>>{});
      case SXT_REDUCTION_ASUM: return f(Tag<AbsSum<V, double>>{});
      default: break;
    }
  }
  return SXT_E_NOT_SUPPORTED;
}

sxt_status wide_applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                           sxt_message *reason) {
  const sxt_value_type type = query->value_type;
  if (type != SXT_F32 && type != SXT_C64) return refuse(reason, "there is no wider type than %s", value_name(type));
  return compensated_applicable(query, features, machine, reason);
}

sxt_status open_wide(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return open_reduction<Kernel>(state, slots, exec, session, [](auto type, std::int32_t operation, auto &&load) {
    return with_wide_operation<typename decltype(type)::type>(operation, load);
  });
}

sxt_status run_wide(const void *state, void *session, const sxt_head *args, const sxt_exec *exec) {
  return run_reduction<Kernel>(state, session, args, exec, [](auto type, std::int32_t operation, auto &&launch) {
    return with_wide_operation<typename decltype(type)::type>(operation, launch);
  });
}

sxt_status open_compensated(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  return open_reduction<Kernel>(state, slots, exec, session, [](auto type, std::int32_t operation, auto &&load) {
    return with_compensated_operation<typename decltype(type)::type>(operation, load);
  });
}

sxt_status run_compensated(const void *state, void *session, const sxt_head *args, const sxt_exec *exec) {
  return run_reduction<Kernel>(state, session, args, exec, [](auto type, std::int32_t operation, auto &&launch) {
    return with_compensated_operation<typename decltype(type)::type>(operation, launch);
  });
}

const sxt_kernel single_pass = [] {
  sxt_kernel k =
      new_plain_reduction<Kernel>("reduction.single-pass.cuda", "partial results added by the block that ends last");
  k.version = 3;
  k.candidates = candidates;
  return k;
}();

const sxt_kernel wide = [] {
  sxt_kernel k =
      new_reduction("reduction.wide.cuda", "as single-pass, single precision added in double", open_wide, run_wide);
  k.applicable = wide_applicable;
  k.version = 3;
  k.candidates = candidates;
  return k;
}();

const sxt_kernel compensated = [] {
  sxt_kernel k = new_reduction("reduction.compensated.cuda", "as single-pass, in twice the working precision",
                               open_compensated, run_compensated);
  k.applicable = compensated_applicable;
  k.version = 3;
  k.candidates = compensated_candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&single_pass, &wide, &compensated>("reduction-cuda-single-pass", out);
}
