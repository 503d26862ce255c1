// SPDX-License-Identifier: BSD-3-Clause
// Features of a matrix: computed by feature kernels when first asked for, cached with the matrix.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include "core/base/entered.hpp"
#include "core/base/shortage.hpp"
#include "core/conformance/conformance.hpp"
#include "core/matrix/matrix.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/features.h"

namespace sextant {

using registry::Kernel;

namespace {

// Scratch of one run, in the order of its stream where there is one: nothing waits for it.
class Scratch {
 public:
  Scratch(const sxt_exec &exec, std::uint64_t bytes) : exec_(exec) {
    if (bytes == 0) return;
    data_ = exec.host->alloc(exec.host, &exec_, SXT_SPACE_DEVICE, bytes, 256);
    require(data_ != nullptr, SXT_E_MEMORY, bytes, " bytes of scratch for features could not be allocated");
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

// What begins a run that is waited for later, if the kernel has that.
auto beginning(const Kernel &kernel) -> decltype(sxt_features_ops::begin) {
  const auto *ops = static_cast<const sxt_features_ops *>(kernel.table.ops);
  return ops && ops->struct_size >= sizeof *ops ? ops->begin : nullptr;
}

// Runs that begin before the first is waited for take what a run takes beside its work about once, not each.
class SharedWait {
 public:
  void add(const Kernel &kernel, const sxt_candidate &candidate) {
    if (!beginning(kernel)) return;
    all_s_ += candidate.setup_s;
    longest_s_ = std::max(longest_s_, candidate.setup_s);
  }
  double saved_s() const { return all_s_ - longest_s_; }

 private:
  double all_s_ = 0, longest_s_ = 0;
};

// One feature kernel at work on a matrix, in a call of its own: a device works on several at once.
class FeatureRun {
 public:
  // a: what the kernel reads, kept while it does; NULL: nothing.
  FeatureRun(Device &device, const Kernel &kernel, std::vector<int> ids, const sxt_matrix_query &query,
             std::shared_ptr<StoredForm> a, const sxt_candidate &candidate)
      : form_(std::move(a)),
        call_(device),
        kernel_(kernel),
        ids_(std::move(ids)),
        exec_(make_exec(call_)),
        scratch_(exec_, candidate.scratch_bytes),
        values_(ids_.size(), std::nan("")) {
    exec_.scratch = scratch_.data();
    exec_.scratch_bytes = candidate.scratch_bytes;
    for (const int id : ids_) names_.push_back(feature_name(id));
    args_.h = {sizeof args_, SXT_KIND_FEATURES};
    args_.count = names_.size();
    args_.names = names_.data();
    args_.values = values_.data();
    const sxt_problem problem{sizeof problem, &query.q, form_ ? &form_->view()->h : nullptr, nullptr};
    if (kernel.table.prepare)
      call_.check(call_.enter([&] { return kernel.table.prepare(&problem, &candidate, nullptr, &exec_, &state_); }),
                  kernel.name(), "prepare");
  }
  ~FeatureRun() {
    if (state_ && kernel_.table.release) kernel_.table.release(state_);
  }
  FeatureRun(const FeatureRun &) = delete;
  FeatureRun &operator=(const FeatureRun &) = delete;
  const std::vector<int> &ids() const { return ids_; }

  void begin() {
    if (const auto begin = beginning(kernel_))
      call_.check(call_.enter([&] { return begin(state_, &args_.h, &exec_); }), kernel_.name(), "begin");
  }
  void finish(FeatureValues &values) {
    call_.finish(call_.enter([&] { return kernel_.table.run(state_, nullptr, &args_.h, &exec_); }), kernel_.name(),
                 "run");
    for (std::size_t i = 0; i < ids_.size(); ++i) values.set(ids_[i], values_[i]);
  }

 private:
  const std::shared_ptr<StoredForm> form_;
  Call call_;
  const Kernel &kernel_;
  std::vector<int> ids_;
  sxt_exec exec_;
  Scratch scratch_;
  std::vector<const char *> names_;
  std::vector<double> values_;
  sxt_features_args args_{};
  void *state_ = nullptr;
};

// Calls that are under way together. They end in the reverse order of their beginnings, however the function that holds
// them is left: each makes the device current that was so before.
class RunsUnderWay {
 public:
  RunsUnderWay() = default;
  ~RunsUnderWay() {
    while (!runs_.empty()) runs_.pop_back();
  }
  RunsUnderWay(const RunsUnderWay &) = delete;
  RunsUnderWay &operator=(const RunsUnderWay &) = delete;
  void begin_one(std::unique_ptr<FeatureRun> run) {
    runs_.push_back(std::move(run));
    runs_.back()->begin();
  }
  const std::vector<std::unique_ptr<FeatureRun>> &all() const { return runs_; }

 private:
  std::vector<std::unique_ptr<FeatureRun>> runs_;
};

// Features in the making. Those that are not computed when it ends, whatever ended it, are unknown again.
class Unfinished {
 public:
  Unfinished(FeatureValues &values, std::size_t most) : values_(values) { ids_.reserve(most); }
  ~Unfinished() {
    for (const int id : ids_) values_.forget(id);
  }
  Unfinished(const Unfinished &) = delete;
  Unfinished &operator=(const Unfinished &) = delete;
  void add(int id) { ids_.push_back(id); }
  void remove(const std::vector<int> &done) {
    std::erase_if(ids_, [&](int id) { return std::find(done.begin(), done.end(), id) != done.end(); });
  }

 private:
  FeatureValues &values_;
  std::vector<int> ids_;
};

}  // namespace

std::vector<std::string> feature_names(const registry::Scope &scope, const std::string &device) {
  std::vector<std::string> names;
  for (const Kernel *kernel : scope.all_kernels()) {
    if (std::strcmp(kernel->table.kind, SXT_KIND_FEATURES) != 0) continue;
    if (!device.empty() && device != kernel->table.device) continue;
    const auto *ops = static_cast<const sxt_features_ops *>(kernel->table.ops);
    for (const char *const *each = ops ? ops->names : nullptr; each && *each; ++each) names.emplace_back(*each);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

int feature_tier(const std::string &name, const registry::Scope &scope, const std::string &device) {
  return FeatureSources::of(scope, device)->source(feature_id(name)).tier;
}

std::vector<double> Matrix::features_of(const std::vector<int> &ids, unsigned tiers, bool known_too, bool together) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_->scope(), context_->device_name());
  const auto asked = [&](int id) {
    const int tier = sources->source(id).tier;
    return tier < 0 || (tiers >> tier & 1);
  };
  std::vector<int> missing;
  for (const int id : ids)
    if (!features_.knows(id) && asked(id)) missing.push_back(id);
  if (!missing.empty()) {
    if (together) add_companions(*sources, missing);
    compute_features(missing);
  }
  std::vector<double> values;
  values.reserve(ids.size());
  for (const int id : ids)
    values.push_back(features_.knows(id) && (known_too || asked(id)) ? features_.value(id) : std::nan(""));
  return values;
}

// One run of a feature kernel serves the next query, too: all that other kernels need of the feature kernels that run
// anyway.
void Matrix::add_companions(const FeatureSources &sources, std::vector<int> &missing) const {
  std::set<const Kernel *> running;
  unsigned tiers = 0;
  for (const int id : missing)
    if (const FeatureSources::Source source = sources.source(id); source.kernel) {
      running.insert(source.kernel);
      tiers |= 1u << source.tier;
    }
  for (int tier = 0; tier <= highest_feature_tier; ++tier) {
    if (!(tiers >> tier & 1)) continue;
    for (const int id : sources.asked(tier))
      if (running.count(sources.source(id).kernel) && !features_.knows(id) &&
          std::find(missing.begin(), missing.end(), id) == missing.end())
        missing.push_back(id);
  }
}

std::vector<double> Matrix::features_for(const Kernel &kernel, unsigned tiers, bool known_too, bool transposes) {
  const std::vector<int> &all = feature_ids(kernel);
  const auto concerns = [&](std::size_t i) { return transposes || !tells_of_transpose(kernel.table.features[i]); };
  std::vector<int> ids;
  ids.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (concerns(i)) ids.push_back(all[i]);
  std::vector<double> values = features_of(ids, tiers, known_too, true);
  if (ids.size() == all.size()) return values;
  values.resize(all.size());
  for (std::size_t i = all.size(), k = ids.size(); i-- > 0;) values[i] = concerns(i) ? values[--k] : std::nan("");
  return values;
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
  if (feature_tier(name, context_->scope(), context_->device_name()) < 0)
    fail(SXT_E_UNKNOWN_NAME, unknown_name("feature", name, feature_names(context_->scope(), context_->device_name())));
  const char *const names[] = {name.c_str(), nullptr};
  return features(names).front();
}

double Matrix::features_cost(const std::vector<int> &ids) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_->scope(), context_->device_name());
  std::set<const Kernel *> kernels;
  for (const int id : ids)
    if (const Kernel *kernel = sources->source(id).kernel) kernels.insert(kernel);
  double seconds = 0;
  SharedWait wait;
  for (const Kernel *kernel : kernels) {
    const sxt_matrix_query query = features_query(*kernel);
    double storage = 0;
    std::uint64_t bytes = 0;
    std::string reason;
    if (query.storage && !storage_offered(query.storage, &storage, &bytes, &reason)) continue;
    // The CSR has to come to a device whatever is chosen.
    if (query.storage && !context_->device().on_host() && !std::strcmp(query.storage, SXT_KIND_STORAGE_CSR))
      storage = 0;
    seconds += storage + features_seconds(*kernel);
    wait.add(*kernel, features_candidate(*kernel, query, context_->machine()));
  }
  return seconds - wait.saved_s();
}

// Of one run of a feature kernel, whatever it is asked for.
double Matrix::features_seconds(const Kernel &kernel) const {
  const sxt_matrix_query query = features_query(kernel);
  const sxt_candidate candidate = features_candidate(kernel, query, context_->machine());
  const double run = predict(kernel.table, query.q, candidate, context_->machine(), context_->profile()).seconds;
  return (std::isfinite(run) ? run : 0) + candidate.setup_s;
}

sxt_matrix_query Matrix::features_query(const Kernel &kernel) const {
  sxt_matrix_query query = query_part(SXT_KIND_FEATURES, sizeof query, 1);
  if (kernel.table.storages && kernel.table.storages[0]) query.storage = kernel.table.storages[0];
  return query;
}

sxt_candidate Matrix::features_candidate(const Kernel &kernel, const sxt_matrix_query &query,
                                         const sxt_machine &machine) const {
  sxt_candidate candidate{};
  std::uint64_t count = 0;
  const sxt_features none{};
  std::string why;
  const auto ask = [&] { return kernel.table.candidates(&query.q, &none, &machine, nullptr, &candidate, 1, &count); };
  if (kernel.table.candidates && model_entered(ask, why) != SXT_OK) candidate = {};
  return candidate;
}

// Third parties' kernels are tested before they first run; what is not known to be right offers nothing.
bool Matrix::may_serve(const Kernel &kernel) {
  if (kernel.verdict == registry::Verdict::passed) return true;
  const sxt_matrix_query asked = features_query(kernel);
  const Query query(&asked.q);
  return conformance::self_test(kernel, context_->device(), &query, context_->scope()).empty();
}

// Each kernel runs once for all that is wanted of it; a name without a kernel is NaN for good. All are begun before the
// first is waited for. Where a device's memory is too short for a feature kernel, its names stay unknown, to be asked
// for again: models do without.
void Matrix::compute_features(const std::vector<int> &ids) {
  const std::shared_ptr<const FeatureSources> sources = FeatureSources::of(context_->scope(), context_->device_name());
  std::map<const Kernel *, std::vector<int>> wanted;
  Unfinished unfinished(features_, ids.size());
  for (const int id : ids) {
    const Kernel *kernel = sources->source(id).kernel;
    if (kernel && !may_serve(*kernel)) kernel = nullptr;
    if (kernel) wanted[kernel].push_back(id), unfinished.add(id);
    features_.set(id, std::nan(""));  // known meanwhile: a storage that is built for it may ask for it
  }
  const auto or_unknown = [&](auto &&work) {
    try {
      work();
    } catch (const Error &problem) {
      if (!out_of_memory(problem) || context_->device().on_host()) throw;
      context_->log()(SXT_LOG_WARNING, text("features of a matrix stay unknown: ", problem.what()));
    }
  };
  // Storages first: to build one takes a call of its own. Each is lent: where memory is short, the next one to be built
  // may make the matrix drop it.
  std::vector<std::pair<const Kernel *, std::shared_ptr<StoredForm>>> reads;
  for (const auto &[kernel, its_ids] : wanted) {
    const char *form = features_query(*kernel).storage;
    or_unknown([&, of = kernel] { reads.emplace_back(of, form ? lend(form) : nullptr); });
  }
  // Higher tiers look at more: a device is at work on them while the others are begun.
  const auto tier = [](const Kernel *kernel) {
    const auto *ops = static_cast<const sxt_features_ops *>(kernel->table.ops);
    return ops ? ops->tier : 0;
  };
  std::stable_sort(reads.begin(), reads.end(),
                   [&](const auto &a, const auto &b) { return tier(a.first) > tier(b.first); });
  RunsUnderWay runs;
  SharedWait wait;
  for (const auto &[kernel, a] : reads)
    or_unknown([&] {
      const sxt_matrix_query query = features_query(*kernel);
      // Run on the threads that there are; their number changes no feature.
      const sxt_candidate candidate = features_candidate(*kernel, query, context_->device().lending());
      runs.begin_one(std::make_unique<FeatureRun>(context_->device(), *kernel, wanted[kernel], query, a, candidate));
      built_s_ += features_seconds(*kernel);
      wait.add(*kernel, features_candidate(*kernel, query, context_->machine()));
    });
  built_s_ -= wait.saved_s();
  for (const auto &run : runs.all())
    or_unknown([&] {
      run->finish(features_);
      unfinished.remove(run->ids());
    });
}

}  // namespace sextant
