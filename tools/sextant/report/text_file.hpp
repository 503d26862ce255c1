// SPDX-License-Identifier: BSD-3-Clause
// A large text that is written piece by piece, compressed by gzip where its name ends with .gz.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "report/write_file.hpp"

namespace tool {

class TextFile {
 public:
  explicit TextFile(const std::string &path);
  ~TextFile();  // without commit: nothing is left behind
  TextFile(const TextFile &) = delete;
  TextFile &operator=(const TextFile &) = delete;
  void write(std::string_view text);
  void commit();

 private:
  class Compressor;
  OutputFile file_;
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace tool
