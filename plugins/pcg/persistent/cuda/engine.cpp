// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include <cstdint>

namespace persistent {

namespace cuda = sextant::plugin::cuda;

void Engine::start() {
  at_zero_ = args_.x_is_zero != 0;
  if (!at_zero_) residual();
}

void Engine::residual() {
  if (state_.n == 0) return;
  Run run{};
  run.start = start_residual;
  launch(run);
  ++args_.products;
}

pcg::Outcome Engine::run(const pcg::Block &block) {
  if (state_.n == 0) return {pcg::Ended::met, block.first, &nothing_};
  if (session_.fresh) {
    cuda::fill_bytes(&exec_, session_.work.halo_packets, 0, session_.halo_packets.bytes(), "clear the packets");
    cuda::fill_bytes(&exec_, session_.work.sum_packets, 0, session_.sum_packets.bytes(), "clear the packets");
    session_.epoch = 0;
  }
  session_.fresh = true;  // unless this launch comes to its end

  Run run{};
  run.start = at_zero_ ? start_zero : block.restart ? start_restart : start_resume;
  run.test_first = block.test_first;
  run.first = block.first;
  run.last = block.last;
  run.tolerance_squared = block.tolerance * block.tolerance;
  run.replaced_from = block.replaced_from;
  run.epoch = session_.epoch;
  at_zero_ = false;
  launch(run);
  await();

  const Report report = *session_.work.report;
  if (report.ended == lost)
    throw cuda::Failure(SXT_E_DEVICE,
                        "a block of the persistent kernel got no answer from the others after iteration %lld",
                        (long long)report.iterate);
  session_.epoch = report.epoch;
  session_.fresh = false;
  args_.products += report.iterate - block.first + 1;
  return {report.ended, report.iterate, session_.work.squared_residuals};
}

void Engine::launch(const Run &given) {
  Run run = given;
  run.b = args_.b;
  run.x = args_.x;
  Matrix matrix = state_.matrix;
  Work work = session_.work;
  void *arguments[] = {&matrix, &work, &run};
  const LaunchShape shape(state_, cuda::stream_of(exec_));
  cuda::need(cudaLaunchKernelExC(&shape.config, state_.kernel, arguments), "launch the persistent kernel");
  ++args_.launches;
}

void Engine::await() {
  ++args_.reductions;
  if (const sxt_status status = exec_.host->synchronize(exec_.host, &exec_))
    throw cuda::Failure(status, "the persistent kernel failed on the device");
}

}  // namespace persistent
