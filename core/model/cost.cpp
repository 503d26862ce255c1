// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/base/per_thread.hpp"
#include "core/model/term_names.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace sextant {

namespace {

constexpr double seconds_a_step = 1e-9;    // a loop start or a test on one unit
constexpr double cached_gather_gain = 4;   // over a gather from memory, where it was not measured
constexpr double conflicting_gathers = 4;  // an update that conflicts costs as much as so many gathers
constexpr double sector_bytes = 32;

// A coefficient of a term, and how many times faster the candidate's units are at it than one alone.
struct Coefficient {
  Group group;
  double seconds;  // a unit of the term on one unit
  double speedup;
};

// A rate that grows with the units kept busy until the shared limit is met.
double shared_rate(double all, double one, double units, double machine_units) {
  if (units <= 0 || units >= machine_units) return all;
  return one > 0 ? std::min(all, one * units) : all * units / machine_units;
}

Coefficient shared(double all, double one, double units, double machine_units, double weight = 1) {
  const double alone = shared_rate(all, one, 1, machine_units);
  return {Group::memory, weight / alone, shared_rate(all, one, units, machine_units) / alone};
}

// An isolated access, from memory or from the last cache.
Coefficient gathered(const sxt_machine &machine, double units, bool cached, double weight) {
  const double all = std::max(1, machine.units);
  if (!cached) return shared(machine.gather_rate, machine.gather_rate_unit, units, all, weight);
  const double rate =
      machine.cached_gather_rate > 0 ? machine.cached_gather_rate : cached_gather_gain * machine.gather_rate;
  return shared(rate, 0, units, all, weight);
}

// The machine's coefficient of a standard term. For a name core does not know: no seconds, in the group that the name
// begins with.
Coefficient standard_coefficient(const char *term, const sxt_candidate &candidate, const sxt_machine &machine,
                                 sxt_value_type type) {
  const double units = candidate.units, all = std::max(1, machine.units);
  const double busy = units > 0 ? std::min(units, all) : all;
  const auto is = [term](const char *name) { return is_term(term, name); };
  // By its first letter: a choice asks for some hundred terms.
  switch (term[0]) {
    case 'l':
      if (is("launches")) return {Group::latency, machine.launch_s, 1};
      break;
    case 'b':
      if (is("barriers")) return {Group::latency, busy > 1 ? machine.barrier_s : 0, 1};
      break;
    case 's':
      if (is("stream_bytes")) {
        const double alone = stream_rate(machine, candidate.working_set_bytes, 1);
        return {Group::memory, 1 / alone, stream_rate(machine, candidate.working_set_bytes, units) / alone};
      }
      if (is("sectors")) {
        const bool known = machine.sector_rate > 0;
        return known ? shared(machine.sector_rate, 0, units, all)
                     : shared(machine.cache_rate, machine.cache_rate_unit, units, all, sector_bytes);
      }
      if (is("steps")) return {Group::compute, seconds_a_step, busy};
      break;
    case 'g':
      if (is("gathers")) return gathered(machine, units, false, 1);
      break;
    case 'c':
      if (is("cached_gathers")) return gathered(machine, units, true, 1);
      break;
    case 'a':
      if (is("atomics")) return gathered(machine, units, false, conflicting_gathers);
      break;
    case 'f':
      if (is("flops")) {
        const bool single = type == SXT_F32 || type == SXT_C64;
        return {Group::compute, all / (single ? machine.flop_rate_f32 : machine.flop_rate_f64), busy};
      }
      break;
    default: break;
  }
  const Group group = group_of(term);
  // What one worker does, or all wait for, does not get faster with more of them.
  const bool alone = group == Group::latency || group == Group::tail;
  return {group, 0, group == Group::compute ? busy : alone ? 1 : shared(1, 0, units, all).speedup};
}

Prediction from_terms(const ModelTerms &terms) {
  if (!terms.count) return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
  double sums[group_count] = {};
  for (std::uint32_t i = 0; i < terms.count; ++i) {
    const double seconds = terms.analytic[i] * terms.values[i];
    // What no model may state must not vanish behind the larger of two groups: the prediction is then no cost, either.
    if (!(terms.values[i] >= 0)) return {seconds < 0 ? seconds : std::numeric_limits<double>::quiet_NaN(), 0, 0};
    sums[static_cast<int>(terms.groups[i])] += seconds;
  }
  return {sums[0] + std::max({sums[1], sums[2], sums[3]}), analytic_rel_error, 0};
}

// The entry's coefficients belong to the terms that this kernel names, in its order.
bool same_terms(const FittedModel &model, const sxt_kernel &kernel, std::uint32_t count) {
  if (model.names.size() != count) return false;
  for (std::uint32_t i = 0; i < count; ++i)
    if (model.names[i] != term_name(kernel, i)) return false;
  return true;
}

}  // namespace

const char *term_name(const sxt_kernel &kernel, std::uint32_t i) {
  return kernel.term_names && kernel.term_names[i] ? kernel.term_names[i] : "run_s";
}

ModelTerms model_terms(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                       const sxt_machine &machine) {
  ModelTerms terms;
  if (!candidate.n_terms) {
    terms.count = 1;
    terms.values[0] = candidate.run_s;
    terms.analytic[0] = 1;
    terms.groups[0] = Group::memory;
    return terms;
  }
  const std::uint32_t count = std::min<std::uint32_t>(candidate.n_terms, SXT_MAX_TERMS);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!kernel.term_names || !kernel.term_names[i]) return {};
    Coefficient c = standard_coefficient(kernel.term_names[i], candidate, machine, query.value_type);
    // A kernel's own default is meant for its terms as they stand, whatever the units.
    if (kernel.term_defaults && std::isfinite(kernel.term_defaults[i])) c.seconds = kernel.term_defaults[i] * c.speedup;
    terms.values[i] = candidate.terms[i] / c.speedup;
    terms.analytic[i] = c.seconds;
    terms.groups[i] = c.group;
  }
  terms.count = count;
  return terms;
}

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

static void fill_key(ModelKey &key, const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate) {
  key.kernel.assign(kernel.name);
  key.version = kernel.version;
  key.vector_type = query.value_type;
  const bool matrix = query.flags & SXT_QUERY_MATRIX;
  key.matrix_type = matrix ? reinterpret_cast<const sxt_matrix_query &>(query).matrix_type : sxt_value_type{};
  key.model_class = candidate.model_class;
}

ModelKey model_key(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate) {
  ModelKey key;
  fill_key(key, kernel, query, candidate);
  return key;
}

// The profile's entry for a candidate; NULL for none. The key keeps its memory: a choice looks up some hundred.
static const FittedModel *fitted_model(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                                       const Profile &profile) {
  if (profile.models.empty()) return nullptr;
  ModelKey lent;
  ModelKey *const own = PerThread<ModelKey>::get();
  ModelKey &key = own ? *own : lent;
  fill_key(key, kernel, query, candidate);
  const auto found = profile.models.find(key);
  return found == profile.models.end() ? nullptr : &found->second;
}

Prediction predict(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                   const sxt_machine &machine, const Profile &profile, bool known) {
  const ModelTerms terms = model_terms(kernel, query, candidate, machine);
  const FittedModel *model = fitted_model(kernel, query, candidate, profile);
  const double setup = model ? candidate.setup_s * model->setup_factor : candidate.setup_s;
  if (terms.count && model && model->samples && same_terms(*model, kernel, terms.count)) {
    const double working_set = candidate.working_set_bytes;
    const double seconds = known ? model->evaluate(terms.values.data(), working_set)
                                 : model->uncorrected(terms.values.data(), working_set);
    if (seconds > 0) return {seconds, std::max(model->scatter, model->p90_error), setup};
  }
  Prediction prediction = from_terms(terms);
  prediction.setup_s = setup;
  const auto correction = profile.kernels.find(kernel.name);
  if (correction != profile.kernels.end()) {
    prediction.seconds *= correction->second.factor;
    prediction.rel_error = correction->second.rel_error;
  }
  return prediction;
}

double predict_setup(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                     const Profile &profile) {
  const FittedModel *model = fitted_model(kernel, query, candidate, profile);
  return model ? candidate.setup_s * model->setup_factor : candidate.setup_s;
}

}  // namespace sextant
