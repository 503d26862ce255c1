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
#include "core/registry/host.hpp"
#include "core/registry/loader.hpp"
#include "core/registry/paths.hpp"
#include "core/registry/view.hpp"
#include "sextant/kinds/device.h"

namespace sextant::registry {

struct Registry::State {
  std::string own_directory;
  std::mutex loading;  // one load at a time; held while plugins' entries run
  bool default_loaded = false;
  std::vector<std::unique_ptr<Loaded>> loaded;  // with `files` only touched under `loading`
  std::map<FileId, const Loaded *> files;

  mutable std::shared_mutex access;  // guards what readers see
  View view;
  std::atomic<std::uint64_t> changes{0};
  std::deque<Refusal> refusals;
  std::set<std::tuple<std::string, std::string, std::string>> recorded;

  bool record(const Refusal &refusal);
  const Refusal *why_idle(const Loaded &plugin) const;
  std::string device_problem(const std::string &device) const;
};

// False when the same was recorded before.
bool Registry::State::record(const Refusal &refusal) {
  const std::unique_lock lock(access);
  if (!recorded.emplace(refusal.path, refusal.stage, refusal.reason).second) return false;
  refusals.push_back(refusal);
  return true;
}

// The refusal that left a loaded plugin without anything in force, NULL when something is, or when all it lacks is a
// kind that may still come.
const Refusal *Registry::State::why_idle(const Loaded &plugin) const {
  const std::shared_lock lock(access);
  for (const auto &[name, kernel] : view.kernels)
    if (kernel->plugin == &plugin.plugin) return nullptr;
  for (const auto &[id, kind] : view.kinds)
    if (kind->plugin == &plugin.plugin) return nullptr;
  for (const Kernel &kernel : plugin.kernels)
    if (view.kinds.count(kernel.table.kind) == 0) return nullptr;
  for (const Refusal &refusal : refusals)
    if (refusal.path == plugin.plugin.path) return &refusal;
  return nullptr;
}

// Why there is no device of this name, "" when there is one. Asks the device plugins loaded so far, whose entries may
// not be in the view yet.
std::string Registry::State::device_problem(const std::string &device) const {
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
      if (status == SXT_OK && count > 0) return "";
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
  // Every .so at any depth, device plugins first.
  void tree(const std::string &path);
  // Puts what was loaded in force.
  void finish();
  int added() const { return added_; }

 private:
  void files_of(const std::string &folder, Origin origin);
  void absent_device(const std::string &folder, const std::string &problem);
  void refuse(const Refusal &refusal, sxt_log_level level);

  State &state_;
  const LogSink &log_;
  LogScope messages_;
  std::set<FileId> seen_;  // directories of a tree
  int added_ = 0;
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
  if (const auto known = state_.files.find(id); known != state_.files.end()) return ++added_, known->second;
  LoadResult result = load_file(real, origin);
  if (!result.loaded) return refuse(refusal = result.refusal, SXT_LOG_WARNING), nullptr;
  const Loaded &loaded = *state_.loaded.emplace_back(std::move(result.loaded));
  state_.files.emplace(id, &loaded);
  log_(SXT_LOG_DEBUG, text("loaded plugin '", loaded.plugin.name, "' ", loaded.plugin.version, " from '", real, "'"));
  return ++added_, &loaded;
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
    const std::string problem = state_.device_problem(name);
    if (problem.empty())
      files_of(folder, origin);
    else
      absent_device(folder, problem);
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
  View view = make_view(state_.loaded, [this](const Refusal &refusal) { refuse(refusal, SXT_LOG_WARNING); });
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
  const std::lock_guard one_at_a_time(state_->loading);
  if (state_->default_loaded) return;
  Pass pass(*state_, log);
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

int Registry::load_path(const std::string &path, const LogSink &log) {
  const std::string real = real_path(path);
  require(!real.empty(), SXT_E_FILE_READ, "plugin path '", path, "' could not be read: ", std::strerror(errno));
  const std::lock_guard one_at_a_time(state_->loading);
  Pass pass(*state_, log);
  if (is_directory(real)) {
    pass.tree(real);
    pass.finish();
    return pass.added();
  }
  Refusal refusal;
  const Loaded *loaded = pass.file(real, Origin::named, refusal);
  pass.finish();
  if (const Refusal *idle = loaded ? state_->why_idle(*loaded) : &refusal)
    fail(SXT_E_PLUGIN, "plugin '", path, "' was refused at stage '", idle->stage, "': ", idle->reason);
  return pass.added();
}

std::vector<const Kernel *> Registry::kernels(std::string_view kind, std::string_view device) const {
  const std::shared_lock lock(state_->access);
  std::vector<const Kernel *> found;
  const auto of_kind = state_->view.by_kind.find(kind);
  if (of_kind == state_->view.by_kind.end()) return found;
  for (const Kernel *kernel : of_kind->second)
    if (device == kernel->table.device) found.push_back(kernel);
  return found;
}

std::vector<const Kernel *> Registry::own_kernels(std::string_view kind, std::string_view device) const {
  const std::shared_lock lock(state_->access);
  std::vector<const Kernel *> found;
  const auto of_kind = state_->view.own_by_kind.find(kind);
  if (of_kind == state_->view.own_by_kind.end()) return found;
  for (const Kernel *kernel : of_kind->second)
    if (device == kernel->table.device && kernel->verdict != Verdict::quarantined) found.push_back(kernel);
  return found;
}

std::vector<const Kernel *> Registry::all_kernels() const {
  const std::shared_lock lock(state_->access);
  std::vector<const Kernel *> all;
  for (const auto &[name, kernel] : state_->view.kernels) all.push_back(kernel);
  return all;
}

std::vector<const Plugin *> Registry::plugins() const {
  const std::shared_lock lock(state_->access);
  return state_->view.plugins;
}

std::vector<const Refusal *> Registry::refusals() const {
  const std::shared_lock lock(state_->access);
  std::vector<const Refusal *> all;
  for (const Refusal &refusal : state_->refusals) all.push_back(&refusal);
  return all;
}

std::vector<const Kind *> Registry::kinds() const {
  const std::shared_lock lock(state_->access);
  std::vector<const Kind *> all;
  for (const auto &[id, kind] : state_->view.kinds) all.push_back(kind);
  return all;
}

std::size_t Registry::kernel_count() const {
  const std::shared_lock lock(state_->access);
  return state_->view.kernels.size();
}

std::size_t Registry::plugin_count() const {
  const std::shared_lock lock(state_->access);
  return state_->view.plugins.size();
}

std::size_t Registry::refusal_count() const {
  const std::shared_lock lock(state_->access);
  return state_->refusals.size();
}

const Kernel *Registry::find(std::string_view name) const {
  const std::shared_lock lock(state_->access);
  const auto found = state_->view.kernels.find(name);
  return found == state_->view.kernels.end() ? nullptr : found->second;
}

const Kind *Registry::kind(std::string_view id) const {
  const std::shared_lock lock(state_->access);
  const auto found = state_->view.kinds.find(id);
  return found == state_->view.kinds.end() ? nullptr : found->second;
}

std::uint64_t Registry::changes() const noexcept { return state_->changes.load(std::memory_order_acquire); }

void Registry::quarantine(const Kernel &kernel, const std::string &reason) {
  {
    const std::unique_lock lock(state_->access);
    if (kernel.verdict.load(std::memory_order_relaxed) == Verdict::quarantined) return;
    kernel.quarantine_reason = reason;
    kernel.verdict.store(Verdict::quarantined, std::memory_order_release);
    ++state_->changes;
  }
  state_->record({kernel.plugin->path, "self-test", text("kernel '", kernel.name(), "' is quarantined: ", reason)});
}

}  // namespace sextant::registry
