// SPDX-License-Identifier: BSD-3-Clause
// The part of the CUDA driver interface that is substituted or called, with declarations of our own: no toolkit is
// needed to build, and one binary serves every driver.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant::retune::driver {

using Result = int;
constexpr Result success = 0, invalid_value = 1, not_initialized = 3, out_of_resources = 701;

using Handle = void *;  // contexts, modules, libraries, functions, kernels, streams, events
constexpr std::uintptr_t stream_per_thread = 2;

struct Attribute {
  std::int32_t id;
  char padding[4];
  union {
    char bytes[64];
    std::int32_t number;
  } value;
};
struct Config {
  unsigned grid[3], block[3], shared;
  Handle stream;
  Attribute *attributes;
  unsigned attribute_count;
};
static_assert(sizeof(Attribute) == 72 && sizeof(Config) == 56);

enum FunctionAttribute { max_threads_per_block = 0, shared_size_bytes = 1, num_regs = 4, ptx_version = 5 };
enum DeviceAttribute {
  device_max_threads_per_block = 1,
  device_max_shared_per_block = 8,
  device_warp_size = 10,
  device_multiprocessors = 16,
  device_max_threads_per_unit = 39,
  device_shared_per_unit = 81,
  device_registers_per_unit = 82,
  device_max_blocks_per_unit = 106
};

using LaunchKernel = Result(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
                            void **, void **);
using LaunchKernelEx = Result(const Config *, Handle, void **, void **);
using GetProcAddress = Result(const char *, void **, int, std::uint64_t);
using GetProcAddress2 = Result(const char *, void **, int, std::uint64_t, int *);
using ModuleLoad = Result(Handle *, const char *);
using ModuleLoadData = Result(Handle *, const void *);
using ModuleLoadDataEx = Result(Handle *, const void *, unsigned, int *, void **);
using ModuleUnload = Result(Handle);
using ModuleGetFunction = Result(Handle *, Handle, const char *);
using LibraryLoadData = Result(Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned);
using LibraryLoadFromFile = Result(Handle *, const char *, int *, void **, unsigned, int *, void **, unsigned);
using LibraryGetKernel = Result(Handle *, Handle, const char *);
using KernelGetFunction = Result(Handle *, Handle);
using ContextDestroy = Result(Handle);
using PrimaryContext = Result(int);

// What is called and not substituted, found once; a null pointer where this driver has none.
struct Calls {
  Result (*function_attribute)(int *, int, Handle) = nullptr;
  Result (*kernel_function)(Handle *, Handle) = nullptr;
  Result (*context_device)(int *) = nullptr;
  Result (*device_attribute)(int *, int, int) = nullptr;
  Result (*primary_state)(int, unsigned *, int *) = nullptr;
  Result (*device_name)(char *, int, int) = nullptr;
  Result (*is_capturing)(Handle, int *) = nullptr;
  Result (*exchange_capture_mode)(int *) = nullptr;
  Result (*event_create)(Handle *, unsigned) = nullptr;
  Result (*event_destroy)(Handle) = nullptr;
  Result (*event_record)(Handle, Handle) = nullptr;
  Result (*event_query)(Handle) = nullptr;
  Result (*event_elapsed)(float *, Handle, Handle) = nullptr;
};

}  // namespace sextant::retune::driver
