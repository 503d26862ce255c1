// SPDX-License-Identifier: BSD-3-Clause
// Stamps: what checks found is remembered by a file's size and content hash under $XDG_STATE_HOME/sextant/stamps
// (default ~/.local/state): which kernels passed and which did not, for each device. Written atomically; a damaged
// stamp is none.
#pragma once

#include <map>
#include <set>
#include <string>

namespace sextant::registry {

struct Stamp {
  std::map<std::string, std::set<std::string>> passed;               // kernels, with the marks of devices
  std::map<std::string, std::map<std::string, std::string>> failed;  // with marks, and why
};
inline constexpr const char *whole_file = "*";     // stands for a kernel where the file itself failed
Stamp read_stamp(const std::string &plugin_path);  // empty where there is none
// What names the file as it is now: taken before the file is loaded and checked. Throws SXT_E_FILE_READ.
std::string stamp_of(const std::string &plugin_path);
// Throws SXT_E_FILE_WRITE, and SXT_E_PLUGIN when the file is no longer what `contents` was taken of.
void write_stamp(const std::string &plugin_path, const std::string &contents, const Stamp &stamp);

}  // namespace sextant::registry
