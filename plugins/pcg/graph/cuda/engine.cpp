// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include <cmath>
#include <cstdint>

#include "scalars.hpp"

namespace graph {

namespace cuda = sextant::plugin::cuda;

Engine::Engine(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec)
    : state_(state), session_(session), args_(args), exec_(exec), ops_(device_ops(exec)) {
  session_.keep_blocks_of(state, exec);
  session_.launches = 0;
}

void Engine::start() {
  if (state_.n == 0) return;
  Iteration iteration(state_, session_, exec_);
  if (args_.x_is_zero)
    cuda::fill_bytes(&exec_, iteration.x(), 0, session_.vector_stride(), "clear x");
  else
    iteration.copy(args_.x, iteration.x());
  iteration.residual(args_.b, args_.x_is_zero != 0);
  renewed_ = true;
  if (!args_.x_is_zero) ++args_.products;
}

void Engine::replace() {
  Iteration iteration(state_, session_, exec_);
  turn_back(iteration);  // by the residual with which it was changed
  turned_ = false;
  iteration.residual(args_.b, false);
  renewed_ = true;
  ++args_.products;
}

void Engine::finish() {
  if (state_.n > 0) Iteration(state_, session_, exec_).copy(iterate(), args_.x);
  args_.launches = static_cast<std::int32_t>(session_.launches);
}

// After idle steps: restores the direction, to the last bit where that matters.
void Engine::turn_back(Iteration &iteration) const {
  if (!turned_) return;
  if (state_.one_order)
    iteration.take_direction_back();
  else
    iteration.turn_over();
}

// Sends the request of this block to the device; evaluates its first iterate where its numbers are missing.
void Engine::request(const pcg::Block &block) {
  Iteration iteration(state_, session_, exec_);
  if (!block.restart) turn_back(iteration);
  turned_ = false;
  if (renewed_) iteration.renew();
  renewed_ = false;
  if (block.restart) iteration.begin_direction();
  // Where only the block's length ends it, its last evaluation need not stop, and the next block continues from it: the
  // number of iterations is that of the capture in any case.
  const bool due =
      block.last >= args_.max_iterations || (args_.replace_every > 0 && block.last % args_.replace_every == 0);
  const std::int64_t last = due ? block.last : block.last + 1;
  const Request request{
      block.first, last, block.tolerance * block.tolerance, block.replaced_from, block.test_first, block.restart,
      standing_,   0};
  configure(session_.control(), request, cuda::stream_of(exec_));
  ++session_.launches;
  if (!standing_) return;
  iteration.evaluate();
  ++args_.products;
}

// A long block, or a short one where convergence or the limit is so near that most of a long one would be idle.
std::int64_t Engine::wanted(const pcg::Block &block) const {
  const std::int64_t left = iterations_left(block, rate_, last_squared_);
  return left <= 2 * short_block(state_.block) ? short_block(state_.block) : state_.block;
}

pcg::Outcome Engine::run(const pcg::Block &block) {
  static constexpr double nothing = 0;
  if (state_.n == 0) return {pcg::Ended::met, block.first, &nothing};
  request(block);
  const std::int64_t iterations = wanted(block);
  if (block.last > block.first)
    enqueue(iterations == state_.block ? session_.long_block : session_.short_block, iterations);
  return await(block);
}

// Launches a block, and captures it first if that has not been done.
void Engine::enqueue(Captured &block, std::int64_t iterations) {
  if (!block.graph && !session_.capture_refused) {
    block.graph = capture(exec_, session_.side(0), [&](const sxt_exec &exec) { enqueue_each(iterations, exec); });
    session_.capture_refused = !block.graph;
  }
  args_.products += iterations;
  if (block.graph) {
    ++session_.launches;
    if (const sxt_status status = ops_.graph_launch(exec_.device, exec_.stream, block.graph))
      throw cuda::Failure(status, "a captured block of %lld iterations could not be launched", (long long)iterations);
    return;
  }
  enqueue_each(iterations, exec_);
}

void Engine::enqueue_each(std::int64_t iterations, const sxt_exec &exec) {
  Iteration iteration(state_, session_, exec);
  for (std::int64_t i = 0; i < iterations; ++i) {
    iteration.step();
    iteration.evaluate();
  }
}

pcg::Outcome Engine::await(const pcg::Block &block) {
  ++args_.reductions;
  args_.launches = static_cast<std::int32_t>(session_.launches);
  if (const sxt_status status = exec_.host->synchronize(exec_.host, &exec_))
    throw cuda::Failure(status, "a block of iterations failed on the device");
  const Report report = session_.report();
  standing_ = report.ended != Ended::running;
  turned_ = standing_ && (state_.one_order ? report.turns > 0 : report.turns % 2 != 0);

  session_.squares.clear();
  for (std::int64_t k = block.first; k <= report.iterate; ++k)
    session_.squares.push_back(session_.squared_residuals()[k % session_.room()]);
  if (session_.squares.empty()) session_.squares.push_back(0);  // the conversation finds that no work was done
  last_squared_ = session_.squares.back();
  const auto steps = static_cast<double>(report.iterate - block.first);
  rate_ = steps > 0 ? std::log(session_.squares.front() / last_squared_) / steps : 0;
  const pcg::Ended ended = report.ended == unsure ? measure() : report.ended;
  return {ended, report.iterate, session_.squares.data()};
}

// A value of the device, now.
template <class T>
T Engine::fetch(const void *from) {
  T value{};
  if (const sxt_status status = exec_.host->copy(exec_.host, &exec_, &value, from, sizeof value))
    throw cuda::Failure(status, "the scalars of an iteration could not be read");
  if (const sxt_status status = exec_.host->synchronize(exec_.host, &exec_))
    throw cuda::Failure(status, "an iteration failed on the device");
  return value;
}

// p'Ap of the coming iteration, by a separate product. Where it is positive, the direction restarts: its history has
// been lost to rounding.
pcg::Ended Engine::measure() {
  Iteration iteration(state_, session_, exec_);
  turn_back(iteration);
  turned_ = false;
  iteration.measure_curvature(fetch<Control>(session_.control()).beta);
  ++args_.products;
  ++args_.reductions;
  const bool single = state_.type == SXT_F32 || state_.type == SXT_C64;
  const double p_a_p = single ? fetch<float>(session_.dots()) : fetch<double>(session_.dots());
  if (!std::isfinite(p_a_p)) return pcg::Ended::not_a_number;
  return p_a_p > 0 ? pcg::Ended::far : pcg::Ended::a_indefinite;
}

}  // namespace graph
