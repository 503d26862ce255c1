// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/lane.hpp"

#include <cstdint>

namespace sextant {

HermitianLane::~HermitianLane() {
  try {
    wait();                  // what the stream still does uses this memory
  } catch (const Error &) {  // a stream or device that has failed: nothing is left to wait for
  }
  {
    const Device::StreamScope scope(device_, stream_);
    sessions_.clear();
    memory_ = DeviceBuffer();
  }
  if (owned_) device_.give_stream(stream_);
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
    if (problem.status() != SXT_E_MEMORY || memory_.bytes() == 0) throw;
    memory_ = DeviceBuffer();  // both together were too much
    memory_ = DeviceBuffer(device_, bytes);
  }
  return memory_.as<char>();
}

}  // namespace sextant
