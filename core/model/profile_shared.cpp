// SPDX-License-Identifier: BSD-3-Clause
// Profiles that were read already, by path and by what the file system says of the file.
#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/model/profile.hpp"

namespace sextant {
namespace {

// Enough for a process; the first is forgotten beyond.
constexpr std::size_t most_kept = 4;
// A file that was written so lately may be written again at what is the same time to the file system.
constexpr std::int64_t settled_s = 2;

struct Stamp {
  std::uint64_t device = 0, inode = 0;
  std::int64_t bytes = -1, modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0;
  auto operator<=>(const Stamp &) const = default;
};

Stamp stamp_of(const std::string &path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {static_cast<std::uint64_t>(found.st_dev),
          static_cast<std::uint64_t>(found.st_ino),
          static_cast<std::int64_t>(found.st_size),
          found.st_mtim.tv_sec,
          found.st_mtim.tv_nsec,
          found.st_ctim.tv_sec,
          found.st_ctim.tv_nsec};
}

struct Known {
  Stamp stamp;
  std::shared_ptr<const Profile> profile;
};
struct Shelf {
  std::mutex lock;
  std::map<std::string, Known> known;
};
Shelf &shelf() {
  static Shelf *const the = new Shelf;  // contexts may be made until the process ends
  return *the;
}

}  // namespace

std::shared_ptr<const Profile> shared_profile(const std::string &path) {
  const Stamp stamp = stamp_of(path);
  {
    const std::lock_guard lock(shelf().lock);
    const auto found = shelf().known.find(path);
    if (found != shelf().known.end() && found->second.stamp == stamp) return found->second.profile;
  }
  auto read = std::make_shared<const Profile>(read_profile(path));
  const bool settled = stamp.bytes >= 0 && std::time(nullptr) - stamp.modified_s > settled_s;
  if (!settled || stamp_of(path) != stamp) return read;  // it may have been replaced meanwhile
  const std::lock_guard lock(shelf().lock);
  auto &known = shelf().known;
  if (known.size() >= most_kept && !known.count(path)) known.erase(known.begin());
  known[path] = {stamp, read};
  return read;
}

}  // namespace sextant
