// SPDX-License-Identifier: BSD-3-Clause
// Loading passes over files and directories, and look-ups in what they brought.
#include "core/registry/registry.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/late_log.hpp"
#include "core/device/host.hpp"
#include "core/registry/loader.hpp"
#include "core/registry/paths.hpp"
#include "core/registry/view.hpp"
#include "sextant/plugin/kinds/device.h"

namespace sextant::registry {

struct Registry::State {
  std::string own_directory;
  std::mutex loading;  // one load at a time; held while plugins' entries run
  bool default_loaded = false;
  std::vector<std::unique_ptr<Loaded>> loaded;  // with `files` only touched under `loading`
  std::map<FileId, const Loaded *> files;

  std::map<std::string, std::string> failing;  // devices whose driver failed when it was asked, and how
  std::map<std::vector<const Loaded *>, std::shared_ptr<const View>> views;  // by what contexts name

  mutable std::shared_mutex access;                                   // guards what readers see
  std::shared_ptr<const View> view = std::make_shared<const View>();  // of everything
  std::atomic<std::uint64_t> changes{0};
  std::deque<Refusal> refusals;
  std::set<std::tuple<std::string, std::string, std::string>> recorded;

  bool record(const Refusal &refusal);
  const Refusal *why_idle(const Loaded &plugin, const View &in) const;
  std::string device_problem(const std::string &device, bool &failed) const;
};

// False when the same was recorded before.
bool Registry::State::record(const Refusal &refusal) {
  const std::unique_lock lock(access);
  std::tuple key(refusal.path, refusal.stage, refusal.reason);
  if (recorded.count(key)) return false;
  refusals.push_back(refusal);  // both or neither: what is known as recorded must stand in the list
  try {
    recorded.insert(std::move(key));
  } catch (...) {
    refusals.pop_back();
    throw;
  }
  return true;
}

// The refusal that left a loaded plugin without anything in force, NULL when something is, or when all it lacks is a
// kind that may still come.
const Refusal *Registry::State::why_idle(const Loaded &plugin, const View &in) const {
  const std::shared_lock lock(access);
  for (const auto &[name, kernel] : in.kernels)
    if (kernel->plugin == &plugin.plugin) return nullptr;
  for (const auto &[id, kind] : in.kinds)
    if (kind->plugin == &plugin.plugin) return nullptr;
  for (const Kernel &kernel : plugin.kernels)
    if (in.kinds.count(kernel.table.kind) == 0) return nullptr;
  for (const Refusal &refusal : refusals)
    if (refusal.path == plugin.plugin.path) return &refusal;
  return nullptr;
}

// Why there is no device of this name, "" when there is one. Asks the device plugins loaded so far, whose entries may
// not be in the view yet. failed: set where a driver failed, which may pass, rather than having no device.
std::string Registry::State::device_problem(const std::string &device, bool &failed) const {
  std::string problem = text("no loaded device plugin offers device '", device, "'");
  for (const auto &entry : loaded) {
    for (const Kernel &kernel : entry->kernels) {
      if (std::strcmp(kernel.table.kind, SXT_KIND_DEVICE) != 0 || device != kernel.table.device) continue;
      char reason[512] = "";
      sxt_message why_none{reason, sizeof reason};
      std::int32_t count = 0;
      const ErrorScope said;
      sxt_status status = SXT_E_INTERNAL;
      try {
        status = static_cast<const sxt_device_ops *>(kernel.table.ops)->count(&count, &why_none);
      } catch (...) {  // forbidden; counts as a failure
      }
      if (status == SXT_OK && count > 0) return failed = false, "";
      require(status != SXT_E_MEMORY, SXT_E_MEMORY, "device '", device,
              "' could not be asked for: ", said.sentence(status_sentence(status)));
      failed = failed || status != SXT_OK;
      const std::string why =
          reason[0] ? reason : said.sentence(status == SXT_OK ? "it gave no reason" : status_sentence(status));
      problem = text("device '", device, "' is not there: ", why);
    }
  }
  return problem;
}

// One load: from files to the new view and to the log.
class Registry::Pass {
 public:
  Pass(State &state, const LogSink &log) : state_(state), log_(log), messages_(log) {}
  // Takes one file. NULL: it was refused, with the record in `refusal`.
  const Loaded *file(const std::string &path, Origin origin, Refusal &refusal);
  // A directory as Sextant lays it out: device plugins, a folder for each device, and files beside them.
  void directory(const std::string &path, Origin origin);
  // Such a directory's folder for one device, which was not available before.
  void device_files(const std::string &path, const std::string &device, Origin origin) {
    files_of(joined(path, device), origin);
  }
  // Every .so at any depth, device plugins first.
  void tree(const std::string &path);
  // Puts what was loaded in force.
  void finish();
  int added() const { return static_cast<int>(taken_.size()); }
  const std::vector<const Loaded *> &taken() const { return taken_; }

 private:
  void files_of(const std::string &folder, Origin origin);
  void absent_device(const std::string &folder, const std::string &problem);
  void refuse(const Refusal &refusal, sxt_log_level level);

  State &state_;
  const LogSink &log_;
  LogScope messages_;
  std::set<FileId> seen_;              // directories of a tree
  std::vector<const Loaded *> taken_;  // with those that were loaded before
};

namespace {
constexpr const char *device_folder = "device";  // of device plugins, within a plugin directory

// Device plugins first, then the others in byte order.
std::vector<std::string> device_first(std::vector<std::string> names) {
  std::stable_partition(names.begin(), names.end(), [](const std::string &name) { return name == device_folder; });
  return names;
}
}  // namespace

void Registry::Pass::refuse(const Refusal &refusal, sxt_log_level level) {
  if (state_.record(refusal)) log_(level, text("refused '", refusal.path, "' (", refusal.stage, "): ", refusal.reason));
}

const Loaded *Registry::Pass::file(const std::string &path, Origin origin, Refusal &refusal) {
  const std::string real = real_path(path);
  FileId id{};
  if (real.empty() || !file_id(real, id)) {
    refusal = {path, "open", text("it could not be opened: ", std::strerror(errno))};
    return refuse(refusal, SXT_LOG_WARNING), nullptr;
  }
  if (const auto known = state_.files.find(id); known != state_.files.end())
    return taken_.push_back(known->second), known->second;
  state_.loaded.reserve(state_.loaded.size() + 1);
  taken_.reserve(taken_.size() + 1);
  LoadResult result = load_file(real, origin);
  if (!result.loaded) return refuse(refusal = result.refusal, SXT_LOG_WARNING), nullptr;
  result.loaded->common = origin == Origin::own || origin == Origin::searched;
  state_.files.emplace(id, result.loaded.get());  // before the list, whose room is there: both or neither
  const Loaded &loaded = *state_.loaded.emplace_back(std::move(result.loaded));
  if (loaded.common) state_.views.clear();
  log_(SXT_LOG_DEBUG, text("loaded plugin '", loaded.plugin.name, "' ", loaded.plugin.version, " from '", real, "'"));
  for (const Kernel &kernel : loaded.kernels)
    if (kernel.verdict == Verdict::quarantined)
      refuse({real, "self-test", text("kernel '", kernel.name(), "' is quarantined: ", kernel.quarantine_reason)},
             SXT_LOG_WARNING);
  return taken_.push_back(&loaded), &loaded;
}

void Registry::Pass::files_of(const std::string &folder, Origin origin) {
  Refusal refusal;
  for (const std::string &name : sorted_entries(folder))
    if (has_plugin_suffix(name)) file(joined(folder, name), origin, refusal);
}

// A folder for a device that is not there: its files are not touched, each has its record.
void Registry::Pass::absent_device(const std::string &folder, const std::string &problem) {
  for (const std::string &name : sorted_entries(folder))
    if (has_plugin_suffix(name)) refuse({joined(folder, name), "device", problem}, SXT_LOG_DEBUG);
}

void Registry::Pass::directory(const std::string &path, Origin origin) {
  files_of(joined(path, device_folder), origin);
  for (const std::string &name : sorted_entries(path)) {
    const std::string folder = joined(path, name);
    if (name == device_folder || has_plugin_suffix(name) || !is_directory(folder)) continue;
    bool failed = false;
    const std::string problem = state_.device_problem(name, failed);
    if (problem.empty())
      files_of(folder, origin);
    else
      absent_device(folder, problem);
    if (failed && state_.failing.emplace(name, problem).second)
      log_(SXT_LOG_WARNING, text(problem, "; its plugins are left out until a later context finds it"));
  }
  files_of(path, origin);
}

void Registry::Pass::tree(const std::string &path) {
  Refusal refusal;
  FileId id{};
  if (!file_id(path, id) || !seen_.insert(id).second) return;  // symbolic links may lead in a circle
  for (const std::string &name : device_first(sorted_entries(path))) {
    const std::string entry = joined(path, name);
    if (has_plugin_suffix(name))
      file(entry, Origin::named, refusal);
    else if (is_directory(entry))
      tree(entry);
  }
}

void Registry::Pass::finish() {
  for (const auto &entry : state_.loaded)
    for (const Refusal &refusal : entry->refused) refuse(refusal, SXT_LOG_WARNING);
  std::vector<const Loaded *> all;
  for (const auto &entry : state_.loaded) all.push_back(entry.get());
  auto view = std::make_shared<const View>(
      make_view(all, [this](const Refusal &refusal) { refuse(refusal, SXT_LOG_WARNING); }));
  const std::unique_lock lock(state_.access);
  state_.view = std::move(view);
  ++state_.changes;
}

Registry::Registry(std::string own_directory) : state_(std::make_unique<State>()) {
  state_->own_directory = std::move(own_directory);
}

Registry::~Registry() = default;

Registry &Registry::instance() {
  static Registry *const the = new Registry(own_plugin_directory());  // kernels outlive every static destructor
  return *the;
}

void Registry::load_default(const LogSink &log) {
  const LateLog late(log);
  const std::lock_guard one_at_a_time(state_->loading);
  if (state_->default_loaded) return retry_drivers(late.sink());
  Pass pass(*state_, late.sink());
  pass.directory(state_->own_directory, Origin::own);
  for (const SearchPath &search : search_paths()) {
    Refusal refusal;
    if (is_directory(search.path))
      pass.directory(search.path, Origin::searched);
    else if (search.named)  // a file, or a misspelt path that deserves its record
      pass.file(search.path, Origin::searched, refusal);
  }
  pass.finish();
  state_->default_loaded = true;
}

// Devices whose drivers failed are asked again: such a failure may have passed.
void Registry::retry_drivers(const LogSink &log) {
  bool found = false;
  Pass pass(*state_, log);
  for (auto at = state_->failing.begin(); at != state_->failing.end();) {
    bool failed = false;
    at->second = state_->device_problem(at->first, failed);
    if (!at->second.empty()) {
      log(SXT_LOG_WARNING, text(at->second, "; its plugins are still left out"));
      ++at;
      continue;
    }
    found = true;
    log(SXT_LOG_INFO, text("device '", at->first, "' is there now; its plugins are loaded"));
    pass.device_files(state_->own_directory, at->first, Origin::own);
    for (const SearchPath &search : search_paths()) pass.device_files(search.path, at->first, Origin::searched);
    at = state_->failing.erase(at);
  }
  if (found) pass.finish();
}

std::string Registry::driver_failure(const std::string &device) const {
  const std::lock_guard one_at_a_time(state_->loading);
  const auto found = state_->failing.find(device);
  return found == state_->failing.end() ? "" : found->second;
}

// Loads a file or a tree; under `loading`. Throws what load_path says, but for a file that adds nothing.
std::vector<const Loaded *> Registry::take(const std::string &path, const LogSink &log, bool checks) {
  const std::string real = real_path(path);
  require(!real.empty(), SXT_E_FILE_READ, "plugin path '", path, "' could not be read: ", std::strerror(errno));
  Pass pass(*state_, log);
  if (is_directory(real)) {
    pass.tree(real);
    pass.finish();
    return pass.taken();
  }
  Refusal refusal;
  const Loaded *loaded = pass.file(real, checks ? Origin::checked : Origin::named, refusal);
  pass.finish();
  if (!loaded) fail(SXT_E_PLUGIN, "plugin '", path, "' was refused at stage '", refusal.stage, "': ", refusal.reason);
  return pass.taken();
}

// A file that was named must bring something. A tree may hold what others bring, too.
void Registry::expect_use(const std::string &path, const std::vector<const Loaded *> &taken, const View &in) const {
  if (taken.size() != 1 || is_directory(path)) return;
  if (const Refusal *idle = state_->why_idle(*taken.front(), in))
    fail(SXT_E_PLUGIN, "plugin '", path, "' was refused at stage '", idle->stage, "': ", idle->reason);
}

int Registry::load_path(const std::string &path, const LogSink &log) {
  const LateLog late(log);
  const std::lock_guard one_at_a_time(state_->loading);
  const std::vector<const Loaded *> taken = take(path, late.sink());
  expect_use(path, taken, *Scope(*this).view_);
  return static_cast<int>(taken.size());
}

// What the process has and these; under `loading`.
std::shared_ptr<const View> Registry::view_of(std::vector<const Loaded *> named) {
  std::erase_if(named, [](const Loaded *each) { return each->common; });
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  std::shared_ptr<const View> &view = state_->views[named];
  if (view) return view;
  std::vector<const Loaded *> seen;
  for (const auto &entry : state_->loaded)
    if (entry->common || std::binary_search(named.begin(), named.end(), entry.get())) seen.push_back(entry.get());
  auto made = std::make_shared<View>(make_view(seen, [this](const Refusal &refusal) { state_->record(refusal); }));
  made->named = named;
  return view = std::move(made);
}

Scope Registry::scope(const std::vector<std::string> &paths, const LogSink &log) {
  const LateLog late(log);
  const std::lock_guard one_at_a_time(state_->loading);
  std::vector<const Loaded *> named;
  std::vector<std::vector<const Loaded *>> of_path;
  for (const std::string &path : paths) {
    of_path.push_back(take(path, late.sink()));
    named.insert(named.end(), of_path.back().begin(), of_path.back().end());
  }
  Scope scope(*this, view_of(named));
  for (std::size_t i = 0; i < paths.size(); ++i) expect_use(paths[i], of_path[i], *scope.view_);
  return scope;
}

Scope Registry::extended(const Scope &scope, const std::string &path, const LogSink &log) {
  const LateLog late(log);
  const std::lock_guard one_at_a_time(state_->loading);
  const std::vector<const Loaded *> taken = take(path, late.sink(), true);
  std::vector<const Loaded *> named = scope.view_->named;
  named.insert(named.end(), taken.begin(), taken.end());
  Scope wider(*this, view_of(named));
  expect_use(path, taken, *wider.view_);
  return wider;
}

Scope::Scope(Registry &registry) : registry_(&registry) {
  const std::shared_lock lock(registry.state_->access);
  view_ = registry.state_->view;
}

std::uint64_t Scope::number() const noexcept { return view_->number; }

std::vector<const Kernel *> Scope::kernels(std::string_view kind, std::string_view device) const {
  const auto of_kind = view_->by_kind.find(kind);
  if (of_kind == view_->by_kind.end()) return {};
  const auto on_device = of_kind->second.find(device);
  return on_device == of_kind->second.end() ? std::vector<const Kernel *>() : on_device->second;
}

std::vector<const Kernel *> Registry::own_kernels(std::string_view kind, std::string_view device) const {
  const std::shared_lock lock(state_->access);
  std::vector<const Kernel *> found;
  const auto of_kind = state_->view->own_by_kind.find(kind);
  if (of_kind == state_->view->own_by_kind.end()) return found;
  for (const Kernel *kernel : of_kind->second)
    if (device == kernel->table.device && kernel->verdict != Verdict::quarantined) found.push_back(kernel);
  return found;
}

std::vector<const Kernel *> Scope::all_kernels() const {
  std::vector<const Kernel *> all;
  for (const auto &[name, kernel] : view_->kernels) all.push_back(kernel);
  return all;
}

std::vector<const Kind *> Scope::kinds() const {
  std::vector<const Kind *> all;
  for (const auto &[id, kind] : view_->kinds) all.push_back(kind);
  return all;
}

const Kernel *Scope::find(std::string_view name) const {
  const auto found = view_->kernels.find(name);
  return found == view_->kernels.end() ? nullptr : found->second;
}

const Kind *Scope::kind(std::string_view id) const {
  const auto found = view_->kinds.find(id);
  return found == view_->kinds.end() ? nullptr : found->second;
}

std::vector<const Kernel *> Registry::kernels(std::string_view kind, std::string_view device) const {
  return seen().kernels(kind, device);
}

std::vector<const Kernel *> Registry::all_kernels() const { return seen().all_kernels(); }

std::vector<const Plugin *> Registry::plugins() const {
  const std::shared_lock lock(state_->access);
  return state_->view->plugins;
}

std::vector<const Refusal *> Registry::refusals() const {
  const std::shared_lock lock(state_->access);
  std::vector<const Refusal *> all;
  for (const Refusal &refusal : state_->refusals) all.push_back(&refusal);
  return all;
}

std::vector<const Kind *> Registry::kinds() const { return seen().kinds(); }

std::size_t Registry::kernel_count() const {
  const std::shared_lock lock(state_->access);
  return state_->view->kernels.size();
}

std::size_t Registry::plugin_count() const {
  const std::shared_lock lock(state_->access);
  return state_->view->plugins.size();
}

std::size_t Registry::refusal_count() const {
  const std::shared_lock lock(state_->access);
  return state_->refusals.size();
}

const Kernel *Registry::find(std::string_view name) const { return seen().find(name); }

const Kind *Registry::kind(std::string_view id) const { return seen().kind(id); }

Scope Registry::seen() const { return Scope(*const_cast<Registry *>(this)); }

std::uint64_t Registry::changes() const noexcept { return state_->changes.load(std::memory_order_acquire); }

void Registry::quarantine(const Kernel &kernel, const std::string &reason, const LogSink &log) {
  if (kernel.verdict.load(std::memory_order_acquire) == Verdict::quarantined) return;
  // The record first: a kernel must not be out without one because memory ran out between the two.
  const std::string sentence = text("kernel '", kernel.name(), "' is quarantined: ", reason);
  state_->record({kernel.plugin->path, "self-test", sentence});
  {
    const std::unique_lock lock(state_->access);
    if (kernel.verdict.load(std::memory_order_relaxed) == Verdict::quarantined) return;
    kernel.quarantine_reason = reason;
    kernel.verdict.store(Verdict::quarantined, std::memory_order_release);
    ++state_->changes;
  }
  log(SXT_LOG_WARNING, sentence);
}

void Registry::clear(const Kernel &kernel) {
  const std::unique_lock lock(state_->access);
  if (kernel.verdict.load(std::memory_order_relaxed) != Verdict::quarantined) return;
  kernel.verdict.store(Verdict::untested, std::memory_order_release);
  ++state_->changes;
}

}  // namespace sextant::registry
