// SPDX-License-Identifier: BSD-3-Clause
// The program that reproduces a solve, in C or Fortran: its source, and the CMake file that builds it.
#pragma once

#include <cstdint>
#include <string>

#include "input/context_options.hpp"
#include "input/solver_options.hpp"

namespace tool {

enum class Language { c, fortran };

struct ProgramFacts {
  Language language = Language::c;
  ContextOptions context;
  SolverOptions solver;
  double rows_per_byte = 0;
  std::string matrix;     // the name of its file, beside the program
  bool rhs_file = false;  // b from rhs.mtx, else A * ones
  bool complex_values = false;
  std::int64_t iterations = 0;
  int repeats = 1;
  double seconds = 0;  // of one solve: the median
};

std::string source_name(Language language);
std::string source_text(const ProgramFacts &facts);
std::string cmake_text(const ProgramFacts &facts);

}  // namespace tool
