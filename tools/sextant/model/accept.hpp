// SPDX-License-Identifier: BSD-3-Clause
// A model into a profile that is there, and out of it again.
#pragma once

#include <string>

namespace tool {

// Puts the [[models]] entries of the text into the profile, in the place of entries for the same kernel, version, types
// and class. What the profile was stays beside it as PROFILE.before. Returns how many entries were replaced. Throws for
// a profile that is not there, compressed, or not of this machine's library to change.
int accept_models(const std::string &profile, const std::string &entries);
// Brings PROFILE.before back; throws where there is none.
void undo_acceptance(const std::string &profile);

}  // namespace tool
