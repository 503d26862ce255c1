// SPDX-License-Identifier: BSD-3-Clause
// What an iteration is predicted to take on the members of one process: sums of what the models say of the kernels that
// were chosen, and what the host takes where it drives.
#include <algorithm>

#include "core/base/units.hpp"
#include "core/operations/operations.hpp"
#include "core/world/loop.hpp"
#include "core/world/pcg.hpp"
#include "sextant/plugin/kinds/vector_group.h"

namespace sextant {

namespace {

// Of an iteration that the host drives: calls to a member's device with the wait for its sums, and calls to a member on
// the CPU. The first is the difference between both engines on two H100 (docs/measurements/two_gpus.md).
constexpr double device_by_host_s = 35e-6, cpu_by_host_s = 1e-6;

// Between the launches of an iteration on the devices: on two H200 an iteration takes so much more than its kernels'
// models say (docs/measurements/two_gpus.md).
constexpr double between_launches_s = 13e-6;

double run_s(const ChoicePtr &choice) { return choice->no_estimate ? 0 : choice->run_s; }

void add(IterationPrice &to, const IterationPrice &one) {
  to.product_s += one.product_s;
  to.exchange_s += one.exchange_s;
  to.vectors_s += one.vectors_s;
  to.meeting_s += one.meeting_s;
}

}  // namespace

double IterationPrice::on(std::int32_t count, std::int32_t members, double launch_s) const {
  const double share = static_cast<double>(members) / std::max(1, count);
  const auto shared = [&](double seconds) {
    const double latency = std::min(seconds, launch_s);
    return latency + (seconds - latency) * share;
  };
  return shared(product_s) + shared(vectors_s) + (count > 1 ? exchange_s + meeting_s : 0);
}

std::string IterationPrice::parts() const {
  return text("products ", seconds_text(product_s), ", halos ", seconds_text(exchange_s), ", vectors ",
              seconds_text(vectors_s), ", sums and host ", seconds_text(meeting_s));
}

// Halos of iterations on the devices are in the model of the kernel by which members meet.
IterationPrice WorldPcg::price_of(std::size_t own) const {
  const Part &part = parts_[own];
  const WorldMatrix::Block &block = matrix_->block(own);
  Context &context = matrix_->world().context(own);
  const std::int64_t rows = matrix_->rows_of(own), boundary = block.boundary->rows();
  const sxt_value_type type = matrix_->value_type();
  Operations &operations = Operations::of(context);
  const auto operation = [&](const TreeSubject &subject, std::int64_t n) {
    return run_s(operations.planned(subject).at(n).prepared().shared_choice());
  };
  IterationPrice out;
  out.product_s = run_s(part.product->prepared().shared_choice());
  if (part.preconditioner) out.product_s += run_s(part.preconditioner->prepared().shared_choice());
  if (block.boundary->csr().nnz > 0)
    out.product_s += run_s(block.boundary_product->choice(SXT_NO_TRANSPOSE)) +
                     operation({SXT_KIND_VECTOR, SXT_VECTOR_GATHER, type, SXT_I64, false}, boundary) +
                     operation({SXT_KIND_VECTOR, SXT_VECTOR_SCATTER, type, SXT_I64, false}, boundary);
  if (loop_) {
    const std::vector<ChoicePtr> steps = loop_->choices(own);  // rendezvous, dots, update
    out.meeting_s = run_s(steps[0]) + between_launches_s;
    out.vectors_s = run_s(steps[1]) + run_s(steps[2]);
    return out;
  }
  for (const ChoicePtr &choice : matrix_->halo().choices(own)) out.exchange_s += run_s(choice);
  out.vectors_s = operation({SXT_KIND_MULTIDOT, preconditioned() ? 3 : 2, type, 0, false}, rows) +
                  operation({SXT_KIND_VECTOR_GROUP, SXT_GROUP_CHRONOPOULOS_GEAR, type, 0, false}, rows);
  out.meeting_s = context.device().on_host() ? cpu_by_host_s : device_by_host_s;
  return out;
}

IterationPrice WorldPcg::price() const {
  IterationPrice on_cpu, slowest;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (matrix_->rows_of(i) == 0) continue;
    const IterationPrice one = price_of(i);
    const bool host = matrix_->world().context(i).device().on_host();
    if (host)
      add(on_cpu, one);
    else if (one.seconds() > slowest.seconds())
      slowest = one;
  }
  // The host's calls to each device follow each other.
  if (!loop_ && slowest.meeting_s > 0) {
    slowest.meeting_s = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (matrix_->rows_of(i) > 0 && !matrix_->world().context(i).device().on_host())
        slowest.meeting_s += device_by_host_s;
  }
  return on_cpu.seconds() > slowest.seconds() ? on_cpu : slowest;
}

}  // namespace sextant
