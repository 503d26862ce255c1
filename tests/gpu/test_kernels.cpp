// SPDX-License-Identifier: BSD-3-Clause
// Every CUDA kernel that was built, through its kind's conformance suite: answers against the reference, refresh, two
// callers, equal bits, and the proof of capture for those that promise it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/conformance/conformance.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using sextant::conformance::CheckLine;
using sextant::registry::Kernel;
using sextant::registry::Registry;

// On a second device, too, where there is one: data that a kernel keeps for one device must not be used for another.
class KernelsConform : public Gpu, public testing::WithParamInterface<std::int32_t> {
 protected:
  KernelsConform() : Gpu(GetParam()) {}
  // Kernels of this kind; NULL: of all kinds without a separate test here.
  void conform(const char *kind) {
    int kernels = 0;
    for (const Kernel *kernel : Registry::instance().all_kernels()) {
      if (std::strcmp(kernel->table.device, "cuda") != 0 || !std::strcmp(kernel->table.kind, SXT_KIND_DEVICE)) continue;
      // Other tests of this process may have loaded mocks, which fail on purpose.
      if (kernel->plugin->path.rfind(GPU_MOCKS, 0) == 0) continue;
      // Storages have no cases: the kernels that read them test them.
      if (std::string_view(kernel->table.kind).substr(0, 12) == "sxt.storage.") continue;
      const bool ours = kind ? !std::strcmp(kernel->table.kind, kind)
                             : std::find(std::begin(named), std::end(named), kernel->table.kind) == std::end(named);
      if (!ours) continue;
      check(*kernel);
      ++kernels;
    }
    if (kind) {
      EXPECT_GT(kernels, 0) << "this build has no CUDA kernels of kind " << kind;
    }
  }
  void check(const Kernel &kernel) {
    int passed = 0, declined = 0, failed = 0;
    const auto note = [&](const CheckLine &line) {
      ++(line.passed ? passed : line.applicable ? failed : declined);
      if (line.applicable && !line.passed && failed <= 5)
        ADD_FAILURE() << line.kernel << ", " << line.check << ": " << line.sentence;
    };
    // The first device has tested the rest.
    const sextant::conformance::ConformanceOptions all{}, brief{.seconds = 0.2, .answers_only = true};
    EXPECT_TRUE(sextant::conformance::check_kernel(kernel, device(), ordinal_ == 0 ? all : brief, note))
        << kernel.name();
    EXPECT_GT(passed, 0) << kernel.name();
    std::printf("[ kernel   ] %-40s %4d passed %4d declined %4d failed\n", kernel.name(), passed, declined, failed);
  }
  static constexpr std::string_view named[] = {"sxt.vector/1",    "sxt.vector_group/1", "sxt.vector_group_dots/1",
                                               "sxt.reduction/1", "sxt.multidot/1",     "sxt.exchange/1",
                                               "sxt.rendezvous/1"};
};

TEST_P(KernelsConform, Vector) { conform("sxt.vector/1"); }
TEST_P(KernelsConform, VectorGroup) { conform("sxt.vector_group/1"); }
TEST_P(KernelsConform, VectorGroupDots) { conform("sxt.vector_group_dots/1"); }
TEST_P(KernelsConform, Reduction) { conform("sxt.reduction/1"); }
TEST_P(KernelsConform, Multidot) { conform("sxt.multidot/1"); }
TEST_P(KernelsConform, Exchange) { conform("sxt.exchange/1"); }
TEST_P(KernelsConform, Rendezvous) { conform("sxt.rendezvous/1"); }
TEST_P(KernelsConform, Others) { conform(nullptr); }

INSTANTIATE_TEST_SUITE_P(Device, KernelsConform, testing::Values(0, 1));

}  // namespace
}  // namespace gpu_test
