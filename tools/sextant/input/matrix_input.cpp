// SPDX-License-Identifier: BSD-3-Clause
// Reads matrices through the library, and vectors as matrices with one column.
#include "input/matrix_input.hpp"

#include <array>
#include <chrono>
#include <complex>
#include <cstdint>

#include "commands/generate.hpp"
#include "input/matrix_view.hpp"
#include "input/numbers.hpp"
#include "input/standard_input.hpp"
#include "report/table.hpp"

namespace tool {
namespace {

sxt_matrix_info info_of(sxt_context *context, const sxt_matrix *matrix) {
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  check(sxt_matrix_get_info(matrix, &info), context);
  return info;
}

// Scatters the entries of an n x 1 or 1 x n matrix into a dense vector; entries that are not stored stay zero.
HostVector dense_from(sxt_context *context, const sxt_matrix *matrix, const sxt_matrix_info &info) {
  const MatrixView a = view_of(context, matrix, info);
  const bool column = info.cols == 1;
  HostVector vector(info.value_type, column ? info.rows : info.cols);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t k = a.begin(row); k < a.end(row); ++k) {
      const auto place = static_cast<std::size_t>(column ? row : a.column(k));
      if (a.complex()) {
        vector.values[2 * place] = a.value(k).real();
        vector.values[2 * place + 1] = a.value(k).imag();
      } else {
        vector.values[place] = a.value(k).real();
      }
    }
  }
  return vector;
}

// The library's matrix of a file, or of standard input.
Matrix from_file(sxt_context *context, const std::string &path, const sxt_matrix_options &options) {
  const std::string file = readable_path(path);
  sxt_matrix *handle = nullptr;
  const sxt_status status = sxt_matrix_from_file(context, file.c_str(), &options, &handle);
  if (status != SXT_OK) {
    try {
      check(status, context);
    } catch (const ToolError &error) {
      throw ToolError(error.exit_code(), naming_standard_input(error.what()), error.status());
    }
  }
  return Matrix(handle);
}

double rows_per_byte = 0;  // of the files of this run, as the option says

sxt_matrix_options file_options(sxt_value_type type) {
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  options.value_type = type;
  options.most_rows_per_byte = rows_per_byte;
  return options;
}

}  // namespace

void add_file_options(CLI::App &app) {
  app.add_option(
      "--rows-per-byte", rows_per_byte,
      "Refuse files that promise more rows or columns for each of their bytes; 0: more than 1000; negative: none");
}

double file_rows_per_byte() { return rows_per_byte; }

Matrix matrix_of(sxt_context *context, const HostCsr &a, sxt_value_type value_type) {
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  options.keep_order = 0;
  options.value_type = value_type;
  options.symmetry = SXT_SYMMETRIC;  // all that are generated; kernels for one triangle may be taken
  const bool narrow = value_type == SXT_F32;
  const std::vector<float> singles(a.values.begin(), narrow ? a.values.end() : a.values.begin());
  const void *values = narrow ? static_cast<const void *>(singles.data()) : a.values.data();
  sxt_matrix *handle = nullptr;
  check(sxt_matrix_from_csr(context, a.n, a.n, a.row_ptr.data(), a.col.data(), values, &options, &handle), context);
  return Matrix(handle);
}

void add_matrix_source(CLI::App &app, MatrixSource &source) {
  app.add_option("matrix", source.path, "Matrix Market or Harwell-Boeing file, plain or .gz; -: standard input")
      ->type_name("MATRIX.mtx");
  add_file_options(app);
  app.add_option("--generate", source.generate, generate_help)->type_name("NAME");
  app.add_option("--n", source.rows, "Rows of a generated matrix")
      ->capture_default_str()
      ->check(whole_number_from<std::int64_t>(1));
}

void check_source(const MatrixSource &source) {
  if (source.path.empty() == source.generate.empty())
    fail(exit_usage, "one matrix is needed: MATRIX.mtx, or --generate NAME");
}

MatrixView view_of(sxt_context *context, const sxt_matrix *matrix, const sxt_matrix_info &info) {
  MatrixView a{.rows = info.rows, .cols = info.cols, .symmetry = info.symmetry, .value_type = info.value_type};
  a.offset_type = info.offset_type;
  a.index_type = info.index_type;
  check(sxt_matrix_get_csr(matrix, &a.row_ptr, &a.col, &a.values), context);
  return a;
}

MatrixView view_of(const HostCsr &a) {
  MatrixView out{.rows = a.n, .cols = a.n, .symmetry = SXT_SYMMETRIC};
  out.row_ptr = a.row_ptr.data();
  out.col = a.col.data();
  out.values = a.values.data();
  return out;
}

HostCsr generated(const MatrixSource &source) { return generators(source.generate).front()(source.rows); }

LoadedMatrix load(sxt_context *context, const MatrixSource &source, double symmetry_tolerance) {
  if (source.generate.empty()) return read_matrix(context, source.path, symmetry_tolerance);
  const auto start = std::chrono::steady_clock::now();
  LoadedMatrix matrix;
  const HostCsr a = generated(source);
  matrix.path = a.name;
  matrix.handle = matrix_of(context, a);
  matrix.info = info_of(context, matrix.handle.get());
  matrix.read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return matrix;
}

LoadedMatrix read_matrix(sxt_context *context, const std::string &path, double symmetry_tolerance) {
  const auto start = std::chrono::steady_clock::now();
  sxt_matrix_options options = file_options(0);  // the type as the file says
  options.symmetry_tolerance = symmetry_tolerance;
  LoadedMatrix matrix;
  matrix.path = path;
  matrix.handle = from_file(context, path, options);
  matrix.info = info_of(context, matrix.handle.get());
  matrix.read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return matrix;
}

Matrix matrix_of_type(sxt_context *context, const std::string &path, sxt_value_type type) {
  return from_file(context, path, file_options(type));
}

const char *value_type_name(sxt_value_type type) {
  switch (type) {
#define SXT_X(name, value, text, bytes) \
  case value: return text;
    SXT_VALUE_TABLE(SXT_X)
#undef SXT_X
    default: return "unknown";
  }
}

const char *symmetry_name(sxt_symmetry symmetry) {
  constexpr std::array<const char *, 4> names = {"general", "symmetric", "hermitian", "skew-symmetric"};
  const bool known = symmetry >= 0 && static_cast<std::size_t>(symmetry) < names.size();
  return known ? names[static_cast<std::size_t>(symmetry)] : "unknown";
}

std::string describe(const LoadedMatrix &matrix) {
  const sxt_matrix_info &info = matrix.info;
  return fmt::format("{} x {}, {} entries, {}, {}, {}, read in {}", count_text(info.rows), count_text(info.cols),
                     count_text(info.nnz), symmetry_name(info.symmetry), value_type_name(info.value_type),
                     bytes_text(static_cast<double>(info.bytes)), seconds_text(matrix.read_seconds));
}

Json matrix_json(const LoadedMatrix &matrix) {
  const sxt_matrix_info &info = matrix.info;
  return {{"path", matrix.path},
          {"rows", info.rows},
          {"cols", info.cols},
          {"nnz", info.nnz},
          {"symmetry", symmetry_name(info.symmetry)},
          {"value_type", value_type_name(info.value_type)},
          {"bytes", info.bytes},
          {"read_seconds", matrix.read_seconds}};
}

HostVector read_vector(sxt_context *context, const std::string &path, std::int64_t n, sxt_value_type type) {
  const Matrix matrix = from_file(context, path, file_options(type));
  const sxt_matrix_info info = info_of(context, matrix.get());
  const bool is_vector = (info.cols == 1 && info.rows == n) || (info.rows == 1 && info.cols == n);
  if (!is_vector)
    fail(exit_bad_input, "{}: {} x {}, but a vector of {} entries is needed", path, info.rows, info.cols, n);
  return dense_from(context, matrix.get(), info);
}

HostVector product_with_ones(sxt_context *context, const LoadedMatrix &matrix) {
  const sxt_value_type type = matrix.info.value_type;
  HostVector ones(type, matrix.info.cols), product(type, matrix.info.rows);
  const std::size_t stride = type == SXT_C128 ? 2 : 1;  // imaginary parts stay zero
  for (std::size_t i = 0; i < ones.values.size(); i += stride) ones.values[i] = 1.0;
  sxt_vector *x = nullptr, *y = nullptr;
  check(sxt_vector_create(context, ones.length(), type, &x), context);
  const Vector x_owner(x);
  check(sxt_vector_write(x, ones.values.data()), context);
  check(sxt_vector_create(context, product.length(), type, &y), context);
  const Vector y_owner(y);
  check(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.handle.get(), x, nullptr, y), context);
  check(sxt_vector_read(y, product.values.data()), context);
  return product;
}

}  // namespace tool
