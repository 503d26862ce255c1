// SPDX-License-Identifier: BSD-3-Clause
// toml++ with errors as FileError.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "policy/allow.hpp"

namespace sextant::retune {

toml::table read_toml(const std::string &path);

[[noreturn]] inline void fail_at(const std::string &path, const toml::source_region &where,
                                 const std::string &sentence) {
  throw FileError(path + ":" + std::to_string(where.begin.line) + ": " + sentence);
}

}  // namespace sextant::retune
