// SPDX-License-Identifier: BSD-3-Clause
// Inside the calibration: its clock, and the samples it collects for each model.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/calibrate/calibrate.hpp"
#include "core/run/choice.hpp"
#include "core/run/session_timing.hpp"

namespace sextant {

class Matrix;
class Prepared;
class Session;

// What stops a calibration early, from wherever it is.
struct CalibrationCancelled {};

// The budget, and the progress callback that learns how much of it is left.
class CalibrationClock {
 public:
  explicit CalibrationClock(const CalibrationSettings &settings) : settings_(settings) {}
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double left() const { return settings_.seconds - elapsed(); }
  // Throws CalibrationCancelled when progress says so.
  void report(const std::string &what) const;

 private:
  const CalibrationSettings &settings_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// All samples, by the model they belong to.
class Sampler {
 public:
  explicit Sampler(Context &context) : context_(context) {}

  // Builds the choice, runs it on args and keeps its time. A kernel that fails is left out: the calibration goes on.
  // Several args: the geometric mean of a run whose operands the last cache holds and of one that takes turns.
  // family: samples that resemble each other share one. budget_s: about how long it may take; least_samples: replays on
  // a device, whatever they take. data: what the kernel is prepared for beside a matrix. Returns the seconds of a run;
  // 0: nothing was measured.
  double measure(const ChoicePtr &choice, Matrix *matrix, std::span<sxt_head *const> args, int family, double budget_s,
                 int least_samples = usual_replays, const sxt_head *data = nullptr);
  // The same for kernels whose runs end with a word to the host, so that they can neither be captured nor enqueued one
  // after the other: so many calls by the clock, after a first one.
  double measure_calls(const ChoicePtr &choice, sxt_head *args, int family, int calls, const sxt_head *data);
  // A candidate that is set up, to be timed in turns with others: what disturbs one round disturbs all of them.
  struct Runner {
    ChoicePtr choice;
    std::unique_ptr<Prepared> prepared;
    std::unique_ptr<Session> session;  // NULL: it cannot be built, or failed
    std::vector<double> turns;         // seconds of a run
  };
  Runner set_up(const ChoicePtr &choice, Matrix *matrix, const sxt_head *data = nullptr);
  // Times it once, as `measure` says of budget_s and least_samples, the latter on the host, too.
  void take_turn(Runner &runner, std::span<sxt_head *const> args, double budget_s, int least_samples);
  // Keeps the median of its turns and returns it; 0: there were none.
  double keep(const Runner &runner, int family, bool over_one_length = false);
  // Of the models just fitted, leaves out the runs of those whose earlier model predicts the present samples no worse
  // than the new one predicts samples that it has not seen. Returns how many.
  std::int64_t keep_better(const Profile &known, std::map<ModelKey, FittedModel> &models) const;
  // A set-up that was timed elsewhere.
  void add_setup(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate, double seconds);
  // over_one_length: the model's samples differ in nothing but the length of vectors.
  void add_run(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate, double seconds,
               int family, bool over_one_length = false);
  // Kernels whose models are fitted: no references, and none whose cost is that of its parts.
  static bool wanted(const registry::Kernel &kernel);
  // The fitted models of all that was sampled.
  std::map<ModelKey, FittedModel> fit_all(const CalibrationClock &clock) const;
  // Every sampled run of the models, with its fitted seconds.
  void tell(const std::map<ModelKey, FittedModel> &models,
            const std::function<void(const ModelKey &, const FittedModel &, const Sample &, double)> &listener) const;

 private:
  struct Collected {
    FitProblem problem;
    std::vector<std::vector<double>> analytic;  // of each sample
    std::vector<double> setup_ratios;           // measured over the candidate's own figure
    bool reads_matrix = false, has_structure = false;
  };
  std::vector<Sample> kin_of(const ModelKey &key, const Collected &own) const;
  bool attempt(const sxt_kernel &kernel, const std::function<void()> &work) const;
  Context &context_;
  std::map<ModelKey, Collected> collected_;
};

// The stages of a calibration; each stops when its seconds are over.
void calibrate_vectors(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                       Sampler &sampler, const std::string &kind, sxt_value_type type, double until);
void calibrate_matrices(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                        Sampler &sampler, sxt_value_type vectors, sxt_value_type values, double until);
// Engines of conjugate gradients on the host.
void calibrate_pcg(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                   Sampler &sampler, sxt_value_type type, double until);
// Factorisations and solves of sparse definite systems on the host.
void calibrate_cholesky(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                        Sampler &sampler, sxt_value_type type, double until);
void calibrate_cases(Context &context, const CalibrationClock &clock, Sampler &sampler, const std::string &kind,
                     double until);

}  // namespace sextant
