// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include <cmath>
#include <cstdint>

#include "launches.hpp"

namespace stencil {

void Engine::start() {
  if (state_.n == 0) return;
  session_.keep_blocks_of(state_);
  const std::uint64_t bytes = static_cast<std::uint64_t>(state_.n) * sextant::plugin::value_bytes(state_.vectors);
  cuda::fill_bytes(&exec_, session_.output.control, 0, sizeof(Control), "clear the scalars");
  if (!args_.x_is_zero) {
    residual(state_, session_, args_.b, args_.x, exec_);
    ++args_.products;
    return;
  }
  cuda::fill_bytes(&exec_, args_.x, 0, bytes, "clear x");
  cuda::copy(&exec_, session_.vectors.r[0], args_.b, bytes, "b");
}

void Engine::replace() {
  if (state_.n == 0) return;
  residual(state_, session_, args_.b, args_.x, exec_);
  ++args_.products;
  standing_ = false;
}

// Tells the device what this block is to do; evaluates its first iterate where its numbers are not there.
void Engine::ask(const pcg::Block &block) {
  const bool stands = standing_ && !block.restart;
  const std::int32_t begin = stands ? begin_step : block.restart ? begin_restart : begin_resume;
  configure(session_,
            {args_.x, block.first, block.last, block.tolerance * block.tolerance, block.replaced_from, block.test_first,
             begin},
            exec_);
  ++args_.launches;
  if (stands) return;
  stencil::iterate(state_, session_, true, exec_);
  ++args_.products;
  ++args_.launches;
}

// A long block, or a short one where convergence or the limit is so near that most of a long one would be idle.
std::int64_t Engine::wanted(const pcg::Block &block) const {
  std::int64_t left = block.last - block.first;
  if (rate_ > 0 && block.tolerance > 0 && last_squared_ > 0) {
    const double steps = std::log(last_squared_ / (block.tolerance * block.tolerance)) / rate_;
    if (steps < static_cast<double>(left)) left = static_cast<std::int64_t>(std::ceil(std::fmax(1, steps)));
  }
  return left <= 2 * short_block(state_.block) ? short_block(state_.block) : state_.block;
}

pcg::Outcome Engine::run(const pcg::Block &block) {
  static constexpr double nothing = 0;
  if (state_.n == 0) return {pcg::Ended::met, block.first, &nothing};
  ask(block);
  const std::int64_t iterations = wanted(block);
  if (block.last > block.first)
    enqueue(iterations == state_.block ? session_.long_block : session_.short_block, iterations);
  return await(block);
}

// Launches a block, capturing it first where that has not happened.
void Engine::enqueue(void *&graph, std::int64_t iterations) {
  if (!graph && !session_.capture_refused) {
    graph = capture(iterations);
    session_.capture_refused = !graph;
  }
  args_.products += iterations;
  if (graph) {
    if (const sxt_status status = session_.ops().graph_launch(exec_.device, exec_.stream, graph))
      throw cuda::Failure(status, "a captured block of %lld iterations could not be launched", (long long)iterations);
    ++args_.launches;
    return;
  }
  for (std::int64_t i = 0; i < iterations; ++i) stencil::iterate(state_, session_, i % 2 != 0, exec_);
  args_.launches += static_cast<std::int32_t>(iterations);
}

// NULL where the caller's stream cannot be captured (the legacy default stream); the same calls then run one by one.
void *Engine::capture(std::int64_t iterations) {
  const sxt_device_ops &ops = session_.ops();
  if (ops.capture_begin(exec_.device, exec_.stream) != SXT_OK) return nullptr;
  void *graph = nullptr;
  try {
    for (std::int64_t i = 0; i < iterations; ++i) stencil::iterate(state_, session_, i % 2 != 0, exec_);
  } catch (...) {
    if (ops.capture_end(exec_.device, exec_.stream, &graph) == SXT_OK && graph) ops.graph_destroy(exec_.device, graph);
    throw;
  }
  if (const sxt_status status = ops.capture_end(exec_.device, exec_.stream, &graph))
    throw cuda::Failure(status, "a block of %lld iterations could not be captured", (long long)iterations);
  return graph;
}

pcg::Outcome Engine::await(const pcg::Block &block) {
  ++args_.reductions;
  if (const sxt_status status = exec_.host->synchronize(exec_.host, &exec_))
    throw cuda::Failure(status, "a block of iterations failed on the device");
  const Report report = session_.report();
  standing_ = true;

  session_.squares.clear();
  for (std::int64_t k = block.first; k <= report.iterate; ++k)
    session_.squares.push_back(session_.output.squared_residuals[k % session_.output.room]);
  if (session_.squares.empty())
    throw cuda::Failure(SXT_E_DEVICE, "a block from iterate %lld came back with iterate %lld", (long long)block.first,
                        (long long)report.iterate);
  last_squared_ = session_.squares.back();
  const auto steps = static_cast<double>(report.iterate - block.first);
  rate_ = steps > 0 ? std::log(session_.squares.front() / last_squared_) / steps : 0;
  const pcg::Ended ended = report.ended == running ? pcg::Ended::at_last : static_cast<pcg::Ended>(report.ended);
  return {ended, report.iterate, session_.squares.data()};
}

}  // namespace stencil
