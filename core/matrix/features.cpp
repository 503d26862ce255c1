// SPDX-License-Identifier: BSD-3-Clause
// Features of a matrix: computed by feature kernels when first asked for, cached with the matrix.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

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

std::vector<double> Matrix::features(const char *const *names) {
  const std::lock_guard lock(mutex_);
  std::vector<double> values;
  for (; *names; ++names) {
    auto found = features_.find(*names);
    if (found == features_.end()) {
      if (const Kernel *kernel = provider(*names, context_->device_name())) compute_features(*kernel);
      found = features_.try_emplace(*names, std::nan("")).first;
    }
    values.push_back(found->second);
  }
  return values;
}

double Matrix::feature(const std::string &name) {
  require(provider(name, context_->device_name()) != nullptr, SXT_E_UNKNOWN_NAME,
          unknown_name("feature", name, feature_names(context_->device_name())));
  const char *const names[] = {name.c_str(), nullptr};
  return features(names).front();
}

void Matrix::compute_features(const Kernel &kernel) {
  const sxt_features_ops &ops = *ops_of(kernel);
  sxt_features_args args{};
  args.h = {sizeof args, SXT_KIND_FEATURES};
  while (ops.names[args.count]) ++args.count;
  std::vector<double> values(args.count, std::nan(""));
  args.names = ops.names;
  args.values = values.data();

  sxt_matrix_query query = query_part(SXT_KIND_FEATURES, sizeof query, 1);
  sxt_problem problem{sizeof problem, &query.q, nullptr, nullptr};
  if (kernel.table.storages && kernel.table.storages[0]) {
    query.storage = kernel.table.storages[0];
    problem.a = &storage(kernel.table.storages[0])->h;
  }
  Call call(context_->device());
  sxt_exec exec = make_exec(call);
  sxt_candidate candidate{};
  std::uint64_t count = 0;
  const sxt_features none{};
  if (kernel.table.candidates)
    kernel.table.candidates(&query.q, &none, &context_->machine(), nullptr, &candidate, 1, &count);
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
  for (std::uint64_t i = 0; i < args.count; ++i) features_[ops.names[i]] = values[i];
}

}  // namespace sextant
