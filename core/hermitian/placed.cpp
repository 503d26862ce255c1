// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/placed.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/shortage.hpp"
#include "core/choose/placement.hpp"
#include "core/device/stage.hpp"
#include "core/hermitian/transfer.hpp"

namespace sextant {

namespace {

constexpr std::int32_t all_phases[] = {SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_SOLVE, SXT_HERMITIAN_FACTOR_SOLVE};
constexpr const char *const phase_names[] = {"", "factor", "solve", "factor-solve"};

}  // namespace

PlacedHermitian::PlacedHermitian(std::shared_ptr<Context> context, const HermitianSettings &settings)
    : there_(std::move(context), settings) {
  if (settings.space != SXT_SPACE_HOST || settings.batch == 0 || this->context().device().on_host()) return;
  std::string settled = settings.kernel.empty() ? this->context().settles_device() : "the options name a kernel";
  if (!settled.empty())
    why_.push_back(text("sets in host memory are computed on ", this->context().device_name(), ": ", settled));
  else
    weigh();
}

void PlacedHermitian::weigh() {
  const std::shared_ptr<Context> beside = context().companion();
  if (!beside) return;
  const ChoicePtr first = there_.kernels().main_choice();
  try {
    here_ = std::make_unique<HermitianBatch>(beside, there_.settings());
  } catch (const Error &problem) {
    require(!first->by_plan || !context().plan().required(), problem.status(), problem.what());
    if (out_of_memory(problem)) throw;
    context().log()(SXT_LOG_INFO, text("sets in host memory are computed on ", context().device_name(),
                                       ", not on the CPU: ", problem.what()));
    return;
  }
  for (const std::int32_t phase : all_phases)
    if (phase == SXT_HERMITIAN_FACTOR || there_.settings().n_rhs > 0) weigh(phase, *beside, first->by_plan);
  if (!std::any_of(std::begin(is_here_), std::end(is_here_), [](bool here) { return here; })) here_.reset();
}

void PlacedHermitian::weigh(std::int32_t phase, Context &beside, bool planned) {
  const PlanKey key{text("hermitian/", phase_names[phase]), SXT_KIND_HERMITIAN,
                    there_.kernels().main_choice()->query.hash(), 0};
  const std::string what = text(phase_names[phase], ": sets in host memory are computed");
  if (planned) {
    is_here_[phase] = beside.plan().placed(key);
    why_.push_back(text(what, " on the ", is_here_[phase] ? "CPU" : "device", ": the loaded plan says so"));
  } else {
    const auto find = [&] {
      const double there_s = HermitianTransfer::predicted_seconds(there_.settings(), context().machine(), phase,
                                                                  there_.kernels().predicted_seconds(phase, true));
      // Both are known already: no bound stands in for either.
      return sextant::weigh(here_->kernels().predicted_seconds(phase, true), 0, [&] { return there_s; });
    };
    Placement found = find();
    try {
      // A kernel that is predicted to be quick may turn out not to be there.
      if (found.here) here_->kernels().ready(phase), found = find();
      why_.push_back(placement_text(found, what, context().device_name(), "the set"));
    } catch (const Error &problem) {
      if (out_of_memory(problem)) throw;
      found.here = false;
      why_.push_back(text(what, " on the device: ", problem.what()));
    }
    is_here_[phase] = found.here;
    context().log()(SXT_LOG_INFO, why_.back());
  }
  if (is_here_[phase]) beside.plan().place(key);
}

// Of pointer arrays the first pointer tells for all: they are said to lie in host memory.
bool PlacedHermitian::on_host(const sxt_hermitian_set &set) const {
  HostArrays arrays(context().device());
  constexpr std::uint64_t any = 1;  // alignment is checked with the rest of a set
  if (there_.settings().pointer_array) {
    for (const auto &[array, name] : {std::pair{set.a_array, "a_array"},
                                      {set.factor_array, "factor_array"},
                                      {set.b_array, "b_array"},
                                      {set.x_array, "x_array"}})
      if (arrays.add(array, any, name).all_on_host() && array) arrays.add(array[0], any, name);
  } else {
    arrays.add(set.a, any, "a").add(set.factor, any, "factor").add(set.b, any, "b").add(set.x, any, "x");
  }
  if (!arrays.add(set.info, any, "info").all_on_host()) return false;
  arrays.wait();
  return true;
}

void PlacedHermitian::run(std::int32_t phase, const sxt_hermitian_set &set) {
  const bool here = here_ && is_here_[phase] && !set.stream && context().weighs_devices() && on_host(set);
  last_here_.store(here, std::memory_order_relaxed);
  (here ? *here_ : there_).run(phase, set);
}

sxt_hermitian_report PlacedHermitian::report() const {
  sxt_hermitian_report out = there_.report();
  if (!here_) return out;
  const sxt_hermitian_report here = here_->report();
  if (is_here_[SXT_HERMITIAN_FACTOR]) {
    out.factor_kernel = here.factor_kernel;
    out.pivoting_kernel = here.pivoting_kernel;
    out.predicted_factor_s = here.predicted_factor_s;
  }
  if (is_here_[SXT_HERMITIAN_SOLVE]) {
    out.solve_kernel = here.solve_kernel;
    out.predicted_solve_s = here.predicted_solve_s;
  }
  if (is_here_[SXT_HERMITIAN_FACTOR_SOLVE]) {
    out.factor_solve_kernel = here.factor_solve_kernel;
    out.predicted_factor_solve_s = here.predicted_factor_solve_s;
    out.toeplitz_kernel = here.toeplitz_kernel;
    out.mixed_kernel = here.mixed_kernel;
    out.butterfly_kernel = here.butterfly_kernel;
  }
  out.workspace_bytes = std::max(out.workspace_bytes, here.workspace_bytes);
  out.kernel_bytes += here.kernel_bytes;
  if (last_here_.load(std::memory_order_relaxed)) out.piece = here.piece;
  return out;
}

Explanation PlacedHermitian::explain() const {
  Explanation out = there_.explain();
  if (here_) {
    Explanation here = here_->explain();
    const bool all = std::all_of(std::begin(all_phases), std::end(all_phases), [&](std::int32_t phase) {
      return is_here_[phase] || (phase != SXT_HERMITIAN_FACTOR && there_.settings().n_rhs == 0);
    });
    if (all) {
      out = std::move(here);
    } else {
      out.facts.emplace_back("beside it", here_->context().describe());
      out.choices.insert(out.choices.end(), here.choices.begin(), here.choices.end());
    }
  }
  out.notes.insert(out.notes.end(), why_.begin(), why_.end());
  return out;
}

}  // namespace sextant
