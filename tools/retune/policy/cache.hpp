// SPDX-License-Identifier: BSD-3-Clause
// What was measured, kept from run to run in one TOML file of the user.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace sextant::retune {

struct CacheKey {
  std::string device, kernel;
  std::uint64_t module = 0;  // image::Image::hash
  int size_class = 0;
  std::uint32_t original = 0;  // threads a block
  auto operator<=>(const CacheKey &) const = default;
};
struct CacheEntry {
  std::uint32_t block = 0;
  double original_s = 0, block_s = 0;  // a launch of one thread more or less: seconds over threads
};

class Cache {
 public:
  // An empty path: nothing is kept. Throws FileError for a file that is there and is damaged: it is then left as it is.
  void load(const std::string &path);
  const CacheEntry *find(const CacheKey &key) const;
  void add(const CacheKey &key, const CacheEntry &entry);
  // Writes what was added over what the file holds by now. Throws on failure; without additions it does nothing.
  void save() const;

 private:
  using Entries = std::map<CacheKey, CacheEntry>;
  static Entries read(const std::string &path);
  std::string path_;
  Entries entries_, added_;
};

// $XDG_DATA_HOME/sextant/retune.toml, beside the profiles; empty where there is no such folder.
std::string default_cache_path();

}  // namespace sextant::retune
