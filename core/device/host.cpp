// SPDX-License-Identifier: BSD-3-Clause
// A call reaches its context through sxt_exec.call; memory is remembered by address, because
// what frees it (a release, a destructor) need not have the call that allocated it.
#include "core/device/host.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "core/device/device.hpp"
#include "core/threads/pool.hpp"
#include "sextant/plugin/team.h"

namespace sextant {
namespace {

// A piece of memory in a plugin's hands. Host memory keeps its allocator, so that it can outlive the device.
struct Lent {
  Device *device;
  sxt_space space;
  bool on_host;
  Allocator allocator;
};

// Everything the table needs to know of the process. Never destroyed: plugins may call until the process ends.
struct Ledger {
  std::mutex memory_lock;
  std::unordered_map<void *, Lent> memory;
  std::mutex sentence_lock;  // several threads of one call may fail at once
  std::shared_mutex device_lock;
  std::condition_variable_any told;  // of device_lock: a message has been delivered
  std::vector<Device *> devices;
  std::multiset<const Device *> telling;  // whose log is being written to
};
Ledger &ledger() {
  static Ledger *const the = new Ledger;
  return *the;
}

thread_local ErrorScope *error_scope = nullptr;
thread_local LogScope *log_scope = nullptr;
thread_local Device *current_device = nullptr;  // compared with those alive before it is used

Call *call_of(const sxt_exec *exec) { return exec ? static_cast<Call *>(exec->call) : nullptr; }

// While it lives the device's log may be written to: the device does not close. No lock is held meanwhile, since the
// caller's callback may call the library, which may open and close other devices.
class Telling {
 public:
  explicit Telling(Device *device) : device_(device), outer_(innermost_) {
    const std::unique_lock lock(ledger().device_lock);
    const auto &all = ledger().devices;
    alive_ = std::find(all.begin(), all.end(), device) != all.end();
    if (alive_) ledger().telling.insert(device);
    innermost_ = this;
  }
  ~Telling() {
    innermost_ = outer_;
    if (!alive_) return;
    const std::unique_lock lock(ledger().device_lock);
    if (const auto own = ledger().telling.find(device_); own != ledger().telling.end()) ledger().telling.erase(own);
    ledger().told.notify_all();
  }
  Telling(const Telling &) = delete;
  Telling &operator=(const Telling &) = delete;
  bool alive() const noexcept { return alive_; }
  // How many of this thread: a callback that closes its own device would wait for itself.
  static std::size_t of_this_thread(const Device *device) noexcept {
    std::size_t count = 0;
    for (const Telling *each = innermost_; each; each = each->outer_) count += each->alive_ && each->device_ == device;
    return count;
  }

 private:
  static thread_local const Telling *innermost_;
  Device *const device_;
  const Telling *const outer_;
  bool alive_ = false;
};
thread_local const Telling *Telling::innermost_ = nullptr;

// Whose log a message without a call is for: the device that the thread works on, else all.
std::vector<Device *> meant() {
  const std::shared_lock lock(ledger().device_lock);
  const auto &alive = ledger().devices;
  if (std::find(alive.begin(), alive.end(), current_device) != alive.end()) return {current_device};
  return alive;
}

// The device an exec means: its call's, or the living one with that handle. NULL: none, as while a plugin loads.
Device *device_of(const sxt_exec *exec) {
  if (const Call *call = call_of(exec)) return call->device;
  if (!exec || !exec->device) return nullptr;
  const std::shared_lock lock(ledger().device_lock);
  for (Device *device : ledger().devices)
    if (device->handle() == exec->device) return device;
  return nullptr;
}

}  // namespace

// The functions of the table; a struct, so that the scopes can befriend them.
struct HostCalls {
  // What a device plugin says while it serves a kernel becomes the kernel's sentence, until the kernel says better.
  class Saying {
   public:
    explicit Saying(const sxt_exec *exec) noexcept : call_(call_of(exec)) {}
    ~Saying() {
      if (!call_ || scope_.sentence_.empty()) return;
      const std::lock_guard lock(ledger().sentence_lock);
      call_->sentence.swap(scope_.sentence_);
    }

   private:
    Call *call_;
    ErrorScope scope_;
  };

  static void log(const sxt_host *, sxt_log_level level, const char *plugin, const char *utf8) noexcept try {
    const std::string message = text("plugin ", plugin ? plugin : "(unnamed)", ": ", utf8 ? utf8 : "");
    if (log_scope) return log_scope->sink_(level, message);
    for (Device *device : meant()) {
      const Telling telling(device);
      if (telling.alive()) device->log()(level, message);
    }
  } catch (...) {  // a message that cannot be delivered is not worth a failure
  }

  static void set_error(const sxt_host *, const sxt_exec *exec, const char *utf8) noexcept try {
    const std::lock_guard lock(ledger().sentence_lock);
    if (Call *call = call_of(exec))
      call->sentence = utf8 ? utf8 : "";
    else if (error_scope)
      error_scope->sentence_ = utf8 ? utf8 : "";
  } catch (...) {  // out of memory: the status still tells
  }

  static void *alloc(const sxt_host *, const sxt_exec *exec, sxt_space space, std::uint64_t bytes,
                     std::uint64_t alignment) noexcept try {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
    alignment = std::max<std::uint64_t>(alignment, sizeof(void *));
    bytes = std::max<std::uint64_t>(bytes, 1);  // NULL always means that there is none left
    Device *device = device_of(exec);
    Lent lent{device, space, space == SXT_SPACE_HOST || !device || device->on_host(), {}};
    if (device) lent.allocator = device->host_memory();
    void *memory = nullptr;
    const Saying saying(exec);
    if (lent.on_host)
      memory = lent.allocator.get(bytes, alignment);
    else if (device->ops().alloc(device->handle(), exec->stream, space, bytes, alignment, &memory) != SXT_OK)
      return nullptr;
    if (!memory) return nullptr;
    try {
      note(exec, lent, memory, bytes);
    } catch (...) {  // what is not recorded could never be given back
      forget(memory);
      give_back(exec, lent, memory);
      return nullptr;
    }
    return memory;
  } catch (...) {
    return nullptr;
  }

  static void note(const sxt_exec *exec, const Lent &lent, void *memory, std::uint64_t bytes) {
    const std::lock_guard lock(ledger().memory_lock);
    ledger().memory.insert_or_assign(memory, lent);
    Call *const call = call_of(exec);
    if (!call) return;
    ++call->allocations;
    if (call->device_pieces && lent.space == SXT_SPACE_DEVICE) call->device_pieces->push_back({memory, bytes});
  }

  // What was known of it; nothing when the host did not lend it.
  static std::optional<Lent> forget(void *memory) noexcept {
    const std::lock_guard lock(ledger().memory_lock);
    const auto found = ledger().memory.find(memory);
    if (found == ledger().memory.end()) return std::nullopt;
    const Lent lent = found->second;
    ledger().memory.erase(found);
    return lent;
  }

  static void give_back(const sxt_exec *exec, const Lent &lent, void *memory) noexcept {
    if (lent.on_host) return lent.allocator.put(memory);
    // Later than anything that still uses it: work of the call under way, where a kernel gives up what it has begun to
    // build, or work on a caller's stream.
    const Call *const call = Call::current_on(*lent.device);
    void *stream = exec && exec->stream ? exec->stream : call ? call->stream : lent.device->callers_stream();
    lent.device->ops().free(lent.device->handle(), stream, lent.space, memory);
  }

  static void free(const sxt_host *host, const sxt_exec *exec, sxt_space, void *memory) noexcept {
    if (!memory) return;
    const std::optional<Lent> lent = forget(memory);
    if (!lent)  // without the lock: a log may allocate
      return log(host, SXT_LOG_MISBEHAVING, nullptr, "freed memory that the host did not lend, or freed it twice");
    give_back(exec, *lent, memory);
  }

  static sxt_status copy(const sxt_host *, const sxt_exec *exec, void *to, const void *from,
                         std::uint64_t bytes) noexcept try {
    if (bytes == 0) return SXT_OK;
    if (!to || !from) return SXT_E_ARGUMENT;
    Device *device = device_of(exec);
    const Saying saying(exec);
    if (device && !device->on_host()) return device->enqueue_copy(exec->stream, to, from, bytes);
    std::memmove(to, from, bytes);
    return SXT_OK;
  } catch (...) {
    return SXT_E_INTERNAL;
  }

  static sxt_status synchronize(const sxt_host *, const sxt_exec *exec) noexcept try {
    Device *device = device_of(exec);
    const Saying saying(exec);
    if (!device || !device->ops().stream_synchronize) return SXT_OK;  // work is done when a call returns
    return device->ops().stream_synchronize(device->handle(), exec->stream);
  } catch (...) {
    return SXT_E_INTERNAL;
  }

  static const sxt_device_ops *ops_of(const sxt_host *, const sxt_exec *exec) noexcept {
    const Device *device = device_of(exec);
    return device ? &device->ops() : nullptr;
  }
  static const sxt_machine *machine_of(const sxt_host *, const sxt_exec *exec) noexcept {
    const Device *device = device_of(exec);
    return device ? &device->machine() : nullptr;
  }
  static void run_team(const sxt_host *, std::int32_t parts, std::int32_t threads, void (*work)(void *, std::int32_t),
                       void *arg) noexcept {
    sextant::threads::run(parts, threads, work, arg);
  }
  static void meet_team(const sxt_host *, std::int32_t threads, void (*work)(void *, std::int32_t, std::int32_t),
                        void *arg) noexcept {
    sextant::threads::meet(threads, work, arg);
  }
  static const void *get_service(const sxt_host *, const char *id) noexcept {
    static const sxt_devices_service devices = {sizeof(sxt_devices_service), ops_of, machine_of};
    static const sxt_team_service team = {sizeof(sxt_team_service), run_team, meet_team};
    if (id && !std::strcmp(id, SXT_SERVICE_TEAM)) return &team;
    return id && !std::strcmp(id, SXT_SERVICE_DEVICES) ? &devices : nullptr;
  }
};

const sxt_host &host() {
  static const sxt_host table = {sizeof(sxt_host), SXT_PLUGIN_ABI_MAJOR,   SXT_PLUGIN_ABI_MINOR,  nullptr,
                                 HostCalls::log,   HostCalls::set_error,   HostCalls::alloc,      HostCalls::free,
                                 HostCalls::copy,  HostCalls::synchronize, HostCalls::get_service};
  return table;
}

ErrorScope::ErrorScope() noexcept : outer_(error_scope) { error_scope = this; }
ErrorScope::~ErrorScope() { error_scope = outer_; }
LogScope::LogScope(const LogSink &sink) noexcept : sink_(sink), outer_(log_scope) { log_scope = this; }
LogScope::~LogScope() { log_scope = outer_; }

void add_device(Device &device) {
  const std::unique_lock lock(ledger().device_lock);
  ledger().devices.push_back(&device);
}

void remove_device(Device &device) {
  std::uint64_t forgotten = 0;
  {
    const std::lock_guard lock(ledger().memory_lock);
    auto &memory = ledger().memory;
    for (auto entry = memory.begin(); entry != memory.end();) {
      if (entry->second.device != &device) {
        ++entry;
        continue;
      }
      ++forgotten;
      entry->second.device = nullptr;  // host memory can still be freed; the device's own goes with the device
      entry = entry->second.on_host ? std::next(entry) : memory.erase(entry);
    }
  }
  if (forgotten) try {
      device.log()(SXT_LOG_MISBEHAVING,
                   text("plugins did not give back ", forgotten, " allocation(s) before their device '",
                        device.machine().device, "' closed"));
    } catch (...) {  // no memory for a sentence is no reason not to close
    }
  std::unique_lock lock(ledger().device_lock);
  std::erase(ledger().devices, &device);
  ledger().told.wait(lock, [&] { return ledger().telling.count(&device) <= Telling::of_this_thread(&device); });
}

void set_current_device(Device &device) noexcept { current_device = &device; }

std::uint64_t live_allocations(const Device &device) {
  const std::lock_guard lock(ledger().memory_lock);
  return std::count_if(ledger().memory.begin(), ledger().memory.end(),
                       [&](const auto &entry) { return entry.second.device == &device; });
}

}  // namespace sextant
