// SPDX-License-Identifier: BSD-3-Clause
// Features of a matrix: computed by feature kernels when first asked for, cached with the matrix.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include "core/base/names.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/kinds/features.h"

namespace sextant {

using registry::Kernel;
using registry::Registry;

namespace {

const sxt_features_ops *ops_of(const Kernel &kernel) {
  const auto *ops = static_cast<const sxt_features_ops *>(kernel.table.ops);
  return ops && ops->names ? ops : nullptr;
}

// The kernel of the lowest tier that offers a feature.
const Kernel *provider(const std::string &name, const std::string &device) {
  const Kernel *best = nullptr;
  for (const Kernel *kernel : Registry::instance().kernels(SXT_KIND_FEATURES, device)) {
    const sxt_features_ops *ops = ops_of(*kernel);
    if (!ops || kernel->has(SXT_KERNEL_REFERENCE) || kernel->verdict == registry::Verdict::quarantined) continue;
    for (const char *const *each = ops->names; *each; ++each)
      if (name == *each && (!best || ops->tier < ops_of(*best)->tier)) best = kernel;
  }
  return best;
}

}  // namespace

std::vector<std::string> feature_names(const std::string &device) {
  std::vector<std::string> names;
  for (const Kernel *kernel : Registry::instance().kernels(SXT_KIND_FEATURES, device))
    if (const sxt_features_ops *ops = ops_of(*kernel))
      for (const char *const *each = ops->names; *each; ++each) names.emplace_back(*each);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

int feature_tier(const std::string &name, const std::string &device) {
  const Kernel *kernel = provider(name, device);
  return kernel ? std::clamp(ops_of(*kernel)->tier, 0, highest_feature_tier) : -1;
}

std::vector<double> Matrix::features(const char *const *names, unsigned tiers, bool known_too) {
  const std::lock_guard lock(mutex_);
  const auto asked = [&](const char *name) {
    const int tier = feature_tier(name, context_->device_name());
    return tier < 0 || (tiers >> tier & 1);
  };
  std::vector<std::string> missing;
  for (const char *const *name = names; *name; ++name)
    if (!features_.count(*name) && asked(*name)) missing.emplace_back(*name);
  compute_features(missing);
  std::vector<double> values;
  for (; *names; ++names) {
    const auto found = features_.find(*names);
    const bool given = found != features_.end() && (known_too || asked(*names));
    values.push_back(given ? found->second : std::nan(""));
  }
  return values;
}

bool Matrix::knows_feature(const std::string &name) const {
  const std::lock_guard lock(mutex_);
  return features_.count(name) > 0;
}

double Matrix::feature(const std::string &name) {
  require(provider(name, context_->device_name()) != nullptr, SXT_E_UNKNOWN_NAME,
          unknown_name("feature", name, feature_names(context_->device_name())));
  const char *const names[] = {name.c_str(), nullptr};
  return features(names).front();
}

double Matrix::features_cost(const std::vector<std::string> &names) {
  const std::lock_guard lock(mutex_);
  std::set<const Kernel *> kernels;
  for (const std::string &name : names)
    if (const Kernel *kernel = provider(name, context_->device_name())) kernels.insert(kernel);
  double seconds = 0;
  for (const Kernel *kernel : kernels) {
    const sxt_matrix_query query = features_query(*kernel);
    const sxt_candidate candidate = features_candidate(*kernel, query);
    const double run = predict(kernel->table, query.q, candidate, context_->machine(), context_->profile()).seconds;
    double storage = 0;
    std::uint64_t bytes = 0;
    std::string reason;
    if (query.storage && !storage_kernel(query.storage, &storage, &bytes, &reason)) continue;
    seconds += storage + (std::isfinite(run) ? run : 0) + candidate.setup_s;
  }
  return seconds;
}

sxt_matrix_query Matrix::features_query(const Kernel &kernel) const {
  sxt_matrix_query query = query_part(SXT_KIND_FEATURES, sizeof query, 1);
  if (kernel.table.storages && kernel.table.storages[0]) query.storage = kernel.table.storages[0];
  return query;
}

sxt_candidate Matrix::features_candidate(const Kernel &kernel, const sxt_matrix_query &query) const {
  sxt_candidate candidate{};
  std::uint64_t count = 0;
  const sxt_features none{};
  if (kernel.table.candidates)
    kernel.table.candidates(&query.q, &none, &context_->machine(), nullptr, &candidate, 1, &count);
  return candidate;
}

// Each kernel runs once for all that is wanted of it; a name without a kernel is NaN for good. Where a device's memory
// is too short for a feature kernel, its names stay unknown, to be asked for again: models do without.
void Matrix::compute_features(const std::vector<std::string> &names) {
  std::map<const Kernel *, std::vector<const char *>> wanted;
  for (const std::string &name : names) {
    features_[name] = std::nan("");
    if (const Kernel *kernel = provider(name, context_->device_name())) wanted[kernel].push_back(name.c_str());
  }
  for (const auto &[kernel, its_names] : wanted) {
    try {
      compute_features(*kernel, its_names);
    } catch (const Error &problem) {
      for (const char *name : its_names) features_.erase(name);
      if (problem.status() != SXT_E_MEMORY || context_->device().on_host()) throw;
      context_->log()(SXT_LOG_WARNING, text("features of a matrix stay unknown: ", problem.what()));
    }
  }
}

void Matrix::compute_features(const Kernel &kernel, const std::vector<const char *> &names) {
  std::vector<double> values(names.size(), std::nan(""));
  sxt_features_args args{};
  args.h = {sizeof args, SXT_KIND_FEATURES};
  args.count = names.size();
  args.names = names.data();
  args.values = values.data();

  const sxt_matrix_query query = features_query(kernel);
  sxt_problem problem{sizeof problem, &query.q, nullptr, nullptr};
  if (query.storage) problem.a = &storage(query.storage)->h;
  Call call(context_->device());
  sxt_exec exec = make_exec(call);
  const sxt_candidate candidate = features_candidate(kernel, query);
  const DeviceBuffer scratch(context_->device(), candidate.scratch_bytes);
  exec.scratch = scratch.data();
  exec.scratch_bytes = scratch.bytes();

  struct State {  // released whatever happens
    const Kernel &kernel;
    void *state = nullptr;
    ~State() {
      if (state && kernel.table.release) kernel.table.release(state);
    }
  } held{kernel};
  if (kernel.table.prepare)
    call.finish(kernel.table.prepare(&problem, &candidate, nullptr, &exec, &held.state), kernel.name(), "prepare");
  call.finish(kernel.table.run(held.state, nullptr, &args.h, &exec), kernel.name(), "run");
  for (std::size_t i = 0; i < names.size(); ++i) features_[names[i]] = values[i];
}

}  // namespace sextant
