// SPDX-License-Identifier: BSD-3-Clause
// The part of the CUDA runtime that a program with kernels needs, for tests over a driver that is not the vendor's. It
// reaches the driver as the static runtime does: dlopen, dlsym of cuGetProcAddress_v2, look-ups by version, a library
// for each fat binary at its first launch. At the end it prints what the fake driver recorded.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "driver.h"

namespace {

struct Shape {
  unsigned x, y, z;
};
struct FatBinary {
  const void *image;
  void *library = nullptr;
};
struct Kernel {
  FatBinary *binary;
  std::string name;
};

std::map<const void *, Kernel> &kernels() {
  static std::map<const void *, Kernel> all;
  return all;
}
struct Configuration {
  Shape grid, block;
  std::size_t shared;
  void *stream;
} pushed;
int last_error = 0;

void *driver() {
  static void *const opened = dlopen("libcuda.so.1", RTLD_NOW);
  return opened;
}
template <typename Function>
Function find(const char *name, int version) {
  using LookUp = int (*)(const char *, void **, int, std::uint64_t, int *);
  static const auto look_up = reinterpret_cast<LookUp>(dlsym(driver(), "cuGetProcAddress_v2"));
  void *found = nullptr;
  int status = 0;
  return look_up(name, &found, version, 0, &status) == 0 ? reinterpret_cast<Function>(found) : nullptr;
}

int launch(const void *host, Shape grid, Shape block, void **arguments, std::size_t shared, void *stream) {
  using Load = int (*)(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
  using Get = int (*)(void **, void *, const char *);
  using Launch =
      int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  const Kernel &kernel = kernels().at(host);
  void *function = nullptr;
  int error = 0;
  if (!kernel.binary->library)
    error = find<Load>("cuLibraryLoadData", 12000)(&kernel.binary->library, kernel.binary->image, nullptr, nullptr, 0,
                                                   nullptr, nullptr, 0);
  if (!error) error = find<Get>("cuLibraryGetKernel", 12000)(&function, kernel.binary->library, kernel.name.c_str());
  if (!error)
    error = find<Launch>("cuLaunchKernel", 4000)(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                 static_cast<unsigned>(shared), stream, arguments, nullptr);
  return last_error = error;
}

}  // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *image) { return reinterpret_cast<void **>(new FatBinary{image}); }
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {
  using Count = std::int64_t (*)();
  using Recorded = FakeLaunch (*)(std::int64_t);
  const auto count = reinterpret_cast<Count>(dlsym(driver(), "fake_launch_count"))();
  for (std::int64_t i = 0; i < count; ++i) {
    const FakeLaunch made = reinterpret_cast<Recorded>(dlsym(driver(), "fake_launch"))(i);
    std::printf("%s %u %u %u\n", made.name, made.grid[0], made.block[0], made.shared);
  }
}
void __cudaRegisterFunction(void **binary, const char *host, char *, const char *name, int, void *, void *, void *,
                            void *, int *) {
  kernels()[host] = {reinterpret_cast<FatBinary *>(binary), name};
}
void __cudaRegisterVar(void **, char *, char *, const char *, int, std::size_t, int, int) {}
void __cudaInitModule(void **) {}
unsigned __cudaPushCallConfiguration(Shape grid, Shape block, std::size_t shared, void *stream) {
  pushed = {grid, block, shared, stream};
  return 0;
}
int __cudaPopCallConfiguration(Shape *grid, Shape *block, std::size_t *shared, void *stream) {
  *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared;
  return *static_cast<void **>(stream) = pushed.stream, 0;
}
int cudaLaunchKernel(const void *host, Shape grid, Shape block, void **arguments, std::size_t shared, void *stream) {
  return launch(host, grid, block, arguments, shared, stream);
}
// CUDA 13 asks for a handle first.
int __cudaGetKernel(const void **kernel, const void *host) { return *kernel = host, 0; }
int __cudaLaunchKernel(const void *kernel, Shape grid, Shape block, void **arguments, std::size_t shared,
                       void *stream) {
  return launch(kernel, grid, block, arguments, shared, stream);
}
int cudaGetLastError() { return last_error; }
}
