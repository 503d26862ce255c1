// SPDX-License-Identifier: BSD-3-Clause
#include "model/points.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "bench/bench.hpp"
#include "names/names.hpp"
#include "report/explanation.hpp"
#include "report/table.hpp"

namespace tool {
namespace {

// Entries of a matrix: from launch-bound to beyond the caches of a core; the full set goes beyond shared ones.
constexpr double small_sizes[] = {4e2, 1.2e3, 4e3, 1.2e4, 4e4, 1.2e5, 4e5, 1e6};
constexpr double full_sizes[] = {4e2, 1e3, 2.5e3, 6e3, 1.5e4, 4e4, 1e5, 2.5e5, 6e5, 1.5e6, 4e6};

struct Family {
  const char *name;
  double entries_a_row;
};
constexpr Family families[] = {
    {"stencil-2d", 5}, {"stencil-3d", 7}, {"stencil-27pt", 27}, {"banded", 41}, {"power-law", 9}};

sxt_spmv_query query_of(const ModelSet &set, bool predict_only) {
  sxt_spmv_query query = product_query();
  query.m.q.value_type = set.type;
  if (predict_only) query.m.q.flags |= SXT_QUERY_PREDICT_ONLY;
  return query;
}

// Throws for a kernel that is not loaded, or of which no products can be measured.
void check_kernel(const std::string &kernel) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    if (kernel == info.name && info.kind != std::string(SXT_KIND_SPMV))
      fail(exit_usage, "{} is of kind {}: models of products ({}) are built here, of all kinds by sextant calibrate",
           kernel, info.kind, SXT_KIND_SPMV);
    if (info.kind == std::string(SXT_KIND_SPMV)) names.emplace_back(info.name);
    if (kernel == info.name) return;
  }
  fail(exit_usage, "{}", sextant::unknown_name("kernel", kernel, names));
}

// What the explanation says of the chosen kernel's model.
bool fill(ModelPoint &point, const Json &explanation) {
  const Json *node = find_kind(explanation["plan"], SXT_KIND_SPMV);
  if (!node || !node->contains("model")) return false;
  const Json &model = (*node)["model"];
  point.before_s = number_of(*node, "predicted_run_s");
  point.version = model["version"];
  point.model_class = model["model_class"];
  point.vector_type = text_of(model, "vector_type");
  point.matrix_type = text_of(model, "matrix_type");
  point.sample.working_set = number_of(model, "working_set_bytes");
  const Json &launch = (*node)["launch"];
  for (std::size_t i = 0; i < launch.size() && i < point.sample.launch.size(); ++i) point.sample.launch[i] = launch[i];
  for (const Json &term : model["terms"]) {
    if (point.terms.size() == SXT_MAX_TERMS) return false;
    point.sample.terms[point.terms.size()] = number_of(term, "count");
    point.terms.push_back(text_of(term, "name"));
    point.analytic.push_back(number_of(term, "analytic_s"));
  }
  return !point.terms.empty();
}

// A model is of one class and of one list of terms: those that most points have.
void keep_one_model(std::vector<ModelPoint> &points) {
  std::map<std::pair<std::uint32_t, std::vector<std::string>>, int> counts;
  for (const ModelPoint &point : points) ++counts[{point.model_class, point.terms}];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
  if (most == counts.end()) return;
  const auto model = most->first;
  std::erase_if(points, [&](const ModelPoint &p) { return std::pair(p.model_class, p.terms) != model; });
}

Matrix matrix_at(sxt_context *context, const ModelPoint &point, const ModelSet &set, std::string *name) {
  const HostCsr a = generators(point.generator).front()(point.rows);
  if (name) *name = a.name;
  return matrix_of(context, a, set.type);
}

}  // namespace

std::vector<ModelPoint> points_of(sxt_context *context, const std::string &kernel, const ModelSet &set,
                                  const std::function<bool()> &stop) {
  check_kernel(kernel);
  std::vector<ModelPoint> points;
  std::string reason;
  const sxt_spmv_query query = query_of(set, true);
  int family = 0;
  if (!set.generate.empty()) generators(set.generate);  // names that are not known
  const std::string wanted = "," + set.generate + ",";
  for (const Family &each : families) {
    ++family;
    if (!set.generate.empty() && wanted.find(fmt::format(",{},", each.name)) == std::string::npos) continue;
    const std::span<const double> sizes =
        set.full ? std::span<const double>(full_sizes) : std::span<const double>(small_sizes);
    for (const double entries : sizes) {
      if (!points.empty() && stop()) break;
      ModelPoint point;
      point.generator = each.name;
      point.rows = static_cast<std::int64_t>(entries / each.entries_a_row);
      const Matrix matrix = matrix_at(context, point, set, &point.name);
      sxt_matrix_info info{};
      info.struct_size = sizeof info;
      check(sxt_matrix_get_info(matrix.get(), &info), context);
      point.sample.family = family;
      point.sample.rows = static_cast<double>(info.rows);
      point.sample.entries = static_cast<double>(info.nnz);
      const Selection selection = select_kernel(context, kernel, query.m.q, matrix.get(), reason);
      if (selection && fill(point, explain_json(selection.get()))) points.push_back(std::move(point));
    }
  }
  if (points.empty()) fail(exit_not_solved, "{} applies to no matrix of the set: {}", kernel, reason);
  keep_one_model(points);
  return points;
}

double predicted_seconds(sxt_context *context, const std::string &kernel, const ModelSet &set,
                         const ModelPoint &point) {
  const Matrix matrix = matrix_at(context, point, set, nullptr);
  const sxt_spmv_query query = query_of(set, true);
  std::string reason;
  ModelPoint seen;
  const Selection selection = select_kernel(context, kernel, query.m.q, matrix.get(), reason);
  return selection && fill(seen, explain_json(selection.get())) ? seen.before_s : std::nan("");
}

std::string measure(sxt_context *context, const std::string &kernel, const ModelSet &set, double seconds,
                    ModelPoint &point) {
  const Matrix matrix = matrix_at(context, point, set, nullptr);
  std::string reason;
  const sxt_spmv_query query = query_of(set, false);
  const Selection selection = select_kernel(context, kernel, query.m.q, matrix.get(), reason);
  if (!selection) return reason;
  sxt_vector *x = nullptr, *y = nullptr;
  const auto n = static_cast<std::int64_t>(point.sample.rows);
  check(sxt_vector_create(context, n, set.type, &x), context);
  const Vector x_owner(x);
  check(sxt_vector_create(context, n, set.type, &y), context);
  const Vector y_owner(y);
  alignas(16) double one64 = 1, zero64 = 0;
  float one32 = 1, zero32 = 0;
  const bool narrow = set.type == SXT_F32;
  check(sxt_fill(narrow ? static_cast<const void *>(&one32) : &one64, x), context);
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.op = SXT_NO_TRANSPOSE, args.n_rhs = 1, args.ldx = args.ldy = n;
  args.alpha.value = narrow ? static_cast<const void *>(&one32) : &one64;
  args.beta.value = narrow ? static_cast<const void *>(&zero32) : &zero64;
  args.x = sxt_vector_data(x), args.y = sxt_vector_data(y);
  sxt_head *head = &args.h;
  if (sxt_selection_time(selection.get(), &head, 1, seconds, &point.sample.seconds, &point.noise) != SXT_OK)
    return sxt_last_error(context);
  point.measured = point.sample.seconds > 0;
  return point.measured ? "" : "a run took no time that the clock sees";
}

}  // namespace tool
