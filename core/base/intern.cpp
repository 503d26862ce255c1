// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/intern.hpp"

#include <mutex>
#include <set>
#include <string>

namespace sextant {

const char *intern(std::string_view text) {
  static std::mutex mutex;
  static auto &texts = *new std::set<std::string, std::less<>>;  // never destroyed: pointers outlive static destructors
  const std::lock_guard lock(mutex);
  auto found = texts.find(text);
  if (found == texts.end()) found = texts.emplace(text).first;
  return found->c_str();
}

}  // namespace sextant
