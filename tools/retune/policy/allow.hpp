// SPDX-License-Identifier: BSD-3-Clause
// Kernels that the user declares indifferent to their block size: a TOML file of
//   [[kernel]]
//   name = "my_kernel*"      # as the driver knows it (mangled); * stands for any characters
//   reason = "..."           # optional, for the report
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::retune {

// "FILE:LINE: what is wrong and what is expected"
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Declaration {
  std::string name, reason;
};

class AllowList {
 public:
  AllowList() = default;
  // Throws FileError for a file that cannot be read, is no TOML, or has a key that is not known.
  explicit AllowList(const std::string &path);
  // The declaration of this kernel; null: none.
  const Declaration *find(std::string_view kernel) const;
  std::size_t size() const { return declarations_.size(); }

 private:
  std::vector<Declaration> declarations_;
};

// Whether a name is that of the pattern.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace sextant::retune
