// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/lanes.hpp"

#include <cstring>
#include <utility>

namespace sextant {

Lanes::Lanes(World &world) {
  for (std::size_t i = 0; i < world.own(); ++i) {
    Device &device = world.context(i).device();
    lanes_.push_back({&device, device.callers_stream(), device.stream_use(), false});
    Lane &lane = lanes_.back();
    if (!device.has_streams() || lane.stream) continue;
    lane.use = std::make_shared<StreamUse>();
    lane.stream = device.take_stream();
    lane.taken = true;
  }
}

Lanes::~Lanes() {
  // No stream is free while another one may still wait for it.
  for (Lane &lane : lanes_) {
    if (!lane.taken) continue;
    try {
      lane.device->wait(lane.stream);
    } catch (...) {  // after a failure, which is on its way to the caller
    }
  }
  for (Lane &lane : lanes_) {
    if (!lane.taken) continue;
    lane.use->end();
    lane.device->give_stream(lane.stream);
  }
}

Device::StreamScope Lanes::enter(std::size_t own) const {
  return Device::StreamScope(*lanes_[own].device, lanes_[own].stream, lanes_[own].use);
}

void Lanes::wait(std::size_t own) const {
  if (lanes_[own].stream) lanes_[own].device->wait(lanes_[own].stream);
}

void Lanes::finish() const {
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].taken) wait(i);
}

// ---- marks

Mark::Mark(Device &device) : device_(&device) {
  if (!device.has_streams() || !device.ops().event_create) return;
  const sxt_status status = device.ops().event_create(device.handle(), &event_);
  require(status == SXT_OK, status, "could not make an event on device ", device.machine().device);
}

Mark::Mark(Mark &&other) noexcept
    : device_(other.device_), event_(std::exchange(other.event_, nullptr)), stream_(other.stream_) {}

Mark::~Mark() {
  if (event_) device_->ops().event_destroy(device_->handle(), event_);
}

void Mark::set(void *stream) {
  stream_ = stream;
  if (!event_ || !stream) return;
  const sxt_status status = device_->ops().event_record(device_->handle(), event_, stream);
  require(status == SXT_OK, status, "could not mark a stream of device ", device_->machine().device);
}

void Mark::await(Device &device, void *stream) const {
  if (!stream_) return;
  const bool in_common =
      event_ && stream && device.ops().event_wait && !std::strcmp(device.machine().device, device_->machine().device);
  if (!in_common) return device_->wait(stream_);
  if (stream == stream_) return;
  const sxt_status status = device.ops().event_wait(device.handle(), event_, stream);
  require(status == SXT_OK, status, "could not wait for another member's stream");
}

}  // namespace sextant
