// SPDX-License-Identifier: BSD-3-Clause
#include "hook/settings.hpp"

#include <cstdlib>

#include "hook/say.hpp"

namespace sextant::retune {
namespace {

std::string variable(const char *name) {
  const char *value = ::secure_getenv(name);
  return value ? value : "";
}

// A profile's neighbour; one that is damaged stays as it is.
void read_cache() {
  std::string path = variable("SEXTANT_RETUNE_CACHE");
  if (path.empty()) path = default_cache_path();
  try {
    cache().load(path);
  } catch (const std::exception &error) {
    say(std::string(error.what()) + "; nothing measured is used or kept");
  }
}

Settings *read_settings() {
  auto *all = new Settings;  // needed until the process has ended
  all->report = variable("SEXTANT_RETUNE_REPORT");
  all->dry_run = !variable("SEXTANT_RETUNE_DRY_RUN").empty();
  try {
    if (const std::string name = variable("SEXTANT_RETUNE_POLICY"); !name.empty()) {
      const auto policy = policy_of(name);
      if (!policy) throw FileError("SEXTANT_RETUNE_POLICY=" + name + " is no policy; launches stay as they are");
      all->policy = *policy;
    }
    if (const std::string path = variable("SEXTANT_RETUNE_ALLOW"); !path.empty()) all->allow = AllowList(path);
    if (all->policy == Policy::measured) read_cache();
  } catch (const std::exception &error) {
    say(error.what());
    all->off = true;
  }
  return all;
}

}  // namespace

const Settings &settings() {
  static const Settings *const all = read_settings();
  return *all;
}

Cache &cache() {
  static Cache *const the = new Cache;
  return *the;
}

}  // namespace sextant::retune
