// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing, memory, and the statuses of failures.
#include "device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <memory>

#include "sextant/sdk/cuda/exec.hpp"

namespace sextant::device_cuda {
namespace {

using namespace sextant::plugin;

constexpr std::uint64_t pool_keeps = 64;  // an idle pool keeps this fraction (1 / n) of the device's memory

std::atomic<const sxt_host *> host{nullptr};
// The error that ended a device, by ordinal; 0: none. The runtime cannot recover within a process.
std::array<std::atomic<int>, 64> ended_by{};
// The device that failed so first; -1: none has. The driver ends the contexts of all devices with one of them.
std::atomic<std::int32_t> first_ended{-1};
std::atomic<std::uint64_t> devices_opened{0};

// Errors after which every call on the device fails.
bool lasting(cudaError_t problem) {
  switch (problem) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDeviceUninitialized: return true;
    default: return false;
  }
}

// What ended a device, where that was another one; "" where it was its own failure, or there was none.
struct Cause {
  Cause() = default;
  explicit Cause(std::int32_t ordinal) {
    const std::int32_t first = first_ended.load(std::memory_order_relaxed);
    if (first < 0 || first == ordinal) return;
    std::snprintf(sentence, sizeof sentence,
                  "; CUDA device %d reported a failure first, and the failure of one device may end all of them in a "
                  "process: start a process for each device that must survive the others",
                  first);
  }
  char sentence[224] = "";
};

Cause note_end(std::int32_t ordinal, cudaError_t problem) {
  std::int32_t none = -1;
  first_ended.compare_exchange_strong(none, ordinal, std::memory_order_relaxed);
  ended_by[static_cast<std::size_t>(ordinal)].store(problem, std::memory_order_relaxed);
  return Cause(ordinal);
}

sxt_exec teller() {
  sxt_exec exec{};
  exec.host = host.load(std::memory_order_relaxed);
  return exec;
}

}  // namespace

void set_host(const sxt_host *given) { host.store(given, std::memory_order_relaxed); }
const sxt_host *the_host() { return host.load(std::memory_order_relaxed); }

sxt_status refusal(sxt_status status, const char *format, ...) {
  char text[768];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const sxt_exec exec = teller();
  return error(&exec, status, "%s", text);
}

sxt_status outcome(std::int32_t ordinal, cudaError_t problem, const char *step) {
  if (problem == cudaSuccess) return SXT_OK;
  cudaGetLastError();
  const Cause cause = lasting(problem) ? note_end(ordinal, problem) : Cause{};
  return refusal(cuda::status_of(problem), "could not %s on CUDA device %d: %s (%s)%s", step, ordinal,
                 cudaGetErrorString(problem), cudaGetErrorName(problem), cause.sentence);
}

sxt_status check_alive(std::int32_t ordinal) {
  const auto problem =
      static_cast<cudaError_t>(ended_by[static_cast<std::size_t>(ordinal)].load(std::memory_order_relaxed));
  if (problem == cudaSuccess) return SXT_OK;
  return refusal(SXT_E_DEVICE, "CUDA device %d failed earlier and cannot be used again in this process: %s (%s)%s",
                 ordinal, cudaGetErrorString(problem), cudaGetErrorName(problem), Cause(ordinal).sentence);
}

bool capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  cudaGetLastError();
  return false;
}

// ---- pinned memory

bool PinnedMemory::Blocks::in_slab(const void *memory) const {
  const char *at = static_cast<const char *>(memory);
  return std::any_of(slabs.begin(), slabs.end(),
                     [&](const char *slab) { return at >= slab && at < slab + slab_bytes; });
}

cudaError_t PinnedMemory::get(std::uint64_t bytes, void **memory) {
  const auto of = std::find_if(std::begin(sizes_), std::end(sizes_), [&](const Blocks &b) { return bytes <= b.bytes; });
  if (of == std::end(sizes_)) return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
  const std::lock_guard lock(lock_);
  if (of->idle.empty()) {
    of->slabs.reserve(of->slabs.size() + 1);
    of->idle.reserve(slab_bytes / of->bytes * (of->slabs.size() + 1));  // put must not need memory
    void *slab = nullptr;
    if (const cudaError_t problem = cudaHostAlloc(&slab, slab_bytes, cudaHostAllocPortable)) return problem;
    of->slabs.push_back(static_cast<char *>(slab));
    for (std::uint64_t at = 0; at < slab_bytes; at += of->bytes) of->idle.push_back(of->slabs.back() + at);
  }
  *memory = of->idle.back();
  of->idle.pop_back();
  return cudaSuccess;
}

void PinnedMemory::put(void *memory) {
  {
    const std::lock_guard lock(lock_);
    for (Blocks &of : sizes_)
      if (of.in_slab(memory)) return of.idle.push_back(memory);
  }
  cudaFreeHost(memory);
}

void PinnedMemory::close() {
  for (Blocks &of : sizes_) {
    for (char *slab : of.slabs) cudaFreeHost(slab);
    of.slabs.clear();
    of.idle.clear();
  }
}

// ---- a device

sxt_status Device::open(std::int32_t ordinal, Device **out) {
  if (const sxt_status dead = check_alive(ordinal)) return dead;
  std::string problem;
  const Driver *calls = driver(problem);
  if (!calls) return refusal(SXT_E_DEVICE, "%s", problem.c_str());
  const OutsideCaptures outside(*calls);
  std::unique_ptr<Device> device(new Device(ordinal, *calls));
  if (const sxt_status status = device->start()) return status;
  ++devices_opened;
  *out = device.release();
  return SXT_OK;
}

sxt_status Device::start() {
  if (calls_.device_get(&device_, ordinal_) != 0)
    return refusal(SXT_E_DEVICE, "the driver knows no CUDA device %d", ordinal_);
  if (const int status = calls_.context_retain(&context_, device_)) {
    context_ = nullptr;
    const bool memory = status == cudaErrorMemoryAllocation;  // driver and runtime share this number
    return refusal(memory ? SXT_E_MEMORY : SXT_E_DEVICE,
                   "CUDA device %d could not be opened: the driver answered %d%s%s", ordinal_, status,
                   memory ? " (its memory is full)" : "", Cause(ordinal_).sentence);
  }
  return call([&] {
    int pools = 0;
    cudaError_t problem = cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, ordinal_);
    if (problem != cudaSuccess) return outcome(ordinal_, problem, "ask for memory pools");
    if (!pools) return refusal(SXT_E_DEVICE, "CUDA device %d has no stream-ordered memory pools", ordinal_);
    if (const sxt_status status = make_pool()) return status;
    return outcome(ordinal_, cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
  });
}

// A separate pool: allocations of the application through the device's default pool are not affected.
sxt_status Device::make_pool() {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypeNone;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = ordinal_;
  if (const cudaError_t problem = cudaMemPoolCreate(&pool_, &wanted)) {
    pool_ = nullptr;
    return outcome(ordinal_, problem, "create a memory pool");
  }
  std::size_t bytes = 0;
  if (calls_.device_memory(&bytes, device_) != 0) bytes = 0;
  return keep_at_most(bytes / pool_keeps);
}

sxt_status Device::keep_at_most(std::uint64_t bytes) {
  return outcome(ordinal_, cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &bytes),
                 "set up a memory pool");
}

Device::~Device() {
  if (!context_) return;
  const OutsideCaptures outside(calls_);
  clean([&] {
    if (stream_) cudaStreamSynchronize(stream_), cudaStreamDestroy(stream_);
    pinned_.close();
    if (pool_) cudaMemPoolDestroy(pool_);
  });
  calls_.context_release(device_);
}

// The missing memory may be memory whose release other streams have not reached: after a failure the pool frees what it
// holds and the request is repeated once.
cudaError_t Device::from_pool(void *stream, std::uint64_t bytes, void **memory) const {
  cudaError_t problem = cudaMallocFromPoolAsync(memory, bytes, pool_, stream_or_own(stream));
  if (problem == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    cudaStreamSynchronize(stream_);
    cudaMemPoolTrimTo(pool_, 0);
    problem = cudaMallocFromPoolAsync(memory, bytes, pool_, stream_or_own(stream));
  }
  // Without a stream the memory must be usable on any: the device's own stream is waited for.
  if (problem != cudaSuccess || stream) return problem;
  problem = cudaStreamSynchronize(stream_);
  if (problem != cudaSuccess) cudaFreeAsync(*memory, stream_);
  return problem;
}

sxt_status Device::alloc(void *stream, sxt_space space, std::uint64_t bytes, void **memory) {
  *memory = nullptr;
  bytes = std::max<std::uint64_t>(bytes, 1);
  return call([&]() -> sxt_status {
    if (stream && capturing(static_cast<cudaStream_t>(stream)))
      return refusal(SXT_E_STATE, "memory was asked for on a stream that is being captured");
    cudaError_t problem = cudaSuccess;
    switch (space) {
      case SXT_SPACE_DEVICE: problem = from_pool(stream, bytes, memory); break;
      case SXT_SPACE_MANAGED: problem = cudaMallocManaged(memory, bytes, cudaMemAttachGlobal); break;
      default: problem = pinned_.get(bytes, memory); break;  // host memory of a device is pinned
    }
    if (problem == cudaSuccess) return SXT_OK;
    *memory = nullptr;
    char step[64];
    std::snprintf(step, sizeof step, "allocate %llu bytes", static_cast<unsigned long long>(bytes));
    return outcome(ordinal_, problem, step);
  });
}

void Device::free(void *stream, sxt_space space, void *memory) {
  if (!memory) return;
  clean([&] {
    const auto given = static_cast<cudaStream_t>(stream);
    const bool captured = stream && capturing(given);
    if (space == SXT_SPACE_DEVICE) {
      // A captured stream would capture the release instead of doing it.
      cudaFreeAsync(memory, captured ? stream_ : stream_or_own(stream));
      return;
    }
    if (stream && !captured) cudaStreamSynchronize(given);  // these spaces have no order of streams
    if (space == SXT_SPACE_MANAGED)
      cudaFree(memory);
    else
      pinned_.put(memory);
  });
}

// Memory of a pool is closed to other devices, and copies of closed memory pass through the host. Access is requested
// once a pair, and again when devices were opened since: a destroyed context loses its access. Where devices do not
// reach each other, or the pool stays closed, copies go through the host.
void Device::open_pool_to(const Device &reader) {
  const std::uint64_t bit = std::uint64_t{1} << reader.ordinal_, now = devices_opened;
  const std::lock_guard lock(readers_lock_);
  if (readers_of_ != now) readers_ = 0, readers_of_ = now;
  if (readers_ & bit) return;
  readers_ |= bit;
  int reachable = 0;
  if (cudaDeviceCanAccessPeer(&reachable, reader.ordinal_, ordinal_) == cudaSuccess && reachable) {
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = reader.ordinal_;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemPoolSetAccess(pool_, &access, 1);
  }
  cudaGetLastError();  // a permanent failure here is found by the copy, too
}

sxt_status Device::copy_peer(void *stream, void *to, Device &from_device, const void *from, std::uint64_t bytes) {
  return call([&] {
    const cudaStream_t order = stream_or_own(stream);
    if (from_device.ordinal_ != ordinal_ && !capturing(order)) from_device.open_pool_to(*this);
    cudaError_t problem = cudaMemcpyPeerAsync(to, ordinal_, from, from_device.ordinal_, bytes, order);
    if (problem == cudaSuccess && !stream) problem = cudaStreamSynchronize(order);
    return outcome(ordinal_, problem, "copy from another device");
  });
}

sxt_status Device::check_stream(void *stream) {
  // The two names for a device's default streams have no context.
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) return check_alive(ordinal_);
  return call([&]() -> sxt_status {
    Context context = nullptr;
    if (const int status = calls_.stream_context(static_cast<DriverStream>(stream), &context))
      return refusal(SXT_E_ARGUMENT, "the stream is none that the driver knows (it answered %d)", status);
    if (context == context_) return SXT_OK;
    return refusal(SXT_E_ARGUMENT, "the stream belongs to another device or context than CUDA device %d", ordinal_);
  });
}

sxt_status Device::enter() const {
  OutsideCaptures::enter(calls_);
  const int status = calls_.context_push(context_);
  if (status == 0) return SXT_OK;
  OutsideCaptures::leave();
  return not_current(status);
}

// Errors that last have one number in the driver and in the runtime.
sxt_status Device::not_current(int status) const {
  const auto problem = static_cast<cudaError_t>(status);
  const Cause cause = lasting(problem) ? note_end(ordinal_, problem) : Cause(ordinal_);
  return refusal(SXT_E_DEVICE, "CUDA device %d could not be made current: the driver answered %d%s", ordinal_, status,
                 cause.sentence);
}

void Device::leave() const {
  Context ours = nullptr;
  calls_.context_pop(&ours);
  OutsideCaptures::leave();
}

}  // namespace sextant::device_cuda
