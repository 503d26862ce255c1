// SPDX-License-Identifier: BSD-3-Clause
#include "policy/allow.hpp"

#include "policy/toml.hpp"

namespace sextant::retune {
namespace {

Declaration declaration(const std::string &path, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table) fail_at(path, node.source(), "each kernel is a table: [[kernel]]");
  Declaration read;
  for (const auto &[key, value] : *table) {
    if (key != "name" && key != "reason")
      fail_at(path, value.source(), "'" + std::string(key.str()) + "' is not known here; name and reason are");
    const auto text = value.value<std::string>();
    if (!text) fail_at(path, value.source(), std::string(key.str()) + " must be a string");
    (key == "name" ? read.name : read.reason) = *text;
  }
  if (read.name.empty()) fail_at(path, node.source(), "a kernel needs its name");
  return read;
}

}  // namespace

AllowList::AllowList(const std::string &path) {
  const toml::table root = read_toml(path);
  for (const auto &[key, value] : root) {
    if (key != "kernel")
      fail_at(path, value.source(), "'" + std::string(key.str()) + "' is not known here; [[kernel]] is");
    const toml::array *kernels = value.as_array();
    if (!kernels) fail_at(path, value.source(), "kernels are a list: [[kernel]]");
    for (const toml::node &node : *kernels) declarations_.push_back(declaration(path, node));
  }
}

const Declaration *AllowList::find(std::string_view kernel) const {
  for (const Declaration &each : declarations_)
    if (matches(each.name, kernel)) return &each;
  return nullptr;
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.npos, kept = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, kept = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != pattern.npos) {
      p = star + 1, n = ++kept;  // the star takes one character more
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace sextant::retune
