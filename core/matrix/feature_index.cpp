// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/feature_index.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "sextant/plugin/kinds/features.h"

namespace sextant {

using registry::Kernel;

namespace {

// Names and their numbers; only grows, and is never destroyed.
struct Names {
  std::shared_mutex lock;
  std::unordered_map<std::string_view, int> ids;  // views of what `texts` owns
  std::vector<std::unique_ptr<std::string>> texts;
  std::unordered_map<const Kernel *, std::unique_ptr<std::vector<int>>> of_kernel;
  // Where a kernel's numbers were last found: a choice asks for them some hundred times.
  struct Place {
    std::atomic<const Kernel *> kernel{nullptr};
    std::atomic<const std::vector<int> *> ids{nullptr};
  };
  std::array<Place, 1024> places{};
  Place &place_of(const Kernel &kernel) {
    return places[(reinterpret_cast<std::uintptr_t>(&kernel) * 0x9e3779b97f4a7c15u) >> 54];
  }
};
Names &names() {
  static Names *const the = new Names;
  return *the;
}

int id_in(Names &all, std::string_view name) {
  const auto found = all.ids.find(name);
  if (found != all.ids.end()) return found->second;
  all.texts.push_back(std::make_unique<std::string>(name));
  const int id = static_cast<int>(all.texts.size()) - 1;
  all.ids.emplace(*all.texts.back(), id);
  return id;
}

}  // namespace

int feature_id(std::string_view name) {
  Names &all = names();
  {
    const std::shared_lock lock(all.lock);
    if (const auto found = all.ids.find(name); found != all.ids.end()) return found->second;
  }
  const std::unique_lock lock(all.lock);
  return id_in(all, name);
}

const char *feature_name(int id) {
  Names &all = names();
  const std::shared_lock lock(all.lock);
  return all.texts[static_cast<std::size_t>(id)]->c_str();
}

const std::vector<int> &feature_ids(const Kernel &kernel) {
  Names &all = names();
  Names::Place &place = all.place_of(kernel);
  // A place keeps its first kernel, whose numbers are written before its name.
  if (place.kernel.load(std::memory_order_acquire) == &kernel) return *place.ids.load(std::memory_order_relaxed);
  const std::unique_lock lock(all.lock);
  if (const auto found = all.of_kernel.find(&kernel); found != all.of_kernel.end()) return *found->second;
  auto ids = std::make_unique<std::vector<int>>();
  for (const char *const *name = kernel.table.features; name && *name; ++name) ids->push_back(id_in(all, *name));
  const std::vector<int> &kept = *all.of_kernel.try_emplace(&kernel, std::move(ids)).first->second;
  if (!place.kernel.load(std::memory_order_relaxed)) {
    place.ids.store(&kept, std::memory_order_relaxed);
    place.kernel.store(&kernel, std::memory_order_release);
  }
  return kept;
}

FeatureSources::FeatureSources(const registry::Scope &scope, const std::string &device) {
  for (const Kernel *kernel : scope.kernels(SXT_KIND_FEATURES, device)) {
    const auto *ops = static_cast<const sxt_features_ops *>(kernel->table.ops);
    const bool usable = ops && ops->names && !kernel->has(SXT_KERNEL_REFERENCE);
    if (!usable || kernel->verdict == registry::Verdict::quarantined) continue;
    for (const char *const *name = ops->names; *name; ++name) {
      const auto id = static_cast<std::size_t>(feature_id(*name));
      if (id >= sources_.size()) sources_.resize(id + 1);
      Source &best = sources_[id];
      const int tier = std::clamp(ops->tier, 0, highest_feature_tier);
      const bool trusted = kernel->verdict == registry::Verdict::passed;
      const bool over_trusted = best.kernel && !trusted && best.kernel->verdict == registry::Verdict::passed;
      const bool over_stranger = best.kernel && trusted && best.kernel->verdict != registry::Verdict::passed;
      if (!best.kernel || over_stranger || (!over_trusted && tier < best.tier)) best = {kernel, tier};
    }
  }
  note_askers(scope, device);
}

void FeatureSources::note_askers(const registry::Scope &scope, const std::string &device) {
  for (const Kernel *kernel : scope.all_kernels()) {
    if (std::string_view(kernel->table.device) != device || kernel->has(SXT_KERNEL_REFERENCE)) continue;
    for (const int id : feature_ids(*kernel))
      if (const int tier = source(id).tier; tier >= 0) asked_[tier].push_back(id);
  }
  for (std::vector<int> &ids : asked_) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
}

std::shared_ptr<const FeatureSources> FeatureSources::of(const registry::Scope &scope, const std::string &device) {
  struct Made {
    std::uint64_t changes;
    std::shared_ptr<const FeatureSources> sources;
  };
  static std::mutex lock;
  static auto &made = *new std::map<std::pair<std::uint64_t, std::string>, Made>;  // by scope and device
  const std::uint64_t changes = scope.registry().changes();
  const std::lock_guard guard(lock);
  const auto found = made.find({scope.number(), device});
  if (found != made.end() && found->second.changes == changes) return found->second.sources;
  return (made[{scope.number(), device}] = {changes, std::make_shared<const FeatureSources>(scope, device)}).sources;
}

}  // namespace sextant
