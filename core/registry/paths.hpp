// SPDX-License-Identifier: BSD-3-Clause
// Where plugins and what is remembered about them lie.
#pragma once

#include <string>
#include <vector>

namespace sextant::registry {

// $SEXTANT_PLUGIN_PATH, split at colons, then $XDG_DATA_HOME/sextant/plugins-0. Empty in a process with more rights
// than its caller. Paths need not exist.
struct SearchPath {
  std::string path;
  bool named;  // by the environment: its absence is worth a word
};
std::vector<SearchPath> search_paths();

// $XDG_STATE_HOME/sextant/stamps; "" when there is no home.
std::string stamp_directory();

// Throws SXT_E_MEMORY, naming the path, where errno tells that the system is short of memory or of descriptors: what
// could not be looked at for that may be there all the same.
void check_shortage(const std::string &path);

// These throw it. Entries of a directory in byte order, without . and ..; empty when it cannot be read.
std::vector<std::string> sorted_entries(const std::string &directory);
bool is_directory(const std::string &path);
bool has_plugin_suffix(const std::string &path);  // ".so"
std::string real_path(const std::string &path);   // "" with errno when it does not exist
std::string joined(const std::string &directory, const std::string &name);

}  // namespace sextant::registry
