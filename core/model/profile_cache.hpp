// SPDX-License-Identifier: BSD-3-Clause
// Profiles that were read already: a process reads each file once, however many contexts follow it.
#pragma once

#include <memory>
#include <string>

#include "core/model/profile.hpp"

namespace sextant {

// The profile of a file, as read_profile gives it and with its errors. While the file stays the same (device, inode,
// size and times) and was not written within the last seconds, all callers share one object. Of the files read last, at
// most profile_cache_size stay in memory. Thread-safe.
std::shared_ptr<const Profile> shared_profile(const std::string &path);
inline constexpr std::size_t profile_cache_size = 8;

}  // namespace sextant
