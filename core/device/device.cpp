// SPDX-License-Identifier: BSD-3-Clause
// Opening a device, its buffers, and what a failed call is turned into.
#include "core/device/device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/registry/host.hpp"

namespace sextant {
namespace {

constexpr std::uint64_t buffer_alignment = 256;  // what sxt_exec.scratch promises

// Calls into a device plugin and turns whatever comes out of it into an Error that names the kernel and the step.
template <class F>
void ask(const registry::Kernel &kernel, const char *step, F &&f) {
  const registry::ErrorScope said;
  sxt_status status = SXT_E_INTERNAL;
  try {
    status = f();
  } catch (...) {  // forbidden by the plugin's contract, but no reason to end the process
    fail(SXT_E_DEVICE, "device plugin '", kernel.name(), "' let an exception out of ", step);
  }
  if (status == SXT_OK) return;
  fail(status == SXT_E_MEMORY ? status : SXT_E_DEVICE, "device '", kernel.table.device, "' failed to ", step, ": ",
       said.sentence(status_sentence(status)));
}

}  // namespace

Device::Device(const registry::Kernel &kernel, std::int32_t ordinal, std::int32_t threads, const Allocator &host_memory,
               const LogSink &log)
    : host_memory_(host_memory), log_(log) {
  const auto *table = static_cast<const sxt_device_ops *>(kernel.table.ops);
  require(table != nullptr, SXT_E_DEVICE, "kernel '", kernel.name(), "' is no device: it has no operations");
  std::memcpy(&ops_, table, std::min<std::uint64_t>(table->struct_size, sizeof ops_));
  const registry::LogScope messages(log_);

  char reason[512] = "";
  sxt_message why_none{reason, sizeof reason};
  std::int32_t count = 0;
  ask(kernel, "count its devices", [&] { return ops_.count(&count, &why_none); });
  require(count > 0, SXT_E_DEVICE, "there is no device '", kernel.table.device,
          "': ", reason[0] ? reason : "no reason given");
  require(ordinal >= 0 && ordinal < count, SXT_E_DEVICE, "device '", kernel.table.device, "' number ", ordinal,
          " was asked for, but there are ", count, ", numbered from 0");

  machine_.struct_size = sizeof machine_;
  ask(kernel, "describe itself", [&] { return ops_.describe(ordinal, threads, &machine_); });
  machine_.device = kernel.table.device;
  if (!machine_.name) machine_.name = machine_.device;
  machine_.units = std::max(machine_.units, 1);
  ask(kernel, "open", [&] { return ops_.open(&registry::host(), ordinal, &handle_); });
  try {
    if (ops_.stream_create) ask(kernel, "create a stream", [&] { return ops_.stream_create(handle_, &stream_); });
    registry::add_device(*this);
  } catch (...) {  // the destructor does not run for an object that was never made
    close();
    throw;
  }
}

Device::~Device() {
  registry::remove_device(*this);
  close();
}

void Device::close() noexcept {
  if (stream_ && ops_.stream_destroy) ops_.stream_destroy(handle_, stream_);
  ops_.close(handle_);
}

void Device::wait() const {
  if (!stream_ || !ops_.stream_synchronize) return;
  const registry::ErrorScope said;
  const sxt_status status = ops_.stream_synchronize(handle_, stream_);
  require(status == SXT_OK, SXT_E_DEVICE, "work failed on device '", machine_.device,
          "': ", said.sentence(status_sentence(status)));
}

void Device::copy(void *to, const void *from, std::uint64_t bytes) const {
  if (bytes == 0) return;
  const registry::ErrorScope said;
  const sxt_status status = ops_.copy(handle_, stream_, to, from, bytes);
  require(status == SXT_OK, SXT_E_DEVICE, "could not copy ", bytes, " bytes on device '", machine_.device,
          "': ", said.sentence(status_sentence(status)));
  wait();
}

DeviceBuffer::DeviceBuffer(Device &device, std::uint64_t bytes, sxt_space space)
    : device_(&device), bytes_(bytes), space_(space) {
  if (bytes == 0) return;
  if (space == SXT_SPACE_HOST || device.on_host()) {
    data_ = device.host_memory().get(bytes, buffer_alignment);
    return;
  }
  const registry::ErrorScope said;
  const sxt_status status = device.ops().alloc(device.handle(), nullptr, space, bytes, buffer_alignment, &data_);
  require(status == SXT_OK && data_, SXT_E_MEMORY, "could not allocate ", bytes, " bytes on device '",
          device.machine().device, "': ", said.sentence(status_sentence(status == SXT_OK ? SXT_E_MEMORY : status)));
}

DeviceBuffer::~DeviceBuffer() {
  if (!data_) return;
  if (space_ == SXT_SPACE_HOST || device_->on_host())
    device_->host_memory().put(data_);
  else
    device_->ops().free(device_->handle(), nullptr, space_, data_);
}

void DeviceBuffer::swap(DeviceBuffer &other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(space_, other.space_);
}

void Call::check(sxt_status status, const char *kernel, const char *step) const {
  if (status == SXT_OK) return;
  fail(status, "kernel '", kernel, "' failed to ", step, ": ",
       sentence.empty() ? status_sentence(status) : sentence.c_str());
}

void Call::finish(sxt_status status, const char *kernel, const char *step) const {
  std::string problem;
  try {
    device->wait();  // after a failure, too: what was enqueued before it still uses the caller's memory
  } catch (const Error &failed) {
    problem = failed.what();
  }
  check(status, kernel, step);
  require(problem.empty(), SXT_E_DEVICE, "kernel '", kernel, "' was asked to ", step, ", then ", problem);
}

sxt_exec make_exec(Call &call) {
  sxt_exec exec{};
  exec.host = &registry::host();
  exec.call = &call;
  exec.device = call.device->handle();
  exec.stream = call.device->stream();
  exec.threads = call.device->on_host() ? call.device->machine().units : 1;
  registry::set_current_device(*call.device);
  return exec;
}

}  // namespace sextant
