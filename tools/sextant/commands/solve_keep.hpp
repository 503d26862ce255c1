// SPDX-License-Identifier: BSD-3-Clause
// What is kept of a solve that fails, so that it can be run again elsewhere: solve --keep DIR.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "commands/solve_report.hpp"
#include "input/handle.hpp"
#include "input/matrix_input.hpp"

namespace tool {

// Residual norms as the solver writes them; sized for the longest solve allowed, within reason.
struct History {
  std::unique_ptr<double[]> residuals;
  std::int64_t capacity = 0;
  volatile std::int64_t length = 0;
};

// All that a solve makes, as far as it came.
struct SolveRun {
  Context context;
  LoadedMatrix matrix;
  Pcg pcg;
  HostVector b, x;
  History history;
};

// The folder of --keep, from the start of a run to its end: a run that is killed leaves its log there.
class RunFolder {
 public:
  // Makes the folder, with the command line and a log in it; "": nothing. Throws where it is there and not empty.
  explicit RunFolder(const std::string &path);
  ~RunFolder();  // without keep: what was made is removed
  RunFolder(const RunFolder &) = delete;
  RunFolder &operator=(const RunFolder &) = delete;
  // "" without a folder.
  std::string log_path() const;
  // Writes what there is, and why the run ended so. A file that cannot be written is told, and is no other failure.
  void keep(const SolveRun &run, int exit_code, const std::string &sentence);

 private:
  std::string in(const std::string &name) const { return path_ + "/" + name; }

  std::string path_;
  bool made_ = false, kept_ = false;
};

}  // namespace tool
