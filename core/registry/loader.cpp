// SPDX-License-Identifier: BSD-3-Clause
// The stages of loading one file: trust, open, entry, abi, kernel, kind.
#include "core/registry/loader.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/thread_storage.hpp"
#include "core/device/host.hpp"
#include "core/registry/elf.hpp"
#include "core/registry/stamps.hpp"
#include "core/registry/trust.hpp"
#include "core/registry/validate.hpp"

namespace sextant::registry {
namespace {

constexpr const char *entry_symbol = "sxt_plugin_entry_0";

// What stops a load, with the stage it was met in.
struct Refused {
  const char *stage;
  std::string reason;
};

// A load that stopped for lack of memory, or of descriptors: the file may be good, so nothing is held against it.
[[noreturn]] void fail_for_now(const std::string &path, const std::string &reason) {
  fail(SXT_E_MEMORY, "plugin '", path, "' could not be loaded now: ", reason);
}

// The dynamic loader tells of it in words, if at all; reason: what its calls left in errno.
bool tells_of_shortage(std::string_view said, int reason) {
  if (is_shortage(reason)) return true;
  for (const char *words : {"annot allocate memory", "out of memory", "Too many open files"})
    if (said.find(words) != said.npos) return true;
  return false;
}

void refuse_if(const std::string &problem, const char *stage) {
  if (!problem.empty()) throw Refused{stage, problem};
}

// Trust and file format, before any code of the file runs. The checks are made on the open file and on every folder
// above it, and the loader is then given the same resolved path: between check and load only root or the user could put
// another file there, and they need no race for that. Loading /proc/self/fd/N instead would close even that gap, but
// the plugin's $ORIGIN and every debugger would see that name.
void inspect(const std::string &path, Origin origin) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && is_shortage(errno)) fail_for_now(path, std::strerror(errno));
  if (file < 0) throw Refused{"open", text("it could not be opened: ", std::strerror(errno))};
  struct Closer {
    int file;
    ~Closer() { close(file); }
  } const closer{file};
  struct stat status {};
  if (fstat(file, &status) != 0) throw Refused{"open", text("it could not be examined: ", std::strerror(errno))};
  if (origin == Origin::searched) refuse_if(trust_problem(file, path), "trust");
  refuse_if(elf_problem(file, status), "open");
  if (origin == Origin::own || origin == Origin::checked) return;
  const Stamp stamp = read_stamp(path);
  if (const auto failed = stamp.failed.find(whole_file); failed != stamp.failed.end() && !failed->second.empty())
    throw Refused{"self-test", text("sextant plugin check refused it: ", failed->second.begin()->second)};
}

// The dynamic loader does not survive every failed allocation whole: glibc's may keep its lock, and forget at the next
// load what a file needs. It is not called where it could not have what a load takes.
void require_memory_for_a_load(const std::string &path) {
  constexpr std::size_t enough = std::size_t{1} << 18;
  void *volatile memory = std::malloc(enough);  // volatile: or the compiler leaves both calls out
  std::free(memory);
  if (!memory) fail_for_now(path, "there is no memory for it");
}

sxt_plugin_entry_fn find_entry(const std::string &path) {
  require_memory_for_a_load(path);
  errno = 0;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const int reason = errno;
    const char *said = dlerror();
    if (tells_of_shortage(said ? said : "", reason)) fail_for_now(path, said ? said : std::strerror(reason));
    throw Refused{"open", text("the dynamic loader refused it: ", said ? said : "it gave no reason")};
  }
  // Never closed again: threads, handlers and device code of an unloaded plugin would live on.
  if (void *entry = dlsym(library, entry_symbol)) {
    thread_storage::add(entry);
    if (!thread_storage::ready()) fail_for_now(path, "there is no memory for its thread-local data");
    return reinterpret_cast<sxt_plugin_entry_fn>(entry);
  }
  const bool newer = dlsym(library, "sxt_plugin_entry_1") != nullptr;
  throw Refused{"entry", text("it has no symbol '", entry_symbol, "'",
                              newer ? "; it is a plugin for ABI 1 and needs a newer library" : ", so it is no plugin")};
}

const sxt_plugin &call_entry(sxt_plugin_entry_fn entry, const std::string &path) {
  const ErrorScope said;
  const sxt_plugin *plugin = nullptr;
  sxt_status status = SXT_E_INTERNAL;
  try {
    status = entry(&host(), &plugin);
  } catch (const std::bad_alloc &) {
    fail_for_now(path, "its entry ran out of memory");
  } catch (const std::exception &problem) {
    throw Refused{"entry", text("its entry let an exception out: ", problem.what())};
  } catch (...) {
    throw Refused{"entry", "its entry let an exception out"};
  }
  if (status == SXT_E_MEMORY) fail_for_now(path, said.sentence(status_sentence(status)));
  if (status != SXT_OK)
    throw Refused{"entry",
                  text("its entry returned ", status_name(status), ": ", said.sentence(status_sentence(status)))};
  if (!plugin) throw Refused{"entry", "its entry returned SXT_OK but no description"};
  return *plugin;
}

// A full-size copy with zeros where the plugin's author had no member yet.
template <class T>
T copy_of(const T &given) {
  T copy{};
  std::memcpy(&copy, &given, std::min<std::uint64_t>(given.struct_size, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

std::string or_empty(const char *string) { return string ? string : ""; }

Kernel &add_kernel(std::deque<Kernel> &kernels, const sxt_kernel &given, const Plugin &plugin, Verdict verdict) {
  Kernel &kernel = kernels.emplace_back();
  kernel.table = copy_of(given);
  kernel.plugin = &plugin;
  kernel.verdict = verdict;
  return kernel;
}

void take_kernels(const sxt_plugin &given, Verdict verdict, Loaded &loaded) {
  for (std::uint64_t i = 0; i < given.n_kernels; ++i) {
    const sxt_kernel *kernel = given.kernels[i];
    const std::string problem = kernel_problem(kernel);
    if (problem.empty()) {
      add_kernel(loaded.kernels, *kernel, loaded.plugin, verdict);
      continue;
    }
    // The name may be what is wrong: the number always tells which one is meant.
    const bool named = kernel && kernel->struct_size >= SXT_END_OF(sxt_kernel, name) && kernel->name && kernel->name[0];
    loaded.refused.push_back(
        {loaded.plugin.path, "kernel",
         text("kernel ", i, named ? text(" ('", std::string(kernel->name, strnlen(kernel->name, 255)), "')") : "",
              " of plugin '", loaded.plugin.name, "': ", problem)});
  }
  loaded.plugin.kernels = static_cast<std::int64_t>(loaded.kernels.size());
}

// The registry's own entry for a kind's reference kernel, which plugins usually list among their kernels too.
Kernel &reference_entry(const sxt_kernel &reference, Verdict verdict, Loaded &loaded) {
  for (Kernel &kernel : loaded.kernels)
    if (std::strcmp(kernel.table.name, reference.name) == 0 && kernel.table.run == reference.run) return kernel;
  return add_kernel(loaded.unlisted_references, reference, loaded.plugin, verdict);
}

void take_kinds(const sxt_plugin &given, Verdict verdict, Loaded &loaded) {
  for (std::uint64_t i = 0; i < given.n_kinds; ++i) {
    const std::string problem = kind_problem(given.kinds[i]);
    if (!problem.empty()) {
      loaded.refused.push_back(
          {loaded.plugin.path, "kind", text("kind ", i, " of plugin '", loaded.plugin.name, "': ", problem)});
      continue;
    }
    Kind &kind = loaded.kinds.emplace_back();
    kind.table = copy_of(*given.kinds[i]);
    if (given.kinds[i]->struct_size >= sizeof(sxt_kind_alike))
      kind.make_case_like = reinterpret_cast<const sxt_kind_alike *>(given.kinds[i])->make_case_like;
    kind.plugin = &loaded.plugin;
    if (kind.table.reference) {
      kind.reference = &reference_entry(*kind.table.reference, verdict, loaded);
      kind.table.reference = &kind.reference->table;
    }
  }
}

// What checks of these bytes found, kernel by kernel.
void apply_stamp(Loaded &loaded) {
  const Stamp stamp = read_stamp(loaded.plugin.path);
  for (Kernel &kernel : loaded.kernels) {
    if (const auto passed = stamp.passed.find(kernel.name()); passed != stamp.passed.end())
      kernel.stamped_on.assign(passed->second.begin(), passed->second.end());
    const auto failed = stamp.failed.find(kernel.name());
    if (failed == stamp.failed.end() || failed->second.empty()) continue;
    kernel.quarantine_reason = text("sextant plugin check refused it on ", failed->second.begin()->first, ": ",
                                    failed->second.begin()->second);
    kernel.verdict = Verdict::quarantined;
  }
}

std::unique_ptr<Loaded> describe(const sxt_plugin &outside, const std::string &path, Origin origin) {
  refuse_if(abi_problem(outside), "abi");
  const sxt_plugin given = copy_of(outside);
  refuse_if(plugin_problem(given), "entry");
  auto loaded = std::make_unique<Loaded>();
  loaded->plugin = {given.name,
                    given.version,
                    or_empty(given.vendor),
                    or_empty(given.license),
                    or_empty(given.build_id),
                    path,
                    origin == Origin::own,
                    0,
                    origin == Origin::named || origin == Origin::checked};
  const Verdict verdict = origin == Origin::own ? Verdict::passed : Verdict::untested;
  take_kernels(given, verdict, *loaded);
  take_kinds(given, verdict, *loaded);
  if (origin != Origin::own) apply_stamp(*loaded);
  return loaded;
}

}  // namespace

bool file_id(const std::string &path, FileId &id) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  id = {status.st_dev, status.st_ino};
  return true;
}

LoadResult load_file(const std::string &real_path, Origin origin) {
  try {
    inspect(real_path, origin);
    return {describe(call_entry(find_entry(real_path), real_path), real_path, origin), {}};
  } catch (const Refused &refused) {
    return {nullptr, {real_path, refused.stage, refused.reason}};
  }
}

}  // namespace sextant::registry
