// SPDX-License-Identifier: BSD-3-Clause
// Duplicates, versions and kinds resolved over everything that was loaded.
#include "core/registry/view.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "core/base/error.hpp"
#include "core/registry/validate.hpp"
#include "sextant/plugin/kinds/device.h"

namespace sextant::registry {
namespace {

using Refuse = std::function<void(const Refusal &)>;

// Whether `challenger` takes the place of a plugin of the same name: the higher version; of equal ones, that which came
// with the library, then the one loaded first.
bool replaces(const Plugin &challenger, const Plugin &holder) {
  const int order = compare_versions(challenger.version, holder.version);
  return order != 0 ? order > 0 : challenger.own && !holder.own;
}

void refuse_duplicate(const Plugin &loser, const Plugin &winner, const Refuse &refuse) {
  refuse({loser.path, "duplicate",
          text("plugin '", loser.name, "' ", loser.version, " is also at '", winner.path, "' in version ",
               winner.version, ", which is the one in use")});
}

// One of each name, in the order in which names were first seen.
std::vector<const Loaded *> winners(const std::vector<const Loaded *> &loaded, const Refuse &refuse) {
  std::vector<const Loaded *> chosen;
  std::map<std::string_view, std::size_t> place;
  for (const Loaded *entry : loaded) {
    const auto [at, is_new] = place.try_emplace(entry->plugin.name, chosen.size());
    if (is_new) {
      chosen.push_back(entry);
      continue;
    }
    const Loaded *&holder = chosen[at->second];
    const bool wins = replaces(entry->plugin, holder->plugin);
    refuse_duplicate(wins ? holder->plugin : entry->plugin, wins ? entry->plugin : holder->plugin, refuse);
    if (wins) holder = entry;
  }
  return chosen;
}

void add_kinds(const Loaded &from, View &view, const Refuse &refuse) {
  for (const Kind &kind : from.kinds) {
    const auto [at, is_new] = view.kinds.try_emplace(kind.table.id, &kind);
    if (!is_new)
      refuse({from.plugin.path, "duplicate",
              text("kind '", kind.table.id, "' of plugin '", from.plugin.name, "' is already defined by plugin '",
                   at->second->plugin->name, "'")});
  }
}

void add_kernels(const Loaded &from, View &view, const Refuse &refuse) {
  for (const Kernel &kernel : from.kernels) {
    // The device kind is core's own: devices are asked for before any other plugin is loaded.
    if (view.kinds.count(kernel.table.kind) == 0 && std::string_view(kernel.table.kind) != SXT_KIND_DEVICE) {
      refuse({from.plugin.path, "kind",
              text("kernel '", kernel.name(), "' is left out until a plugin defines its kind '", kernel.table.kind,
                   "': none that was loaded does")});
      continue;
    }
    const auto [at, is_new] = view.kernels.try_emplace(kernel.name(), &kernel);
    if (!is_new)
      refuse({from.plugin.path, "duplicate",
              text("kernel '", kernel.name(), "' of plugin '", from.plugin.name,
                   "' has the name of a kernel of plugin '", at->second->plugin->name, "'")});
  }
}

}  // namespace

View make_view(const std::vector<const Loaded *> &loaded, const Refuse &refuse) {
  static std::atomic<std::uint64_t> last{0};
  View view;
  view.number = ++last;
  std::vector<const Loaded *> plugins = winners(loaded, refuse);
  for (const Loaded *plugin : plugins) view.plugins.push_back(&plugin->plugin);
  // Names of kernels and kinds belong to the library's own plugins first, then to the plugin that came first.
  std::stable_partition(plugins.begin(), plugins.end(), [](const Loaded *plugin) { return plugin->plugin.own; });
  for (const Loaded *plugin : plugins) add_kinds(*plugin, view, refuse);
  for (const Loaded *plugin : plugins) add_kernels(*plugin, view, refuse);
  for (const auto &[name, kernel] : view.kernels)
    view.by_kind[kernel->table.kind][kernel->table.device].push_back(kernel);
  for (const auto &entry : loaded)
    if (entry->plugin.own)
      for (const Kernel &kernel : entry->kernels) view.own_by_kind[kernel.table.kind].push_back(&kernel);
  return view;
}

}  // namespace sextant::registry
