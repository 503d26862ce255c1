// SPDX-License-Identifier: BSD-3-Clause
#include "model/matrices.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

#include "commands/generate.hpp"
#include "input/matrix_input.hpp"
#include "report/error.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

// Entries of a matrix: from launch-bound to beyond the caches of a core; the full set goes beyond shared ones.
constexpr double small_sizes[] = {4e2, 1.2e3, 4e3, 1.2e4, 4e4, 1.2e5, 4e5, 1e6};
constexpr double full_sizes[] = {4e2, 1e3, 2.5e3, 6e3, 1.5e4, 4e4, 1e5, 2.5e5, 6e5, 1.5e6, 4e6};

struct Family {
  const char *name;
  double entries_a_row;
  bool by_name = false;  // no member of the default set
};
constexpr Family families[] = {{"stencil-2d", 5}, {"stencil-3d", 7}, {"stencil-27pt", 27},
                               {"banded", 41},    {"power-law", 9},  {"regular-graph", 4, true}};

bool is_matrix_file(const std::string &name) { return name.ends_with(".mtx") || name.ends_with(".mtx.gz"); }

// A file, or those of a folder in the order of their names; each is a family of its own.
std::vector<ModelPoint> files_of(const std::string &path) {
  std::vector<std::string> paths;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const auto &each : fs::directory_iterator(path, error))
      if (is_matrix_file(each.path().filename().string())) paths.push_back(each.path().string());
    if (paths.empty()) fail(exit_bad_input, "{}: there is no file .mtx or .mtx.gz in this folder", path);
    std::sort(paths.begin(), paths.end());
  } else {
    paths = {path};
  }
  std::vector<ModelPoint> points;
  for (const std::string &each : paths) {
    ModelPoint point;
    point.shape = each;
    point.sample.family = static_cast<int>(points.size()) + 1;
    points.push_back(point);
  }
  return points;
}

Matrix from_file(sxt_context *context, const ModelSet &set, ModelPoint &point) {
  point.name = fs::path(point.shape).filename().string();
  return matrix_of_type(context, point.shape, set.type);
}

}  // namespace

std::vector<ModelPoint> MatrixPoints::places(const ModelSet &set) const {
  if (!set.matrices.empty()) return files_of(set.matrices);
  if (!set.generate.empty()) generators(set.generate);  // names that are not known
  if (set.type != SXT_F64 && set.type != SXT_F32)
    fail(exit_usage, "--type: generated matrices are of f64 or f32; --matrices takes files with complex values");
  const std::string wanted = "," + set.generate + ",";
  const std::span<const double> sizes =
      set.full ? std::span<const double>(full_sizes) : std::span<const double>(small_sizes);
  std::vector<ModelPoint> points;
  int family = 0;
  for (const Family &each : families) {
    ++family;
    const bool named = wanted.find(fmt::format(",{},", each.name)) != std::string::npos;
    if (set.generate.empty() ? each.by_name : !named) continue;
    for (const double entries : sizes) {
      if (entries > most_entries_) continue;
      ModelPoint point;
      point.shape = each.name;
      point.size = static_cast<std::int64_t>(entries / each.entries_a_row);
      point.sample.family = family;
      points.push_back(point);
    }
  }
  return points;
}

Matrix MatrixPoints::matrix_at(sxt_context *context, const ModelSet &set, ModelPoint &point) {
  Matrix matrix;
  if (set.matrices.empty()) {
    const HostCsr a = generators(point.shape).front()(point.size);
    point.name = a.name;
    matrix = matrix_of(context, a, set.type);
  } else {
    matrix = from_file(context, set, point);
  }
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  check(sxt_matrix_get_info(matrix.get(), &info), context);
  point.sample.rows = static_cast<double>(info.rows);
  point.sample.entries = static_cast<double>(info.nnz);
  point.columns = info.cols;
  return matrix;
}

}  // namespace tool
