// SPDX-License-Identifier: BSD-3-Clause
// Machine profiles: what they hold and how they meet.
#include "core/model/profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sextant {

const std::vector<MachineField> &machine_fields() {
  static const std::vector<MachineField> fields = {
      {"stream_rate", offsetof(sxt_machine, stream_rate)},
      {"stream_rate_unit", offsetof(sxt_machine, stream_rate_unit)},
      {"cache_rate", offsetof(sxt_machine, cache_rate)},
      {"cache_rate_unit", offsetof(sxt_machine, cache_rate_unit)},
      {"gather_rate", offsetof(sxt_machine, gather_rate)},
      {"gather_rate_unit", offsetof(sxt_machine, gather_rate_unit)},
      {"cached_gather_rate", offsetof(sxt_machine, cached_gather_rate)},
      {"sector_rate", offsetof(sxt_machine, sector_rate)},
      {"flop_rate_f64", offsetof(sxt_machine, flop_rate_f64)},
      {"flop_rate_f32", offsetof(sxt_machine, flop_rate_f32)},
      {"launch_s", offsetof(sxt_machine, launch_s)},
      {"barrier_s", offsetof(sxt_machine, barrier_s)},
      {"copy_rate", offsetof(sxt_machine, copy_rate)},
  };
  return fields;
}

const std::vector<const char *> &further_numbers() {
  static const std::vector<const char *> names = {"cache_bytes", "noise_repeats", "noise_drift", "noise_stolen"};
  return names;
}

void Profile::apply(sxt_machine &numbers) const {
  if (!device.empty() && device != numbers.device) return;
  for (const MachineField &field : machine_fields()) {
    const auto found = machine.find(field.name);
    if (found != machine.end())
      *reinterpret_cast<double *>(reinterpret_cast<char *>(&numbers) + field.offset) = found->second;
  }
  if (const auto cache = machine.find("cache_bytes"); cache != machine.end())
    numbers.cache_bytes = static_cast<std::uint64_t>(std::min(cache->second, 1e15));
  // Made for more units than this context may use: together these reach no more than each alone.
  if (units <= 0 || numbers.units >= units) return;
  const auto limit = [&](double &together, double alone) {
    if (alone > 0) together = std::min(together, alone * numbers.units);
  };
  limit(numbers.stream_rate, numbers.stream_rate_unit);
  limit(numbers.cache_rate, numbers.cache_rate_unit);
  limit(numbers.gather_rate, numbers.gather_rate_unit);
  const auto scale = [&](const char *name, double &rate) {  // what the profile does not state is of these units already
    if (machine.count(name)) rate *= static_cast<double>(numbers.units) / units;
  };
  if (device != "cpu") return;
  scale("cached_gather_rate", numbers.cached_gather_rate);
  scale("flop_rate_f64", numbers.flop_rate_f64);
  scale("flop_rate_f32", numbers.flop_rate_f32);
}

void Profile::merge(const Profile &newer) {
  for (const auto &[number, value] : newer.machine)
    if (std::isfinite(value)) machine[number] = value;
  for (const auto &[kernel, correction] : newer.kernels) kernels[kernel] = correction;
  for (const auto &[key, model] : newer.models) {
    if (!model.finite()) continue;
    FittedModel &mine = models[key];
    // Runs and set-up may have been measured in different calibrations: neither wipes out the other.
    const FittedModel before = std::exchange(mine, model);
    if (!model.samples && before.samples) {
      mine = before;
      mine.setup_factor = model.setup_factor;
      mine.setup_samples = model.setup_samples;
    } else if (!model.setup_samples && before.setup_samples) {
      mine.setup_factor = before.setup_factor;
      mine.setup_samples = before.setup_samples;
    }
  }
  if (!newer.device.empty()) device = newer.device;
  if (!newer.name.empty()) name = newer.name;
  if (newer.units) units = newer.units;
  if (!newer.fingerprint.empty()) fingerprint = newer.fingerprint;
}

void Profile::keep_better_sampled(const Profile &older) {
  for (const auto &[key, known] : older.models) {
    FittedModel &model = models[key];
    if (2 * model.samples > known.samples) continue;
    const FittedModel measured = std::exchange(model, known);
    if (measured.setup_samples == 0) continue;
    model.setup_factor = measured.setup_factor;
    model.setup_samples = measured.setup_samples;
  }
}

}  // namespace sextant
