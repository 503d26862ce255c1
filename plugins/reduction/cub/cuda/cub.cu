// SPDX-License-Identifier: BSD-3-Clause
// reduction.cub.cuda: CUB's DeviceReduce, to compare with: Sum, Min and Max as CUB offers them, the others through its
// TransformReduce. min and max as CUB defines them do not carry NaN, so they go through our merge.
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_reduce.cuh>

#include <limits>

#include "plugins/reduction/shared/cuda/reduce_run.hpp"
#include "sextant/sdk/describe.hpp"

// Not at global scope: CUB's generated code expects cuda:: in the global namespace.
namespace sextant::reduction_cub {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

// The scratch of CUB's kernels does not depend on n beyond a few blocks a multiprocessor.
constexpr std::uint64_t temporary_bytes = 1 << 20;

template <class Op>
struct Merge {
  __device__ typename Op::Acc operator()(typename Op::Acc a, typename Op::Acc b) const { return Op::merge(a, b); }
};
template <class Op>
struct Element {
  const typename Op::Value *x, *y;
  __device__ typename Op::Acc operator()(std::int64_t i) const {
    return Op::element(x[i], Op::vectors == 2 ? y[i] : x[i], i);
  }
};

template <class Op>
struct Kernel {
  static sxt_status launch(const Work<Op> &work, const sxt_exec *exec) {
    using Acc = typename Op::Acc;
    static_assert(std::is_same_v<Acc, typename Op::Out>);
    std::size_t bytes = exec->scratch_bytes;
    constexpr bool plain = std::is_same_v<Op, Sum<Acc, Acc>>;
    cudaError_t status;
    if constexpr (plain && !complex_valued<Acc>)
      status = cub::DeviceReduce::Sum(exec->scratch, bytes, work.x, work.out, work.n, work.stream);
    else if constexpr (plain)
      status =
          cub::DeviceReduce::Reduce(exec->scratch, bytes, work.x, work.out, work.n, Merge<Op>{}, Acc{}, work.stream);
    else
      status =
          cub::DeviceReduce::TransformReduce(exec->scratch, bytes, thrust::counting_iterator<std::int64_t>(0), work.out,
                                             work.n, Merge<Op>{}, Element<Op>{work.x, work.y}, Acc{}, work.stream);
    return check(exec, status, "reduce with CUB");
  }
};

template <class T, class F>
sxt_status with_cub_operation(std::int32_t operation, F &&f) {
  using V = device_form<T>;
  switch (operation) {
    case SXT_REDUCTION_SUM: return f(Tag<Sum<V, V>>{});
    case SXT_REDUCTION_DOT: return f(Tag<Dot<V, V, false>>{});
    case SXT_REDUCTION_ASUM: return f(Tag<AbsSum<V, Real<V>>>{});
    case SXT_REDUCTION_AMAX: return f(Tag<Extremum<V, Extreme::magnitude>>{});
    default: return SXT_E_NOT_SUPPORTED;
  }
}

sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                      sxt_message *reason) {
  switch (as<sxt_reduction_query>(query).operation) {
    case SXT_REDUCTION_SUM:
    case SXT_REDUCTION_DOT:
    case SXT_REDUCTION_ASUM:
    case SXT_REDUCTION_AMAX: return plain_applicable(query, features, machine, reason);
    default: return refuse(reason, "CUB is run for sum, dot, asum and amax");
  }
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  CandidateList list(out, capacity, count);
  const double launches = q.n > 4096 ? 2 : 1;
  sxt_candidate &candidate =
      fill_reduction(list.add(), q, *machine, {0, 8 * std::max(1, machine->units), 256, 4}, merge_in_launch, launches);
  candidate.scratch_bytes = temporary_bytes;
  return SXT_OK;
}

sxt_status run(const void *state, void *session, const sxt_head *args, const sxt_exec *exec) {
  return run_reduction<Kernel>(state, session, args, exec, [](auto type, std::int32_t operation, auto &&launch) {
    return with_cub_operation<typename decltype(type)::type>(operation, launch);
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_reduction("reduction.cub.cuda", "CUB's DeviceReduce", open_buffers, run);
  k.flags = SXT_KERNEL_BASELINE | SXT_KERNEL_CAPTURABLE;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}();

}  // namespace
}  // namespace sextant::reduction_cub

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::reduction_cub;
  return sextant::plugin::offer<&kernel>("reduction-cuda-cub", out);
}
