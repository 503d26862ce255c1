// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: y = alpha x + beta y on a CUDA device, a thread an element. Bound by memory bandwidth: three accesses an
// element.
#include <cstdint>

#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/numbers.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace {

constexpr int threads = 256;

// Read-only while anything runs.
struct State {
  sxt_value_type type;
};

// Room of one caller; several callers may run one state, each with a session of its own. Where yours needs none, leave
// out the struct and close; open still loads the code that run launches.
struct Session {
  std::int64_t runs = 0;
};

template <class T>
__global__ void __launch_bounds__(threads)
    axpby(std::int64_t n, cuda::Scalar<T> alpha, cuda::Scalar<T> beta, const T *x, T *y) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    y[i] = cuda::plus(cuda::times(alpha(), x[i]), cuda::times(beta(), y[i]));
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (q.operation != SXT_VECTOR_AXPBY) return refuse(reason, "operation %d: it does axpby alone", q.operation);
  return SXT_OK;
}

// x is read, y read and written. launch[0]: blocks, several times what the device holds at once.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  const double n = static_cast<double>(q.n), bytes = static_cast<double>(value_bytes(q.q.value_type));
  cuda::CudaCost cost;
  cost.stream_bytes = 3 * n * bytes;
  cost.working_set = 2 * n * bytes;
  cost.flops = (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128 ? 14 : 3) * n;
  CandidateList list(out, capacity, count);
  const std::int64_t blocks = cuda::blocks_for(q.n, threads, 4 * cuda::resident_blocks(*machine, threads));
  cuda::fill(list.add(), *machine, blocks, threads, 1, cost).state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new State{problem->query->value_type}, state); });
}

// It holds no values of a matrix: nothing to renew.
sxt_status refresh(void *, const sxt_problem *, const sxt_exec *) { return SXT_OK; }

// No code may be loaded later, inside of a capture.
sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **session) {
  return guard(exec, [&]() -> sxt_status {
    const sxt_status failed = cuda::with_number(static_cast<const State *>(state)->type,
                                                [&]<class T>(Tag<T>) { return cuda::load(exec, axpby<T>); });
    return failed ? failed : give(new Session, session);
  });
}

// Enqueues on exec's stream and returns.
sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_vector_args>(head);
  if (args.operation != SXT_VECTOR_AXPBY) return error(exec, SXT_E_NOT_SUPPORTED, "operation %d", args.operation);
  ++static_cast<Session *>(session)->runs;
  if (args.n <= 0) return SXT_OK;
  return cuda::with_number(static_cast<const State *>(opaque)->type, [&]<class T>(Tag<T>) {
    axpby<T><<<cuda::blocks_for(args.n, threads, 1 << 16), threads, 0, cuda::stream_of(*exec)>>>(
        args.n, cuda::scalar_of(args.alpha, cuda::number<T>(1)), cuda::scalar_of(args.beta, cuda::number<T>(1)),
        static_cast<const T *>(args.x), static_cast<T *>(args.y));
    return cuda::launched(exec, "@KERNEL@");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR, "@KERNEL@", "cuda", "axpby, a thread an element", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = all_value_types;
  k.term_names = cuda::cuda_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
