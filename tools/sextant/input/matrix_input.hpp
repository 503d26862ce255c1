// SPDX-License-Identifier: BSD-3-Clause
// Matrices and right-hand sides from files.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "input/handle.hpp"
#include "report/output.hpp"

namespace tool {

struct LoadedMatrix {
  std::string path;
  Matrix handle;
  sxt_matrix_info info;
  double read_seconds = 0;
};

// Adds --rows-per-byte, which every file that is read from then on follows.
void add_file_options(CLI::App &app);
double file_rows_per_byte();  // what it says
// symmetry_tolerance: as in sxt_matrix_options.
LoadedMatrix read_matrix(sxt_context *context, const std::string &path, double symmetry_tolerance = 0);
// With values of this type, whatever the file has; complex ones do not become real.
Matrix matrix_of_type(sxt_context *context, const std::string &path, sxt_value_type type);

// A matrix from a file, or a generated one.
struct MatrixSource {
  std::string path, generate;
  std::int64_t rows = 40000;  // of a generated one
};
// Adds the argument MATRIX.mtx, --rows-per-byte, --generate and --n.
void add_matrix_source(CLI::App &app, MatrixSource &source);
// Throws unless exactly one is named.
void check_source(const MatrixSource &source);
LoadedMatrix load(sxt_context *context, const MatrixSource &source, double symmetry_tolerance = 0);

struct HostCsr;
HostCsr generated(const MatrixSource &source);
// A generated matrix in the library; value_type SXT_F64 or SXT_F32.
Matrix matrix_of(sxt_context *context, const HostCsr &a, sxt_value_type value_type = SXT_F64);

// "4,884 x 4,884, 290,378 entries, symmetric, f64, 3.5 MB, read in 12 ms"
std::string describe(const LoadedMatrix &matrix);
// {path, rows, cols, nnz, symmetry, value_type, bytes, read_seconds}
Json matrix_json(const LoadedMatrix &matrix);
const char *value_type_name(sxt_value_type type);
const char *symmetry_name(sxt_symmetry symmetry);

// A dense vector of f64 values, or of c128 pairs (twice as many doubles).
struct HostVector {
  sxt_value_type type = SXT_F64;
  std::vector<double> values;
  std::int64_t length() const { return static_cast<std::int64_t>(values.size()) / (type == SXT_C128 ? 2 : 1); }
  HostVector() = default;
  HostVector(sxt_value_type value_type, std::int64_t n)
      : type(value_type), values(static_cast<std::size_t>(n * (value_type == SXT_C128 ? 2 : 1)), 0.0) {}
};

// A Matrix Market file with one column (or one row) of n entries, in the value type given.
HostVector read_vector(sxt_context *context, const std::string &path, std::int64_t n, sxt_value_type type);
// A times the vector of ones.
HostVector product_with_ones(sxt_context *context, const LoadedMatrix &matrix);

}  // namespace tool
