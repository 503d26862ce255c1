// SPDX-License-Identifier: BSD-3-Clause
// The process-wide registry: every plugin that was loaded, every kernel and kind it brought, and a record of everything
// that was refused and why. Filled once from the trusted directories, then only grown by explicit paths. Plugins are
// never unloaded, so records and their strings live as long as the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.hpp"
#include "sextant/plugin/kinds/alike.h"

namespace sextant::registry {

struct Plugin {
  std::string name, version, vendor, license, build_id, path;
  bool own = false;  // from the directory that came with libsextant: trusted as libsextant is
  std::int64_t kernels = 0;
  bool named = false;  // by the program itself, whose decision it is
};

// What is known of a kernel's answers. Own kernels start as passed, third parties' as untested. What was proven of
// these is kept by device and query: in their file's stamp and by tests in the process.
enum class Verdict : int { untested, passed, quarantined };

// What tests found of an untested kernel, by device and by what was asked. [any-thread]
class Proofs {
 public:
  // NULL: not tested yet; "": it may serve; else why not. Lives as long as the kernel.
  const std::string *find(std::uint64_t what) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(what);
    return found == known_.end() ? nullptr : &found->second;
  }
  const std::string &note(std::uint64_t what, std::string why_not) {
    const std::lock_guard lock(mutex_);
    return known_.try_emplace(what, std::move(why_not)).first->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::string> known_;
};

struct Kernel {
  sxt_kernel table;  // a full-size, zero-filled copy: no size checks needed when calling
  const Plugin *plugin;
  mutable std::atomic<Verdict> verdict{Verdict::untested};
  mutable std::string quarantine_reason;  // written before verdict becomes quarantined
  mutable Proofs proofs;
  std::vector<std::string> stamped_on;  // devices (device_mark) on which its file's stamp says that it passed

  const char *name() const { return table.name; }
  bool has(std::uint32_t flag) const { return (table.flags & flag) != 0; }
};

struct Kind {
  sxt_kind table;  // a full-size copy
  const Plugin *plugin;
  Kernel *reference = nullptr;  // NULL when the kind has none
  // Cases for a query; NULL: it makes none (plugin/kinds/alike.h).
  decltype(sxt_kind_alike::make_case_like) make_case_like = nullptr;
};

struct Refusal {
  std::string path, stage, reason;  // stage: device, trust, open, entry, abi, kind, kernel, duplicate, self-test
};

struct Loaded;
struct View;
class Registry;

// What one context chooses from: the plugins of the process and those that its own options name. A snapshot; copies are
// cheap, and pointers stay valid for ever. Quarantined kernels are listed, so that explain can say why they are out; a
// chooser looks at the verdict. [any-thread]
class Scope {
 public:
  Scope(Registry &registry);  // everything that was loaded, by whomever: for lists and tests
  Scope(Registry &registry, std::shared_ptr<const View> view) : registry_(&registry), view_(std::move(view)) {}
  std::vector<const Kernel *> kernels(std::string_view kind, std::string_view device) const;  // in name order
  std::vector<const Kernel *> all_kernels() const;
  std::vector<const Kind *> kinds() const;
  const Kernel *find(std::string_view name) const;  // NULL: not there
  const Kind *kind(std::string_view id) const;      // NULL: not there
  // Tells scopes apart: equal for contexts that see the same plugins.
  std::uint64_t number() const noexcept;
  Registry &registry() const noexcept { return *registry_; }

 private:
  friend class Registry;
  Registry *registry_;
  std::shared_ptr<const View> view_;
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
  // A device whose driver failed then, rather than being absent, is asked again at each later call. Throws
  // SXT_E_MEMORY, naming the file, where memory or descriptors ran out on the way; the next call goes on there.
  void load_default(const LogSink &log);
  // After load_default: what a context sees that names these paths, which are loaded as by load_path.
  Scope scope(const std::vector<std::string> &paths, const LogSink &log);
  // The same and one more path, for a check of it: what earlier checks of the file found does not hinder its loading.
  Scope extended(const Scope &scope, const std::string &path, const LogSink &log);
  // Why a device is not available though a plugin for it is loaded: its driver failed. "": no such failure.
  std::string driver_failure(const std::string &device) const;
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

  // Takes a kernel out of every later choice, records why and says so at WARNING.
  void quarantine(const Kernel &kernel, const std::string &reason, const LogSink &log = {});
  // What a whole check found it to be, against an earlier refusal.
  void clear(const Kernel &kernel);

 private:
  friend class Scope;
  struct State;
  class Pass;
  Scope seen() const;
  void retry_drivers(const LogSink &log);
  std::vector<const Loaded *> take(const std::string &path, const LogSink &log, bool checks = false);
  void expect_use(const std::string &path, const std::vector<const Loaded *> &taken, const View &in) const;
  std::shared_ptr<const View> view_of(std::vector<const Loaded *> named);
  std::unique_ptr<State> state_;
};

// The directory of the plugins that came with this libsextant: <folder of the library>/sextant/plugins-0. Under tests
// that link core statically, the folder of the executable's sibling lib/.
std::string own_plugin_directory();

}  // namespace sextant::registry
