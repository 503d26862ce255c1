// SPDX-License-Identifier: BSD-3-Clause
// Launch policies (kind sxt.launch/1) asked about the candidates of one kernel. Policies are pure functions on the
// host, so those of device "cpu" serve the kernels of every device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/context/context.hpp"
#include "core/registry/registry.hpp"

namespace sextant {

struct LaunchProposal {
  std::string policy;
  std::int64_t candidate = -1;  // place in the list; -1: it declines
};

// One line a policy, in the order of their names; empty when the kernel gives launch policies no say (launch_config).
// run_s: the predicted seconds of each candidate.
std::vector<LaunchProposal> launch_proposals(const Context &context, const registry::Kernel &kernel,
                                             const sxt_query *query, std::span<const sxt_candidate> candidates,
                                             const std::vector<double> &run_s);

// The proposal of the policy that is forced for the kind; NULL when none is, or when the kernel leaves no choice.
// Throws SXT_NOT_APPLICABLE when the forced policy declines.
const LaunchProposal *forced_proposal(const Context &context, const std::vector<LaunchProposal> &proposals);

// "launch.tiered, launch.occupancy": the policies that propose this candidate; "": none.
std::string proposed_by(const std::vector<LaunchProposal> &proposals, std::uint64_t candidate);

}  // namespace sextant
