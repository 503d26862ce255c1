// SPDX-License-Identifier: BSD-3-Clause
// Each entry has a few wrappers, one for each address the driver gives for it, so that a wrapper always goes on to the
// very function that it stands for. Which versions exist is never decided here: the driver's own look-up answers.
#include "hook/entries.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "hook/bodies.hpp"
#include "hook/symbols.hpp"

namespace sextant::retune {
namespace {

using namespace driver;

// Name of the export, name that cuGetProcAddress knows, its flags (1: the legacy stream, 2: a stream a thread).
#define SEXTANT_ENTRIES(E)                                                                            \
  E(0, "cuLaunchKernel", "cuLaunchKernel", 1, LaunchKernel, launch_kernel)                            \
  E(1, "cuLaunchKernel_ptsz", "cuLaunchKernel", 2, LaunchKernel, launch_kernel_ptsz)                  \
  E(2, "cuLaunchKernelEx", "cuLaunchKernelEx", 1, LaunchKernelEx, launch_kernel_ex)                   \
  E(3, "cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", 2, LaunchKernelEx, launch_kernel_ex_ptsz)         \
  E(4, "cuGetProcAddress", "", 0, GetProcAddress, get_proc_address)                                   \
  E(5, "cuGetProcAddress_v2", "", 0, GetProcAddress2, get_proc_address_2)                             \
  E(6, "cuModuleLoad", "cuModuleLoad", 0, ModuleLoad, module_load)                                    \
  E(7, "cuModuleLoadData", "cuModuleLoadData", 0, ModuleLoadData, module_load_data)                   \
  E(8, "cuModuleLoadDataEx", "cuModuleLoadDataEx", 0, ModuleLoadDataEx, module_load_data_ex)          \
  E(9, "cuModuleLoadFatBinary", "cuModuleLoadFatBinary", 0, ModuleLoadData, module_load_data)         \
  E(10, "cuModuleUnload", "cuModuleUnload", 0, ModuleUnload, module_unload)                           \
  E(11, "cuModuleGetFunction", "cuModuleGetFunction", 0, ModuleGetFunction, module_get_function)      \
  E(12, "cuLibraryLoadData", "cuLibraryLoadData", 0, LibraryLoadData, library_load_data)              \
  E(13, "cuLibraryLoadFromFile", "cuLibraryLoadFromFile", 0, LibraryLoadFromFile, library_load_file)  \
  E(14, "cuLibraryUnload", "cuLibraryUnload", 0, ModuleUnload, module_unload)                         \
  E(15, "cuLibraryGetKernel", "cuLibraryGetKernel", 0, LibraryGetKernel, library_get_kernel)          \
  E(16, "cuLibraryGetModule", "cuLibraryGetModule", 0, KernelGetFunction, library_get_module)         \
  E(17, "cuKernelGetFunction", "cuKernelGetFunction", 0, KernelGetFunction, kernel_get_function)      \
  E(18, "cuCtxDestroy", "cuCtxDestroy", 0, ContextDestroy, context_destroy)                           \
  E(19, "cuCtxDestroy_v2", "cuCtxDestroy", 0, ContextDestroy, context_destroy)                        \
  E(20, "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset", 0, PrimaryContext, primary_context)     \
  E(21, "cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset", 0, PrimaryContext, primary_context)  \
  E(22, "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease", 0, PrimaryContext, primary_context) \
  E(23, "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", 0, PrimaryContext, primary_context)

constexpr int entry_count = 24, slots = 6;  // slot 0 is the export's
constexpr int versions[] = {2000, 3020, 4000, 7000, 11000, 11060, 12000, 12040, 13000, 13010};

struct Entry {
  const char *name, *base;
  unsigned flags;
};
#define SEXTANT_ROW(index, name, base, flags, type, body) {name, base, flags},
constexpr Entry entries[entry_count] = {SEXTANT_ENTRIES(SEXTANT_ROW)};
#undef SEXTANT_ROW

std::atomic<void *> next_of[entry_count][slots];
std::atomic<int> answers[entry_count];
// 0: not yet; the process that is at it; `done`.
constexpr int done = -1;
std::atomic<int> established{0};

// What the program would have called: an interposer's behind this one, or the driver's.
void *behind_export(int entry) {
  std::atomic<void *> &kept = next_of[entry][0];
  if (void *known = kept.load(std::memory_order_acquire)) return known;
  void *found = next_dlsym(RTLD_NEXT, entries[entry].name);
  if (!found)
    if (void *driver = driver_handle()) found = next_dlsym(driver, entries[entry].name);
  if (found) kept.store(found, std::memory_order_release);
  return found;
}

template <int entry, int slot, auto body, typename Type>
struct Wrapper;
template <int entry, int slot, auto body, typename... Arguments>
struct Wrapper<entry, slot, body, Result(Arguments...)> {
  static Result call(Arguments... arguments) {
    void *next = slot == 0 ? behind_export(entry) : next_of[entry][slot].load(std::memory_order_relaxed);
    if (!next) return not_initialized;
    return body(reinterpret_cast<Result (*)(Arguments...)>(next), arguments...);
  }
};

template <int entry, auto body, typename Type>
void *wrapper(int slot) {
  static void *const all[slots] = {
      reinterpret_cast<void *>(&Wrapper<entry, 0, body, Type>::call),
      reinterpret_cast<void *>(&Wrapper<entry, 1, body, Type>::call),
      reinterpret_cast<void *>(&Wrapper<entry, 2, body, Type>::call),
      reinterpret_cast<void *>(&Wrapper<entry, 3, body, Type>::call),
      reinterpret_cast<void *>(&Wrapper<entry, 4, body, Type>::call),
      reinterpret_cast<void *>(&Wrapper<entry, 5, body, Type>::call),
  };
  return all[slot];
}

void *wrapper_of(int entry, int slot) {
#define SEXTANT_CASE(index, name, base, flags, type, body) \
  case index: return wrapper<index, body, type>(slot);
  switch (entry) { SEXTANT_ENTRIES(SEXTANT_CASE) }
#undef SEXTANT_CASE
  return nullptr;
}

void add(int entry, void *address) {
  if (!address) return;
  for (int other = 0; other < entry_count; ++other)
    for (int slot = 1; slot < slots; ++slot)
      if (next_of[other][slot].load(std::memory_order_relaxed) == address) return;
  for (int slot = 1; slot < slots; ++slot) {
    if (next_of[entry][slot].load(std::memory_order_relaxed)) continue;
    next_of[entry][slot].store(address, std::memory_order_release);
    return;
  }
}

// The addresses that the driver's look-up gives, at every version that is known here.
void add_looked_up(void *driver) {
  const auto second = reinterpret_cast<GetProcAddress2 *>(next_dlsym(driver, "cuGetProcAddress_v2"));
  const auto first = reinterpret_cast<GetProcAddress *>(next_dlsym(driver, "cuGetProcAddress"));
  const auto look_up = [&](const char *name, int version, std::uint64_t flags) {
    void *found = nullptr;
    int status = 0;
    const Result result = second  ? second(name, &found, version, flags, &status)
                          : first ? first(name, &found, version, flags)
                                  : not_initialized;
    return result == success ? found : nullptr;
  };
  for (int entry = 0; entry < entry_count; ++entry) {
    if (!*entries[entry].base) continue;
    for (const int version : versions) {
      add(entry, look_up(entries[entry].base, version, entries[entry].flags));
      if (entries[entry].flags != 2) add(entry, look_up(entries[entry].base, version, 0));
    }
  }
  add(4, look_up("cuGetProcAddress", 11030, 0));  // four arguments before 12.0, five since
  add(5, look_up("cuGetProcAddress", 12000, 0));
}

// This thread is at it: what the driver looks up meanwhile is its own.
thread_local bool establishing = false;

// False without a driver, and in a child that was forked while a thread of its parent was at it.
bool establish() {
  if (established.load(std::memory_order_acquire) == done) return true;
  if (establishing) return false;
  void *driver = driver_handle();
  if (!driver) return false;
  const int own = getpid();
  int at_it = 0;
  if (!established.compare_exchange_strong(at_it, own)) {
    for (; at_it != done; at_it = established.load(std::memory_order_acquire)) {
      if (at_it != own) return false;
      std::this_thread::yield();
    }
    return true;
  }
  establishing = true;
  for (int entry = 0; entry < entry_count; ++entry) add(entry, next_dlsym(driver, entries[entry].name));
  add_looked_up(driver);
  establishing = false;
  established.store(done, std::memory_order_release);
  return true;
}

template <typename Function>
void find(void *driver, Function &function, std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (!function) function = reinterpret_cast<Function>(next_dlsym(driver, name));
}

}  // namespace

bool is_entry(const char *name) {
  for (const Entry &entry : entries)
    if (!std::strcmp(entry.name, name)) return true;
  return false;
}

void *substitute(void *address) {
  if (!address || !establish()) return address;
  for (int entry = 0; entry < entry_count; ++entry)
    for (int slot = 1; slot < slots; ++slot)
      if (next_of[entry][slot].load(std::memory_order_relaxed) == address) {
        answers[entry].fetch_add(1, std::memory_order_relaxed);
        return wrapper_of(entry, slot);
      }
  return address;
}

std::vector<std::pair<const char *, int>> handed_out() {
  std::vector<std::pair<const char *, int>> all;
  for (int entry = 0; entry < entry_count; ++entry)
    if (const int count = answers[entry].load(std::memory_order_relaxed)) all.emplace_back(entries[entry].name, count);
  return all;
}

const Calls *driver_calls() {
  static std::atomic<const Calls *> found{nullptr};
  if (const Calls *known = found.load(std::memory_order_acquire)) return known;
  void *driver = driver_handle();
  if (!driver) return nullptr;
  auto *calls = new Calls;
  find(driver, calls->function_attribute, {"cuFuncGetAttribute"});
  find(driver, calls->kernel_function, {"cuKernelGetFunction"});
  find(driver, calls->context_device, {"cuCtxGetDevice"});
  find(driver, calls->device_attribute, {"cuDeviceGetAttribute"});
  find(driver, calls->primary_state, {"cuDevicePrimaryCtxGetState"});
  find(driver, calls->device_name, {"cuDeviceGetName"});
  find(driver, calls->is_capturing, {"cuStreamIsCapturing"});
  find(driver, calls->exchange_capture_mode, {"cuThreadExchangeStreamCaptureMode"});
  find(driver, calls->event_create, {"cuEventCreate"});
  find(driver, calls->event_destroy, {"cuEventDestroy_v2", "cuEventDestroy"});
  find(driver, calls->event_record, {"cuEventRecord"});
  find(driver, calls->event_query, {"cuEventQuery"});
  find(driver, calls->event_elapsed, {"cuEventElapsedTime", "cuEventElapsedTime_v2"});
  const Calls *expected = nullptr;
  if (!found.compare_exchange_strong(expected, calls)) delete calls;
  return found.load(std::memory_order_acquire);
}

}  // namespace sextant::retune

// The exports, for programs that link the driver: each jumps to its first wrapper.
extern "C" {
#define SEXTANT_TARGET(index, name, base, flags, type, body) \
  reinterpret_cast<void *>(                                  \
      &sextant::retune::Wrapper<index, 0, sextant::retune::body, sextant::retune::driver::type>::call),
__attribute__((visibility("hidden"))) void *retune_exports[sextant::retune::entry_count] = {
    SEXTANT_ENTRIES(SEXTANT_TARGET)};
#undef SEXTANT_TARGET
}
#define SEXTANT_EXPORT(index, name, base, flags, type, body)                                                       \
  asm(".text\n.globl " name "\n.type " name ", @function\n" name                                                   \
      ":\n.cfi_startproc\nendbr64\njmpq *retune_exports+8*" #index "(%rip)\n.cfi_endproc\n.size " name ", .-" name \
      "\n");
SEXTANT_ENTRIES(SEXTANT_EXPORT)
#undef SEXTANT_EXPORT

namespace sextant::retune {

#define SEXTANT_ADDRESS(index, name, base, flags, type, body) extern "C" char export_##index asm(name);
SEXTANT_ENTRIES(SEXTANT_ADDRESS)
#undef SEXTANT_ADDRESS

bool is_export(const void *address) {
#define SEXTANT_IS(index, name, base, flags, type, body) \
  if (address == &export_##index) return true;
  SEXTANT_ENTRIES(SEXTANT_IS)
#undef SEXTANT_IS
  return false;
}

}  // namespace sextant::retune
