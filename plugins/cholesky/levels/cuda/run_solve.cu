// SPDX-License-Identifier: BSD-3-Clause
// Solves: two sweeps over the tree, for several right-hand sides and sets at a time, all on the caller's stream.
#include <cuda_runtime.h>

#include <algorithm>

#include "sextant/sdk/cancel.hpp"
#include "state.hpp"
#include "tile_kernels.cuh"
#include "vector_kernels.cuh"

namespace sextant_cholesky_levels {
namespace {

using namespace sextant::plugin;
using sextant_cholesky::blocks_of, sextant_cholesky::divide_by_pivots, sextant_cholesky::give_columns,
    sextant_cholesky::set_of, sextant_cholesky::take_columns;

constexpr int vector_threads = 256;

// Blocks of threads on a multiprocessor.
constexpr int narrow_resident = 8, resident = 2;

template <class T>
class Solve {
 public:
  Solve(const State &state, const SolveSession &session, const sxt_cholesky_args &args, const sxt_exec &exec)
      : state_(state),
        plan_(*state.plan),
        session_(session),
        args_(args),
        exec_(exec),
        stream_(cuda::stream_of(exec)),
        begins_(args.phase == SXT_CHOLESKY_SOLVE || args.phase == SXT_CHOLESKY_FORWARD),
        ends_(args.phase == SXT_CHOLESKY_SOLVE || args.phase == SXT_CHOLESKY_BACKWARD) {}

  // Right-hand sides first .. first + columns - 1 of sets set .. set + sets - 1. False where it was cancelled. Throws
  // Failure.
  bool group(std::int64_t set, std::int64_t sets, std::int64_t first, std::int64_t columns) {
    if (is_cancelled(exec_.cancel)) return false;
    const Sweep<T> v = sweep(set, sets, first, columns);
    const std::int64_t numbers = std::int64_t{v.parts} * v.columns * (2 * v.n + v.size);
    cuda::fill_bytes(&exec_, session_.work.data(), 0xff,
                     solve_counters + static_cast<std::uint64_t>(numbers) * sizeof(T), "mark what is not there yet");
    if (!begins_) move(v, true);
    if (begins_) {
      run<true>(v, 0, plan_.forward.split, true);
      run<true>(v, plan_.forward.split, static_cast<std::int64_t>(plan_.forward.list.size()), false);
    }
    if (ends_) {
      run<false>(v, 0, plan_.backward.split, false);
      run<false>(v, plan_.backward.split, static_cast<std::int64_t>(plan_.backward.list.size()), true);
    }
    if (!ends_) move(v, false);
    return true;
  }

  // x = D^-1 b of one set.
  void divide(std::int64_t set) {
    for (std::int64_t first = 0; first < args_.n_rhs; first += most_rows_of_blocks) {
      const dim3 blocks(blocks_of(plan_.s.n, vector_threads),
                        static_cast<unsigned>(std::min(most_rows_of_blocks, args_.n_rhs - first)));
      divide_by_pivots<<<blocks, vector_threads, 0, stream_>>>(
          state_.tables, set_of<T>(static_cast<const void *>(args_.factor), args_.stride_factor, set),
          set_of<T>(args_.b, args_.stride_b, set) + first * args_.ldb, args_.ldb);
      cuda::need_launch("the division by pivots");
    }
  }

 private:
  static constexpr std::int64_t most_rows_of_blocks = 32768;

  Sweep<T> sweep(std::int64_t set, std::int64_t sets, std::int64_t first, std::int64_t columns) const {
    Sweep<T> v{};
    v.fronts = state_.fronts.as<const Front>();
    v.place = state_.place.as<const std::int32_t>(), v.children = state_.children.as<const Child>();
    v.rows = state_.rows.as<const std::int32_t>(), v.narrow = state_.narrow.as<const std::int32_t>();
    v.groups = static_cast<std::int32_t>((columns + tile_columns - 1) / tile_columns);
    v.parts = static_cast<std::int32_t>(sets * v.groups), v.all_columns = static_cast<std::int32_t>(columns);
    v.columns = (v.all_columns + v.groups - 1) / v.groups;
    v.unit = args_.factors == SXT_FACTORS_LDLH, v.divides = v.unit && begins_, v.places = ends_;
    v.perm = state_.perm.as<const std::int32_t>();
    v.l = set_of<T>(static_cast<const void *>(args_.factor), args_.stride_factor, set);
    v.stride_l = args_.stride_factor, v.stride_b = args_.stride_b, v.ldb = args_.ldb;
    v.b = set_of<T>(args_.b, args_.stride_b, set) + first * args_.ldb;
    v.n = plan_.s.n, v.size = static_cast<std::int64_t>(plan_.place.size());
    std::byte *const work = static_cast<std::byte *>(session_.work.data());
    v.ticket = reinterpret_cast<unsigned long long *>(work);
    v.waits = reinterpret_cast<std::int32_t *>(work + solve_tickets), v.status = exec_.device_status;
    v.y = reinterpret_cast<T *>(work + solve_counters);
    v.z = v.y + std::int64_t{v.parts} * v.columns * v.n, v.vectors = v.z + std::int64_t{v.parts} * v.columns * v.n;
    return v;
  }
  // Between b and y, in the order of elimination.
  void move(const Sweep<T> &v, bool in) {
    for (std::int64_t part = 0; part < v.parts; ++part) {
      const std::int64_t set = part / v.groups, first = part % v.groups * v.columns;
      const dim3 blocks(blocks_of(v.n, vector_threads),
                        static_cast<unsigned>(std::min<std::int64_t>(v.columns, v.all_columns - first)));
      T *const b = v.b + set * v.stride_b + first * v.ldb, *const y = v.y + part * v.columns * v.n;
      if (in)
        take_columns<<<blocks, vector_threads, 0, stream_>>>(v.n, nullptr, b, v.ldb, y, v.columns, 1);
      else
        give_columns<<<blocks, vector_threads, 0, stream_>>>(v.n, nullptr, y, v.columns, 1, b, v.ldb);
      cuda::need_launch("right-hand sides between two orders");
    }
  }
  // Tasks first .. end-1 of a direction.
  template <bool forward>
  void run(const Sweep<T> &of_all, std::int64_t first, std::int64_t end, bool narrow) {
    if (first == end) return;
    Sweep<T> v = of_all;
    v.tasks = (forward ? state_.forward : state_.backward).template as<const Task>() + first;
    v.n_tasks = static_cast<std::int32_t>(end - first);
    v.ticket += (forward ? 0 : 2) + (narrow ? 1 : 0);
    const std::int64_t most = std::int64_t{state_.multiprocessors} * (narrow ? narrow_resident : resident);
    const auto blocks = static_cast<unsigned>(std::min(most, std::int64_t{v.n_tasks} * v.parts));
    if (narrow && v.columns == 1)
      sweep_narrow<T, 1, forward><<<blocks, sweep_threads, narrow_shared<T>(1), stream_>>>(v);
    else if (narrow)
      sweep_narrow<T, narrow_group, forward><<<blocks, sweep_threads, narrow_shared<T>(narrow_group), stream_>>>(v);
    else if (v.columns == 1)
      forward ? forward_vector<T><<<blocks, sweep_threads, 0, stream_>>>(v)
              : backward_vector<T><<<blocks, sweep_threads, 0, stream_>>>(v);
    else if (forward)
      forward_tiles<T><<<blocks, sweep_threads, tile_shared<T>(), stream_>>>(v);
    else
      backward_tiles<T><<<blocks, sweep_threads, tile_shared<T>(), stream_>>>(v);
    cuda::need_launch(forward ? "the forward sweep" : "the backward sweep");
  }

  const State &state_;
  const Plan &plan_;
  const SolveSession &session_;
  const sxt_cholesky_args &args_;
  const sxt_exec &exec_;
  const cudaStream_t stream_;
  const bool begins_, ends_;
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
    load(take_columns<T>, 0), load(give_columns<T>, 0), load(divide_by_pivots<T>, 0);
    load(sextant_cholesky::tell_pivots_of<T>, 0);
    load(forward_vector<T>, 0), load(backward_vector<T>, 0);
    load(sweep_narrow<T, 1, true>, narrow_shared<T>(1)), load(sweep_narrow<T, 1, false>, narrow_shared<T>(1));
    load(sweep_narrow<T, narrow_group, true>, narrow_shared<T>(narrow_group));
    load(sweep_narrow<T, narrow_group, false>, narrow_shared<T>(narrow_group));
    load(forward_tiles<T>, tile_shared<T>()), load(backward_tiles<T>, tile_shared<T>());
    return status;
  });
}

sxt_status run_solve(const State &state, const SolveSession &session, const sxt_cholesky_args &args,
                     const sxt_exec *exec) {
  const bool divides = args.phase == SXT_CHOLESKY_DIAGONAL;
  if (state.plan->s.n == 0 || (divides && args.factors == SXT_FACTORS_LLH)) return SXT_OK;
  const Room &room = state.room;
  return cuda::guarded(exec, [&] {
    return cuda::with_number(args.value_type, [&](auto tag) -> sxt_status {
      Solve<typename decltype(tag)::type> solve(state, session, args, *exec);
      for (std::int64_t set = 0; divides && set < args.n_sets; ++set) solve.divide(set);
      if (divides) return SXT_OK;
      return sextant_cholesky::solve_groups(args, room.sets, room.columns,
                                            [&](auto... group) { return solve.group(group...); });
    });
  });
}

sxt_status run_pivots(const State &state, const sxt_cholesky_args &args, const sxt_exec *exec) {
  return sextant_cholesky::run_pivots(state.tables, args, exec);
}

}  // namespace sextant_cholesky_levels
