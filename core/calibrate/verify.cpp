// SPDX-License-Identifier: BSD-3-Clause
#include "core/calibrate/verify.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/shortage.hpp"
#include "core/choose/selector.hpp"
#include "core/conformance/conformance.hpp"
#include "core/context/context.hpp"
#include "core/explain/explain.hpp"
#include "core/matrix/matrix.hpp"
#include "core/model/quantile.hpp"
#include "core/model/timing.hpp"
#include "core/run/trial.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace sextant {

namespace {

bool same(const Choice &a, const Choice &b) {
  return a.kernel == b.kernel && a.storage == b.storage &&
         std::equal(a.candidate.launch, a.candidate.launch + 4, b.candidate.launch);
}

VerifyLine line_of(const Choice &choice) {
  VerifyLine line;
  line.kernel = choice.kernel->name();
  line.format = format_text(choice.storage);
  std::copy(choice.candidate.launch, choice.candidate.launch + 4, line.launch);
  line.predicted_setup_s = choice.setup_s + choice.storage_s;
  line.predicted_run_s = choice.run_s;
  line.rel_error = choice.rel_error;
  line.estimated = !choice.no_estimate;
  return line;
}

// Storages that only the measurements brought go when they are over.
class Visitors {
 public:
  explicit Visitors(Matrix &matrix) : matrix_(matrix) {}
  ~Visitors() {
    for (const std::string &kind : kinds_) matrix_.drop(kind);
  }
  void add(const std::string &kind) { kinds_.insert(kind); }

 private:
  Matrix &matrix_;
  std::set<std::string> kinds_;
};

constexpr int choices = 5;  // that are timed; the median counts, since one interruption takes longer than any
constexpr std::uint64_t asked_anew = 1;  // an answer that is kept from an earlier question would not be the models'

// What is ready before any candidate runs: the way to the device, timed once, and the choice.
class Preparation {
 public:
  Preparation(Matrix &matrix, const Query &query) : matrix_(matrix), visitors_(matrix) {
    // Everything once, so that code is loaded; then as for a caller whose matrix is new.
    Selector(matrix.context(), &matrix).every({query, "verify"});
    matrix.forget_features();
    bring_csr();
    const std::set<std::string> held = matrix.storages();
    std::vector<double> seconds;
    for (int repeat = 0; repeat < choices; ++repeat) {
      if (repeat > 0) matrix.forget_features();
      // Nothing is built: that cost belongs to the candidates that read it.
      const SelectorOptions anew{.asked = asked_anew, .builds = false};
      seconds.push_back(time_once([&] {
        chosen_ = Selector(matrix.context(), &matrix, anew).select({query, "verify"});
      }));
    }
    choose_s_ = quantile(seconds, 0.5);
    // A form that declines while it is built is not chosen.
    chosen_ = Selector(matrix.context(), &matrix, {.asked = asked_anew}).select({query, "verify"});
    if (!held.count(chosen_->storage)) matrix.drop(chosen_->storage);
  }

  const ChoicePtr &chosen() const { return chosen_; }
  double choose_s() const { return choose_s_; }
  // Seconds from the caller's arrays to this storage: on a device, by way of its CSR.
  double storage_seconds(const std::string &kind) {
    if (kind.empty()) return 0;
    const auto [at, is_new] = storage_s_.try_emplace(kind, 0);
    if (is_new && !matrix_.holds(kind)) {
      at->second = time_once([&] { matrix_.lend(kind); });
      visitors_.add(kind);
    }
    return at->second;
  }
  double way_s(const std::string &kind) const { return kind.empty() || kind == SXT_KIND_STORAGE_CSR ? 0 : csr_s_; }
  double predicted_way_s(const std::string &kind) const { return kind.empty() ? 0 : csr_predicted_s_; }

 private:
  void bring_csr() {
    if (matrix_.context().device().on_host()) return;
    matrix_.drop(SXT_KIND_STORAGE_CSR);  // the first look at it brought it
    std::uint64_t bytes = 0;
    std::string reason;
    if (!matrix_.storage_offered(SXT_KIND_STORAGE_CSR, &csr_predicted_s_, &bytes, &reason)) return;
    csr_s_ = storage_seconds(SXT_KIND_STORAGE_CSR);
  }

  Matrix &matrix_;
  Visitors visitors_;
  ChoicePtr chosen_;
  double choose_s_ = 0, csr_s_ = 0, csr_predicted_s_ = 0;
  std::map<std::string, double> storage_s_;
};

// A second set-up, which finds code loaded and pools filled.
double set_up_again(Context &context, const ChoicePtr &choice, Matrix &matrix) {
  return time_once([&] { const Prepared again(context, choice, &matrix, nullptr); });
}

}  // namespace

void verify_model(Matrix &matrix, const VerifySettings &settings, const std::function<bool(const VerifyLine &)> &tell) {
  Context &context = matrix.context();
  sxt_spmv_query asked{};
  asked.m = matrix.query_part(SXT_KIND_SPMV, sizeof asked, settings.applies);
  asked.op = settings.op;
  asked.n_rhs = 1;
  const Query query(&asked.m.q);
  Preparation preparation(matrix, query);
  const ChoicePtr chosen = preparation.chosen();
  const std::vector<ChoicePtr> all = Selector(context, &matrix).every({query, "verify"});
  TrialProduct product(context, query);
  for (const ChoicePtr &choice : all) {
    const bool is_chosen = same(*choice, *chosen);
    if (choice->kernel->has(SXT_KERNEL_REFERENCE) && !settings.references && !is_chosen) continue;
    VerifyLine line = line_of(*choice);
    line.predicted_setup_s += preparation.predicted_way_s(choice->storage);
    try {
      const registry::Kernel &kernel = *choice->kernel;
      const std::string why_not = conformance::self_test(kernel, context.device(), &choice->query, context.scope());
      require(why_not.empty(), SXT_E_PLUGIN, why_not);
      const double storage_s = preparation.storage_seconds(choice->storage) + preparation.way_s(choice->storage);
      const Trial trial = measure(context, choice, matrix, product, settings.candidate_s);
      line.measured_setup_s = std::min(trial.setup_s, set_up_again(context, choice, matrix)) + storage_s;
      line.measured_run_s = trial.run.seconds;
      line.noise = trial.run.noise;
      line.repeats = trial.run.repeats;
    } catch (const Error &problem) {
      if (out_of_memory(problem)) throw;
      context.log()(SXT_LOG_WARNING, text(line.kernel, " could not be measured: ", problem.what()));
      continue;
    }
    line.chosen = is_chosen;
    line.select_s = is_chosen ? preparation.choose_s() : 0;
    if (!tell(line)) return;
  }
}

}  // namespace sextant
