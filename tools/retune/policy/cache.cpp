// SPDX-License-Identifier: BSD-3-Clause
#include "policy/cache.hpp"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "files/output_file.hpp"
#include "policy/toml.hpp"

namespace sextant::retune {
namespace {

constexpr std::int64_t version = 1;

template <typename T>
T wanted(const std::string &path, const toml::table &table, const char *key) {
  const auto value = table[key].value<T>();
  if (!value) fail_at(path, table.source(), std::string("an entry lacks ") + key);
  return *value;
}

std::string hexadecimal(std::uint64_t number) {
  char digits[17];
  const auto end = std::to_chars(digits, digits + 16, number, 16);
  return {digits, end.ptr};
}

std::pair<CacheKey, CacheEntry> entry_of(const std::string &path, const toml::table &table) {
  CacheKey key;
  key.device = wanted<std::string>(path, table, "device");
  key.kernel = wanted<std::string>(path, table, "kernel");
  const std::string module = wanted<std::string>(path, table, "module");
  const auto end = std::from_chars(module.data(), module.data() + module.size(), key.module, 16);
  const auto original = wanted<std::int64_t>(path, table, "original"),
             block = wanted<std::int64_t>(path, table, "block");
  key.size_class = static_cast<int>(wanted<std::int64_t>(path, table, "class"));
  CacheEntry entry;
  entry.original_s = wanted<double>(path, table, "original_s");
  entry.block_s = wanted<double>(path, table, "block_s");
  const auto is_block = [](std::int64_t threads) { return threads >= 1 && threads <= 1024; };
  if (end.ptr != module.data() + module.size() || !is_block(original) || !is_block(block) || !(entry.original_s > 0) ||
      !(entry.block_s > 0) || !std::isfinite(entry.original_s))
    fail_at(path, table.source(), "an entry has a number without meaning");
  key.original = static_cast<std::uint32_t>(original);
  entry.block = static_cast<std::uint32_t>(block);
  return {key, entry};
}

}  // namespace

Cache::Entries Cache::read(const std::string &path) {
  Entries entries;
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return entries;
  const toml::table root = read_toml(path);
  if (root["version"].value<std::int64_t>() != version) throw FileError(path + ":1: its version is not 1");
  if (const toml::array *choices = root["choice"].as_array())
    for (const toml::node &node : *choices) {
      if (!node.as_table()) fail_at(path, node.source(), "each choice is a table: [[choice]]");
      entries.insert(entry_of(path, *node.as_table()));
    }
  return entries;
}

void Cache::load(const std::string &path) {
  entries_ = read(path);
  path_ = path;
}

const CacheEntry *Cache::find(const CacheKey &key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void Cache::add(const CacheKey &key, const CacheEntry &entry) { entries_[key] = added_[key] = entry; }

void Cache::save() const {
  if (path_.empty() || added_.empty()) return;
  Entries all = read(path_);
  for (const auto &[key, entry] : added_) all[key] = entry;
  toml::array choices;
  for (const auto &[key, entry] : all)
    choices.push_back(toml::table{{"device", key.device},
                                  {"kernel", key.kernel},
                                  {"module", hexadecimal(key.module)},
                                  {"class", key.size_class},
                                  {"original", static_cast<std::int64_t>(key.original)},
                                  {"block", static_cast<std::int64_t>(entry.block)},
                                  {"original_s", entry.original_s},
                                  {"block_s", entry.block_s}});
  std::ostringstream text;
  text << "# Block sizes measured by sextant retune; may be removed.\n"
       << toml::table{{"version", version}, {"choice", choices}} << "\n";
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
  files::write_file(path_, text.str());
}

std::string default_cache_path() {
  std::string data;
  if (const char *home = ::secure_getenv("XDG_DATA_HOME"); home && *home == '/')
    data = home;
  else if (const char *user = ::secure_getenv("HOME"); user && *user == '/')
    data = std::string(user) + "/.local/share";
  return data.empty() ? "" : data + "/sextant/retune.toml";
}

}  // namespace sextant::retune
