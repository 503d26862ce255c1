// SPDX-License-Identifier: BSD-3-Clause
// Products with the sparse factors that a preconditioner makes while it is prepared: each factor becomes a matrix, and
// its product is chosen as any other, where that is predicted to end sooner than the kernel's own loop.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/hash.hpp"
#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/preconditioner_columns.h"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

namespace {

// Asking whose product is best takes the host so long.
constexpr double asking_on_host_s = 5e-5, asking_on_device_s = 4e-4;
// In deterministic mode the choice may not depend on how long a solve is expected to take: engines differ in that.
constexpr double deterministic_runs = 1000;

const sxt_preconditioner_factors_ops *ops_of(const registry::Kernel &kernel) {
  if (!(kernel.table.flags & SXT_KERNEL_FACTORS) || !kernel.table.ops) return nullptr;
  return static_cast<const sxt_preconditioner_factors_ops *>(kernel.table.ops);
}

// No kernel is faster than its launch and its bytes from the nearest memory.
double least_product_s(const Context &context, const sxt_storage &factor) {
  const sxt_machine &machine = context.machine();
  const auto value = static_cast<double>(value_bytes(factor.value_type));
  const double bytes = (static_cast<double>(factor.nnz) + 2 * static_cast<double>(factor.rows)) * value;
  return machine.launch_s + bytes / std::max({1.0, machine.stream_rate, machine.cache_rate});
}

// That no product is available, or none that pays, is no failure.
bool is_refusal(sxt_status status) {
  return status == SXT_NOT_APPLICABLE || status == SXT_E_NO_KERNEL || status == SXT_E_NOT_SUPPORTED ||
         status == SXT_E_PLAN || status == SXT_E_MEMORY;
}

// Products that core chooses serve one vector at a time.
bool several_columns(const Query &query) {
  return query.has(SXT_QUERY_SIDE_BY_SIDE) &&
         reinterpret_cast<const sxt_preconditioner_columns_query *>(query.get())->n_rhs > 1;
}

}  // namespace

void Prepared::choose_factors() {
  const sxt_preconditioner_factors_ops *ops = ops_of(*asked_->kernel);
  if (!ops || !matrix_ || !asked_->choose_product || several_columns(asked_->query)) return;
  const double runs = context_.deterministic() ? deterministic_runs : asked_->query.expected_runs();
  auto changed = std::make_shared<Choice>(*choice_);
  sxt_factor factor{};
  for (std::uint64_t i = 0; factor = {sizeof factor, "", {}, 0}, ops->factor(state_, i, &factor) == SXT_OK; ++i) {
    SlotChoice &slot = changed->slots.emplace_back();
    slot.role = factor.role;
    parts_.emplace_back();
    const std::string why_not = choose_factor(factor, runs, *changed);
    if (why_not.empty())
      factors_.back().number = i;
    else
      changed->reason += text("; ", factor.role, " by its own loop: ", why_not);
  }
  bound_.run_s = changed->run_s;
  choice_ = std::move(changed);
  fill();
}

// "" or why the kernel multiplies by the factor itself. What is chosen becomes the last slot's part.
std::string Prepared::choose_factor(const sxt_factor &factor, double runs, Choice &choice) {
  const double own_s = factor.share * asked_->run_s;
  const char *by = nullptr;
  const bool by_hand = !context_.forced(SXT_KIND_SPMV, &by).empty() || context_.plan().loaded();
  const double asking_s = context_.device().on_host() ? asking_on_host_s : asking_on_device_s;
  const double least_s = least_product_s(context_, factor.csr.s);
  if (!by_hand && !(runs * (own_s - least_s) > asking_s))
    return text("to ask for another would cost more than it saves (", seconds_text(own_s), ", at best ",
                seconds_text(least_s), ")");
  const std::string role = choice.role + "/" + factor.role;
  const std::string identity = text(asked_->kernel->name(), "/", factor.role);
  const std::uint64_t hash = fnv1a(identity.data(), identity.size(), matrix_->pattern_hash());
  auto matrix = Matrix::of_view(matrix_->shared_context(), factor.csr, SXT_GENERAL, hash);
  sxt_spmv_query product{};
  product.m = matrix->query_part(SXT_KIND_SPMV, sizeof product, runs);
  product.m.q.flags |= SXT_QUERY_DETERMINISTIC;  // as every preconditioner promises
  if (asked_->query.has(SXT_QUERY_CAPTURABLE)) product.m.q.flags |= SXT_QUERY_CAPTURABLE;
  product.n_rhs = 1;
  try {
    ChoicePtr chosen = asked_->choose_product(context_, *matrix, Query(&product.m.q), role, runs * own_s);
    auto part = std::make_unique<Prepared>(context_, chosen, matrix.get(), nullptr);
    SlotChoice &slot = choice.slots.back();
    slot.alternative = 0;
    slot.instances = slot.kinds_per_instance = 1;
    slot.parts.push_back(chosen);
    if (std::isfinite(own_s)) choice.run_s += chosen->run_s - own_s;
    choice.setup_s += chosen->setup_s + chosen->storage_s;
    parts_.back().push_back(std::move(part));
    factors_.push_back({0, std::move(matrix)});
  } catch (const Error &problem) {
    if (!is_refusal(problem.status())) throw;
    return out_of_memory(problem) ? problem.what()
                                  : text("no product is predicted to be faster (", seconds_text(own_s), ")");
  }
  return "";
}

// The kernel has new values, and its factors with it. Allocates nothing.
void Prepared::refresh_factors() {
  const sxt_preconditioner_factors_ops *ops = ops_of(*asked_->kernel);
  for (const Factor &each : factors_) {
    sxt_factor factor{};
    factor.struct_size = sizeof factor;
    require(ops->factor(state_, each.number, &factor) == SXT_OK, SXT_E_INTERNAL, asked_->kernel->name(),
            " no longer shows a factor");
    each.matrix->view_changed(factor.csr);
  }
  for (std::size_t i = asked_->slots.size(); i < parts_.size(); ++i)
    for (auto &part : parts_[i]) part->refresh_if_stale();
}

}  // namespace sextant
