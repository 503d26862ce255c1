// SPDX-License-Identifier: BSD-3-Clause
// What is done when the program calls a substituted function: `next` first or last, and what is learnt from the call.
#pragma once

#include "hook/driver.hpp"

namespace sextant::retune {

driver::Result launch_kernel(driver::LaunchKernel *next, driver::Handle f, unsigned gx, unsigned gy, unsigned gz,
                             unsigned bx, unsigned by, unsigned bz, unsigned shared, driver::Handle stream,
                             void **parameters, void **extra);
driver::Result launch_kernel_ptsz(driver::LaunchKernel *next, driver::Handle f, unsigned gx, unsigned gy, unsigned gz,
                                  unsigned bx, unsigned by, unsigned bz, unsigned shared, driver::Handle stream,
                                  void **parameters, void **extra);
driver::Result launch_kernel_ex(driver::LaunchKernelEx *next, const driver::Config *config, driver::Handle f,
                                void **parameters, void **extra);
driver::Result launch_kernel_ex_ptsz(driver::LaunchKernelEx *next, const driver::Config *config, driver::Handle f,
                                     void **parameters, void **extra);
driver::Result get_proc_address(driver::GetProcAddress *next, const char *name, void **function, int version,
                                std::uint64_t flags);
driver::Result get_proc_address_2(driver::GetProcAddress2 *next, const char *name, void **function, int version,
                                  std::uint64_t flags, int *status);
driver::Result module_load(driver::ModuleLoad *next, driver::Handle *module, const char *path);
driver::Result module_load_data(driver::ModuleLoadData *next, driver::Handle *module, const void *image);
driver::Result module_load_data_ex(driver::ModuleLoadDataEx *next, driver::Handle *module, const void *image,
                                   unsigned count, int *options, void **values);
driver::Result module_unload(driver::ModuleUnload *next, driver::Handle module);
driver::Result module_get_function(driver::ModuleGetFunction *next, driver::Handle *function, driver::Handle module,
                                   const char *name);
driver::Result library_load_data(driver::LibraryLoadData *next, driver::Handle *library, const void *image, int *jit,
                                 void **jit_values, unsigned jit_count, int *options, void **values, unsigned count);
driver::Result library_load_file(driver::LibraryLoadFromFile *next, driver::Handle *library, const char *path, int *jit,
                                 void **jit_values, unsigned jit_count, int *options, void **values, unsigned count);
driver::Result library_get_kernel(driver::LibraryGetKernel *next, driver::Handle *kernel, driver::Handle library,
                                  const char *name);
driver::Result library_get_module(driver::KernelGetFunction *next, driver::Handle *module, driver::Handle library);
driver::Result kernel_get_function(driver::KernelGetFunction *next, driver::Handle *function, driver::Handle kernel);
driver::Result context_destroy(driver::ContextDestroy *next, driver::Handle context);
driver::Result primary_context(driver::PrimaryContext *next, int device);

}  // namespace sextant::retune
