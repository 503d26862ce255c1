// SPDX-License-Identifier: BSD-3-Clause
// A model into a profile that is there, and out of it again.
#pragma once

#include <string>

#include "input/context_options.hpp"

namespace tool {

// Puts the [[models]] entries of a file into the profile, in the place of entries for the same kernel, version, types
// and class; a set-up that was measured stays where the new entry has none. The library reads the entries and the new
// profile before anything is written, and calibrate waits meanwhile. What the profile was stays beside it as
// PROFILE.before. Returns how many entries were replaced. Throws for a profile that is not there, compressed or
// without [machine], and for entries that the library does not read.
int accept_models(const std::string &profile, const std::string &entries, const ContextOptions &options);
// Brings PROFILE.before back. Throws where there is none, and where the profile was changed since: that would be lost.
// A profile that cannot be read is kept as PROFILE.damaged.
void undo_acceptance(const std::string &profile, const ContextOptions &options);

}  // namespace tool
