// SPDX-License-Identifier: BSD-3-Clause
// Paths of plugins and stamps, from the environment and from where this library lies.
#include "core/registry/paths.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/registry/registry.hpp"
#include "core/registry/trust.hpp"

namespace sextant::registry {
namespace {

constexpr const char *plugin_folder = "sextant/plugins-0";

// A base directory of the XDG specification: relative values are to be ignored.
std::string base_directory(const char *variable, const char *below_home) {
  const char *stated = trusted_environment(variable);
  if (stated && stated[0] == '/') return stated;
  const char *home = trusted_environment("HOME");
  return home && home[0] == '/' ? joined(home, below_home) : "";
}

// The file this code was loaded from.
std::string own_file() {
  Dl_info information{};
  link_map *map = nullptr;
  if (dladdr1(reinterpret_cast<void *>(&own_file), &information, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) &&
      map && map->l_name && map->l_name[0] != '\0')
    return real_path(map->l_name);
  return real_path("/proc/self/exe");  // the program itself has no name in the loader's list
}

}  // namespace

void check_shortage(const std::string &path) {
  if (is_shortage(errno)) fail(SXT_E_MEMORY, "'", path, "' could not be looked at: ", std::strerror(errno));
}

std::string joined(const std::string &directory, const std::string &name) {
  return directory.empty() || directory.back() == '/' ? directory + name : directory + "/" + name;
}

std::string real_path(const std::string &path) {
  const std::unique_ptr<char, void (*)(void *)> resolved(realpath(path.c_str(), nullptr), std::free);
  if (!resolved) check_shortage(path);
  return resolved ? resolved.get() : "";
}

bool is_directory(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  check_shortage(path);
  return false;
}

bool has_plugin_suffix(const std::string &path) { return std::string_view(path).ends_with(".so"); }

std::vector<std::string> sorted_entries(const std::string &directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR *)> stream(opendir(directory.c_str()), closedir);
  if (!stream) return check_shortage(directory), names;
  while (const dirent *entry = (errno = 0, readdir(stream.get()))) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  check_shortage(directory);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<SearchPath> search_paths() {
  std::vector<SearchPath> paths;
  if (const char *stated = trusted_environment("SEXTANT_PLUGIN_PATH")) {
    std::string_view rest = stated;
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(':'));
      if (!item.empty()) paths.push_back({std::string(item), true});
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    }
  }
  const std::string user = base_directory("XDG_DATA_HOME", ".local/share");
  if (!user.empty()) paths.push_back({joined(user, plugin_folder), false});
  return paths;
}

std::string stamp_directory() {
  const std::string state = base_directory("XDG_STATE_HOME", ".local/state");
  return state.empty() ? "" : joined(state, "sextant/stamps");
}

std::string own_plugin_directory() {
  static const std::string directory = [] {
    const std::string file = own_file();
    const std::string folder = file.substr(0, file.rfind('/'));
    const std::string beside = joined(folder, plugin_folder);
    if (is_directory(beside)) return beside;
    // Core linked into a program, as in tests: <prefix>/bin/x has its plugins under <prefix>/lib.
    const std::string prefix = folder.substr(0, folder.rfind('/'));
    const std::string sibling = joined(prefix, std::string("lib/") + plugin_folder);
    return is_directory(sibling) ? sibling : beside;
  }();
  return directory;
}

}  // namespace sextant::registry
