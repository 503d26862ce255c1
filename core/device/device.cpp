// SPDX-License-Identifier: BSD-3-Clause
// Opening a device, its buffers, and what a failed call is turned into.
#include "core/device/device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/device/host.hpp"
#include "core/threads/pool.hpp"

namespace sextant {
namespace {

constexpr std::uint64_t buffer_alignment = 256;  // what sxt_exec.scratch promises

int threads_of_process() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

// Calls into a device plugin and turns whatever comes out of it into an Error that names the kernel and the step.
template <class F>
void ask(const sxt_kernel &kernel, const char *step, F &&f) {
  const ErrorScope said;
  sxt_status status = SXT_E_INTERNAL;
  try {
    status = f();
  } catch (const std::bad_alloc &) {
    throw;
  } catch (...) {  // forbidden by the plugin's contract, but no reason to end the process
    fail(SXT_E_DEVICE, "device plugin '", kernel.name, "' let an exception out of ", step);
  }
  if (status == SXT_OK) return;
  fail(status == SXT_E_MEMORY ? status : SXT_E_DEVICE, "device '", kernel.device, "' failed to ", step, ": ",
       said.sentence(status_sentence(status)));
}

}  // namespace

Device::Device(const sxt_kernel &kernel, std::int32_t ordinal, std::int32_t threads, const Allocator &host_memory,
               const LogSink &log)
    : ordinal_(ordinal),
      host_threads_(threads > 0 ? threads : threads_of_process()),
      host_memory_(host_memory),
      log_(log) {
  const auto *table = static_cast<const sxt_device_ops *>(kernel.ops);
  require(table != nullptr, SXT_E_DEVICE, "kernel '", kernel.name, "' is no device: it has no operations");
  std::memcpy(&ops_, table, std::min<std::uint64_t>(table->struct_size, sizeof ops_));
  const LogScope messages(log_);

  char reason[512] = "";
  sxt_message why_none{reason, sizeof reason};
  std::int32_t count = 0;
  ask(kernel, "count its devices", [&] { return ops_.count(&count, &why_none); });
  require(count > 0, SXT_E_DEVICE, "there is no device '", kernel.device,
          "': ", reason[0] ? reason : "no reason given");
  require(ordinal >= 0 && ordinal < count, SXT_E_DEVICE, "device '", kernel.device, "' number ", ordinal,
          " was asked for, but there are ", count, ", numbered from 0");

  forks_ = threads::forks();
  machine_.struct_size = sizeof machine_;
  ask(kernel, "describe itself", [&] { return ops_.describe(ordinal, threads, &machine_); });
  machine_.device = kernel.device;
  if (!machine_.name) machine_.name = machine_.device;
  machine_.units = std::max(machine_.units, 1);
  ask(kernel, "open", [&] { return ops_.open(&host(), ordinal, &handle_); });
  try {
    give_stream(take_stream());  // a device that cannot make one is found out now
    add_device(*this);
  } catch (...) {  // the destructor does not run for an object that was never made
    close();
    throw;
  }
}

void Device::predict_for_one_thread() {
  one_thread_ = true;
  if (!on_host()) return;
  lending_ = machine_;
  sxt_machine one{};
  one.struct_size = sizeof one;
  const ErrorScope said;
  const sxt_status status = ops_.describe(ordinal_, 1, &one);
  require(status == SXT_OK, SXT_E_DEVICE, "device '", machine_.device,
          "' failed to describe one of its threads: ", said.sentence(status_sentence(status)));
  one.device = lending_.device;
  if (!one.name) one.name = one.device;
  one.units = 1;
  machine_ = one;
}

bool Device::is_forked() const noexcept { return !on_host() && threads::forks() != forks_; }

void Device::check_process() const {
  require(!is_forked(), SXT_E_STATE, "this context was opened on device '", machine_.device, "' number ", ordinal_,
          " before the process forked, and the device's driver does not work in the child: fork before the first "
          "context on a device, or let the child start a program (exec, posix_spawn)");
}

Device::~Device() {
  remove_device(*this);
  close();
}

void Device::close() noexcept {
  if (is_forked()) return;  // all of it is the parent's
  upload_.release(ops_, handle_);
  for (void *stream : idle_streams_)
    if (ops_.stream_destroy) ops_.stream_destroy(handle_, stream);
  ops_.close(handle_);
}

thread_local Device::StreamScope *Device::scope_ = nullptr;

void *Device::take_stream() {
  check_process();
  if (void *callers = callers_stream(); !has_streams() || callers) return callers;
  const std::lock_guard lock(streams_lock_);
  if (!idle_streams_.empty()) {
    void *stream = idle_streams_.back();
    idle_streams_.pop_back();
    return stream;
  }
  idle_streams_.reserve(++streams_made_);  // giving one back must not need memory
  const ErrorScope said;
  void *stream = nullptr;
  const auto create = ops_.stream_create_in_order ? ops_.stream_create_in_order : ops_.stream_create;
  const sxt_status status = create(handle_, &stream);
  require(status == SXT_OK, status == SXT_E_MEMORY ? status : SXT_E_DEVICE, "device '", machine_.device,
          "' failed to create a stream: ", said.sentence(status_sentence(status)));
  return stream;
}

void Device::give_stream(void *stream) noexcept {
  if (!stream || stream == callers_stream()) return;
  const std::lock_guard lock(streams_lock_);
  idle_streams_.push_back(stream);
}

void Device::check_stream(void *stream) const {
  if (!stream || !ops_.stream_check) return;
  const ErrorScope said;
  const sxt_status status = ops_.stream_check(handle_, stream);
  require(status == SXT_OK, status, "the stream cannot be used on device '", machine_.device, "' number ", ordinal_,
          ": ", said.sentence(status_sentence(status)));
}

void Device::set_callers_stream(void *stream) {
  require(has_streams() || !stream, SXT_E_NOT_SUPPORTED, "device '", machine_.device, "' has no streams");
  if (stream == callers_stream_) return;
  check_stream(stream);
  std::shared_ptr<StreamUse> use = stream ? std::make_shared<StreamUse>() : nullptr;
  const auto change = [&] {
    callers_stream_ = stream;
    callers_use_.swap(use);
    if (use) use->end();
  };
  try {
    if (callers_stream_) wait(callers_stream_);  // what comes next, elsewhere, reads what was computed there
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_STATE) change();
    throw;
  }
  change();
}

void Device::wait(void *stream) const {
  if (!stream || !ops_.stream_synchronize) return;
  const ErrorScope said;
  const sxt_status status = ops_.stream_synchronize(handle_, stream);
  require(status == SXT_OK, status == SXT_E_STATE ? status : SXT_E_DEVICE, "work failed on device '", machine_.device,
          "': ", said.sentence(status_sentence(status)));
}

void Device::begin_setup() const {
  void *const stream = callers_stream();
  if (!stream || !ops_.stream_synchronize) return;
  const ErrorScope said;
  const sxt_status status = ops_.stream_synchronize(handle_, stream);
  require(status != SXT_E_STATE, SXT_E_STATE, "the stream is being captured, and this call has something to set up, ",
          "which cannot be captured: make the same call once before the capture");
  require(status == SXT_OK, SXT_E_DEVICE, "earlier work failed on device '", machine_.device,
          "': ", said.sentence(status_sentence(status)));
}

void Device::copy(void *to, const void *from, std::uint64_t bytes) {
  if (bytes == 0) return;
  check_process();
  begin_setup();  // it waits in the end: a captured stream would keep the copy
  struct Lease {
    explicit Lease(Device &of) : device(of), stream(of.take_stream()) {}
    ~Lease() { device.give_stream(stream); }
    Device &device;
    void *stream;
  } const lease(*this);
  const ErrorScope said;
  const sxt_status status = enqueue_copy(lease.stream, to, from, bytes);
  require(status == SXT_OK, SXT_E_DEVICE, "could not copy ", bytes, " bytes on device '", machine_.device,
          "': ", said.sentence(status_sentence(status)));
  wait(lease.stream);
}

sxt_status Device::enqueue_copy(void *stream, void *to, const void *from, std::uint64_t bytes) noexcept {
  if (upload_.bring(ops_, handle_, host_threads_, stream, to, from, bytes)) return SXT_OK;
  return ops_.copy(handle_, stream, to, from, bytes);
}

Device::Current::Current(const Device &device) noexcept
    : device_(device),
      entered_(device.ops_.enter && device.ops_.leave && device.ops_.enter(device.handle_) == SXT_OK) {}
Device::Current::~Current() {
  if (entered_) device_.ops_.leave(device_.handle_);
}

void Device::check_reachable(const void *memory, sxt_space stated, const char *name) const {
  if (!memory || !ops_.locate || stated == SXT_SPACE_HOST) return;
  const ErrorScope said;
  sxt_space space = SXT_SPACE_HOST;
  std::int32_t ordinal = -1;
  const sxt_status status = ops_.locate(handle_, memory, &space, &ordinal);
  require(status == SXT_OK, SXT_E_DEVICE, "could not find out where ", name,
          " lies: ", said.sentence(status_sentence(status)));
  require(space != SXT_SPACE_HOST, SXT_E_ARGUMENT, name, " is said to be ",
          stated == SXT_SPACE_DEVICE   ? "device"
          : stated == SXT_SPACE_PINNED ? "pinned"
                                       : "managed",
          " memory, but it is ordinary host memory, which device '", machine_.device, "' does not reach");
  require(space != SXT_SPACE_DEVICE || ordinal == ordinal_, SXT_E_ARGUMENT, name, " lies on device ", ordinal,
          ", but the context is on device '", machine_.device, "' number ", ordinal_);
}

DeviceBuffer::DeviceBuffer(Device &device, std::uint64_t bytes, sxt_space space)
    : device_(&device), bytes_(bytes), space_(space) {
  if (bytes == 0) return;
  if (space == SXT_SPACE_HOST || device.on_host()) {
    data_ = device.host_memory().get(bytes, buffer_alignment);
    return;
  }
  const ErrorScope said;
  // In the order of the caller's stream where there is one: no call then waits for anything.
  const sxt_status status =
      device.ops().alloc(device.handle(), device.callers_stream(), space, bytes, buffer_alignment, &data_);
  // A lost device is no shortage, nor is a capture: nothing smaller would serve.
  const bool no_shortage = status == SXT_E_DEVICE || status == SXT_E_STATE;
  require(status == SXT_OK && data_, no_shortage ? status : SXT_E_MEMORY, "could not allocate ", bytes,
          " bytes on device '", device.machine().device,
          "': ", said.sentence(status_sentence(status == SXT_OK ? SXT_E_MEMORY : status)));
}

DeviceBuffer::~DeviceBuffer() {
  if (!data_ || device_->is_forked()) return;
  if (space_ == SXT_SPACE_HOST || device_->on_host())
    device_->host_memory().put(data_);
  else
    device_->ops().free(device_->handle(), device_->callers_stream(), space_, data_);
}

void DeviceBuffer::swap(DeviceBuffer &other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(space_, other.space_);
}

Call::Call(Device &on, Waiting waiting, bool watched)
    : device(&on), current(on), stream(on.take_stream()), waits(waiting == always || !on.stream_use()) {
  if (watched) arithmetic_.emplace();
  try {
    if (waiting == always) on.begin_setup();
  } catch (...) {  // the destructor does not run for an object that was never made
    on.give_stream(stream);
    throw;
  }
  outer_ = innermost_;
  if (outer_) outer_->inner_ = this;
  innermost_ = this;
}

// A call that ends early would leave its stream to others, and memory to be freed that its work still uses.
Call::~Call() {
  if (outer_) outer_->inner_ = inner_;
  (inner_ ? inner_->outer_ : innermost_) = outer_;
  if (waits && !finished_ && stream && device->ops().stream_synchronize) {
    const ErrorScope unsaid;
    device->ops().stream_synchronize(device->handle(), stream);
  }
  device->give_stream(stream);
}

thread_local Call *Call::innermost_ = nullptr;

const Call *Call::current_on(const Device &device) noexcept {
  for (const Call *call = innermost_; call; call = call->outer_)
    if (call->device == &device) return call;
  return nullptr;
}

// What leaves the library. Kernels may decline what they are asked to build, not to run.
static sxt_status told(sxt_status status, const char *step) {
  const bool declines = status == SXT_NOT_APPLICABLE && std::string_view(step) != "run";
  return is_defined(status) && (status <= 0 || declines) ? status : SXT_E_INTERNAL;
}

std::string Call::failure(sxt_status status, const char *kernel, const char *step) const {
  const std::string said = sentence.empty() ? status_sentence(status) : sentence;
  const std::string answer = is_defined(status) ? status_name(status) : text(status);
  return text("kernel '", kernel, "' failed to ", step, ": ", said,
              told(status, step) == status ? "" : text(" (it answered ", answer, ")"));
}

void Call::check(sxt_status status, const char *kernel, const char *step) const {
  if (status != SXT_OK) fail(told(status, step), failure(status, kernel, step));
}

// A kernel that leaves another arithmetic behind must not change what the caller computes next.
void Call::keep_arithmetic(const char *kernel, const char *step) const {
  if (arithmetic_ && arithmetic_->restore())
    device->log()(SXT_LOG_WARNING, text("kernel '", kernel,
                                        "' left other floating-point settings behind when it was "
                                        "asked to ",
                                        step, "; they were put back"));
}

void Call::finish(sxt_status status, const char *kernel, const char *step) const {
  finished_ = true;
  keep_arithmetic(kernel, step);
  if (!waits) return check(status, kernel, step);
  std::string problem;
  try {
    device->wait(stream);  // after a failure, too: what was enqueued before it still uses the caller's memory
  } catch (const Error &failed) {
    problem = failed.what();
  }
  // A lost device has the better sentence: it says that nothing will work any more.
  if (status < 0 && !problem.empty()) fail(told(status, step), failure(status, kernel, step), "; ", problem);
  check(status, kernel, step);
  require(problem.empty(), SXT_E_DEVICE, "kernel '", kernel, "' was asked to ", step, ", then ", problem);
}

CaptureStream::CaptureStream(const Device &device) : device_(device) {
  const ErrorScope said;
  const sxt_status status = device.ops().stream_create(device.handle(), &stream_);
  require(status == SXT_OK, status == SXT_E_MEMORY ? status : SXT_E_DEVICE, "device '", device.machine().device,
          "' failed to create a stream for a capture: ", said.sentence(status_sentence(status)));
}

CaptureStream::~CaptureStream() { device_.ops().stream_destroy(device_.handle(), stream_); }

sxt_exec make_exec(Call &call) {
  sxt_exec exec{};
  exec.host = &host();
  exec.call = &call;
  exec.device = call.device->handle();
  exec.stream = call.stream;
  exec.threads = call.device->host_threads();
  set_current_device(*call.device);
  return exec;
}

}  // namespace sextant
