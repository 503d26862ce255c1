// SPDX-License-Identifier: BSD-3-Clause
#include "report/kernel_table.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "input/handle.hpp"
#include "report/output.hpp"

namespace tool {

const sxt_host *bare_host() {
  static const sxt_host host = [] {
    sxt_host h{};
    h.struct_size = sizeof h;
    h.abi_major = SXT_PLUGIN_ABI_MAJOR;
    h.abi_minor = SXT_PLUGIN_ABI_MINOR;
    h.log = [](const sxt_host *, sxt_log_level, const char *, const char *) {};
    h.set_error = [](const sxt_host *, const sxt_exec *, const char *) {};
    h.alloc = [](const sxt_host *, const sxt_exec *, sxt_space, std::uint64_t bytes, std::uint64_t alignment) {
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    h.free = [](const sxt_host *, const sxt_exec *, sxt_space, void *memory) { std::free(memory); };
    h.copy = [](const sxt_host *, const sxt_exec *, void *to, const void *from, std::uint64_t bytes) {
      std::memmove(to, from, bytes);
      return sxt_status{SXT_OK};
    };
    h.synchronize = [](const sxt_host *, const sxt_exec *) { return sxt_status{SXT_OK}; };
    h.get_service = [](const sxt_host *, const char *) -> const void * { return nullptr; };
    return h;
  }();
  return &host;
}

const sxt_kernel &table_of(const std::string &name) {
  std::string plugin;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    if (name == info.name) plugin = info.plugin;
  }
  for (std::int64_t i = 0; i < sxt_plugin_count(); ++i) {
    sxt_plugin_info info{};
    info.struct_size = sizeof info;
    check(sxt_plugin_get(i, &info), nullptr);
    if (plugin != info.name) continue;
    void *library = dlopen(info.path, RTLD_NOW | RTLD_LOCAL);
    const auto entry = library ? reinterpret_cast<sxt_plugin_entry_fn>(dlsym(library, "sxt_plugin_entry_0")) : nullptr;
    const sxt_plugin *description = nullptr;
    if (!entry || entry(bare_host(), &description) != SXT_OK) break;
    for (std::uint64_t k = 0; k < description->n_kernels; ++k)
      if (name == description->kernels[k]->name) return *description->kernels[k];
  }
  fail(exit_internal, "kernel '{}' could not be opened a second time", name);
}

DirectKernel::DirectKernel(const std::string &kernel, const sxt_query &query, const sxt_head *a,
                           const sxt_candidate &candidate, void *stream)
    : kernel_(table_of(kernel)) {
  exec_.host = bare_host();
  exec_.threads = 1;
  exec_.stream = stream;
  const sxt_problem problem{sizeof problem, &query, a, nullptr};
  require_ok(kernel_.prepare ? kernel_.prepare(&problem, &candidate, nullptr, &exec_, &state_) : SXT_OK, "prepare");
  require_ok(kernel_.open ? kernel_.open(state_, nullptr, &exec_, &session_) : SXT_OK, "open");
  exec_.scratch = scratch_;
  exec_.scratch_bytes = sizeof scratch_;
}

DirectKernel::~DirectKernel() {
  if (session_ && kernel_.close) kernel_.close(session_);
  if (state_ && kernel_.release) kernel_.release(state_);
}

void DirectKernel::require_ok(sxt_status status, const char *step) const {
  if (status != SXT_OK)
    fail(exit_internal, "kernel '{}' failed to {} alone: {}", kernel_.name, step, sxt_status_name(status));
}

}  // namespace tool
