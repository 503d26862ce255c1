// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/verify.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/context/context.hpp"
#include "core/dispatch/feedback.hpp"
#include "core/dispatch/select.hpp"
#include "core/dispatch/trial.hpp"
#include "core/explain/explain.hpp"

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

}  // namespace

void verify_model(Matrix &matrix, const VerifySettings &settings, const std::function<bool(const VerifyLine &)> &tell) {
  Context &context = matrix.context();
  sxt_spmv_query asked{};
  asked.m = matrix.query_part(SXT_KIND_SPMV, sizeof asked, settings.applies);
  asked.op = settings.op;
  asked.n_rhs = 1;
  const Query query(&asked.m.q);
  // First as any caller would have it, so that the features are paid for here; then everybody, with all features.
  const double start = seconds_now();
  const ChoicePtr chosen = Selector(context, &matrix).select(query, "verify");
  const double select_s = seconds_now() - start;
  const std::vector<ChoicePtr> all = Selector(context, &matrix).every(query, "verify");
  TrialProduct product(context, query);
  Visitors visitors(matrix);
  std::map<std::string, double> storage_s;  // measured once, charged to each that reads it
  for (const ChoicePtr &choice : all) {
    const bool is_chosen = same(*choice, *chosen);
    if (choice->kernel->has(SXT_KERNEL_REFERENCE) && !settings.references && !is_chosen) continue;
    VerifyLine line = line_of(*choice);
    try {
      const Trial trial = measure(context, choice, matrix, product, settings.candidate_s);
      if (trial.built_storage) {
        visitors.add(choice->storage);
        storage_s[choice->storage] = trial.storage_s;
      }
      line.measured_setup_s = trial.setup_s + storage_s[choice->storage];
      line.measured_run_s = trial.run.seconds;
      line.noise = trial.run.noise;
      line.repeats = trial.run.repeats;
    } catch (const Error &problem) {
      if (problem.status() == SXT_E_MEMORY) throw;
      context.log()(SXT_LOG_WARNING, text(line.kernel, " could not be measured: ", problem.what()));
      continue;
    }
    line.chosen = is_chosen;
    line.select_s = is_chosen ? select_s : 0;
    if (!tell(line)) return;
  }
}

}  // namespace sextant
