// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/batch.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/hermitian/transfer.hpp"

namespace sextant {

namespace {
HermitianSettings checked(HermitianSettings settings) {
  settings.check();
  return settings;
}
}  // namespace

HermitianBatch::HermitianBatch(std::shared_ptr<Context> context, HermitianSettings settings)
    : context_(std::move(context)), settings_(checked(std::move(settings))), kernels_(*context_, settings_) {
  Device &device = context_->device();
  require(settings_.space != SXT_SPACE_DEVICE || !device.on_host(), SXT_E_ARGUMENT,
          "space is device memory, but the context is on the CPU");
  if (settings_.orders.empty()) return;
  const std::uint64_t bytes = settings_.orders.size() * sizeof(std::int32_t);
  orders_ = DeviceBuffer(device, bytes);
  device.copy(orders_.data(), settings_.orders.data(), bytes);
}

HermitianBatch::~HermitianBatch() = default;

// ---- lanes

HermitianBatch::Lent::Lent(HermitianBatch &batch, void *stream) : batch_(batch) {
  Device &device = batch.context_->device();
  std::unique_lock lock(batch.mutex_);
  if (stream) {
    std::unique_ptr<HermitianLane> &known = batch.by_stream_[stream];
    if (!known) known = std::make_unique<HermitianLane>(device, stream, false);
    lane_ = known.get();
    lock.unlock();  // the lane's holder may need it before it gives the lane back
    lock_ = std::unique_lock(lane_->mutex());
    return;
  }
  if (batch.idle_.empty()) {
    batch.idle_.reserve(batch.idle_.capacity() + 1);  // giving back must not need memory
    own_ = std::make_unique<HermitianLane>(device, device.take_stream(), device.has_streams());
  } else {
    own_ = std::move(batch.idle_.back());
    batch.idle_.pop_back();
  }
  lane_ = own_.get();
}

HermitianBatch::Lent::~Lent() {
  if (!own_) {
    lane_->call_ends();
    return;
  }
  const std::lock_guard lock(batch_.mutex_);
  try {
    batch_.idle_.push_back(std::move(own_));
  } catch (const std::bad_alloc &) {  // the lane just ends
  }
}

// ---- calls

void HermitianBatch::run(std::int32_t phase, const sxt_hermitian_set &set) {
  Device &device = context_->device();
  require(!set.stream || device.has_streams(), SXT_E_NOT_SUPPORTED, "a stream was given, but device '",
          context_->device_name(), "' has none");
  if (set.stream) device.check_stream(set.stream);
  require(!solves(phase) || settings_.n_rhs > 0, SXT_E_STATE, "n_rhs is 0 in the description: nothing is solved");
  const HermitianArrays arrays = check_set(settings_, device, phase, set);
  if (settings_.batch == 0) return;
  if (phase == SXT_HERMITIAN_SOLVE && settings_.space == SXT_SPACE_HOST) check_pivots(settings_, arrays);
  void *const stream = set.stream ? set.stream : device.callers_stream();
  if (settings_.space == SXT_SPACE_HOST && !device.on_host())
    return HermitianTransfer(*this, phase, arrays).run(stream);
  in_place(phase, arrays, stream);
}

void HermitianBatch::in_place(std::int32_t phase, const HermitianArrays &arrays, void *stream) {
  Lent lent(*this, stream);
  try {
    const Device::StreamScope scope(context_->device(), lent.lane().stream(), lent.lane().use());
    work(phase, arrays, settings_.batch, lent.lane(), settings_.workspace_limit);
  } catch (...) {
    if (!stream) lent.lane().wait_quietly();  // what was enqueued works on the caller's arrays
    throw;
  }
  if (!stream) lent.lane().wait();
}

// A piece is halved as long as its work memory is beyond the limit or cannot be allocated.
void HermitianBatch::work(std::int32_t phase, const HermitianArrays &arrays, std::int64_t systems, HermitianLane &lane,
                          std::uint64_t limit) {
  const HermitianNeeds needs(settings_, kernels_, phase, arrays);
  std::int64_t piece = systems;
  const auto bytes = [&] { return needs.bytes(settings_, arrays, piece); };
  while (piece > 1 && limit > 0 && bytes() > limit) piece = (piece + 1) / 2;
  require(limit == 0 || bytes() <= limit, SXT_E_MEMORY, "one system at a time needs ", bytes(),
          " bytes of work memory, and workspace_limit leaves ", limit);
  char *memory = nullptr;
  for (;;) {
    try {
      memory = lane.memory(bytes());
      break;
    } catch (const Error &problem) {
      if (!out_of_memory(problem)) throw;
      require(piece > 1, SXT_E_MEMORY, "one system at a time needs ", bytes(),
              " bytes of work memory: ", problem.what());
      piece = (piece + 1) / 2;
    }
  }
  note(lane.bytes(), piece);
  const auto *orders = orders_.as<const std::int32_t>();
  for (std::int64_t first = 0; first < systems; first += piece)
    HermitianPiece(settings_, kernels_, lane, context_->device().on_host(), orders, needs,
                   arrays.from(first, value_bytes(settings_.type)), std::min(piece, systems - first), memory)
        .run(phase);
}

void HermitianBatch::note(std::uint64_t bytes, std::int64_t piece) {
  const std::lock_guard lock(mutex_);
  workspace_bytes_ = std::max(workspace_bytes_, bytes);
  piece_ = piece;
}

sxt_hermitian_report HermitianBatch::report() const {
  sxt_hermitian_report out{};
  const std::int32_t first = settings_.definiteness == SXT_INDEFINITE ? SXT_INDEFINITE : SXT_DEFINITE;
  const auto tell = [&](std::int32_t phase, std::int32_t definiteness, double *seconds) {
    const ChoicePtr choice = kernels_.choice(phase, definiteness);
    if (choice && seconds) *seconds = choice->run_s;
    return choice ? choice->kernel->name() : "";
  };
  out.factor_kernel = tell(SXT_HERMITIAN_FACTOR, first, &out.predicted_factor_s);
  out.solve_kernel = tell(SXT_HERMITIAN_SOLVE, first, &out.predicted_solve_s);
  out.factor_solve_kernel = kernels_.fused() ? tell(SXT_HERMITIAN_FACTOR_SOLVE, first, nullptr) : "";
  out.predicted_factor_solve_s = kernels_.predicted_seconds(SXT_HERMITIAN_FACTOR_SOLVE, false);
  out.pivoting_kernel =
      settings_.definiteness == SXT_TRY_DEFINITE ? tell(SXT_HERMITIAN_FACTOR, SXT_INDEFINITE, nullptr) : "";
  const bool complex = settings_.type == SXT_C64 || settings_.type == SXT_C128;
  out.kernel_bytes = kernels_.scratch_bytes();
  out.toeplitz_kernel = kernels_.toeplitz_choice() ? kernels_.toeplitz_choice()->kernel->name() : "";
  const ChoicePtr mixed = kernels_.mixed_choice();
  out.mixed_kernel = mixed ? mixed->kernel->name() : "";
  const ChoicePtr butterfly = kernels_.butterfly_choice();
  out.butterfly_kernel = butterfly ? butterfly->kernel->name() : "";
  out.flops = (complex ? 8 : 2) * (settings_.sum_n3 / 6 + settings_.sum_n2 * static_cast<double>(settings_.n_rhs));
  const std::lock_guard lock(mutex_);
  out.workspace_bytes = workspace_bytes_;
  out.piece = piece_;
  return out;
}

}  // namespace sextant
