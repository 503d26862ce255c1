// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/lane.hpp"

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/shortage.hpp"
#include "core/device/host.hpp"

namespace sextant {

HermitianLane::HermitianLane(Device &device, void *stream, bool owned)
    : device_(device), stream_(stream), owned_(owned), use_(std::make_shared<StreamUse>()) {
  if (owned || !stream || !device.ops().event_create) return;
  const ErrorScope said;
  const sxt_status status = device.ops().event_create(device.handle(), &last_call_);
  require(status == SXT_OK, status == SXT_E_MEMORY ? status : SXT_E_DEVICE,
          "an event for a caller's stream: ", said.sentence("it could not be made"));
}

HermitianLane::~HermitianLane() {
  void *stream = stream_;
  try {
    if (last_call_) {
      const Device::StreamScope none(device_, nullptr);
      stream = device_.take_stream();
      const ErrorScope said;
      // An event of a call that was captured cannot be waited for: its stream still lives, as its graph may.
      if (called_ && device_.ops().event_wait(device_.handle(), last_call_, stream) != SXT_OK) device_.wait(stream_);
    }
    device_.wait(stream);  // what the stream still does uses this memory
  } catch (...) {          // a stream or device that has failed: nothing is left to wait for
  }
  {
    const Device::StreamScope scope(device_, stream, use_);
    sessions_.clear();
    memory_ = DeviceBuffer();
  }
  if (last_call_) device_.ops().event_destroy(device_.handle(), last_call_);
  if (owned_ || stream != stream_) device_.give_stream(stream);
}

void HermitianLane::wait_quietly() const noexcept {
  try {
    wait();
  } catch (...) {  // not even for the sentence of its failure there may be memory
  }
}

void HermitianLane::call_ends() noexcept {
  if (last_call_) called_ = device_.ops().event_record(device_.handle(), last_call_, stream_) == SXT_OK;
}

void HermitianLane::run(Prepared &kernel, sxt_head *args) {
  std::unique_ptr<Session> &session = sessions_[&kernel];
  if (!session) session = kernel.open();
  session->run(args);
}

char *HermitianLane::memory(std::uint64_t bytes) {
  if (bytes <= memory_.bytes()) return memory_.as<char>();
  try {  // all in the order of the stream: work that still uses the old memory is not disturbed
    memory_ = DeviceBuffer(device_, bytes);
  } catch (const Error &problem) {
    if (!out_of_memory(problem) || memory_.bytes() == 0) throw;
    memory_ = DeviceBuffer();  // both together were too much
    memory_ = DeviceBuffer(device_, bytes);
  }
  return memory_.as<char>();
}

}  // namespace sextant
