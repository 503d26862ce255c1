// SPDX-License-Identifier: BSD-3-Clause
#include "core/context/context.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <sstream>

#include "core/base/hash.hpp"
#include "core/base/operation_kinds.hpp"
#include "core/base/shortage.hpp"
#include "core/device/host.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

namespace {

using registry::Registry;

std::vector<std::string> device_names(const registry::Scope &scope) {
  std::vector<std::string> names;
  for (const registry::Kernel *kernel : scope.all_kernels())
    if (std::string_view(kernel->table.kind) == SXT_KIND_DEVICE) names.emplace_back(kernel->table.device);
  return names;
}

const registry::Kernel *find_device(const registry::Scope &scope, const std::string &name) {
  for (const registry::Kernel *kernel : scope.kernels(SXT_KIND_DEVICE, name))
    if (kernel->table.ops) return kernel;
  return nullptr;
}

// Devices that a plugin says are there; none where it fails.
std::int32_t device_count(const registry::Kernel &kernel) {
  const ErrorScope unsaid;
  char reason[8] = "";
  sxt_message why_none{reason, sizeof reason};
  std::int32_t count = 0;
  try {
    const auto *ops = static_cast<const sxt_device_ops *>(kernel.table.ops);
    return ops->count(&count, &why_none) == SXT_OK ? count : 0;
  } catch (...) {  // forbidden; counts as a failure
    return 0;
  }
}

// "kind=kernel,kind=kernel".
std::map<std::string, std::string> parse_forces(const char *text_value) {
  std::map<std::string, std::string> forces;
  std::istringstream list(text_value ? text_value : "");
  list.exceptions(std::ios_base::badbit);  // or a force would be lost where memory is short
  for (std::string item; std::getline(list, item, ',');) {
    const auto equals = item.find('=');
    require(equals != std::string::npos && equals > 0, SXT_E_ARGUMENT, "SEXTANT_FORCE: '", item,
            "' is not of the form kind=kernel, as in sxt.spmv/1=spmv.csr.rows.cpu");
    forces[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return forces;
}

constexpr double usual_race_seconds = 0.1;

// "3" or "3:0.2": candidates, and seconds for all of them.
void parse_race(const std::string &said, int &candidates, double &seconds) {
  std::istringstream in(said);
  in.imbue(std::locale::classic());
  char colon = ':';
  const bool count = static_cast<bool>(in >> candidates) && candidates >= 0;
  const bool budget = in.eof() || (in >> colon >> seconds && colon == ':' && seconds > 0 && (in >> std::ws).eof());
  require(count && budget, SXT_E_ARGUMENT, "SEXTANT_RACE: '", said,
          "' is neither a number of candidates nor candidates:seconds, as in 3 or 3:0.2");
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

registry::Scope load(const ContextSettings &settings) {
  Registry::instance().load_default(settings.log);
  return Registry::instance().scope(settings.plugin_paths, settings.log);
}

// Bytes as people write them: digits, then nothing, K, M or G.
std::uint64_t bytes_from(const char *name, const std::string &text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  const std::string unit = text.substr(end);
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  require(end > 0 && end <= 9 + (shift == 0 ? 6 : 0) && shift >= 0, SXT_E_ARGUMENT, name, ": '", text,
          "' is no number of bytes such as 0, 512M or 4G");
  return std::stoull(text.substr(0, end)) << shift;
}

}  // namespace

Context::Context(const ContextSettings &settings) : id_(next_id()), settings_(settings), scope_(load(settings_)) {
  if (!settings_.profile_path.empty()) profile_ = shared_profile(settings_.profile_path);
  forced_by_environment_ = parse_forces(::secure_getenv("SEXTANT_FORCE"));
  for (const auto &[kind, kernel] : forced_by_environment_) check_names(kind, kernel);
  read_trial_settings();
  open_device();
  limit_pool();
  if (settings_.profile_path.empty()) find_profile();
  apply_profile();
  choices_changed();
}

Context::~Context() = default;

// Options go before the environment, and a deterministic context listens to neither.
void Context::read_trial_settings() {
  const char *race = ::secure_getenv("SEXTANT_RACE"), *feedback = ::secure_getenv("SEXTANT_FEEDBACK");
  int candidates = 0;
  double seconds = usual_race_seconds;
  if (race && *race) parse_race(race, candidates, seconds);
  const std::string said = feedback ? feedback : "";
  require(said.empty() || said == "0" || said == "1", SXT_E_ARGUMENT, "SEXTANT_FEEDBACK: '", said,
          "' is neither 0 nor 1");
  if (settings_.race == 0) settings_.race = candidates;
  if (settings_.race_seconds == 0) settings_.race_seconds = seconds;
  if (settings_.feedback == 0) settings_.feedback = said == "1";
  if (settings_.deterministic) settings_.race = settings_.feedback = 0;
  if (!settings_.deterministic) feedback_ = std::make_unique<Feedback>(settings_.feedback > 0);
}

void Context::open_device() {
  automatic_ = settings_.device.empty() || settings_.device == "auto";
  const std::vector<std::string> wanted =
      automatic_ ? std::vector<std::string>{"cuda", "cpu"} : std::vector<std::string>{settings_.device};
  std::string problem;
  for (const std::string &name : wanted) {
    const registry::Kernel *kernel = find_device(scope_, name);
    if (!kernel) continue;
    // That another device serves instead is no news where this one is not there; that its driver failed is.
    const std::string failure = automatic_ ? Registry::instance().driver_failure(name) : "";
    if (!failure.empty()) {
      problem = failure;
      settings_.log(SXT_LOG_WARNING, text("device = auto does without '", name, "': ", problem));
      continue;
    }
    try {
      device_ = std::make_unique<Device>(kernel->table, settings_.ordinal, settings_.threads, settings_.allocator,
                                         settings_.log);
      if (settings_.deterministic) device_->predict_for_one_thread();
      return;
    } catch (const Error &error) {
      problem = error.what();
      if (!automatic_) throw;
      const bool there = device_count(*kernel) > 0;
      settings_.log(there ? SXT_LOG_WARNING : SXT_LOG_DEBUG,
                    text("device = auto does without '", name, "': ", problem));
    }
  }
  // Where no device is known, plugins are missing, and the name is not what is wrong.
  const auto known = device_names(scope_);
  const std::string &named = settings_.device;
  const bool gpu = named == "cuda" || named == "gpu" || named == "GPU";
  if (problem.empty() && !automatic_ && !known.empty() && gpu)  // the nearest name would be "cpu"
    fail(SXT_E_UNKNOWN_NAME, "no device named '", named, "': GPUs are called 'cuda', and their kernels ",
         std::find(known.begin(), known.end(), "cuda") == known.end() ? "are not installed" : "are installed");
  require(!problem.empty() || automatic_ || known.empty(), SXT_E_UNKNOWN_NAME, unknown_name("device", named, known));
  fail(SXT_E_DEVICE, "no device could be opened", problem.empty() ? ": no device plugin was loaded from " : ": ",
       problem.empty() ? registry::own_plugin_directory() : problem);
}

// Of a device that keeps freed memory for later requests; the environment may say how much.
void Context::limit_pool() {
  const char *const name = "SEXTANT_DEVICE_POOL", *const said = ::secure_getenv(name);
  if (!said || !*said) return;
  const std::uint64_t bytes = bytes_from(name, said);
  const sxt_device_ops &ops = device_->ops();
  if (!ops.keep_at_most) return;
  const sxt_status status = ops.keep_at_most(device_->handle(), bytes);
  require(status == SXT_OK, SXT_E_DEVICE, name, ": the device did not take the limit of ", bytes, " bytes");
}

// The user's own profile of this machine, else the one that ships with the library. One that cannot be used is a
// warning: analytic numbers serve.
void Context::find_profile() {
  const char *said = ::secure_getenv("SEXTANT_PROFILE");
  const bool named = said && *said;
  for (const std::string &path : {default_profile_path(fingerprint()), shipped_profile_path(fingerprint())}) {
    std::error_code ignored;
    const bool there = !path.empty() && std::filesystem::exists(path, ignored);
    if (!there && !(named && path == default_profile_path(fingerprint()))) continue;
    try {
      profile_ = shared_profile(path);
      return;
    } catch (const Error &problem) {
      if (out_of_memory(problem)) throw;  // it may be a good one
      settings_.log(SXT_LOG_WARNING, text("the machine profile is not used: ", problem.what()));
      if (named) return;
    }
  }
}

void Context::use_profile(Profile profile) {
  profile_ = std::make_shared<const Profile>(std::move(profile));
  ++profiles_;
  apply_profile();
  choices_changed();
}

// To the machine that models see, and to the one that runs are spread over.
void Context::apply_profile() {
  profile_->apply(device_->machine());
  if (&device_->lending() != &device_->machine()) profile_->apply(device_->lending());
}

void Context::check_names(const std::string &kind, const std::string &kernel) const {
  // Every selection asks: the names are gathered for the sentence alone.
  std::vector<std::string> known;
  if (!scope_.kind(kind)) {
    for (const registry::Kind *each : scope_.kinds()) known.emplace_back(each->table.id);
    fail(SXT_E_UNKNOWN_NAME, unknown_name("kind", kind, known));
  }
  if (kernel.empty()) return;
  bool there = false;
  for (const registry::Kernel *each : scope_.all_kernels()) {
    if (kind != each->table.kind) continue;
    known.emplace_back(each->name());
    there = there || kernel == each->name();
  }
  require(there, SXT_E_UNKNOWN_NAME, unknown_name("kernel of kind " + kind, kernel, known));
}

void Context::force(const std::string &kind, const std::string &kernel) {
  check_names(kind, kernel);
  {
    const std::unique_lock lock(mutex_);
    if (kernel.empty())
      forced_.erase(kind);
    else
      forced_[kind] = kernel;
  }
  choices_changed();
}

void Context::choices_changed() {
  const std::uint64_t counts[] = {profiles_, misses_};
  std::uint64_t hash = fnv1a(counts, sizeof counts, plan_.content());
  {
    const std::shared_lock lock(mutex_);
    for (const auto &[kind, kernel] : forced_) {
      const std::string force = kind + "=" + kernel + ",";
      hash = fnv1a(force.data(), force.size(), hash);
    }
    choices_ = hash;
    ++epoch_;
  }
}

Context::Kept &Context::keep(std::unique_ptr<Kept> (*make)(Context &)) {
  const std::lock_guard lock(kept_mutex_);
  if (!kept_owner_) kept_owner_ = make(*this);
  kept_.store(kept_owner_.get(), std::memory_order_release);
  return *kept_owner_;
}

void Context::reconsider(std::string_view kind) noexcept {
  const bool operation = serves_operations(kind);
  if (!operation && kind != SXT_KIND_SPMV) return;
  ++epoch_;
  if (!operation) return;
  const std::uint64_t count = ++misses_;
  choices_ = fnv1a(&count, sizeof count, choices_);
}

std::string Context::load_plan(const std::string &path, bool required) {
  const std::string problem = plan_.load(path, fingerprint(), required);
  if (!problem.empty()) settings_.log(SXT_LOG_WARNING, "the plan is not followed: " + problem);
  if (problem.empty()) {
    const std::lock_guard lock(companion_mutex_);
    plan_path_ = path;
    plan_required_ = required;
    if (companion_) {
      companion_->plan_.load_beside(path, companion_->fingerprint(), required);
      companion_->choices_changed();
    }
  }
  choices_changed();
  return problem;
}

void Context::save_plan(const std::string &path) {
  const std::lock_guard lock(companion_mutex_);
  if (!companion_) return plan_.save(path, fingerprint());
  const PlanBook::Beside beside{&companion_->plan_, companion_->fingerprint()};
  plan_.save(path, fingerprint(), &beside);
}

const char *Context::settles_device() const {
  if (device_->on_host()) return "there is no other device";
  if (!automatic_) return "the context names its device";
  if (settings_.deterministic) return "the context is deterministic";
  if (device_->callers_stream()) return "the context has a stream of the caller's";
  const std::shared_lock lock(mutex_);
  return forced_.empty() && forced_by_environment_.empty() ? "" : "a kernel is forced";
}

std::shared_ptr<Context> Context::companion() {
  if (!weighs_devices()) return nullptr;
  const std::lock_guard lock(companion_mutex_);
  if (std::exchange(companion_tried_, true)) return companion_;
  ContextSettings settings = settings_;
  settings.device = "cpu";
  settings.ordinal = 0;
  settings.profile_path.clear();  // it speaks of the device
  try {
    companion_ = std::make_shared<Context>(settings);
    if (!plan_path_.empty()) companion_->plan_.load_beside(plan_path_, companion_->fingerprint(), plan_required_);
  } catch (const Error &problem) {
    settings_.log(SXT_LOG_WARNING, text("all work goes to device '", device_name(), "': ", problem.what()));
    companion_tried_ = !out_of_memory(problem);
  }
  return companion_;
}

std::string Context::forced(const std::string &kind, const char **by) const {
  const std::shared_lock lock(mutex_);
  if (const auto found = forced_.find(kind); found != forced_.end()) return *by = "by call", found->second;
  if (const auto found = forced_by_environment_.find(kind); found != forced_by_environment_.end())
    return *by = "by SEXTANT_FORCE", found->second;
  return "";
}

std::string Context::describe() const {
  const sxt_machine &m = device_->lending();
  return text(m.device, ": ", m.name ? m.name : "unnamed", ", ", m.units, " units, ", m.memory_bytes >> 20,
              " MiB memory, ", m.cache_bytes >> 10, " KiB last cache, ", m.stream_rate / 1e9, " GB/s from memory, ",
              m.cache_rate / 1e9, " GB/s from cache (", profile_->path.empty() ? "analytic" : profile_->path, ")");
}

std::string Context::fingerprint() const {
  const sxt_machine &m = machine();
  return text(m.device, "/", m.name ? m.name : "", "/", m.units, "/", m.level);
}

}  // namespace sextant
