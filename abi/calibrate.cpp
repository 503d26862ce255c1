// SPDX-License-Identifier: BSD-3-Clause
#include "core/calibrate/calibrate.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include "abi/handles.hpp"
#include "abi/options.hpp"
#include "abi/sized.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

sxt_calibrate_options calibrate_defaults() {
  sxt_calibrate_options options{};
  options.struct_size = sizeof options;
  return options;
}

// A device replays its runs. That reaches the precision of a clock on the CPU in less time.
constexpr double full_seconds = 90, device_seconds = 60, quick_seconds = 20, full_bytes = 256e6, quick_bytes = 64e6;

CalibrationSettings settings_of(const sxt_calibrate_options &options, bool on_host) {
  require(std::isfinite(options.seconds) && options.seconds >= 0, SXT_E_ARGUMENT, "options->seconds is ",
          options.seconds, "; it must be a time, or 0 for the default");
  check_reserved(options.reserved0, "options->reserved0");
  CalibrationSettings settings;
  const bool quick = switched(options.quick, "options->quick");
  const double usual = quick ? quick_seconds : on_host ? full_seconds : device_seconds;
  settings.seconds = options.seconds > 0 ? options.seconds : usual;
  settings.most_bytes = quick ? quick_bytes : full_bytes;
  settings.kind = name_or_none(options.kind, "options->kind");
  if (options.progress)
    settings.progress = [&options](double done, const std::string &what, double seconds_left) {
      return options.progress(options.progress_user, done, what.c_str(), seconds_left);
    };
  if (options.sample)
    settings.sample = [&options](const ModelKey &key, const FittedModel &model, const Sample &sample, double fitted_s) {
      std::vector<const char *> names;
      for (const std::string &name : model.names) names.push_back(name.c_str());
      sxt_model_sample shown{};
      shown.struct_size = sizeof shown;
      shown.kernel = key.kernel.c_str();
      shown.vector_type = key.vector_type;
      shown.matrix_type = key.matrix_type;
      shown.version = key.version;
      shown.model_class = key.model_class;
      shown.working_set_bytes = sample.working_set;
      shown.measured_s = sample.seconds;
      shown.fitted_s = fitted_s;
      shown.launch = sample.launch.data();
      shown.family = sample.family;
      shown.rows = sample.rows;
      shown.entries = sample.entries;
      shown.n_terms = static_cast<std::int64_t>(names.size());
      shown.term_names = names.data();
      shown.terms = sample.terms.data();
      options.sample(options.sample_user, &shown);
    };
  return settings;
}

void report_models(const Profile &profile, const sxt_calibrate_options &options) {
  for (const auto &[key, model] : profile.models) {
    sxt_model_info info{};
    info.struct_size = sizeof info;
    info.kernel = key.kernel.c_str();
    info.vector_type = key.vector_type;
    info.matrix_type = key.matrix_type;
    info.version = key.version;
    info.model_class = key.model_class;
    info.samples = model.samples;
    info.power = model.power;
    info.breakpoints = static_cast<int32_t>(model.breakpoints.size());
    info.median_error = model.median_error;
    info.p90_error = model.p90_error;
    info.scatter = model.scatter;
    info.setup_samples = model.setup_samples;
    info.setup_factor = model.setup_factor;
    options.model(options.model_user, &info);
  }
}

}  // namespace

void sxt_calibrate_options_init(sxt_calibrate_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, calibrate_defaults());
}

sxt_status sxt_calibrate(sxt_context *context, const sxt_calibrate_options *options, char *path, int64_t capacity,
                         int64_t *length) {
  return guarded(id_of(context), [&] {
    Context &inner = *given(context, "context").context;
    check_buffer(path, capacity);  // not after the work
    const sxt_calibrate_options all = read_sized(options, calibrate_defaults(), "options");
    const std::string file =
        all.path ? name_or_none(all.path, "options->path") : default_profile_path(inner.fingerprint());
    require(!file.empty(), SXT_E_FILE_WRITE,
            "there is no place for a profile: neither SEXTANT_PROFILE, XDG_DATA_HOME nor HOME is set");
    CalibrationSettings settings = settings_of(all, inner.device().on_host());
    if (!settings.kind.empty()) inner.check_names(settings.kind, "");
    // Detects a file that cannot be written, or that belongs to another machine, before the work.
    Profile nothing_yet;
    nothing_yet.fingerprint = inner.fingerprint();
    settings.known = std::make_shared<const Profile>(update_profile(file, nothing_yet, inner.log()));
    const sxt_machine before = inner.machine();
    const Profile measured = calibrate(inner, settings);
    try {
      inner.use_profile(update_profile(file, measured, inner.log()));
    } catch (...) {  // predictions change only with a profile that was written
      inner.device().machine() = before;
      throw;
    }
    if (all.model) report_models(measured, all);
    fill(file, path, capacity, length);
  });
}
