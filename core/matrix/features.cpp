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

// Scratch of one run, in the order of its stream where there is one: nothing waits for it.
class Scratch {
 public:
  Scratch(const sxt_exec &exec, std::uint64_t bytes) : exec_(exec) {
    if (bytes == 0) return;
    data_ = exec.host->alloc(exec.host, &exec_, SXT_SPACE_DEVICE, bytes, 256);
    require(data_ != nullptr, SXT_E_MEMORY, bytes, " bytes of scratch for features could not be had");
  }
  ~Scratch() {
    if (data_) exec_.host->free(exec_.host, &exec_, SXT_SPACE_DEVICE, data_);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  void *data() const { return data_; }

 private:
  sxt_exec exec_;
  void *data_ = nullptr;
};

}  // namespace

std::vector<std::string> feature_names(const std::string &device) {
  std::vector<std::string> names;
  for (const Kernel *kernel : Registry::instance().kernels(SXT_KIND_FEATURES, device)) {
    const auto *ops = static_cast<const sxt_features_ops *>(kernel->table.ops);
    for (const char *const *each = ops ? ops->names : nullptr; each && *each; ++each) names.emplace_back(*each);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

int feature_tier(const std::string &name, const std::string &device) {
  return FeatureSources::of(device)->source(feature_id(name)).tier;
}

std::vector<double> Matrix::features_of(const std::vector<int> &ids, unsigned tiers, bool known_too, bool together) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_->device_name());
  const auto asked = [&](int id) {
    const int tier = sources->source(id).tier;
    return tier < 0 || (tiers >> tier & 1);
  };
  std::vector<int> missing;
  for (const int id : ids)
    if (!features_.knows(id) && asked(id)) missing.push_back(id);
  if (!missing.empty()) {
    // One run of a feature kernel serves whoever will ask next.
    unsigned opened = 0;
    for (const int id : missing)
      if (const int tier = sources->source(id).tier; tier >= 0) opened |= 1u << tier;
    for (int tier = 0; together && tier <= highest_feature_tier; ++tier)
      for (const int id : opened >> tier & 1 ? sources->asked(tier) : std::vector<int>{})
        if (!features_.knows(id) && std::find(missing.begin(), missing.end(), id) == missing.end())
          missing.push_back(id);
    compute_features(missing);
  }
  std::vector<double> values;
  values.reserve(ids.size());
  for (const int id : ids)
    values.push_back(features_.knows(id) && (known_too || asked(id)) ? features_.value(id) : std::nan(""));
  return values;
}

std::vector<double> Matrix::features_for(const Kernel &kernel, unsigned tiers, bool known_too) {
  return features_of(feature_ids(kernel), tiers, known_too, true);
}

std::vector<double> Matrix::features(const char *const *names, unsigned tiers, bool known_too) {
  std::vector<int> ids;
  for (; *names; ++names) ids.push_back(feature_id(*names));
  return features_of(ids, tiers, known_too, false);
}

bool Matrix::knows_feature(int id) const {
  const std::lock_guard lock(mutex_);
  return features_.knows(id);
}

void Matrix::forget_features() {
  const std::lock_guard lock(mutex_);
  features_ = {};
}

void Matrix::share_features(const Matrix &source) {
  const std::scoped_lock lock(mutex_, source.mutex_);
  features_ = source.features_;
}

double Matrix::feature(const std::string &name) {
  require(feature_tier(name, context_->device_name()) >= 0, SXT_E_UNKNOWN_NAME,
          unknown_name("feature", name, feature_names(context_->device_name())));
  const char *const names[] = {name.c_str(), nullptr};
  return features(names).front();
}

double Matrix::features_cost(const std::vector<int> &ids) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_->device_name());
  std::set<const Kernel *> kernels;
  for (const int id : ids)
    if (const Kernel *kernel = sources->source(id).kernel) kernels.insert(kernel);
  double seconds = 0;
  for (const Kernel *kernel : kernels) {
    const sxt_matrix_query query = features_query(*kernel);
    const sxt_candidate candidate = features_candidate(*kernel, query);
    const double run = predict(kernel->table, query.q, candidate, context_->machine(), context_->profile()).seconds;
    double storage = 0;
    std::uint64_t bytes = 0;
    std::string reason;
    if (query.storage && !storage_kernel(query.storage, &storage, &bytes, &reason)) continue;
    // The CSR has to come to a device whatever is chosen.
    if (query.storage && !context_->device().on_host() && !std::strcmp(query.storage, SXT_KIND_STORAGE_CSR))
      storage = 0;
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
void Matrix::compute_features(const std::vector<int> &ids) {
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_->device_name());
  std::map<const Kernel *, std::vector<int>> wanted;
  for (const int id : ids) {
    features_.set(id, std::nan(""));
    if (const Kernel *kernel = sources->source(id).kernel) wanted[kernel].push_back(id);
  }
  for (const auto &[kernel, its_ids] : wanted) {
    try {
      compute_features(*kernel, its_ids);
    } catch (const Error &problem) {
      for (const int id : its_ids) features_.forget(id);
      if (problem.status() != SXT_E_MEMORY || context_->device().on_host()) throw;
      context_->log()(SXT_LOG_WARNING, text("features of a matrix stay unknown: ", problem.what()));
    }
  }
}

void Matrix::compute_features(const Kernel &kernel, const std::vector<int> &ids) {
  std::vector<double> values(ids.size(), std::nan(""));
  std::vector<const char *> names;
  for (const int id : ids) names.push_back(feature_name(id));
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
  const Scratch scratch(exec, candidate.scratch_bytes);
  exec.scratch = scratch.data();
  exec.scratch_bytes = candidate.scratch_bytes;

  struct State {  // released whatever happens
    const Kernel &kernel;
    void *state = nullptr;
    ~State() {
      if (state && kernel.table.release) kernel.table.release(state);
    }
  } held{kernel};
  if (kernel.table.prepare)
    call.check(kernel.table.prepare(&problem, &candidate, nullptr, &exec, &held.state), kernel.name(), "prepare");
  call.finish(kernel.table.run(held.state, nullptr, &args.h, &exec), kernel.name(), "run");
  for (std::size_t i = 0; i < ids.size(); ++i) features_.set(ids[i], values[i]);
}

}  // namespace sextant
