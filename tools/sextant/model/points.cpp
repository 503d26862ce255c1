// SPDX-License-Identifier: BSD-3-Clause
#include "model/points.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "names/names.hpp"
#include "report/error.hpp"
#include "report/explanation.hpp"

namespace tool {
namespace {

// What the explanation says of the kernel's model. Returns why a point cannot be one of a model, "" where it can.
std::string fill(ModelPoint &point, const Json &explanation, const std::string &kind) {
  const Json *node = find_kind(part(explanation, "plan"), kind);
  if (!node || !node->contains("model")) return "the library does not explain its model";
  const Json &model = (*node)["model"];
  point.before_s = number_of(*node, "predicted_run_s");
  point.version = model["version"];
  point.model_class = model["model_class"];
  point.vector_type = text_of(model, "vector_type");
  point.matrix_type = text_of(model, "matrix_type");
  point.sample.working_set = number_of(model, "working_set_bytes");
  const Json &launch = (*node)["launch"];
  for (std::size_t i = 0; i < launch.size() && i < point.sample.launch.size(); ++i) point.sample.launch[i] = launch[i];
  point.terms.clear(), point.analytic.clear();
  for (const Json &term : model["terms"]) {
    if (point.terms.size() == SXT_MAX_TERMS) return "its model has more terms than can be fitted";
    point.sample.terms[point.terms.size()] = number_of(term, "count");
    point.terms.push_back(text_of(term, "name"));
    point.analytic.push_back(number_of(term, "analytic_s"));
  }
  const bool of_parts = point.terms == std::vector<std::string>{"run_s"} && !part(*node, "parts").empty();
  return point.terms.empty() || of_parts ? "its time is predicted as that of its parts: it has no model of its own"
                                         : "";
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

// Calls see(info) for every loaded kernel.
template <class See>
void each_kernel(const See &see) {
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    see(info);
  }
}

// An option that chooses nothing for this kind, or an operation that it does not have, is a mistake.
void check_set(const ModelledKernel &kernel, const ModelSet &set) {
  const std::vector<std::string> known = kernel.source->operations();
  if (!set.operation.empty() && known.empty())
    fail(exit_usage, "--op: {} is of kind {}, which has one operation alone", kernel.name, kernel.kind);
  if (!set.operation.empty() && std::find(known.begin(), known.end(), set.operation) == known.end())
    fail(exit_usage, "--op: {}", sextant::unknown_name("operation", set.operation, known));
  if (kernel.source->of_matrices()) return;
  if (!set.generate.empty() || !set.matrices.empty())
    fail(exit_usage, "{}: {} is of kind {}, whose problems are no sparse matrices",
         set.generate.empty() ? "--matrices" : "--generate", kernel.name, kernel.kind);
}

}  // namespace

std::vector<ModelledKernel> modelled_kernels() {
  std::vector<ModelledKernel> kernels;
  each_kernel([&](const sxt_kernel_info &info) {
    const PointSource *source = source_of(info.kind);
    if (source && !info.reference) kernels.push_back({info.name, info.kind, source});
  });
  const std::vector<std::string> &kinds = modelled_kinds();
  const auto place = [&](const std::string &kind) { return std::find(kinds.begin(), kinds.end(), kind); };
  std::sort(kernels.begin(), kernels.end(), [&](const ModelledKernel &a, const ModelledKernel &b) {
    return std::tuple(place(a.kind), a.name) < std::tuple(place(b.kind), b.name);
  });
  return kernels;
}

ModelledKernel modelled_kernel(const std::string &name) {
  ModelledKernel found;
  std::vector<std::string> names;
  each_kernel([&](const sxt_kernel_info &info) {
    if (source_of(info.kind)) names.emplace_back(info.name);
    if (name == info.name) found = {info.name, info.kind, source_of(info.kind)};
  });
  if (found.name.empty()) fail(exit_usage, "{}", sextant::unknown_name("kernel", name, names));
  if (found.source) return found;
  std::string kinds;
  for (const std::string &kind : modelled_kinds()) kinds += (kinds.empty() ? "" : ", ") + kind;
  fail(exit_usage, "{} is of kind {}; models are built here of {}; sextant calibrate --kind fits others", name,
       found.kind, kinds);
}

std::vector<ModelPoint> points_of(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set,
                                  const std::function<bool()> &stop) {
  check_set(kernel, set);
  std::vector<ModelPoint> points;
  std::string reason;
  for (ModelPoint &point : kernel.source->places(set)) {
    if (!points.empty() && stop()) break;
    const std::unique_ptr<Trial> trial = kernel.source->make(context, set, point);
    const Json explanation = trial->explain(kernel.name, reason);
    if (explanation.is_null()) continue;
    if (std::string why = fill(point, explanation, kernel.kind); !why.empty())
      reason = why;
    else
      points.push_back(std::move(point));
  }
  if (points.empty()) fail(exit_not_solved, "{} applies to no problem of the set: {}", kernel.name, reason);
  keep_one_model(points);
  return points;
}

double predicted_seconds(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set,
                         const ModelPoint &point) {
  ModelPoint seen = point;
  std::string reason;
  const Json explanation = kernel.source->make(context, set, seen)->explain(kernel.name, reason);
  return !explanation.is_null() && fill(seen, explanation, kernel.kind).empty() ? seen.before_s : std::nan("");
}

std::string measure(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set, double seconds,
                    ModelPoint &point) {
  const std::unique_ptr<Trial> trial = kernel.source->make(context, set, point);
  const std::string why = trial->time(kernel.name, seconds, point.sample.seconds, point.noise);
  if (!why.empty()) return why;
  point.measured = point.sample.seconds > 0;
  return point.measured ? "" : "a run took no time that the clock sees";
}

}  // namespace tool
