// SPDX-License-Identifier: BSD-3-Clause
// The plan of a calibration: which stage gets which part of the time.
#include "core/model/calibrate.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/context/context.hpp"
#include "core/model/calibrate_hermitian.hpp"
#include "core/model/machine_numbers.hpp"
#include "core/model/sampler.hpp"
#include "sextant/kinds/multidot.h"
#include "sextant/kinds/pcg.h"
#include "sextant/kinds/reduction.h"
#include "sextant/kinds/spmv_dots.h"
#include "sextant/kinds/vector.h"
#include "sextant/kinds/vector_group.h"

namespace sextant {

namespace {

struct Stage {
  double weight;  // part of the time that is left, beside the weights of those that follow
  std::function<void(double until)> run;
};

bool is_vector_kind(std::string_view kind) {
  return kind == SXT_KIND_VECTOR || kind == SXT_KIND_VECTOR_GROUP || kind == SXT_KIND_REDUCTION ||
         kind == SXT_KIND_MULTIDOT;
}
bool is_matrix_kind(std::string_view kind) {
  return kind == SXT_KIND_SPMV || kind == SXT_KIND_SPMV_DOTS || kind.substr(0, 12) == "sxt.storage.";
}

class Calibration {
 public:
  Calibration(Context &context, const CalibrationSettings &settings)
      : context_(context), settings_(settings), clock_(settings_), sampler_(context) {}

  Profile run(bool *cancelled) {
    Profile profile;
    profile.device = context_.device_name();
    profile.name = context_.machine().name ? context_.machine().name : "";
    profile.fingerprint = context_.fingerprint();
    profile.units = context_.machine().units;
    bool stopped = false;
    try {
      measure_numbers(profile);
      run_stages();
    } catch (const CalibrationCancelled &) {
      stopped = true;
    }
    profile.models = sampler_.fit_all(clock_);
    if (settings_.sample) sampler_.tell(profile.models, settings_.sample);
    if (cancelled) *cancelled = stopped;
    return profile;
  }

 private:
  void measure_numbers(Profile &profile) {
    if (context_.device_name() != std::string_view("cpu") || !settings_.kind.empty()) return;
    clock_.report("memory and caches");
    profile.machine = measure_machine(context_.machine(), settings_.most_bytes, 0.04 * settings_.seconds);
    // Samples are normalised by these numbers, as predictions will be.
    profile.apply(context_.device().machine());
  }

  void add_vectors(double weight, const char *kind, sxt_value_type type) {
    stages_.push_back({weight, [=, this](double until) {
                         calibrate_vectors(context_, settings_, clock_, sampler_, kind, type, until);
                       }});
  }
  void add_matrices(double weight, sxt_value_type vectors, sxt_value_type values) {
    stages_.push_back({weight, [=, this](double until) {
                         calibrate_matrices(context_, settings_, clock_, sampler_, vectors, values, until);
                       }});
  }
  void add_pcg(double weight, sxt_value_type type) {
    stages_.push_back({weight, [=, this](double until) {
                         calibrate_pcg(context_, settings_, clock_, sampler_, type, until);
                       }});
  }
  void add_hermitian(double weight) {
    for (const sxt_value_type type : {SXT_C128, SXT_F64, SXT_C64, SXT_F32})
      stages_.push_back({0.25 * weight, [=, this](double until) {
                           calibrate_hermitian(context_, settings_, clock_, sampler_, type, until);
                         }});
  }
  void add_type(double weight, sxt_value_type type, bool vectors, bool matrices) {
    // By how many operations each kind has: their models are often fitted one by one.
    const std::pair<const char *, double> shares[] = {
        {SXT_KIND_VECTOR, 0.20}, {SXT_KIND_VECTOR_GROUP, 0.05}, {SXT_KIND_REDUCTION, 0.10}, {SXT_KIND_MULTIDOT, 0.05}};
    for (const auto &[kind, share] : shares)
      if (vectors && (settings_.kind.empty() || settings_.kind == kind)) add_vectors(share * weight, kind, type);
    if (matrices) add_matrices(0.6 * weight, type, type);
  }

  void run_stages() {
    const bool all = settings_.kind.empty();
    const bool vectors = all || is_vector_kind(settings_.kind), matrices = all || is_matrix_kind(settings_.kind);
    if (vectors || matrices) {
      add_type(0.50, SXT_F64, vectors, matrices);
      add_type(0.22, SXT_F32, vectors, matrices);
      if (matrices) add_matrices(0.08, SXT_F64, SXT_F32);
      add_type(0.10, SXT_C128, vectors, matrices);
      add_type(0.10, SXT_C64, vectors, matrices);
    }
    const bool on_host = context_.device_name() == std::string_view("cpu");
    const bool engines = on_host && (all || settings_.kind == SXT_KIND_PCG);
    if (engines) {
      add_pcg(0.08, SXT_F64);
      add_pcg(0.03, SXT_F32);
    }
    // Sets of systems are what GPUs are asked about; on a CPU the analytic costs will do unless they are asked for.
    if (is_hermitian_kind(settings_.kind) || (all && !on_host)) {
      add_hermitian(all ? 0.25 : 1);
    } else if (!vectors && !matrices && !engines) {
      stages_.push_back(
          {1, [this](double until) { calibrate_cases(context_, clock_, sampler_, settings_.kind, until); }});
    }
    double weights = 0;
    for (const Stage &stage : stages_) weights += stage.weight;
    // The fits need the rest: seconds for all models, however few samples they have.
    const double end = settings_.seconds - std::max(0.06 * settings_.seconds, std::min(2.5, 0.15 * settings_.seconds));
    for (const Stage &stage : stages_) {
      const double now = clock_.elapsed();
      if (now >= end) return;
      stage.run(now + (end - now) * stage.weight / weights);
      weights -= stage.weight;
    }
  }

  Context &context_;
  CalibrationSettings settings_;
  CalibrationClock clock_;
  Sampler sampler_;
  std::vector<Stage> stages_;
};

}  // namespace

Profile calibrate(Context &context, const CalibrationSettings &settings, bool *cancelled) {
  if (!settings.kind.empty()) Context::check_names(settings.kind, "");
  return Calibration(context, settings).run(cancelled);
}

}  // namespace sextant
