// SPDX-License-Identifier: BSD-3-Clause
// Every kernel that comes with the library, against the reference of its kind, through the suite that also tests third
// parties' kernels.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "core/conformance/conformance.hpp"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::Device;
using sextant::conformance::check_kernel;
using sextant::conformance::CheckLine;
using sextant::conformance::ConformanceOptions;
using sextant::registry::Kernel;

namespace {

TEST(OwnPlugins, AllPassTheirKindsCases) {
  const Environment no_path("SEXTANT_PLUGIN_PATH", nullptr), no_data("XDG_DATA_HOME", "/nonexistent");
  Registry registry(SEXTANT_PLUGIN_DIR);
  registry.load_default({});
  ASSERT_NE(registry.find("device.cpu"), nullptr);
  Device cpu(registry.find("device.cpu")->table, 0, 2, {}, {});
  ConformanceOptions options;
  options.threads = 2;
  std::set<std::string> tested;
  for (const Kernel *kernel : registry.all_kernels()) {
    if (std::string_view(kernel->table.device) != "cpu") continue;
    bool applied = false;
    const auto note = [&](const CheckLine &line) {
      applied = applied || line.applicable;
      EXPECT_TRUE(line.passed || !line.applicable) << line.kernel << ": " << line.check << ": " << line.sentence;
    };
    EXPECT_TRUE(check_kernel(*kernel, cpu, options, note, registry)) << kernel->name();
    if (applied) tested.insert(kernel->table.kind);
  }
  // The kinds whose kernels do the work here were among those tested.
  for (const char *kind : {"sxt.spmv/1", "sxt.vector/1", "sxt.reduction/1", "sxt.multidot/1", "sxt.pcg/1"})
    EXPECT_EQ(tested.count(kind), 1u) << kind;
}

TEST(OwnPlugins, NoneIsRefused) {
  const Environment no_path("SEXTANT_PLUGIN_PATH", nullptr), no_data("XDG_DATA_HOME", "/nonexistent");
  Registry registry(SEXTANT_PLUGIN_DIR);
  registry.load_default({});
  // Files for a device that is not there are the only ones left out.
  for (const Refusal *refusal : registry.refusals())
    EXPECT_NE(refusal->reason.find("device '"), std::string::npos) << refusal->path << ": " << refusal->reason;
  EXPECT_GT(registry.all_kernels().size(), 0u);
}

}  // namespace
