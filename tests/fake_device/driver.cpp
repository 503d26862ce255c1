// SPDX-License-Identifier: BSD-3-Clause
// The fake libcuda.so.1: contexts, the current one of each thread, and the ledger of the other fakes.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fake.h"
#include "order.h"

namespace {

constexpr int first_lasting = 700, last_lasting = 719;
constexpr std::uint64_t device_bytes = std::uint64_t{1} << 30, alignment = 512;

struct Piece {
  std::uint64_t bytes;
  std::int32_t type, device;
  void *pool = nullptr;  // that it comes from
};
struct FakeContext {
  int device;
};

struct Ledger {
  std::recursive_mutex lock;
  std::map<std::string, std::int64_t> counts;
  std::map<const char *, Piece> memory;
  std::int64_t until_failure = 0, failures = 0, memory_left = -1;
  std::int32_t error = 0, lasting = 0, joined = 1;
  std::string failed_call;
  std::vector<FakeContext> contexts;
  std::vector<int> users;
  Ledger() {
    const char *wanted = std::getenv("SEXTANT_FAKE_DEVICES");
    const int devices = wanted ? std::atoi(wanted) : 1;
    for (int i = 0; i < devices; ++i) contexts.push_back({i}), users.push_back(0);
    if (const char *plan = std::getenv("SEXTANT_FAKE_FAIL")) {
      char *colon = nullptr;
      until_failure = std::strtoll(plan, &colon, 10);
      error = *colon == ':' ? std::atoi(colon + 1) : FAKE_NO_MEMORY;
    }
  }
};
Ledger &ledger() {
  static Ledger *const the = new Ledger;  // plugins may call until the process ends
  return *the;
}
thread_local std::vector<FakeContext *> current;

std::int32_t counted_call(const char *name, bool release) {
  Ledger &l = ledger();
  const std::lock_guard one(l.lock);
  ++l.counts["calls"];
  if (l.until_failure > 0 && --l.until_failure == 0) {
    ++l.failures;
    l.failed_call = name;
    if (l.error >= first_lasting && l.error <= last_lasting) l.lasting = l.error;
    return l.error;
  }
  return release ? 0 : l.lasting;
}

}  // namespace

extern "C" {

void fake_fail(std::int64_t n, std::int32_t error) {
  const std::lock_guard one(ledger().lock);
  ledger().until_failure = n;
  ledger().error = error;
  ledger().failures = 0;
  ledger().lasting = 0;
}
static std::atomic<std::int32_t> streams_are_busy{0};
void fake_busy(std::int32_t busy) { streams_are_busy = busy; }
std::int32_t fake_is_busy() { return streams_are_busy; }
void fake_limit_memory(std::int64_t bytes) {
  const std::lock_guard one(ledger().lock);
  ledger().memory_left = bytes;
}
void fake_join_devices(std::int32_t joined) {
  const std::lock_guard one(ledger().lock);
  ledger().joined = joined;
}
std::int64_t fake_failures() { return ledger().failures; }
const char *fake_failed_call() { return ledger().failed_call.c_str(); }
std::int64_t fake_count(const char *what) {
  const std::lock_guard one(ledger().lock);
  if (!std::strcmp(what, "current")) return static_cast<std::int64_t>(current.size());
  if (!std::strcmp(what, "allocations")) return static_cast<std::int64_t>(ledger().memory.size());
  return ledger().counts[what];
}

std::int32_t fake_call(const char *name) { return counted_call(name, false); }
std::int32_t fake_release(const char *name) { return counted_call(name, true); }
std::int32_t fake_devices() { return static_cast<std::int32_t>(ledger().contexts.size()); }
std::int32_t fake_current() { return current.empty() || !current.back() ? -1 : current.back()->device; }
std::int32_t fake_joined() {
  const std::lock_guard one(ledger().lock);
  return ledger().joined;
}
std::int32_t fake_make_current(std::int32_t device) {
  if (device < 0 || device >= fake_devices()) return FAKE_INVALID_DEVICE;
  if (current.empty()) current.push_back(nullptr);
  return current.back() = &ledger().contexts[static_cast<std::size_t>(device)], FAKE_OK;
}
void fake_add(const char *what, std::int64_t amount) {
  const std::lock_guard one(ledger().lock);
  ledger().counts[what] += amount;
}

void *fake_allocate(std::int32_t type, std::uint64_t bytes) {
  if (bytes > device_bytes) return nullptr;
  const std::uint64_t size = (bytes + alignment - 1) / alignment * alignment;
  const std::lock_guard one(ledger().lock);
  const bool limited = type == FAKE_DEVICE && ledger().memory_left >= 0;
  if (limited && static_cast<std::int64_t>(size) > ledger().memory_left) return nullptr;
  char *memory = static_cast<char *>(std::aligned_alloc(alignment, size ? size : alignment));
  if (!memory) return nullptr;
  std::memset(memory, 0, size);
  if (limited) ledger().memory_left -= static_cast<std::int64_t>(size);
  ++ledger().counts["requests"];
  ledger().memory[memory] = {size, type, fake_current() < 0 ? 0 : fake_current(), nullptr};
  return memory;
}

std::int32_t fake_free(void *memory) {
  const std::lock_guard one(ledger().lock);
  const auto found = ledger().memory.find(static_cast<char *>(memory));
  if (found == ledger().memory.end()) return FAKE_INVALID_VALUE;
  if (found->second.type == FAKE_DEVICE && ledger().memory_left >= 0)
    ledger().memory_left += static_cast<std::int64_t>(found->second.bytes);
  ledger().memory.erase(found);
  fake_order_forget(memory);
  std::free(memory);
  return FAKE_OK;
}

const void *fake_start_of(const void *memory) {
  const std::lock_guard one(ledger().lock);
  const char *at = static_cast<const char *>(memory);
  auto after = ledger().memory.upper_bound(at);
  if (after == ledger().memory.begin()) return nullptr;
  const auto &[start, piece] = *std::prev(after);
  return at < start + piece.bytes && piece.type == FAKE_DEVICE ? start : nullptr;
}

std::int32_t fake_locate(const void *memory, std::int32_t *device) {
  const std::lock_guard one(ledger().lock);
  const char *at = static_cast<const char *>(memory);
  auto after = ledger().memory.upper_bound(at);
  if (after == ledger().memory.begin()) return FAKE_UNREGISTERED;
  const auto &[start, piece] = *std::prev(after);
  if (at >= start + piece.bytes) return FAKE_UNREGISTERED;
  return *device = piece.device, piece.type;
}

void fake_note_pool(const void *memory, void *pool) {
  const std::lock_guard one(ledger().lock);
  const auto found = ledger().memory.find(static_cast<const char *>(memory));
  if (found != ledger().memory.end()) found->second.pool = pool;
}

// ---- the driver's own functions, as far as they are used here

// The pool of an allocation (17) alone.
int cuPointerGetAttribute(void *data, int attribute, unsigned long long pointer) {
  if (const int error = fake_call("cuPointerGetAttribute")) return error;
  const char *at = reinterpret_cast<const char *>(pointer);
  const std::lock_guard one(ledger().lock);
  auto after = ledger().memory.upper_bound(at);
  if (attribute != 17 || after == ledger().memory.begin()) return FAKE_INVALID_VALUE;
  const auto &[start, piece] = *std::prev(after);
  if (at >= start + piece.bytes) return FAKE_INVALID_VALUE;
  return *static_cast<void **>(data) = piece.pool, FAKE_OK;
}

int cuInit(unsigned) { return fake_devices() > 0 ? fake_call("cuInit") : FAKE_NO_DEVICE; }
int cuDriverGetVersion(int *version) { return *version = 13000, fake_call("cuDriverGetVersion"); }
int cuDeviceGetCount(int *count) { return *count = fake_devices(), fake_call("cuDeviceGetCount"); }
int cuDeviceGet(int *device, int ordinal) {
  if (const int error = fake_call("cuDeviceGet")) return error;
  if (ordinal < 0 || ordinal >= fake_devices()) return FAKE_INVALID_DEVICE;
  return *device = ordinal, FAKE_OK;
}
int cuDeviceGetName(char *name, int length, int) {
  if (const int error = fake_call("cuDeviceGetName")) return error;
  std::strncpy(name, "Fake Device", static_cast<std::size_t>(length));
  return FAKE_OK;
}
int cuDeviceTotalMem_v2(std::size_t *bytes, int) {
  if (const int error = fake_call("cuDeviceTotalMem")) return error;
  return *bytes = device_bytes, FAKE_OK;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (const int error = fake_call("cuDevicePrimaryCtxRetain")) return error;
  const std::lock_guard one(ledger().lock);
  ++ledger().users[static_cast<std::size_t>(device)];
  fake_add("contexts", 1);
  return *context = &ledger().contexts[static_cast<std::size_t>(device)], FAKE_OK;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  const std::lock_guard one(ledger().lock);
  --ledger().users[static_cast<std::size_t>(device)];
  fake_add("contexts", -1);
  return fake_release("cuDevicePrimaryCtxRelease");
}
int cuCtxPushCurrent_v2(void *context) {
  if (const int error = fake_release("cuCtxPushCurrent")) return error;
  return current.push_back(static_cast<FakeContext *>(context)), FAKE_OK;
}
int cuCtxPopCurrent_v2(void **context) {
  if (current.empty()) return 201;
  *context = current.back();
  current.pop_back();
  return fake_release("cuCtxPopCurrent");
}
// The mode of every thread while others capture: in 0, the driver's initial mode, unsafe calls are refused.
static thread_local int capture_mode = 0;
int cuThreadExchangeStreamCaptureMode(int *mode) {
  return std::swap(*mode, capture_mode), FAKE_OK;  // never made to fail, else nothing would be tested
}
std::int32_t fake_capture_mode() { return capture_mode; }
// Streams of the fake runtime begin with their context's device.
int cuStreamGetCtx(void *stream, void **context) {
  if (const int error = fake_call("cuStreamGetCtx")) return error;
  const std::int32_t device = *static_cast<std::int32_t *>(stream);
  if (device < 0 || device >= fake_devices()) return 400;
  return *context = &ledger().contexts[static_cast<std::size_t>(device)], FAKE_OK;
}

}  // extern "C"
