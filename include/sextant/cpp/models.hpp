// SPDX-License-Identifier: BSD-3-Clause
// Calibration of a machine, and how right its models are. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_MODELS_HPP
#define SEXTANT_CPP_MODELS_HPP

#include <span>

#include "sextant/cpp/matrix.hpp"

namespace sextant {
inline namespace cpp {

/// How a machine is measured: the members of sxt_calibrate_options, set to their defaults. What a callable throws ends
/// the measurements and is thrown again by calibrate().
struct CalibrateOptions : sxt_calibrate_options {
  CalibrateOptions() { sxt_calibrate_options_init(this, sizeof(sxt_calibrate_options)); }
  /// Part done (0 to 1), what is being measured, seconds left. Continue::no: stop, and fit what was measured so far.
  Callback<double, const char *, double> progress;
  /// Called for every model that was fitted; strings live until it returns.
  std::function<void(const sxt_model_info &)> model;
  /// Called for every run that was measured, model after model.
  std::function<void(const sxt_model_sample &)> sample;
};

/// Measures the machine and the loaded kernels, and adds what was found to the profile, whose path it returns. As
/// sxt_calibrate. [exclusive]
inline std::string calibrate(const Context &context, const CalibrateOptions &options = {}) {
  struct Listeners {
    const CalibrateOptions *options;
    detail::Kept kept;
    static std::int32_t progress(void *user, double done, const char *what, double left) noexcept {
      auto &self = *static_cast<Listeners *>(user);
      return self.kept.run(
          [&] { return self.options->progress ? self.options->progress(done, what, left) : Continue::yes; });
    }
    static void model(void *user, const sxt_model_info *info) noexcept {
      auto &self = *static_cast<Listeners *>(user);
      self.kept.run([&] { return self.options->model(*info), Continue::yes; });
    }
    static void sample(void *user, const sxt_model_sample *sample) noexcept {
      auto &self = *static_cast<Listeners *>(user);
      self.kept.run([&] { return self.options->sample(*sample), Continue::yes; });
    }
  } listeners{&options, {}};
  sxt_calibrate_options c = options;
  // Progress is what can stop the measurements after another callable threw.
  if (options.progress || options.model || options.sample)
    c.progress = Listeners::progress, c.progress_user = &listeners;
  if (options.model) c.model = Listeners::model, c.model_user = &listeners;
  if (options.sample) c.sample = Listeners::sample, c.sample_user = &listeners;
  std::string path(16384, '\0');
  std::int64_t length = 0;
  const sxt_status status =
      sxt_calibrate(context.get(), &c, path.data(), static_cast<std::int64_t>(path.size()), &length);
  listeners.kept.rethrow();
  context.check(status);
  path.resize(static_cast<std::size_t>(std::min<std::int64_t>(length, static_cast<std::int64_t>(path.size()) - 1)));
  return path;
}

/// How candidates are measured: the members of sxt_verify_options, set to their defaults.
struct VerifyOptions : sxt_verify_options {
  VerifyOptions() { sxt_verify_options_init(this, sizeof(sxt_verify_options)); }
};

/// Measures every candidate for products with the matrix and gives each to `line`, which may end it by Continue::no. As
/// sxt_verify_model. [any-thread]
inline void verify_model(const Matrix &matrix, const VerifyOptions &options,
                         const Callback<const sxt_verify_line &> &line) {
  struct Listener {
    const Callback<const sxt_verify_line &> *line;
    detail::Kept kept;
    static std::int32_t call(void *user, const sxt_verify_line *line) noexcept {
      auto &self = *static_cast<Listener *>(user);
      return self.kept.run([&] { return (*self.line)(*line); });
    }
  } listener{&line, {}};
  const sxt_status status = sxt_verify_model(matrix.get(), &options, line ? Listener::call : nullptr, &listener);
  listener.kept.rethrow();
  matrix.check(status);
}
/// Sums up lines of any number of matrices. [any-thread]
inline sxt_verify_summary verify_summary(std::span<const sxt_verify_line> lines, double applies = 1000) {
  sxt_verify_summary summary{};
  summary.struct_size = sizeof summary;
  detail::check(sxt_verify_summarise(lines.data(), static_cast<std::int64_t>(lines.size()), applies, &summary));
  return summary;
}

}  // namespace cpp
}  // namespace sextant
#endif
