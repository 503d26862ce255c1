// SPDX-License-Identifier: BSD-3-Clause
// The plan of a calibration: which stage gets which part of the time.
#include "core/calibrate/calibrate.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/calibrate/hermitian.hpp"
#include "core/calibrate/machine_numbers.hpp"
#include "core/calibrate/noise.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/context/context.hpp"
#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

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
      : context_(context), settings_(settings), clock_(settings_), sampler_(context) {
    settings_.progress = [this, told = settings.progress](double done, const std::string &what, double left) {
      noise_.look();
      return told ? told(done, what, left) : 0;
    };
  }

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
    if (!context_.device().on_host()) drop_hardly_sampled(profile);
    keep_what_ships(profile);
    if (settings_.known) keep_what_is_better(profile, *settings_.known);
    tell_noise(profile);
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

  // Grids of vector kernels are a few percent apart, and all of a kind and type are compared with each other. Where
  // half of their models saw fewer lengths than tell them apart, what the kernels state of themselves chooses better
  // than a mixture.
  void drop_hardly_sampled(Profile &profile) const {
    std::map<std::pair<std::string, sxt_value_type>, std::vector<FittedModel *>> groups;
    for (auto &[key, model] : profile.models)
      if (const std::string kind = vector_kind_of(key.kernel); !kind.empty() && model.samples)
        groups[{kind, key.vector_type}].push_back(&model);
    for (auto &[group, models] : groups) {
      const auto few = std::count_if(models.begin(), models.end(), [](const FittedModel *model) {
        constexpr std::int64_t enough = 8;
        return model->samples < enough;
      });
      if (2 * few <= static_cast<std::ptrdiff_t>(models.size())) continue;
      for (FittedModel *model : models) {
        FittedModel setup_alone;
        setup_alone.setup_factor = model->setup_factor;
        setup_alone.setup_samples = model->setup_samples;
        *model = std::move(setup_alone);
      }
    }
    std::erase_if(profile.models, [](const auto &each) { return !each.second.samples && !each.second.setup_samples; });
  }

  // What ships for this very machine comes from longer measurements: models over a length, which choose between grids a
  // percent apart, stay where there were clearly fewer samples now.
  void keep_what_ships(Profile &profile) const {
    const std::string path = shipped_profile_path(profile.fingerprint);
    if (path.empty()) return;
    try {
      Profile shipped = read_profile(path);
      std::erase_if(shipped.models, [&](const auto &model) { return vector_kind_of(model.first.kernel).empty(); });
      profile.keep_better_sampled(shipped);
      // Nor is a handful of samples enough beside well known models: the luckiest of many grids would be taken for
      // fast.
      constexpr std::int64_t enough = 16;
      std::erase_if(profile.models, [&](const auto &each) {
        const ModelKey &key = each.first;
        const std::string kind = vector_kind_of(key.kernel);
        return !kind.empty() && each.second.samples < enough && !shipped.models.contains(key) &&
               std::any_of(shipped.models.begin(), shipped.models.end(), [&](const auto &known) {
                 return known.first.vector_type == key.vector_type && vector_kind_of(known.first.kernel) == kind;
               });
      });
    } catch (const Error &problem) {
      context_.log()(SXT_LOG_WARNING, text("the profile that ships is left aside: ", problem.what()));
    }
  }

  // A noisy hour must not spoil the models of a quiet one.
  void keep_what_is_better(Profile &profile, const Profile &known) const {
    const auto measured = std::count_if(profile.models.begin(), profile.models.end(),
                                        [](const auto &each) { return each.second.samples > 0; });
    const std::int64_t stay = sampler_.keep_better(known, profile.models);
    if (stay)
      context_.log()(SXT_LOG_WARNING, text(stay, " of ", measured,
                                           " models of the profile stay as they were: they predict what was "
                                           "measured now at least as well as a new fit does"));
  }

  void tell_noise(Profile &profile) const {
    const Noise noise = noise_.found();
    for (const auto &[name, value] : noise.numbers()) profile.machine[name] = value;
    context_.log()(noise.quiet() ? SXT_LOG_INFO : SXT_LOG_WARNING,
                   text(noise.quiet() ? "the machine was quiet: " : "the machine was not quiet: ", noise.text()));
  }

  // The kind of a kernel of vectors that is calibrated here; "" for others.
  std::string vector_kind_of(const std::string &name) const {
    for (const registry::Kernel *kernel : context_.scope().all_kernels()) {
      const std::string kind = kernel->table.kind;
      if (name == kernel->name())
        return is_vector_kind(kind) && (settings_.kind.empty() || settings_.kind == kind) ? kind : "";
    }
    return "";
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
    stages_.push_back(
        {weight, [=, this](double until) { calibrate_pcg(context_, settings_, clock_, sampler_, type, until); }});
  }
  void add_cholesky(double weight) {
    const std::pair<sxt_value_type, double> shares[] = {
        {SXT_F64, 0.55}, {SXT_C128, 0.15}, {SXT_F32, 0.15}, {SXT_C64, 0.15}};
    for (const auto &[type, share] : shares)
      stages_.push_back({share * weight, [=, this](double until) {
                           calibrate_cholesky(context_, settings_, clock_, sampler_, type, until);
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
    const bool engines = all || settings_.kind == SXT_KIND_PCG;
    if (engines) {
      // A GPU's engines give seconds themselves: what is to be learnt there is how long this host sets them up.
      add_pcg(on_host ? 0.08 : 0.04, SXT_F64);
      add_pcg(on_host ? 0.03 : 0.01, SXT_F32);
    }
    const bool factors = all || settings_.kind == SXT_KIND_CHOLESKY;
    if (factors) add_cholesky(all ? 0.12 : 1);
    // Sets of systems are what GPUs are asked about; on a CPU the analytic costs will do unless they are asked for.
    if (is_hermitian_kind(settings_.kind) || (all && !on_host)) {
      add_hermitian(all ? 0.25 : 1);
    } else if (!vectors && !matrices && !engines && !factors) {
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
  NoiseWatch noise_;
  CalibrationClock clock_;
  Sampler sampler_;
  std::vector<Stage> stages_;
};

}  // namespace

Profile calibrate(Context &context, const CalibrationSettings &settings, bool *cancelled) {
  if (!settings.kind.empty()) context.check_names(settings.kind, "");
  const sxt_machine before = context.machine();
  try {
    return Calibration(context, settings).run(cancelled);
  } catch (...) {  // predictions are what they were
    context.device().machine() = before;
    throw;
  }
}

}  // namespace sextant
