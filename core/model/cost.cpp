// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace sextant {

namespace {

enum class Group { latency, memory, compute };
struct Coefficient {
  Group group;
  double seconds;  // a unit of the term
};

// A rate that grows with the units kept busy until the shared limit is met.
double shared_rate(double all, double one, double units, double machine_units) {
  if (units <= 0 || units >= machine_units) return all;
  return one > 0 ? std::min(all, one * units) : all * units / machine_units;
}

// The machine's coefficient of a standard term; memory group at zero seconds for a name core does not know.
Coefficient standard_coefficient(const char *term, const sxt_candidate &candidate, const sxt_machine &machine,
                                 sxt_value_type type) {
  const double units = candidate.units, all = std::max(1, machine.units);
  const double busy = units > 0 ? std::min(units, all) : all;
  if (!std::strcmp(term, "launches")) return {Group::latency, machine.launch_s};
  if (!std::strcmp(term, "barriers")) return {Group::latency, busy > 1 ? machine.barrier_s : 0};
  if (!std::strcmp(term, "stream_bytes"))
    return {Group::memory, 1 / stream_rate(machine, candidate.working_set_bytes, units)};
  if (!std::strcmp(term, "gathers"))
    return {Group::memory, 1 / shared_rate(machine.gather_rate, machine.gather_rate_unit, units, all)};
  if (!std::strcmp(term, "atomics"))
    return {Group::memory, 4 / shared_rate(machine.gather_rate, machine.gather_rate_unit, units, all)};
  if (!std::strcmp(term, "flops")) {
    const bool single = type == SXT_F32 || type == SXT_C64;
    return {Group::compute, all / (busy * (single ? machine.flop_rate_f32 : machine.flop_rate_f64))};
  }
  return {Group::memory, 0};
}

Prediction from_terms(const sxt_kernel &kernel, const sxt_candidate &candidate, const sxt_machine &machine,
                      sxt_value_type type) {
  double sums[3] = {0, 0, 0};
  for (std::uint32_t i = 0; i < candidate.n_terms && i < SXT_MAX_TERMS; ++i) {
    if (!kernel.term_names || !kernel.term_names[i]) return {std::numeric_limits<double>::quiet_NaN(), 0};
    Coefficient c = standard_coefficient(kernel.term_names[i], candidate, machine, type);
    if (kernel.term_defaults && std::isfinite(kernel.term_defaults[i])) c.seconds = kernel.term_defaults[i];
    sums[static_cast<int>(c.group)] += c.seconds * candidate.terms[i];
  }
  return {sums[0] + std::max(sums[1], sums[2]), analytic_rel_error};
}

}  // namespace

double stream_rate(const sxt_machine &machine, double working_set_bytes, double units) {
  const double all = std::max(1, machine.units);
  const double memory = shared_rate(machine.stream_rate, machine.stream_rate_unit, units, all);
  const double cache = shared_rate(machine.cache_rate, machine.cache_rate_unit, units, all);
  const double cache_bytes = static_cast<double>(machine.cache_bytes);
  if (!(cache > memory) || cache_bytes <= 0) return memory;
  // What exceeds the cache comes from memory at every pass; below it all stays.
  const double missing = std::clamp((working_set_bytes - cache_bytes) / cache_bytes, 0.0, 1.0);
  return 1 / (missing / memory + (1 - missing) / cache);
}

Prediction predict(const sxt_kernel &kernel, const sxt_candidate &candidate, const sxt_machine &machine,
                   const Profile &profile, sxt_value_type type) {
  Prediction prediction = candidate.n_terms ? from_terms(kernel, candidate, machine, type)
                                            : Prediction{candidate.run_s, analytic_rel_error};
  const auto correction = profile.kernels.find(kernel.name);
  if (correction != profile.kernels.end()) {
    prediction.seconds *= correction->second.factor;
    prediction.rel_error = correction->second.rel_error;
  }
  return prediction;
}

}  // namespace sextant
