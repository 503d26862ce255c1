// SPDX-License-Identifier: BSD-3-Clause
// Output files that exist complete or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "input/matrix_input.hpp"

namespace sextant::files {
class OutputFile;
}

namespace tool {

// files/output_file.hpp, with failures as ToolErrors: the system's reason, exit code 3.
class OutputFile {
 public:
  explicit OutputFile(const std::string &path);
  ~OutputFile();  // without commit: nothing is left behind
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  void write(std::string_view text);
  void commit();

 private:
  std::unique_ptr<sextant::files::OutputFile> file_;
};

// The whole file at once.
void write_text(const std::string &path, std::string_view text);
// Throws when no file can be made at path: called before hours of work, not after.
void check_writable(const std::string &path);
// An option that names an output, and its file; "" for none.
using Output = std::pair<std::string, std::string>;
// check_writable for each, and that no two name the same file, which the later one would replace.
void check_outputs(const std::vector<Output> &outputs);
// An n x 1 Matrix Market array with the shortest digits that read back to the same bits.
void write_vector(const std::string &path, const HostVector &vector);
// The lower triangle of a symmetric matrix as a coordinate file, with the same digits.
void write_matrix(const std::string &path, const HostCsr &a);
// "iteration,residual" lines.
void write_history(const std::string &path, const double *residuals, std::int64_t count);

}  // namespace tool
