// SPDX-License-Identifier: BSD-3-Clause
// A fake libcuda.so.1 for the launch retuner's tests: modules are accepted, functions looked up by name, launches
// recorded and nothing is run. It has the driver's look-up with versions and streams a thread, gives freed addresses
// out again at once, and its events tell a time that depends on the block size. Written from the published interface.
#include "driver.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Object {
  enum Kind { module, library, function, kernel, event } kind;
  Object *owner = nullptr;
  std::string name;
  double at = 0;
};

std::mutex lock;
// Never destroyed: programs ask at their very end what was recorded.
auto &released = *new std::vector<Object *>;  // the last one is given out first
auto &launches = *new std::vector<FakeLaunch>;
double now_s = 0;
int capture_state = 0;

Object *make(Object::Kind kind, Object *owner = nullptr, const std::string &name = "") {
  Object *made = nullptr;
  if (released.empty())
    made = new Object;
  else
    made = released.back(), released.pop_back();
  *made = {kind, owner, name, 0};
  return made;
}

int number(const char *variable, int usual) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : usual;
}

// Functions by owner and name, so that a look-up gives the same handle again.
auto &functions = *new std::map<std::pair<Object *, std::string>, Object *>;

void release(Object *owner) {
  for (auto at = functions.begin(); at != functions.end();)
    if (at->first.first == owner)
      released.push_back(at->second), at = functions.erase(at);
    else
      ++at;
  released.push_back(owner);
}

int look_up(void **handle, void *owner, const char *name, Object::Kind kind) {
  const std::lock_guard one(lock);
  auto *of = static_cast<Object *>(owner);
  Object *&found = functions[{of, name}];
  if (!found) found = make(kind, of, name);
  return *handle = found, 0;
}

int load(void **handle, const void *image, Object::Kind kind) {
  if (!image) return 1;
  const std::lock_guard one(lock);
  return *handle = make(kind), 0;
}

// 100 ps a thread; blocks below 128 threads take four times as long, beyond 512 twice.
int launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
           void *stream, bool per_thread, bool extended) {
  const std::lock_guard one(lock);
  if (static_cast<int>(bx) == number("SEXTANT_FAKE_REFUSED_BLOCK", -1)) return 701;
  FakeLaunch made{};
  std::snprintf(made.name, sizeof made.name, "%s", static_cast<Object *>(f)->name.c_str());
  made.grid[0] = gx, made.grid[1] = gy, made.grid[2] = gz;
  made.block[0] = bx, made.block[1] = by, made.block[2] = bz;
  made.shared = shared, made.stream = stream, made.per_thread = per_thread, made.extended = extended;
  launches.push_back(made);
  now_s += 1e-10 * gx * bx * (bx < 128 ? 4 : bx > 512 ? 2 : 1);
  return 0;
}

struct Config {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned count;
};

int launch_config(const void *given, void *f, bool per_thread) {
  const auto &c = *static_cast<const Config *>(given);
  return launch(f, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], c.shared, c.stream, per_thread,
                true);
}

}  // namespace

extern "C" {

std::int64_t fake_launch_count() { return static_cast<std::int64_t>(launches.size()); }
FakeLaunch fake_launch(std::int64_t i) { return launches[static_cast<std::size_t>(i)]; }
void fake_forget_launches() { launches.clear(); }
void fake_capture(int state) { capture_state = state; }

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int *version) { return *version = number("SEXTANT_FAKE_DRIVER", 13000), 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char *name, int length, int) { return std::snprintf(name, length, "Fake Device"), 0; }
int cuDeviceGetAttribute(int *value, int attribute, int) {
  const std::map<int, int> known = {{1, 1024},    {8, 49152},  {10, 32},  {16, 15}, {39, 2048},
                                    {81, 233472}, {82, 65536}, {106, 32}, {75, 9},  {76, 0}};
  const auto found = known.find(attribute);
  return *value = found == known.end() ? 0 : found->second, 0;
}
int cuDevicePrimaryCtxRetain(void **context, int) { return *context = &now_s, 0; }
int cuDevicePrimaryCtxGetState(int, unsigned *flags, int *active) { return *flags = 0, *active = 0, 0; }
int cuDevicePrimaryCtxReset_v2(int) {
  const std::lock_guard one(lock);
  return 0;
}
int cuCtxGetDevice(int *device) { return *device = 0, 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuMemAlloc_v2(void **memory, std::size_t bytes) { return *memory = std::calloc(1, bytes), 0; }

int cuModuleLoad(void **module, const char *path) { return load(module, path, Object::module); }
int cuModuleLoadData(void **module, const void *image) { return load(module, image, Object::module); }
int cuModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **) {
  return load(module, image, Object::module);
}
int cuModuleLoadFatBinary(void **module, const void *image) { return load(module, image, Object::module); }
int cuModuleUnload(void *module) {
  const std::lock_guard one(lock);
  return release(static_cast<Object *>(module)), 0;
}
int cuModuleGetFunction(void **f, void *module, const char *name) { return look_up(f, module, name, Object::function); }
int cuLibraryLoadData(void **library, const void *image, int *, void **, unsigned, int *, void **, unsigned) {
  return load(library, image, Object::library);
}
int cuLibraryUnload(void *library) { return cuModuleUnload(library); }
int cuLibraryGetKernel(void **f, void *library, const char *name) { return look_up(f, library, name, Object::kernel); }
int cuKernelGetFunction(void **f, void *kernel) {
  auto *of = static_cast<Object *>(kernel);
  return look_up(f, of->owner, (of->name + "/function").c_str(), Object::function);
}
int cuFuncGetAttribute(int *value, int attribute, void *) {
  switch (attribute) {
    case 0: return *value = number("SEXTANT_FAKE_MOST_THREADS", 1024), 0;
    case 1: return *value = number("SEXTANT_FAKE_SHARED", 0), 0;
    case 4: return *value = 32, 0;
    case 5: return *value = number("SEXTANT_FAKE_PTX_VERSION", 80), 0;
    default: return *value = 0, 0;
  }
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **, void **) {
  return launch(f, gx, gy, gz, bx, by, bz, shared, stream, false, false);
}
int cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **, void **) {
  return launch(f, gx, gy, gz, bx, by, bz, shared, stream, true, false);
}
int cuLaunchKernelEx(const void *config, void *f, void **, void **) { return launch_config(config, f, false); }
int cuLaunchKernelEx_ptsz(const void *config, void *f, void **, void **) { return launch_config(config, f, true); }
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                              unsigned shared, void *stream, void **) {
  return launch(f, gx, gy, gz, bx, by, bz, shared, stream, false, false);
}

int cuThreadExchangeStreamCaptureMode(int *) { return 0; }
int cuStreamIsCapturing(void *, int *state) { return *state = capture_state, 0; }
int cuEventCreate(void **event, unsigned) {
  const std::lock_guard one(lock);
  return *event = make(Object::event), 0;
}
int cuEventDestroy_v2(void *event) {
  const std::lock_guard one(lock);
  return released.push_back(static_cast<Object *>(event)), 0;
}
int cuEventRecord(void *event, void *) { return static_cast<Object *>(event)->at = now_s, 0; }
int cuEventQuery(void *) { return 0; }
int cuEventElapsedTime(float *ms, void *before, void *after) {
  return *ms = static_cast<float>(1e3 * (static_cast<Object *>(after)->at - static_cast<Object *>(before)->at)), 0;
}

// What static runtimes ask for; its tables hold nothing, so such a runtime then refuses to start.
int cuGetExportTable(const void **, const void *) { return 500; }

int cuGetProcAddress_v2(const char *, void **, int, std::uint64_t, int *);
int cuGetProcAddress(const char *, void **, int, std::uint64_t);
}

namespace {

struct Export {
  const char *name;
  int since;
  void *plain, *per_thread;
};
#define SEXTANT_EXPORT(name, since) {#name, since, reinterpret_cast<void *>(&name), nullptr},
#define SEXTANT_SECOND(name, since, function) {#name, since, reinterpret_cast<void *>(&function), nullptr},
const Export exports[] = {
    SEXTANT_EXPORT(cuInit, 2000) SEXTANT_EXPORT(cuDriverGetVersion, 2020) SEXTANT_EXPORT(
        cuDeviceGetCount, 2000) SEXTANT_EXPORT(cuDeviceGet, 2000) SEXTANT_EXPORT(cuDeviceGetName, 2000)
        SEXTANT_EXPORT(cuDeviceGetAttribute, 2000) SEXTANT_EXPORT(cuDevicePrimaryCtxRetain, 7000) SEXTANT_EXPORT(
            cuDevicePrimaryCtxGetState, 7000) SEXTANT_SECOND(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2)
            SEXTANT_EXPORT(cuCtxGetDevice, 2000) SEXTANT_EXPORT(cuCtxSetCurrent, 4000)
                SEXTANT_EXPORT(cuCtxSynchronize, 2000) SEXTANT_SECOND(cuMemAlloc, 3020, cuMemAlloc_v2) SEXTANT_EXPORT(
                    cuModuleLoad, 2000) SEXTANT_EXPORT(cuModuleLoadData, 2000) SEXTANT_EXPORT(cuModuleLoadDataEx, 2010)
                    SEXTANT_EXPORT(cuModuleLoadFatBinary, 2000) SEXTANT_EXPORT(cuModuleUnload, 2000) SEXTANT_EXPORT(
                        cuModuleGetFunction, 2000) SEXTANT_EXPORT(cuLibraryLoadData, 12000)
                        SEXTANT_EXPORT(cuLibraryUnload, 12000) SEXTANT_EXPORT(cuLibraryGetKernel, 12000)
                            SEXTANT_EXPORT(cuKernelGetFunction, 12000) SEXTANT_EXPORT(cuFuncGetAttribute, 2020)
                                SEXTANT_EXPORT(cuLaunchCooperativeKernel, 9000) SEXTANT_EXPORT(cuGetExportTable, 3000){
                                    "cuLaunchKernel", 4000, reinterpret_cast<void *>(&cuLaunchKernel),
                                    reinterpret_cast<void *>(&cuLaunchKernel_ptsz)},
    {"cuLaunchKernelEx", 11060, reinterpret_cast<void *>(&cuLaunchKernelEx),
     reinterpret_cast<void *>(&cuLaunchKernelEx_ptsz)},
};

}  // namespace

extern "C" {

int cuGetProcAddress_v2(const char *name, void **function, int version, std::uint64_t flags, int *status) {
  *function = nullptr;
  // As layers that share a device do: a look-up that asks for another one by name.
  if (std::getenv("SEXTANT_FAKE_LOOKS_UP")) dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), "cuLaunchKernel");
  const char *missing = std::getenv("SEXTANT_FAKE_MISSING");
  if (missing && !std::strcmp(missing, name)) return 500;
  if (!std::strcmp(name, "cuGetProcAddress"))
    *function =
        version >= 12000 ? reinterpret_cast<void *>(&cuGetProcAddress_v2) : reinterpret_cast<void *>(&cuGetProcAddress);
  for (const Export &each : exports)
    if (!std::strcmp(each.name, name) && version >= each.since)
      *function = flags == 2 && each.per_thread && version >= 7000 ? each.per_thread : each.plain;
  if (status) *status = *function ? 0 : 1;
  return *function ? 0 : 500;
}
int cuGetProcAddress(const char *name, void **function, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
}
