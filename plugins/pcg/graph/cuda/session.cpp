// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <cstdint>
#include <cstring>

#include "plugins/pcg/shared/columns.hpp"
#include "scalars.hpp"

namespace graph {

namespace cuda = sextant::plugin::cuda;

const sxt_device_ops &device_ops(const sxt_exec &exec) {
  const auto *service =
      static_cast<const sxt_devices_service *>(exec.host->get_service(exec.host, SXT_SERVICE_DEVICES));
  const sxt_device_ops *ops = service ? service->ops(exec.host, &exec) : nullptr;
  if (!ops || !ops->capture_begin)
    throw cuda::Failure(SXT_E_NOT_SUPPORTED, "the device cannot capture work, so there is nothing to replay");
  return *ops;
}

Side::Side(const sxt_exec &exec) : ops_(device_ops(exec)), device_(exec.device) {
  if (const sxt_status status = ops_.stream_create(device_, &stream_))
    throw cuda::Failure(status, "a stream for captures could not be made");
}

Side::~Side() { ops_.stream_destroy(device_, stream_); }

Session::Session(const State &state, const sxt_filled *slots, const sxt_exec &exec)
    : parts_(pcg::collect(*state.recurrence, slots)),
      stride_(vector_bytes(state.n, state.type)),
      kept_bytes_(stride_ * static_cast<std::uint64_t>(kept_of(*state.recurrence, state.one_order))),
      room_(2 * state.block + 2),
      vectors_(&exec,
               stride_ * static_cast<std::uint64_t>(
                             vectors_in_all(*state.recurrence, state.preconditioned, state.one_order, state.columns)),
               "the vectors of conjugate gradients"),
      scalars_(&exec, sizeof(SessionScalars), "scalars"),
      pinned_(&exec, pcg::Told<Report>::bytes(room_), "residual norms", cuda::Life::state, SXT_SPACE_PINNED),
      ops_(&device_ops(exec)),
      device_(exec.device),
      sides_{Side(exec), Side(exec)} {
  residuals.reserve(static_cast<std::size_t>(room_));
  squares.reserve(static_cast<std::size_t>(room_));
  if (state.columns > 1)
    column_results_ = cuda::DeviceArray(&exec, pcg::columns_results * 2 * sizeof(double), "inner products",
                                        cuda::Life::state, SXT_SPACE_PINNED);
  load_scalar_kernels();
  load_record_kernels();
  // Coefficients of 0 need finite numbers.
  cuda::fill_bytes(&exec, vectors_.data(), 0, vectors_.bytes(), "clear the vectors");
  cuda::fill_bytes(&exec, scalars_.data(), 0, scalars_.bytes(), "clear the scalars");
  std::memset(pinned_.data(), 0, pinned_.bytes());
}

Session::~Session() {
  drop(long_block);
  drop(short_block);
}

void Session::drop(Captured &block) {
  if (block.graph) ops_->graph_destroy(device_, block.graph);
  block.graph = nullptr;
}

void Session::keep_blocks_of(const State &state, const sxt_exec &exec) {
  if (exec.scratch == scratch_ && state.views == views_) return;
  drop(long_block);
  drop(short_block);
  capture_refused = false;
  scratch_ = exec.scratch;
  views_ = state.views;
}

}  // namespace graph
