// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/profile_cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <tuple>

namespace sextant {

namespace {

// What changes when a file is written anew or replaced.
using Stamp = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

std::optional<Stamp> stamp_of(const std::string &path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return Stamp{found.st_dev,          found.st_ino,         found.st_size,        found.st_mtim.tv_sec,
               found.st_mtim.tv_nsec, found.st_ctim.tv_sec, found.st_ctim.tv_nsec};
}

// The clock of a file system is coarse: a file just written may be written again without a new time.
bool settled(const Stamp &stamp) {
  using namespace std::chrono;
  const std::int64_t now = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
  return std::get<3>(stamp) + 1 < now && std::get<5>(stamp) + 1 < now;
}

struct Entry {
  std::string path;
  Stamp stamp;
  std::shared_ptr<const Profile> profile;
};

// The most recently used first.
class Cache {
 public:
  std::shared_ptr<const Profile> find(const std::string &path, const Stamp &stamp) {
    const std::lock_guard lock(mutex_);
    const auto found = place_of(path);
    if (found == entries_.end() || found->stamp != stamp) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return found->profile;
  }

  void keep(Entry entry) {
    const std::lock_guard lock(mutex_);
    if (const auto old = place_of(entry.path); old != entries_.end()) entries_.erase(old);
    entries_.push_front(std::move(entry));
    if (entries_.size() > profile_cache_size) entries_.pop_back();
  }

 private:
  std::list<Entry>::iterator place_of(const std::string &path) {
    return std::find_if(entries_.begin(), entries_.end(), [&](const Entry &entry) { return entry.path == path; });
  }

  std::mutex mutex_;
  std::list<Entry> entries_;
};

// Never destroyed: contexts may be made while the process ends.
Cache &cache() {
  static Cache &only = *new Cache;
  return only;
}

}  // namespace

std::shared_ptr<const Profile> shared_profile(const std::string &path) {
  const std::optional<Stamp> before = stamp_of(path);
  const bool keeps = before && settled(*before);
  if (keeps)
    if (std::shared_ptr<const Profile> known = cache().find(path, *before)) return known;
  auto profile = std::make_shared<const Profile>(read_profile(path));
  if (keeps && stamp_of(path) == before) cache().keep({path, *before, profile});  // else it changed meanwhile
  return profile;
}

}  // namespace sextant
