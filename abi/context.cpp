// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "abi/handles.hpp"
#include "abi/options.hpp"
#include "abi/sized.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

sxt_context_options context_defaults() {
  sxt_context_options options{};
  options.struct_size = sizeof options;
  options.log_level = SXT_LOG_WARNING;
  return options;
}

ContextSettings settings_of(const sxt_context_options &options) {
  require((options.allocate == nullptr) == (options.release == nullptr), SXT_E_ARGUMENT,
          "options->allocate and options->release must be given both or not at all");
  require(options.threads >= 0, SXT_E_ARGUMENT, "options->threads is negative (", options.threads, ")");
  require(options.log_level >= SXT_LOG_SILENT && options.log_level <= SXT_LOG_DEBUG, SXT_E_ARGUMENT,
          "options->log_level ", options.log_level, " is not one of SXT_LOG_SILENT (0) to SXT_LOG_DEBUG (5)");
  require(options.n_plugin_paths == 0 || options.plugin_paths, SXT_E_ARGUMENT,
          "options->plugin_paths is NULL but n_plugin_paths is ", options.n_plugin_paths);
  ContextSettings settings;
  settings.device = name_or_none(options.device, "options->device");
  settings.ordinal = options.device_ordinal;
  settings.threads = options.threads;
  settings.profile_path = name_or_none(options.profile_path, "options->profile_path");
  for (uint64_t i = 0; i < options.n_plugin_paths; ++i)
    settings.plugin_paths.emplace_back(&given(options.plugin_paths[i], "an entry of options->plugin_paths"));
  settings.log = {options.log, options.log_user, options.log_level};
  settings.allocator = {options.allocator_user, options.allocate, options.release};
  settings.deterministic = switched(options.deterministic, "options->deterministic");
  require(options.race_seconds >= 0 && std::isfinite(options.race_seconds), SXT_E_ARGUMENT, "options->race_seconds is ",
          options.race_seconds, ", not a time");
  settings.race = options.race;
  settings.race_seconds = options.race_seconds;
  require(options.feedback <= 1, SXT_E_ARGUMENT, "options->feedback is ", options.feedback,
          ", neither 1 nor 0 nor negative");
  settings.feedback = options.feedback;
  return settings;
}

}  // namespace

void sxt_context_options_init(sxt_context_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, context_defaults());
}

sxt_status sxt_context_create(const sxt_context_options *options, sxt_context **context) {
  return guarded(0, [&] {
    given(context, "context");
    const ContextSettings settings = settings_of(read_sized(options, context_defaults(), "options"));
    auto made = std::make_unique<sxt_context>(sxt_context{std::make_shared<Context>(settings)});
    *context = made.release();
  });
}

void sxt_context_destroy(sxt_context *context) { destroy(context); }

const char *sxt_last_error(const sxt_context *context) { return remembered(id_of(context)); }

void sxt_last_error_copy(const sxt_context *context, char *buffer, int64_t capacity, int64_t *length) {
  try {
    fill(remembered(id_of(context)), buffer, capacity, length);
  } catch (...) {  // a buffer that cannot be filled stays unchanged
  }
}

sxt_status sxt_context_describe(const sxt_context *context, char *buffer, int64_t capacity, int64_t *length) {
  return guarded(id_of(context),
                 [&] { fill(given(context, "context").context->describe(), buffer, capacity, length); });
}

sxt_status sxt_context_set_stream(sxt_context *context, void *stream) {
  return guarded(id_of(context), [&] { given(context, "context").context->device().set_callers_stream(stream); });
}

sxt_status sxt_context_synchronize(sxt_context *context) {
  return guarded(id_of(context), [&] {
    const Device &device = given(context, "context").context->device();
    device.wait(device.callers_stream());
  });
}

sxt_status sxt_context_force(sxt_context *context, const char *kind, const char *kernel) {
  return guarded(id_of(context), [&] {
    given(context, "context").context->force(&given(kind, "kind"), name_or_none(kernel, "kernel"));
  });
}

sxt_status sxt_plan_save(sxt_context *context, const char *path) {
  return guarded(id_of(context), [&] { given(context, "context").context->save_plan(&given(path, "path")); });
}

sxt_status sxt_plan_load(sxt_context *context, const char *path, int32_t required) {
  return guarded(id_of(context),
                 [&] { given(context, "context").context->load_plan(&given(path, "path"), required != 0); });
}
