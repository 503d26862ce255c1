// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include <cstdint>

#include "launches.hpp"

namespace stencil {

void Engine::start() {
  if (state_.n == 0) return;
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

// One launch, which also evaluates the first iterate where its numbers are missing.
pcg::Outcome Engine::run(const pcg::Block &block) {
  static constexpr double nothing = 0;
  if (state_.n == 0) return {pcg::Ended::met, block.first, &nothing};
  const bool stands = standing_ && !block.restart;
  const std::int32_t begin = stands ? begin_step : block.restart ? begin_restart : begin_resume;
  configure(session_,
            {args_.x, block.first, block.last, block.tolerance * block.tolerance, block.replaced_from, block.test_first,
             begin},
            exec_);
  ++args_.launches;
  if (const std::int64_t walks = block.last - block.first + !stands; walks > 0) {
    stencil::iterate(state_, session_, walks, exec_);
    ++args_.launches;
  }
  const pcg::Outcome out = await(block);
  args_.products += out.iterate - block.first + !stands;
  return out;
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
    throw cuda::Failure(SXT_E_DEVICE, "a block from iterate %lld returned iterate %lld", (long long)block.first,
                        (long long)report.iterate);
  return {report.ended, report.iterate, session_.squares.data()};
}

}  // namespace stencil
