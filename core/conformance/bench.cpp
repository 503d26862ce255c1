// SPDX-License-Identifier: BSD-3-Clause
// The parts that a kernel under test needs: storages of the case's matrix and features of it.
#include "core/conformance/bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/base/shortage.hpp"
#include "sextant/plugin/kinds/features.h"

namespace sextant::conformance {

std::vector<const Kernel *> trusted_first(std::vector<const Kernel *> kernels) {
  std::stable_partition(kernels.begin(), kernels.end(), [](const Kernel *k) { return k->verdict == Verdict::passed; });
  return kernels;
}

Query matrix_query(const sxt_case &base, const std::string &kind) {
  sxt_matrix_query query = Query(base.query).matrix_part();
  query.q.h = {sizeof query, kind.c_str()};
  query.q.expected_runs = 1;
  query.q.flags = SXT_QUERY_MATRIX;
  query.storage = nullptr;
  query.matrix = nullptr;
  return Query(&query.q);
}

namespace {

bool about_matrix(const sxt_case &base) { return (base.query->flags & SXT_QUERY_MATRIX) != 0; }

const sxt_features_ops *offers(const Kernel &kernel, const std::string &name) {
  const auto *ops = static_cast<const sxt_features_ops *>(kernel.table.ops);
  for (const char *const *each = ops ? ops->names : nullptr; each && *each; ++each)
    if (name == *each) return ops;
  return nullptr;
}

}  // namespace

Bench::Bench(const Scope &scope, Device &device, const sxt_case &base, int threads, const Kernel *builder)
    : scope_(scope), builder_(builder), device_(device), base_(base), threads_(threads), machine_(device.machine()) {
  if (device.on_host()) machine_.units = threads;
}

Bench::~Bench() = default;

const sxt_head *Bench::matrix_in(const std::string &storage) {
  const auto ops_of = [](const Kernel &kernel) { return static_cast<const sxt_storage_ops *>(kernel.table.ops); };
  auto &held = storages_[storage];
  std::string reasons;
  for (const Kernel *kernel : trusted_first(scope_.kernels(storage, device_.machine().device))) {
    if (held) break;
    const bool chosen = builder_ && storage == builder_->table.kind;
    if (!ops_of(*kernel) || (chosen ? kernel != builder_ : kernel->verdict == Verdict::quarantined)) continue;
    try {
      auto fitted = std::make_unique<Fitted>(*this, *kernel, matrix_query(base_, storage), "");
      fitted->prepare(0);
      held = std::move(fitted);
    } catch (const Error &problem) {
      if (out_of_memory(problem)) throw;  // says nothing about the storage
      reasons += text("; ", kernel->name(), ": ", problem.what());
    }
  }
  require(held != nullptr, SXT_NOT_APPLICABLE, "no kernel builds '", storage, "' from this matrix on device '",
          device_.machine().device, "'", reasons);
  const sxt_storage *view = ops_of(held->kernel())->view(held->state());
  require(view != nullptr, SXT_E_PLUGIN, "storage '", held->kernel().name(), "' published nothing");
  return &view->h;
}

void Bench::refresh_storages() {
  for (auto &[kind, storage] : storages_)
    if (storage) storage->refresh();
}

std::vector<std::string> Bench::storages_for(const Kernel &kernel) const {
  if (!about_matrix(base_)) return {""};
  std::vector<std::string> forms;
  const auto add = [&](const Kernel &reader) {
    for (const char *const *form = reader.table.storages; form && *form; ++form)
      if (std::find(forms.begin(), forms.end(), *form) == forms.end()) forms.emplace_back(*form);
  };
  add(kernel);
  if (!forms.empty()) return forms;
  if (kernel.table.n_slots == 0) return {""};
  // Its parts read the matrix: what the references read, then what anything else does.
  const char *device = device_.machine().device;
  for (const Kernel *any : scope_.all_kernels())
    if (any->has(SXT_KERNEL_REFERENCE) && std::strcmp(any->table.device, device) == 0) add(*any);
  for (const Kernel *any : scope_.all_kernels())
    if (std::strcmp(any->table.device, device) == 0) add(*any);
  return forms.empty() ? std::vector<std::string>{""} : forms;
}

std::vector<double> Bench::features(const char *const *names) {
  std::vector<double> values;
  for (; names && *names; ++names) {
    const auto [at, is_new] = features_.try_emplace(*names, std::numeric_limits<double>::quiet_NaN());
    if (is_new && about_matrix(base_)) at->second = feature(*names);
    values.push_back(at->second);
  }
  return values;
}

double Bench::feature(const std::string &name) {
  for (const Kernel *kernel : trusted_first(scope_.kernels(SXT_KIND_FEATURES, device_.machine().device))) {
    const sxt_features_ops *ops = offers(*kernel, name);
    if (!ops || kernel->verdict == Verdict::quarantined) continue;
    try {
      std::uint64_t count = 0;
      while (ops->names[count]) ++count;
      std::vector<double> values(count, std::numeric_limits<double>::quiet_NaN());
      const auto storages = storages_for(*kernel);
      Fitted fitted(*this, *kernel, matrix_query(base_, SXT_KIND_FEATURES), storages.front());
      fitted.prepare(0);
      const Opened opened(fitted);
      Lending lending(device_, fitted.bound().scratch_bytes, threads_, 0);
      sxt_features_args args{{sizeof args, SXT_KIND_FEATURES}, count, ops->names, values.data()};
      lending.run(opened.bound(), &args.h);
      for (std::uint64_t i = 0; i < count; ++i) features_[ops->names[i]] = values[i];
      return features_[name];
    } catch (const Error &) {  // another kernel may offer it; none: the feature is not available
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sextant::conformance
