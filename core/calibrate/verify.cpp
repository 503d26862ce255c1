// SPDX-License-Identifier: BSD-3-Clause
#include "core/calibrate/verify.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
#include "core/run/session_timing.hpp"
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

constexpr int turns_on_host = 5;           // of each candidate; the median counts
constexpr double averaging_run_s = 20e-3;  // that are measured once
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

// A candidate that is set up, to be timed in turns with the others.
struct Contestant {
  ChoicePtr choice;
  VerifyLine line;
  std::unique_ptr<Prepared> prepared;
  std::unique_ptr<Session> session;
  std::vector<double> turns;  // seconds of a run

  // The median of its turns, and how far they or the runs within one scatter.
  void conclude() {
    line.measured_run_s = quantile(turns, 0.5);
    const double scatter = (quantile(turns, 0.75) - quantile(turns, 0.25)) / line.measured_run_s;
    if (turns.size() >= turns_on_host) line.noise = std::max(line.noise, scatter);
  }
  void take_turn(Context &context, TrialProduct &product, double budget_s) {
    sxt_head *const args = product.args();
    const Timing run = time_session(context, *session, {&args, 1}, choice->run_s, budget_s);
    turns.push_back(run.seconds);
    line.noise = std::max(line.noise, run.noise);
    line.repeats += run.repeats;
  }
};

// Everything about one matrix. What fails is left out, with a warning.
class Verification {
 public:
  Verification(Matrix &matrix, const Query &query, const VerifySettings &settings)
      : matrix_(matrix),
        context_(matrix.context()),
        settings_(settings),
        rounds_(context_.device().on_host() ? turns_on_host : 1),
        preparation_(matrix, query),
        product_(context_, query) {
    for (const ChoicePtr &choice : Selector(context_, &matrix).every({query, "verify"})) {
      const bool is_chosen = same(*choice, *preparation_.chosen());
      if (choice->kernel->has(SXT_KERNEL_REFERENCE) && !settings.references && !is_chosen) continue;
      attempt(line_of(*choice).kernel, [&] { enter(choice, is_chosen); });
    }
  }

  // Candidates take turns, so that what disturbs one disturbs all of them.
  void measure(const std::function<bool(const VerifyLine &)> &tell) {
    for (int round = 1; round < rounds_; ++round)
      for (Contestant &each : entered_)
        if (each.turns.front() < averaging_run_s)
          attempt(each.line.kernel, [&] { each.take_turn(context_, product_, settings_.candidate_s / rounds_); });
    for (Contestant &each : entered_) {
      each.conclude();
      if (!tell(each.line)) return;
    }
  }

 private:
  void enter(const ChoicePtr &choice, bool is_chosen) {
    Contestant one{choice, line_of(*choice), nullptr, nullptr, {}};
    one.line.predicted_setup_s += preparation_.predicted_way_s(choice->storage);
    one.line.chosen = is_chosen;
    one.line.select_s = is_chosen ? preparation_.choose_s() : 0;
    const std::string why_not =
        conformance::self_test(*choice->kernel, context_.device(), &choice->query, context_.scope());
    require(why_not.empty(), SXT_E_PLUGIN, why_not);
    const double storage_s = preparation_.storage_seconds(choice->storage) + preparation_.way_s(choice->storage);
    const double setup_s = set_up(one);
    // A second set-up finds code loaded and pools filled.
    one.line.measured_setup_s = storage_s + std::min(setup_s, set_up(one));
    one.session = one.prepared->open();
    one.take_turn(context_, product_, settings_.candidate_s / rounds_);
    if (rounds_ == 1) one.session.reset(), one.prepared.reset();  // a device has no memory for all of them
    entered_.push_back(std::move(one));
  }
  double set_up(Contestant &one) {
    return time_once([&] { one.prepared = std::make_unique<Prepared>(context_, one.choice, &matrix_, nullptr); });
  }
  template <class F>
  void attempt(const std::string &kernel, F &&work) {
    try {
      work();
    } catch (const Error &problem) {
      if (out_of_memory(problem)) throw;
      context_.log()(SXT_LOG_WARNING, text(kernel, " could not be measured: ", problem.what()));
    }
  }

  Matrix &matrix_;
  Context &context_;
  const VerifySettings &settings_;
  const int rounds_;
  Preparation preparation_;
  TrialProduct product_;
  std::vector<Contestant> entered_;
};

}  // namespace

void verify_model(Matrix &matrix, const VerifySettings &settings, const std::function<bool(const VerifyLine &)> &tell) {
  sxt_spmv_query asked{};
  asked.m = matrix.query_part(SXT_KIND_SPMV, sizeof asked, settings.applies);
  asked.op = settings.op;
  asked.n_rhs = 1;
  const Query query(&asked.m.q);
  Verification(matrix, query, settings).measure(tell);
}

}  // namespace sextant
