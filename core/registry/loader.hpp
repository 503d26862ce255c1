// SPDX-License-Identifier: BSD-3-Clause
// One file: from a path to a checked, copied description of the plugin in it, or to a refusal.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/registry/registry.hpp"

namespace sextant::registry {

// How a file was come by, which decides what is asked of it.
enum class Origin {
  own,       // from the directory that came with the library: trusted as the library is
  searched,  // from the environment or the user's directory: must pass the trust rules
  named,     // by an API call: the program's own choice
  checked    // by a check, which earlier checks do not hinder
};

using FileId = std::pair<dev_t, ino_t>;

// A loaded plugin. Addresses of its kernels and kinds are handed out, so it never moves and is never freed in a
// process's registry.
struct Loaded {
  Plugin plugin;
  bool common = false;                     // of the process, not of the contexts that name it
  std::deque<Kernel> kernels;              // those that passed their checks, in the plugin's order
  std::deque<Kernel> unlisted_references;  // of kinds whose reference is not among the kernels
  std::deque<Kind> kinds;
  std::vector<Refusal> refused;  // kernels and kinds that did not pass
};

struct LoadResult {
  std::unique_ptr<Loaded> loaded;  // NULL: refused
  Refusal refusal;
};

// Runs code of the file, unless it is refused before. Throws SXT_E_MEMORY where memory or descriptors ran out: nothing
// is known of the file then, and a later call may load it. `real_path` has no symbolic link left in it.
LoadResult load_file(const std::string &real_path, Origin origin);

// Identity of the file behind a path; false when there is none.
bool file_id(const std::string &path, FileId &id);

}  // namespace sextant::registry
