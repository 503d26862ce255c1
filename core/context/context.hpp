// SPDX-License-Identifier: BSD-3-Clause
// A context: one device, one allocator, one log, one profile, and the choices made so far. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.hpp"
#include "core/base/memory.hpp"
#include "core/context/feedback.hpp"
#include "core/device/device.hpp"
#include "core/model/cost.hpp"
#include "core/plan/plan.hpp"
#include "core/registry/registry.hpp"

namespace sextant {

struct ContextSettings {
  std::string device;  // "" or "auto": the first of cuda, cpu that is there
  std::int32_t ordinal = 0, threads = 0;
  std::string profile_path;
  std::vector<std::string> plugin_paths;
  LogSink log;
  Allocator allocator;
  bool deterministic = false;
  int race = 0, feedback = 0;  // 0: as the environment says; race < 0, feedback < 0: off
  double race_seconds = 0;     // 0: as the environment says
};

class Context : public std::enable_shared_from_this<Context> {
 public:
  explicit Context(const ContextSettings &settings);
  ~Context();

  Device &device() const noexcept { return *device_; }
  const sxt_machine &machine() const noexcept { return device_->machine(); }
  const char *device_name() const noexcept { return machine().device; }
  const Allocator &allocator() const noexcept { return settings_.allocator; }
  const LogSink &log() const noexcept { return settings_.log; }
  const Profile &profile() const noexcept { return *profile_; }
  const std::shared_ptr<const Profile> &held_profile() const noexcept { return profile_; }
  // From now on predictions follow this profile. Nothing else may run in the context meanwhile.
  void use_profile(Profile profile);
  bool deterministic() const noexcept { return settings_.deterministic; }
  // How many candidates race for a choice (below 2: none do), and for how long together.
  int race() const noexcept { return settings_.race; }
  double race_seconds() const noexcept { return settings_.race_seconds; }
  // Measured runs of this context, of which gross misses always count; NULL in deterministic ones.
  Feedback *feedback() const noexcept { return feedback_.get(); }
  int threads() const noexcept { return device().host_threads(); }  // of the host, whatever the device
  // Those that predictions may count on: one in a deterministic context, whose choices know of no others.
  int model_threads() const noexcept { return device().model_threads(); }
  PlanBook &plan() noexcept { return plan_; }
  // What the code above it keeps with a context: one object, made when it is first asked for, destroyed before the
  // device. Every call is given the same function. [any-thread]
  class Kept {
   public:
    virtual ~Kept() = default;
  };
  Kept &kept(std::unique_ptr<Kept> (*make)(Context &)) {
    Kept *const known = kept_.load(std::memory_order_acquire);
    return known ? *known : keep(make);
  }
  // The plugins of the process and those that this context's options name: no other context's.
  const registry::Scope &scope() const noexcept { return scope_; }

  // Throws SXT_E_UNKNOWN_NAME, naming the nearest, for a kind or kernel ("" for any) that is not loaded.
  void check_names(const std::string &kind, const std::string &kernel) const;
  // "": the model chooses. Throws SXT_E_UNKNOWN_NAME for a kind or kernel that is not loaded.
  void force(const std::string &kind, const std::string &kernel);
  // The kernel forced for a kind by call or environment, "" for none; *by says which of them.
  std::string forced(const std::string &kind, const char **by) const;

  // "" or why the file is not followed (see PlanBook::load).
  std::string load_plan(const std::string &path, bool required);
  void save_plan(const std::string &path);  // with what was chosen in the companion, if there is one
  // Rises whenever later choices may differ from earlier ones: a force, a loaded plan, another profile.
  std::uint64_t epoch() const noexcept { return epoch_; }
  // The model of a kernel of this kind was found to miss grossly: operations and products that such kernels may serve
  // are chosen anew. Nothing else that is kept would be chosen otherwise.
  void reconsider(std::string_view kind) noexcept;
  // The same number whenever later choices follow the same forces, plan and profile: a force that comes back has the
  // one it had. Its operations are built once, however often a program changes between kernels.
  std::uint64_t choices() const noexcept { return choices_; }
  // Tells contexts apart in messages, even when one is made where another lay.
  std::uint64_t id() const noexcept { return id_; }

  // Device kind, name, threads, memory and rates, for people.
  std::string describe() const;
  // Whether work on arrays that lie in host memory may go to the CPU instead, where that is predicted to end sooner:
  // the device was chosen automatically and has memory of its own, and nothing else says what is to run (a stream of
  // the caller's, a forced kernel, determinism). A loaded plan says by its entries. [any-thread]
  bool weighs_devices() const { return !*settles_device(); }
  // What settles that work goes to the context's device; "": the models say. Static. [any-thread]
  const char *settles_device() const;
  // The CPU context for such work, with the settings of this one; made at first use. NULL where devices are not weighed
  // or the CPU cannot be opened. [any-thread]
  std::shared_ptr<Context> companion();

  // What identifies the machine in plans: choices made elsewhere are decided anew.
  std::string fingerprint() const;

 private:
  void open_device();
  void read_trial_settings();
  void find_profile();
  void apply_profile();
  void limit_pool();

  void choices_changed();
  Kept &keep(std::unique_ptr<Kept> (*make)(Context &));

  const std::uint64_t id_;
  std::atomic<std::uint64_t> epoch_{1}, choices_{1};
  std::uint64_t profiles_ = 0;            // how often use_profile was called
  std::atomic<std::uint64_t> misses_{0};  // of operations, that reconsider was told of
  ContextSettings settings_;
  registry::Scope scope_;
  std::shared_ptr<const Profile> profile_ = std::make_shared<const Profile>();
  std::unique_ptr<Device> device_;
  PlanBook plan_;
  std::unique_ptr<Feedback> feedback_;
  std::mutex kept_mutex_;  // held while it is made
  std::unique_ptr<Kept> kept_owner_;
  std::atomic<Kept *> kept_{nullptr};
  mutable std::shared_mutex mutex_;  // of forced_
  std::map<std::string, std::string> forced_, forced_by_environment_;
  bool automatic_ = false;      // the device was not named
  std::mutex companion_mutex_;  // of what follows
  std::string plan_path_;       // of the loaded plan; "": there is none
  bool plan_required_ = false;
  bool companion_tried_ = false;
  std::shared_ptr<Context> companion_;
};

}  // namespace sextant
