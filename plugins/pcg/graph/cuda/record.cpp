// SPDX-License-Identifier: BSD-3-Clause
#include "record.hpp"

#include <algorithm>
#include <cstdint>

#include "iteration.hpp"
#include "loop.hpp"
#include "recorded.hpp"

namespace graph {

#ifdef GRAPH_HAS_LOOPS

namespace {

namespace plugin = sextant::plugin;

// Its calls go to another stream of the same capture.
sxt_exec capturing_on(const sxt_exec &exec, cudaStream_t stream) {
  sxt_exec out = exec;
  out.stream = stream;
  out.flags |= SXT_EXEC_CAPTURING;
  return out;
}

class Recorder {
 public:
  Recorder(const State &state, Session &session, const sxt_pcg_record_args &args, const sxt_exec &exec)
      : state_(state), session_(session), args_(args), exec_(exec) {}

  void record() {
    const sxt_exec exec = capturing_on(exec_, cuda::stream_of(exec_));
    const cudaStream_t stream = cuda::stream_of(exec);
    Iteration iteration(state_, session_, exec);
    const Recording shared = recording(iteration);
    if (args_.x_is_zero)
      cuda::fill_bytes(&exec, iteration.x(), 0, session_.vector_stride(), "clear x");
    else
      iteration.copy(args_.x, iteration.x());
    iteration.clear_directions();
    true_residual(iteration, exec);
    sum_squares(shared, args_.b, stream);
    const cudaGraphConditionalHandle on = new_condition(stream);
    begin_record(shared, on, stream);
    capture_while(stream, on, session_.side(0), [&](cudaStream_t side) { attempt(on, side); });
    repair_answer(shared, iteration.x(), args_.x_is_zero ? nullptr : args_.x, stream);
    report_record(shared, args_, stream);
    iteration.copy(iteration.x(), args_.x);
  }

 private:
  // Iterations to the tolerance, and the true residual of the result.
  void attempt(cudaGraphConditionalHandle on, cudaStream_t stream) {
    const sxt_exec exec = capturing_on(exec_, stream);
    Iteration iteration(state_, session_, exec);
    const Recording shared = recording(iteration);
    iteration.renew();
    iteration.direct_by_scalars();
    iteration.evaluate();
    const cudaGraphConditionalHandle inner = new_condition(stream);
    open_steps(shared, inner, stream);
    capture_while(stream, inner, session_.side(1), [&](cudaStream_t side) { steps(inner, side); });
    turn_back(shared, stream);
    iteration.turn_by_scalars();
    if (state_.recurrence->id == SXT_RECURRENCE_CHRONOPOULOS_GEAR) {
      doubt(shared, stream);
      iteration.measure_by_scalars();
      keep_curvature(shared, stream);
    }
    true_residual(iteration, exec);
    sum_squares(shared, iteration.r(), stream);
    judge_record(shared, on, stream);
  }

  // The caller's residual, and from it the system's r: more accurate than one of the system itself.
  void true_residual(const Iteration &iteration, const sxt_exec &exec) {
    const cudaStream_t stream = cuda::stream_of(exec);
    sxt_residual_args args{};
    args.h = {sizeof args, SXT_KIND_RESIDUAL};
    args.n_rhs = 1;
    args.ldx = args.ldb = args.ldr = state_.n;
    args.x = args_.own_x ? args_.own_x : iteration.x();
    args.b = args_.own_b;
    args.r = args_.own_x ? args_.own_r : iteration.r();
    args.norms = args_.norms;
    if (args_.own_x) bring_back(args_, state_.type, iteration.x(), stream);
    sxt_exec lent = exec;
    lent.scratch = args_.residual_scratch;
    lent.scratch_bytes = args_.residual->scratch_bytes;
    if (const sxt_status status = plugin::run(*args_.residual, args.h, lent); status != SXT_OK)
      throw cuda::Failure(status, "%s could not be captured", args_.residual->kernel);
    if (args_.own_x) take_in(args_, state_.type, iteration.r(), stream);
  }

  // A few at a time: testing the condition costs as much as a short kernel.
  void steps(cudaGraphConditionalHandle inner, cudaStream_t stream) {
    const sxt_exec exec = capturing_on(exec_, stream);
    Iteration iteration(state_, session_, exec);
    for (std::int64_t i = 0; i < short_block(state_.block); ++i) {
      iteration.step();
      iteration.evaluate();
    }
    close_steps(recording(iteration), inner, stream);
  }

  Recording recording(const Iteration &iteration) const {
    return {iteration.scalars(), session_.record(),    session_.sums(),         args_.norms, state_.n, args_.rtol,
            args_.atol,          args_.max_iterations, args_.scaling != nullptr};
  }

  const State &state_;
  Session &session_;
  const sxt_pcg_record_args &args_;
  const sxt_exec &exec_;
};

sxt_status check(const sxt_head *head, const State &state, const sxt_exec *exec) {
  if (!head || !SXT_HAS(head, sxt_pcg_record_args, index_type))
    return plugin::error(exec, SXT_E_ARGUMENT, "the args are not a complete sxt_pcg_record_args");
  const auto &args = plugin::as<sxt_pcg_record_args>(head);
  if (args.n != state.n)
    return plugin::error(exec, SXT_E_DIMENSION, "the args have n = %lld, the engine was prepared for %lld",
                         (long long)args.n, (long long)state.n);
  if (state.n == 0 || !args.b || !args.x) return plugin::error(exec, SXT_E_ARGUMENT, "b or x is NULL, or n is 0");
  if (!args.residual || !args.norms || !args.own_b || ((args.scaling || args.index) && !(args.own_x && args.own_r)))
    return plugin::error(exec, SXT_E_ARGUMENT, "no kernel for the true residual, or no memory for it");
  if (!(args.rtol >= 0) || !(args.atol >= 0) || args.max_iterations < 0)
    return plugin::error(exec, SXT_E_ARGUMENT, "rtol %g, atol %g and max_iterations %lld must not be negative",
                         args.rtol, args.atol, (long long)args.max_iterations);
  return SXT_OK;
}

sxt_status record(const void *state_pointer, void *session, const sxt_head *head, const sxt_exec *exec) {
  return cuda::guarded(exec, [&]() -> sxt_status {
    const State &state = *static_cast<const State *>(state_pointer);
    if (const sxt_status status = check(head, state, exec); status != SXT_OK) return status;
    Recorder(state, *static_cast<Session *>(session), plugin::as<sxt_pcg_record_args>(head), *exec).record();
    return SXT_OK;
  });
}

const sxt_pcg_ops recording_ops{sizeof(sxt_pcg_ops), record};

}  // namespace

const sxt_pcg_ops *pcg_ops() { return &recording_ops; }

#else

const sxt_pcg_ops *pcg_ops() { return nullptr; }

#endif

}  // namespace graph
