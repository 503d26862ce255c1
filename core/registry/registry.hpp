// SPDX-License-Identifier: BSD-3-Clause
// The process-wide registry: every plugin that was loaded, every kernel and kind it brought, and a record of everything
// that was refused and why. Filled once from the trusted directories, then only grown by explicit paths. Plugins are
// never unloaded, so records and their strings live as long as the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.hpp"
#include "sextant/plugin.h"

namespace sextant::registry {

struct Plugin {
  std::string name, version, vendor, license, build_id, path;
  bool own = false;  // from the directory that came with libsextant: trusted as libsextant is
  std::int64_t kernels = 0;
};

// What is known of a kernel's answers. Own kernels start as passed; strangers as untested unless their file is stamped.
enum class Verdict : int { untested, passed, quarantined };

struct Kernel {
  sxt_kernel table;  // a full-size, zero-filled copy: no size checks needed when calling
  const Plugin *plugin;
  mutable std::atomic<Verdict> verdict{Verdict::untested};
  mutable std::atomic<bool> self_tested{false};  // the short test in the process is made once, whatever it finds
  mutable std::string quarantine_reason;         // written once, before verdict becomes quarantined

  const char *name() const { return table.name; }
  bool has(std::uint32_t flag) const { return (table.flags & flag) != 0; }
};

struct Kind {
  sxt_kind table;  // a full-size copy
  const Plugin *plugin;
  Kernel *reference = nullptr;  // NULL when the kind has none
};

struct Refusal {
  std::string path, stage, reason;  // stage: device, trust, open, entry, abi, kind, kernel, duplicate, self-test
};

class Registry {
 public:
  // The process's registry; created on first use, never destroyed. [any-thread]
  static Registry &instance();
  // A registry of its own, for tests: `own_directory` plays the part of the directory beside libsextant.
  explicit Registry(std::string own_directory);
  ~Registry();
  Registry(const Registry &) = delete;
  Registry &operator=(const Registry &) = delete;

  // First call: loads device plugins, then plugins-0/<device>/ of each device that reports itself, from the directory
  // beside libsextant, then $SEXTANT_PLUGIN_PATH and the user's directory under the trust rules. Later calls: nothing.
  void load_default(const LogSink &log);
  // Loads a file, or every .so of a directory tree, that the caller named: no trust check. Returns how many plugins
  // were added; refusals are recorded. Throws SXT_E_FILE_READ when the path does not exist, SXT_E_PLUGIN naming stage
  // and reason when a single file was refused. A file already loaded counts as added.
  int load_path(const std::string &path, const LogSink &log);

  // Snapshots: pointers stay valid for ever. Quarantined kernels are listed, so that explain can say why they are out;
  // a chooser looks at the verdict. [any-thread]
  std::vector<const Kernel *> kernels(std::string_view kind, std::string_view device) const;  // in name order
  // Only those that came with libsextant, whatever else was loaded under the same names, without the quarantined: what
  // tells the truth about others.
  std::vector<const Kernel *> own_kernels(std::string_view kind, std::string_view device) const;
  std::vector<const Kernel *> all_kernels() const;
  std::vector<const Plugin *> plugins() const;
  std::vector<const Refusal *> refusals() const;
  std::vector<const Kind *> kinds() const;
  // How many of each the lists hold, without allocating anything. [any-thread]
  std::size_t kernel_count() const;
  std::size_t plugin_count() const;
  std::size_t refusal_count() const;
  const Kernel *find(std::string_view name) const;  // NULL: not there
  const Kind *kind(std::string_view id) const;      // NULL: not there

  // Another number whenever kernels came or were quarantined: what was derived from them is out of date. [any-thread]
  std::uint64_t changes() const noexcept;

  // Takes a kernel out of every later choice and records why.
  void quarantine(const Kernel &kernel, const std::string &reason);

 private:
  struct State;
  class Pass;
  std::unique_ptr<State> state_;
};

// The directory of the plugins that came with this libsextant: <folder of the library>/sextant/plugins-0. Under tests
// that link core statically, the folder of the executable's sibling lib/.
std::string own_plugin_directory();

// The table lent to plugins (core/registry/host.cpp); calls find their context through sxt_exec.call.
const sxt_host &host();

}  // namespace sextant::registry
