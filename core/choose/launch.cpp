// SPDX-License-Identifier: BSD-3-Clause
#include "core/choose/launch.hpp"

#include <cstdint>

#include "core/base/entered.hpp"
#include "core/base/error.hpp"
#include "core/conformance/conformance.hpp"
#include "core/device/host.hpp"
#include "sextant/plugin/kinds/launch.h"

namespace sextant {

namespace {

constexpr const char *policy_device = "cpu";

std::vector<sxt_launch_config> configs_of(const Context &context, const registry::Kernel &kernel,
                                          const sxt_query *query, std::span<const sxt_candidate> candidates,
                                          const std::vector<double> &run_s) {
  std::vector<sxt_launch_config> configs;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    sxt_launch_config config{};
    // One configuration that the kernel cannot describe leaves the policies without a complete list.
    std::string why;
    const auto ask = [&] { return kernel.table.launch_config(query, &candidates[i], &context.machine(), &config); };
    if (model_entered(ask, why) != SXT_OK) return {};
    config.run_s = run_s[i];
    configs.push_back(config);
  }
  return configs;
}

// Policies work on the host: third parties' are tested in contexts there, or by a check of their file.
bool trusted(const Context &context, const registry::Kernel &policy) {
  if (policy.verdict != registry::Verdict::untested) return policy.verdict == registry::Verdict::passed;
  if (!policy.stamped_on.empty()) return true;
  return context.device().on_host() &&
         conformance::self_test(policy, context.device(), nullptr, context.scope()).empty();
}

std::int64_t ask(const registry::Kernel &policy, sxt_launch_args args) {
  sxt_exec exec{};
  exec.host = &host();
  exec.threads = 1;
  args.chosen = -1;
  try {
    if (policy.table.run(nullptr, nullptr, &args.h, &exec) != SXT_OK) return -1;
  } catch (...) {  // a policy that throws breaks its contract: it is not followed
    return -1;
  }
  return args.chosen >= 0 && args.chosen < args.count ? args.chosen : -1;
}

}  // namespace

std::vector<LaunchProposal> launch_proposals(const Context &context, const registry::Kernel &kernel,
                                             const sxt_query *query, std::span<const sxt_candidate> candidates,
                                             const std::vector<double> &run_s) {
  if (!kernel.table.launch_config || candidates.empty()) return {};
  const std::vector<sxt_launch_config> configs = configs_of(context, kernel, query, candidates, run_s);
  if (configs.empty()) return {};
  const sxt_machine &m = context.machine();
  sxt_launch_args args{};
  args.h = {sizeof args, SXT_KIND_LAUNCH};
  args.limits = {m.units,           m.threads_per_unit,  m.blocks_per_unit,  m.registers_per_unit,
                 m.shared_per_unit, m.threads_per_block, m.shared_per_block, m.warp};
  args.count = static_cast<std::int64_t>(configs.size());
  args.configs = configs.data();
  std::vector<LaunchProposal> proposals;
  for (const registry::Kernel *policy : context.scope().kernels(SXT_KIND_LAUNCH, policy_device))
    if (!policy->has(SXT_KERNEL_REFERENCE) && trusted(context, *policy))
      proposals.push_back({policy->name(), ask(*policy, args)});
  return proposals;
}

const LaunchProposal *forced_proposal(const Context &context, const std::vector<LaunchProposal> &proposals) {
  if (proposals.empty()) return nullptr;
  const char *by = nullptr;
  const std::string forced = context.forced(SXT_KIND_LAUNCH, &by);
  if (forced.empty()) return nullptr;
  for (const LaunchProposal &proposal : proposals) {
    if (proposal.policy != forced) continue;
    require(proposal.candidate >= 0, SXT_NOT_APPLICABLE, "the launch policy ", forced, " (forced ", by,
            ") declines all of its configurations");
    return &proposal;
  }
  return nullptr;
}

std::string proposed_by(const std::vector<LaunchProposal> &proposals, std::uint64_t candidate) {
  std::string names;
  for (const LaunchProposal &proposal : proposals)
    if (proposal.candidate == static_cast<std::int64_t>(candidate))
      names += (names.empty() ? "" : ", ") + proposal.policy;
  return names;
}

}  // namespace sextant
