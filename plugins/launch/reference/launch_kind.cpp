// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.launch/1: policies choose differently, but none may propose a configuration that cannot run. A case carries
// the list of configurations that can, found from the limits' definition; any of them passes, and declining passes only
// where a case has no such configuration or no estimate. launch.reference takes the first that can run.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "sextant/sdk/cases.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/launch.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using namespace sextant::plugin::launch;

namespace {

std::int64_t first_launchable(const sxt_launch_args &args) {
  for (std::int64_t i = 0; i < args.count; ++i)
    if (launchable(args.configs[i], args.limits)) return i;
  return -1;
}

const sxt_kernel reference = [] {
  sxt_kernel k = policy<first_launchable>("launch.reference", "the first configuration that can be launched");
  k.flags |= SXT_KERNEL_REFERENCE;
  return k;
}();

struct Case {
  std::vector<sxt_launch_config> configs;
  std::vector<bool> can_run;
  sxt_launch_query query{};
  sxt_launch_args args{};
  char description[100];
};

// Multiprocessors of three generations: units, then per unit threads, blocks, registers, shared; per block; warp.
const sxt_launch_limits devices[] = {{14, 1536, 8, 32768, 49152, 1024, 49152, 32},
                                     {15, 2048, 16, 65536, 49152, 1024, 49152, 32},
                                     {132, 2048, 32, 65536, 233472, 1024, 232448, 32}};
constexpr std::uint64_t per_device = 20;

void make(Case &c, const sxt_launch_limits &limits, std::uint64_t i, Random &random) {
  for (std::uint64_t k = 0; k < i; ++k) {
    sxt_launch_config config{};
    config.threads = 32 * (1 + random.below(40));  // some beyond the 1024 of a block
    config.blocks = 1 + random.below(100000);
    config.shared_bytes = random.below(3) == 0 ? random.below(2 * limits.shared_per_block) : 0;
    config.registers = 16 + random.below(112);
    config.run_s = random.below(8) == 0 ? std::nan("") : 1e-6 * static_cast<double>(1 + random.below(1000));
    c.configs.push_back(config);
    // Written out again, so that a mistake in the helper is detected.
    c.can_run.push_back(config.threads <= limits.threads_per_block && config.shared_bytes <= limits.shared_per_block &&
                        config.registers * config.threads <= limits.registers_per_unit);
  }
  c.query.q = {head<sxt_launch_query>(SXT_KIND_LAUNCH), 1, 0, SXT_F64};
  c.query.count = static_cast<std::int64_t>(i);
  c.args = {head<sxt_launch_args>(SXT_KIND_LAUNCH), limits, c.query.count, c.configs.data(), -2};
  std::snprintf(c.description, sizeof c.description, "%d configurations on %d multiprocessors", (int)i,
                (int)limits.units);
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    make(*c, devices[i / per_device], i % per_device, random);
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status compare(const sxt_case *got_case, const sxt_case *, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &c = *static_cast<const Case *>(got_case->owner);
    Verdict verdict(error, message);
    const std::int64_t chosen = c.args.chosen;
    bool any = false;  // something that can run and has an estimate
    for (std::size_t i = 0; i < c.configs.size(); ++i) any = any || (c.can_run[i] && std::isfinite(c.configs[i].run_s));
    if (chosen < -1 || chosen >= c.args.count)
      verdict.fail("the chosen index is neither -1 nor one of those offered");
    else if (chosen >= 0 && !c.can_run[static_cast<std::size_t>(chosen)])
      verdict.fail("the configuration chosen cannot be launched");
    else if (chosen == -1 && any)
      verdict.fail("it declined although a configuration with an estimate can be launched");
    else
      verdict.check("choice", 0, 0, 0, 0);
    return SXT_OK;
  });
}

const sxt_kind kind =
    kind_of_cases<Case>(SXT_KIND_LAUNCH, "picks one of the launch configurations that a kernel offers",
                        {&reference, std::size(devices) * per_device, make_case, compare, nullptr});

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&reference, &kind>("launch-reference", out);
}
