// SPDX-License-Identifier: BSD-3-Clause
// Solves: two sweeps over the tree, up to eight right-hand sides at a time, all on the caller's stream.
#include <cuda_runtime.h>

#include <algorithm>

#include "sextant/sdk/cancel.hpp"
#include "solve_kernels.cuh"
#include "state.hpp"

namespace sextant_cholesky_levels {
namespace {

using namespace sextant::plugin;
using sextant_cholesky::blocks_of, sextant_cholesky::give_columns, sextant_cholesky::set_of,
    sextant_cholesky::take_columns;

constexpr int vector_threads = 256;

template <class T>
class Solve {
 public:
  Solve(const State &state, const SolveSession &session, const sxt_cholesky_args &args, const sxt_exec &exec)
      : state_(state),
        plan_(*state.plan),
        session_(session),
        args_(args),
        exec_(exec),
        stream_(cuda::stream_of(exec)) {}

  // False where it was cancelled. Throws Failure.
  bool group(std::int64_t set, std::int64_t first, std::int64_t columns) {
    if (is_cancelled(exec_.cancel)) return false;
    T *const b = set_of<T>(args_.b, args_.stride_b, set) + first * args_.ldb, *const x = session_.x.template as<T>();
    const T *const l = set_of<T>(static_cast<const void *>(args_.factor), args_.stride_factor, set);
    const bool whole = args_.phase == SXT_CHOLESKY_SOLVE;
    const bool begins = whole || args_.phase == SXT_CHOLESKY_FORWARD,
               ends = whole || args_.phase == SXT_CHOLESKY_BACKWARD;
    const std::int32_t *const perm = state_.perm.as<const std::int32_t>();
    const dim3 blocks(blocks_of(plan_.s.n, vector_threads), static_cast<unsigned>(columns));
    cuda::fill_bytes(&exec_, session_.counters.data(), 0, session_.counters.bytes(), "clear counters");
    take_columns<<<blocks, vector_threads, 0, stream_>>>(plan_.s.n, begins ? perm : nullptr, b, args_.ldb, x);
    cuda::need_launch("the right-hand sides");
    if (begins) sweep(l, columns, true);
    if (ends) sweep(l, columns, false);
    give_columns<<<blocks, vector_threads, 0, stream_>>>(plan_.s.n, ends ? perm : nullptr, x, b, args_.ldb);
    cuda::need_launch("the solutions");
    return true;
  }

 private:
  void sweep(const T *l, std::int64_t columns, bool forward) {
    const std::vector<Task> &list = forward ? plan_.forward : plan_.backward;
    const std::int64_t supers = plan_.s.n_super;
    std::int32_t *const counters = session_.counters.template as<std::int32_t>() + (forward ? 0 : 2 * supers + 1);
    const Sweep<T> v{state_.fronts.as<const Front>(),
                     state_.place.as<const std::int32_t>(),
                     state_.children.as<const std::int32_t>(),
                     state_.rows.as<const std::int32_t>(),
                     state_.narrow.as<const std::int32_t>(),
                     (forward ? state_.forward : state_.backward).template as<const Task>(),
                     (forward ? state_.forward_tasks : state_.backward_tasks).template as<const std::int32_t>(),
                     static_cast<std::int32_t>(list.size()),
                     static_cast<std::int32_t>(columns),
                     l,
                     session_.x.template as<T>(),
                     session_.vectors.template as<T>(),
                     plan_.s.n,
                     static_cast<std::int64_t>(plan_.place.size()),
                     counters,
                     counters + 1,
                     counters + 1 + supers};
    const auto blocks =
        static_cast<unsigned>(std::min<std::int64_t>(v.n_tasks, std::int64_t{8} * state_.multiprocessors));
    if (columns == 1)
      launch<1>(v, blocks, forward);
    else
      launch<most_columns>(v, blocks, forward);
  }
  template <int most>
  void launch(const Sweep<T> &v, unsigned blocks, bool forward) {
    if (forward)
      forward_sweep<T, most><<<blocks, solve_threads, solve_shared<T>(most), stream_>>>(v);
    else
      backward_sweep<T, most><<<blocks, solve_threads, solve_shared<T>(most), stream_>>>(v);
    cuda::need_launch(forward ? "the forward sweep" : "the backward sweep");
  }

  const State &state_;
  const Plan &plan_;
  const SolveSession &session_;
  const sxt_cholesky_args &args_;
  const sxt_exec &exec_;
  const cudaStream_t stream_;
};

}  // namespace

sxt_status load_solve(const sxt_exec *exec, State &state) {
  int device = 0;
  cuda::need(cudaGetDevice(&device), "find the device");
  cuda::need(cudaDeviceGetAttribute(&state.multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "count multiprocessors");
  return cuda::with_number(state.type, [&](auto tag) -> sxt_status {
    using T = typename decltype(tag)::type;
    sxt_status status = SXT_OK;
    const auto load = [&](auto *kernel, std::size_t shared) {
      if (status == SXT_OK) status = cuda::load_with_shared(exec, kernel, shared);
    };
    load(take_columns<T>, 0), load(give_columns<T>, 0), load(sextant_cholesky::tell_pivots_of<T>, 0);
    load(forward_sweep<T, 1>, solve_shared<T>(1)), load(backward_sweep<T, 1>, solve_shared<T>(1));
    load(forward_sweep<T, most_columns>, solve_shared<T>(most_columns));
    load(backward_sweep<T, most_columns>, solve_shared<T>(most_columns));
    return status;
  });
}

sxt_status run_solve(const State &state, const SolveSession &session, const sxt_cholesky_args &args,
                     const sxt_exec *exec) {
  if (state.plan->s.n == 0 || args.phase == SXT_CHOLESKY_DIAGONAL) return SXT_OK;  // L L^H has no D
  return cuda::guarded(exec, [&] {
    return cuda::with_number(args.value_type, [&](auto tag) -> sxt_status {
      Solve<typename decltype(tag)::type> solve(state, session, args, *exec);
      for (std::int64_t set = 0; set < args.n_sets; ++set)
        for (std::int64_t first = 0; first < args.n_rhs; first += state.columns)
          if (!solve.group(set, first, std::min(state.columns, args.n_rhs - first))) return SXT_NOT_CONVERGED;
      return SXT_OK;
    });
  });
}

sxt_status run_pivots(const State &state, const sxt_cholesky_args &args, const sxt_exec *exec) {
  if (state.plan->s.n == 0) return SXT_OK;
  return cuda::guarded(exec, [&] {
    return cuda::with_number(args.value_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (std::int64_t set = 0; set < args.n_sets; ++set) {
        sextant_cholesky::
            tell_pivots_of<<<blocks_of(state.plan->s.n, vector_threads), vector_threads, 0, cuda::stream_of(*exec)>>>(
                state.tables, set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set),
                args.factors == SXT_FACTORS_LLH, set_of<cuda::Real<T>>(args.b, args.stride_b, set));
        cuda::need_launch("pivots");
      }
      return SXT_OK;
    });
  });
}

}  // namespace sextant_cholesky_levels
