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
    iteration.residual(args_.b, args_.x_is_zero != 0);
    sum_squares(shared, args_.b, args_.scaling, stream);
    const cudaGraphConditionalHandle on = new_condition(stream);
    begin_record(shared, on, stream);
    capture_while(stream, on, session_.side(0), [&](cudaStream_t side) { attempt(on, side); });
    mend_answer(shared, iteration.x(), args_.x_is_zero ? nullptr : args_.x, stream);
    tell_record(shared, args_, stream);
    iteration.copy(iteration.x(), args_.x);
  }

 private:
  // To the tolerance, and the true residual of what it led to.
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
    iteration.residual(args_.b, false);
    sum_squares(shared, iteration.r(), args_.scaling, stream);
    judge_record(shared, on, stream);
  }

  // A few at a time: asking the condition costs as much as a short kernel.
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
    return {iteration.scalars(), session_.record(), session_.sums(),      state_.n,
            args_.rtol,          args_.atol,        args_.max_iterations, args_.scaling != nullptr};
  }

  const State &state_;
  Session &session_;
  const sxt_pcg_record_args &args_;
  const sxt_exec &exec_;
};

sxt_status check(const sxt_head *head, const State &state, const sxt_exec *exec) {
  if (!head || !SXT_HAS(head, sxt_pcg_record_args, relative_residual))
    return plugin::error(exec, SXT_E_ARGUMENT, "the args are not a complete sxt_pcg_record_args");
  const auto &args = plugin::as<sxt_pcg_record_args>(head);
  if (args.n != state.n)
    return plugin::error(exec, SXT_E_DIMENSION, "the args have n = %lld, the engine was prepared for %lld",
                         (long long)args.n, (long long)state.n);
  if (state.n == 0 || !args.b || !args.x) return plugin::error(exec, SXT_E_ARGUMENT, "b or x is NULL, or n is 0");
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
