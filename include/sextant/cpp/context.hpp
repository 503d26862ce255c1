// SPDX-License-Identifier: BSD-3-Clause
// Contexts: an opened device with its choices. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_CONTEXT_HPP
#define SEXTANT_CPP_CONTEXT_HPP

#include <string>
#include <vector>

#include "sextant/cpp/object.hpp"

namespace sextant {
inline namespace cpp {

/// How a context is opened: the members of sxt_context_options, set to their defaults.
struct ContextOptions : sxt_context_options {
  ContextOptions() { sxt_context_options_init(this, sizeof(sxt_context_options)); }
  /// Called from any thread, as long as the context or an object made from it lives. What it throws is thrown again by
  /// the next call that returns in any of them. Empty: silent.
  std::function<void(sxt_log_level, std::string_view)> log;
  /// Further plugin files or directories, trusted because the caller names them.
  std::vector<std::string> plugin_paths;
};

/// A device with its profile, its choices and its log. Objects made from it keep it alive.
class Context : public detail::Object<sxt_context, sxt_context_destroy> {
 public:
  /// Opens a device, as sxt_context_create. [any-thread]
  explicit Context(const ContextOptions &options = {})
      : Object(options.log ? std::make_shared<detail::LogSink>(options.log) : nullptr) {
    sxt_context_options c = options;
    if (const auto sink = log_of(*this)) {
      c.log = detail::LogSink::call;
      c.log_user = sink.get();
    }
    std::vector<const char *> paths;
    for (const std::string &path : options.plugin_paths) paths.push_back(path.c_str());
    if (!paths.empty()) {
      c.plugin_paths = paths.data();
      c.n_plugin_paths = paths.size();
    }
    make([&](sxt_context **made) { return sxt_context_create(&c, made); });
  }

  /// The device in words. [any-thread]
  std::string describe() const {
    return detail::checked_text([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_context_describe(get(), buffer, capacity, length);
    });
  }
  /// The caller's stream (CUDA: cudaStream_t); NULL ends its use. sxt_context_set_stream says what follows. [exclusive]
  void set_stream(void *stream) { check(sxt_context_set_stream(get(), stream)); }
  /// Waits for all work on the caller's stream. [any-thread]
  void synchronize() const { check(sxt_context_synchronize(get())); }
  /// Chooses a kernel by hand: force("sxt.spmv/1", "spmv.csr.rows.cpu"). [any-thread]
  void force(const std::string &kind, const std::string &kernel) {
    check(sxt_context_force(get(), kind.c_str(), kernel.c_str()));
  }
  /// Lets the model choose again. [any-thread]
  void unforce(const std::string &kind) { check(sxt_context_force(get(), kind.c_str(), nullptr)); }
  /// Writes the choices made in this context. [any-thread]
  void save_plan(const std::string &path) const { check(sxt_plan_save(get(), path.c_str())); }
  /// Later choices follow the file; required: what does not fit is SXT_E_PLAN. [any-thread]
  void load_plan(const std::string &path, bool required = false) {
    check(sxt_plan_load(get(), path.c_str(), required ? 1 : 0));
  }
};

}  // namespace cpp
}  // namespace sextant
#endif
