// SPDX-License-Identifier: BSD-3-Clause
// A kernel called by its plugin's function table, without the library: the baseline for calls through the C interface.
#pragma once

#include <string>

#include "sextant/plugin/plugin.h"

namespace tool {

// The host services for a kernel that is measured alone: ordinary memory, when it is prepared.
const sxt_host *bare_host();

// The table of a loaded kernel, by way of its plugin's file, opened a second time.
const sxt_kernel &table_of(const std::string &kernel);

// A kernel prepared directly on one thread, for calls on `stream` (NULL on the CPU).
class DirectKernel {
 public:
  DirectKernel(const std::string &kernel, const sxt_query &query, const sxt_head *a, const sxt_candidate &candidate,
               void *stream = nullptr);
  ~DirectKernel();
  DirectKernel(const DirectKernel &) = delete;
  DirectKernel &operator=(const DirectKernel &) = delete;

  void run(sxt_head *args) const { require_ok(kernel_.run(state_, session_, args, &exec_), "run"); }

 private:
  void require_ok(sxt_status status, const char *step) const;

  const sxt_kernel &kernel_;
  sxt_exec exec_{};
  void *state_ = nullptr, *session_ = nullptr;
  alignas(256) char scratch_[4096] = {};
};

}  // namespace tool
