// SPDX-License-Identifier: BSD-3-Clause
// Solves: sweeps over the levels of the tree, up to eight right-hand sides at a time, all on the caller's stream.
#include <cuda_runtime.h>

#include <algorithm>

#include "sextant/sdk/cancel.hpp"
#include "solve_kernels.cuh"
#include "state.hpp"

namespace sextant_cholesky_streams {
namespace {

using namespace sextant::plugin;
using sextant_cholesky::set_of, sextant_cholesky::blocks_of, sextant_cholesky::take_columns,
    sextant_cholesky::give_columns, sextant_cholesky::divide_by_pivots;

constexpr int vector_threads = 256;

// Right-hand sides that share a block's memory.
template <class T>
std::size_t shared_of(std::int64_t width, std::int64_t columns) {
  return sizeof(T) * static_cast<std::size_t>(width * columns);
}

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
    T *const b = set_of<T>(args_.b, args_.stride_b, set) + first * args_.ldb;
    const Sweep<T> v = sweep(set_of<T>(static_cast<const void *>(args_.factor), args_.stride_factor, set), columns);
    const bool whole = args_.phase == SXT_CHOLESKY_SOLVE;
    const bool begins = whole || args_.phase == SXT_CHOLESKY_FORWARD,
               ends = whole || args_.phase == SXT_CHOLESKY_BACKWARD;
    const std::int32_t *const perm = state_.perm.as<const std::int32_t>();
    const dim3 blocks(blocks_of(plan_.s.n, vector_threads), static_cast<unsigned>(columns));
    take_columns<<<blocks, vector_threads, 0, stream_>>>(plan_.s.n, begins ? perm : nullptr, b, args_.ldb, v.x, 1,
                                                         plan_.s.n);
    cuda::need_launch("the right-hand sides");
    if (begins && !forward(v)) return false;
    if ((whole || args_.phase == SXT_CHOLESKY_DIAGONAL) && v.unit) {
      divide_by_pivots<<<blocks, vector_threads, 0, stream_>>>(state_.tables, v.l, v.x, plan_.s.n);
      cuda::need_launch("the division by pivots");
    }
    if (ends && !backward(v)) return false;
    give_columns<<<blocks, vector_threads, 0, stream_>>>(plan_.s.n, ends ? perm : nullptr, v.x, 1, plan_.s.n, b,
                                                         args_.ldb);
    cuda::need_launch("the solutions");
    return true;
  }

 private:
  Sweep<T> sweep(const T *l, std::int64_t columns) const {
    return {state_.tables,
            state_.place.as<const std::int32_t>(),
            state_.child_at.as<const std::int32_t>(),
            state_.children.as<const std::int32_t>(),
            l,
            session_.x.template as<T>(),
            session_.fronts.template as<T>(),
            static_cast<std::int64_t>(plan_.place_in_parent.size()),
            static_cast<int>(columns),
            args_.factors == SXT_FACTORS_LDLH};
  }
  const int2 *jobs(std::size_t level) const {
    const int2 *at = state_.jobs.as<const int2>();
    for (std::size_t k = 0; k < level; ++k) at += plan_.levels[k].narrow.size() / 2;
    return at;
  }

  bool forward(const Sweep<T> &v) {
    const int2 *job = jobs(0);
    for (const Level &level : plan_.levels) {
      if (is_cancelled(exec_.cancel)) return false;
      const auto count = static_cast<unsigned>(level.narrow.size() / 2);
      if (count > 0) {
        forward_fronts<<<count, solve_threads, shared_of<T>(most_solve_width, v.columns), stream_>>>(v, job);
        cuda::need_launch("a level's forward solves");
      }
      job += count;
      for (const std::int32_t p : level.wide) forward_wide(v, p);
    }
    return true;
  }
  void forward_wide(const Sweep<T> &v, std::int32_t p) {
    begin_wide_front<<<1, wide_threads, 0, stream_>>>(v, p);
    cuda::need_launch("a front's right-hand sides");
    if (!plan_.is_factored(p)) return;
    for (std::int64_t j = 0; j < plan_.width(p); j += solve_panel) {
      const std::int64_t w = std::min<std::int64_t>(solve_panel, plan_.width(p) - j), rest = plan_.rows(p) - j - w;
      forward_panel<<<std::max(1u, blocks_of(rest, solve_threads)), solve_threads, shared_of<T>(solve_panel, v.columns),
                      stream_>>>(v, p, static_cast<int>(j), static_cast<int>(w));
      cuda::need_launch("a panel's forward solve");
    }
  }

  bool backward(const Sweep<T> &v) {
    for (std::size_t k = plan_.levels.size(); k-- > 0;) {
      if (is_cancelled(exec_.cancel)) return false;
      const Level &level = plan_.levels[k];
      for (const std::int32_t p : level.wide)
        if (plan_.is_factored(p)) backward_wide(v, p);
      const auto count = static_cast<unsigned>(level.narrow.size() / 2);
      if (count == 0) continue;
      backward_fronts<<<count, solve_threads, shared_of<T>(most_solve_width, v.columns), stream_>>>(v, jobs(k));
      cuda::need_launch("a level's backward solves");
    }
    return true;
  }
  void backward_wide(const Sweep<T> &v, std::int32_t p) {
    for (std::int64_t end = plan_.width(p); end > 0;) {
      const std::int64_t j = (end - 1) / solve_panel * solve_panel, w = end - j;
      backward_dots<<<static_cast<unsigned>(w), solve_threads, 0, stream_>>>(v, p, static_cast<int>(j),
                                                                             static_cast<int>(w));
      cuda::need_launch("a panel's products");
      backward_panel<<<1, solve_threads, shared_of<T>(solve_panel, v.columns), stream_>>>(v, p, static_cast<int>(j),
                                                                                          static_cast<int>(w));
      cuda::need_launch("a panel's backward solve");
      end = j;
    }
  }

  const State &state_;
  const Plan &plan_;
  const SolveSession &session_;
  const sxt_cholesky_args &args_;
  const sxt_exec &exec_;
  const cudaStream_t stream_;
};

}  // namespace

sxt_status load_solve(const sxt_exec *exec, sxt_value_type type) {
  return cuda::with_number(type, [&](auto tag) -> sxt_status {
    using T = typename decltype(tag)::type;
    sxt_status status = SXT_OK;
    const auto load = [&](auto *kernel) {
      if (status == SXT_OK) status = cuda::load(exec, kernel);
    };
    load(begin_wide_front<T>), load(forward_panel<T>), load(backward_dots<T>), load(backward_panel<T>);
    load(take_columns<T>), load(give_columns<T>), load(divide_by_pivots<T>), load(sextant_cholesky::tell_pivots_of<T>);
    const std::size_t shared = shared_of<T>(most_solve_width, most_solve_columns);
    if (status == SXT_OK) status = cuda::load_with_shared(exec, forward_fronts<T>, shared);
    if (status == SXT_OK) status = cuda::load_with_shared(exec, backward_fronts<T>, shared);
    return status;
  });
}

sxt_status run_solve(const State &state, const SolveSession &session, const sxt_cholesky_args &args,
                     const sxt_exec *exec) {
  if (state.plan->s.n == 0) return SXT_OK;
  return cuda::guarded(exec, [&] {
    return cuda::with_number(args.value_type, [&](auto tag) -> sxt_status {
      Solve<typename decltype(tag)::type> solve(state, session, args, *exec);
      return sextant_cholesky::solve_groups(
          args, 1, state.columns, [&](std::int64_t set, std::int64_t, std::int64_t first, std::int64_t columns) {
            return solve.group(set, first, columns);
          });
    });
  });
}

sxt_status run_pivots(const State &state, const sxt_cholesky_args &args, const sxt_exec *exec) {
  return sextant_cholesky::run_pivots(state.tables, args, exec);
}

}  // namespace sextant_cholesky_streams
