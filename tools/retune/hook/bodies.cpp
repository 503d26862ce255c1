// SPDX-License-Identifier: BSD-3-Clause
#include "hook/bodies.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include "hook/entries.hpp"
#include "hook/registry.hpp"

namespace sextant::retune {

using driver::Handle;
using driver::Result;

namespace {

// Whatever fails in here leaves the program's call as it was: the kernels of that module are then not known.
template <typename Work>
void quietly(Work work) noexcept {
  try {
    work();
  } catch (...) {
  }
}

image::Image read_file(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return image::read_bytes({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

}  // namespace

Result get_proc_address(driver::GetProcAddress *next, const char *name, void **function, int version,
                        std::uint64_t flags) {
  const Result result = next(name, function, version, flags);
  if (result == driver::success && function) *function = substitute(*function);
  return result;
}
Result get_proc_address_2(driver::GetProcAddress2 *next, const char *name, void **function, int version,
                          std::uint64_t flags, int *status) {
  const Result result = next(name, function, version, flags, status);
  if (result == driver::success && function) *function = substitute(*function);
  return result;
}

Result module_load(driver::ModuleLoad *next, Handle *module, const char *path) {
  const Result result = next(module, path);
  if (result == driver::success) quietly([&] { registry().loaded(*module, false, read_file(path)); });
  return result;
}
Result module_load_data(driver::ModuleLoadData *next, Handle *module, const void *image) {
  const Result result = next(module, image);
  if (result == driver::success) quietly([&] { registry().loaded(*module, false, image::read(image)); });
  return result;
}
Result module_load_data_ex(driver::ModuleLoadDataEx *next, Handle *module, const void *image, unsigned count,
                           int *options, void **values) {
  const Result result = next(module, image, count, options, values);
  if (result == driver::success) quietly([&] { registry().loaded(*module, false, image::read(image)); });
  return result;
}
// Forgotten first: the driver may give the addresses to another module at once.
Result module_unload(driver::ModuleUnload *next, Handle module) {
  quietly([&] { registry().unloaded(module); });
  return next(module);
}
Result module_get_function(driver::ModuleGetFunction *next, Handle *function, Handle module, const char *name) {
  const Result result = next(function, module, name);
  if (result == driver::success) quietly([&] { registry().found(*function, module, name, false); });
  return result;
}

Result library_load_data(driver::LibraryLoadData *next, Handle *library, const void *image, int *jit, void **jit_values,
                         unsigned jit_count, int *options, void **values, unsigned count) {
  const Result result = next(library, image, jit, jit_values, jit_count, options, values, count);
  if (result == driver::success) quietly([&] { registry().loaded(*library, true, image::read(image)); });
  return result;
}
Result library_load_file(driver::LibraryLoadFromFile *next, Handle *library, const char *path, int *jit,
                         void **jit_values, unsigned jit_count, int *options, void **values, unsigned count) {
  const Result result = next(library, path, jit, jit_values, jit_count, options, values, count);
  if (result == driver::success) quietly([&] { registry().loaded(*library, true, read_file(path)); });
  return result;
}
Result library_get_kernel(driver::LibraryGetKernel *next, Handle *kernel, Handle library, const char *name) {
  const Result result = next(kernel, library, name);
  if (result == driver::success) quietly([&] { registry().found(*kernel, library, name, true); });
  return result;
}
Result library_get_module(driver::KernelGetFunction *next, Handle *module, Handle library) {
  const Result result = next(module, library);
  if (result == driver::success) quietly([&] { registry().same_module(*module, library); });
  return result;
}
Result kernel_get_function(driver::KernelGetFunction *next, Handle *function, Handle kernel) {
  const Result result = next(function, kernel);
  if (result == driver::success) quietly([&] { registry().function_of(*function, kernel); });
  return result;
}

Result context_destroy(driver::ContextDestroy *next, Handle context) {
  const Result result = next(context);
  quietly([] { registry().forget_contexts(); });
  return result;
}
// A release may leave the context to its other users.
Result primary_context(driver::PrimaryContext *next, int device) {
  const Result result = next(device);
  const driver::Calls *calls = driver_calls();
  unsigned flags = 0;
  int active = 0;
  const bool lives = calls && calls->primary_state && calls->primary_state(device, &flags, &active) == driver::success;
  if (!lives || !active) quietly([] { registry().forget_contexts(); });
  return result;
}

}  // namespace sextant::retune
