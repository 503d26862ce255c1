// SPDX-License-Identifier: BSD-3-Clause
// convert.elements.cuda: y = alpha (s x) from f64 to f32, y += beta (alpha (s x)) from f32 to f64, and complex alike. A
// thread an element and a stride; 12 + 8 or 20 + 8 bytes an element of reals. Bound: memory.
#include "sextant/plugin/kinds/convert.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/numbers.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::convert_cuda {
namespace {

using namespace sextant::plugin;
using cuda::Complex;

constexpr std::int64_t threads = 256, most_blocks = 1 << 20;

template <class Wide, class Single>
__global__ void narrow(std::int64_t n, double alpha, const double *scale, const Wide *x, Single *y) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    y[i] = cuda::convert<Single>(cuda::times(cuda::times(x[i], scale ? scale[i] : 1.0), alpha));
}

template <class Wide, class Single>
__global__ void add(std::int64_t n, double alpha, double beta, const double *scale, const Single *x, Wide *y) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    y[i] = cuda::plus(
        y[i], cuda::times(cuda::times(cuda::times(cuda::convert<Wide>(x[i]), scale ? scale[i] : 1.0), alpha), beta));
}

// f(tag of the working type, tag of its single precision).
template <class F>
auto with_types(sxt_value_type type, F &&f) {
  return type == SXT_F64 ? f(double{}, float{}) : f(Complex<double>{}, Complex<float>{});
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_convert_query>(query);
  if (q.q.value_type != SXT_F64 && q.q.value_type != SXT_C128)
    return refuse(reason, "%s is no working precision with a single one: f64 and c128 are", value_name(q.q.value_type));
  if (q.operation == SXT_CONVERT_NARROW || q.operation == SXT_CONVERT_ADD) return SXT_OK;
  return refuse(reason, "operation %d is not one of 1 to 2", q.operation);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_convert_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  cuda::CudaCost cost;
  cost.stream_bytes = cost.working_set = n * (element * (q.operation == SXT_CONVERT_ADD ? 2.5 : 1.5) + 8);
  cost.flops = 4 * n;
  CandidateList list(out, capacity, count);
  cuda::fill(list.add(), *machine, cuda::blocks_for(q.n, threads, most_blocks), threads, 1, cost).state_bytes =
      sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *filled,
                   const sxt_exec *exec, void **state) {
  const sxt_status loaded = with_types(problem->query->value_type, [&](auto wide, auto single) {
    using Wide = decltype(wide);
    using Single = decltype(single);
    const sxt_status status = cuda::load(exec, narrow<Wide, Single>);
    return status == SXT_OK ? cuda::load(exec, add<Wide, Single>) : status;
  });
  return loaded == SXT_OK ? prepare_type(problem, candidate, filled, exec, state) : loaded;
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_convert_args>(head);
  if (args.operation != SXT_CONVERT_NARROW && args.operation != SXT_CONVERT_ADD)
    return error(exec, SXT_E_NOT_SUPPORTED, "conversion %d is not one of 1 to 2", args.operation);
  if (args.n <= 0) return SXT_OK;
  const unsigned blocks = cuda::blocks_for(args.n, threads, most_blocks);
  return with_types(*static_cast<const sxt_value_type *>(state), [&](auto wide, auto single) {
    using Wide = decltype(wide);
    using Single = decltype(single);
    if (args.operation == SXT_CONVERT_NARROW)
      narrow<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(
          args.n, args.alpha, args.scale, static_cast<const Wide *>(args.x), static_cast<Single *>(args.y));
    else
      add<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(
          args.n, args.alpha, args.beta, args.scale, static_cast<const Single *>(args.x), static_cast<Wide *>(args.y));
    return cuda::launched(exec, "a conversion");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_CONVERT, "convert.elements.cuda", "cuda", "a thread an element", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.term_names = cuda::cuda_terms;
  set_calls<sxt_value_type>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace
}  // namespace sextant::convert_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::convert_cuda::kernel>("convert-cuda", out);
}
