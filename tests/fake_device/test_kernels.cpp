// SPDX-License-Identifier: BSD-3-Clause
// The host's side of every CUDA kernel through its kind's conformance cases over the fake libraries, which compute
// nothing: answers are wrong, but no case, least of all an empty one, may end the process, every finding has its
// sentence, and all is given back.
#include <cstring>

#include "abi/handles.hpp"
#include "core/conformance/conformance.hpp"
#include "core/context/context.hpp"
#include "tests/fake_device/fixture.hpp"

namespace fake_test {
namespace {

using sextant::conformance::CheckLine;
using sextant::registry::Kernel;
using sextant::registry::Registry;

class FakeKernels : public FakeDevice {};

// A function of the vendor's that the fakes lack is a plugin that no test here reaches.
TEST_F(FakeKernels, NoPluginIsRefused) {
  for (const sextant::registry::Refusal *refusal : Registry::instance().refusals())
    EXPECT_EQ(refusal->path.find(SEXTANT_PLUGIN_DIR), std::string::npos) << refusal->path << ": " << refusal->reason;
}

TEST_F(FakeKernels, EveryConformanceCaseComesBack) {
  sxt_context *context = nullptr;
  ASSERT_EQ(open(&context), SXT_OK) << sxt_last_error(nullptr);
  int kernels = 0, lines = 0;
  for (const Kernel *kernel : Registry::instance().all_kernels()) {
    if (std::strcmp(kernel->table.device, "cuda") || !std::strcmp(kernel->table.kind, SXT_KIND_DEVICE)) continue;
    const auto note = [&](const CheckLine &line) {
      ++lines;
      if (line.applicable && !line.passed) {
        EXPECT_FALSE(line.sentence.empty()) << kernel->name() << ", " << line.check;
      }
    };
    sextant::conformance::check_kernel(*kernel, context->context->device(), {}, note);
    ++kernels;
  }
  sxt_context_destroy(context);
  EXPECT_GT(kernels, 50);
  EXPECT_GT(lines, 10 * kernels);
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
}  // namespace fake_test
