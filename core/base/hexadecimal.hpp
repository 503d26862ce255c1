// SPDX-License-Identifier: BSD-3-Clause
// Hashes as they stand in files.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sextant {

// Lower case; with zeros in front up to so many digits.
inline std::string hexadecimal(std::uint64_t value, std::size_t least_digits = 1) {
  char digits[16];
  const std::string short_form(digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr);
  const std::size_t missing = least_digits > short_form.size() ? least_digits - short_form.size() : 0;
  return std::string(missing, '0') + short_form;
}

}  // namespace sextant
