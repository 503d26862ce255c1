// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite lets good kernels through and finds each defect of the misbehaving ones, by name.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <new>

#include "core/conformance/conformance.hpp"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::Device;
using sextant::conformance::check_kernel;
using sextant::conformance::CheckLine;
using sextant::conformance::ConformanceOptions;
using sextant::conformance::self_test;
using sextant::registry::Kernel;
using sextant::registry::Verdict;
using testing::HasSubstr;

namespace {

class Conformance : public testing::Test {
 protected:
  Conformance() {
    registry_.load_path(own_plugin("device/device-cpu.so"), {});
    registry_.load_path(mock("scale"), {});
    device_ = std::make_unique<Device>(registry_.find("device.cpu")->table, 0, 2, sextant::Allocator{}, log_.sink());
  }
  const Kernel &kernel(const std::string &file, const std::string &name) {
    registry_.load_path(mock(file), {});
    const Kernel *found = registry_.find(name);
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }
  bool check(const Kernel &kernel, ConformanceOptions options = {}) {
    lines_.clear();
    return check_kernel(
        kernel, *device_, options, [this](const CheckLine &line) { lines_.push_back(line); }, registry_);
  }
  // The first line that failed, "" when none did.
  std::string failure() const {
    for (const CheckLine &line : lines_)
      if (line.applicable && !line.passed) return line.sentence;
    return "";
  }
  Registry registry_{"/nonexistent"};
  Log log_;
  std::unique_ptr<Device> device_;
  std::vector<CheckLine> lines_;
};

TEST_F(Conformance, AGoodKernelPasses) {
  ConformanceOptions options;
  options.threads = 2;
  EXPECT_TRUE(check(kernel("scale", "com.example.scale.full"), options)) << failure();
  ASSERT_EQ(lines_.size(), 4u);
  EXPECT_EQ(lines_[0].check, "n = 0");
  EXPECT_FALSE(lines_[0].applicable);
  EXPECT_EQ(lines_[0].sentence, "n is 0: there is nothing to scale");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(lines_[i].passed) << lines_[i].sentence;
  EXPECT_TRUE(log_.lines.empty());
}

TEST_F(Conformance, TheReferencePassesItsOwnCases) {
  EXPECT_TRUE(check(kernel("scale", "com.example.scale.reference")));
  EXPECT_EQ(lines_.size(), 4u);
}

TEST_F(Conformance, AKindWithoutCasesHasNothingToFail) {
  EXPECT_TRUE(check(*registry_.find("device.cpu")));
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_FALSE(lines_[0].passed);
  EXPECT_FALSE(lines_[0].applicable);
}

TEST_F(Conformance, AKernelThatAlwaysDeclinesProvesNothing) {
  Kernel never{};
  never.table = registry_.find("com.example.scale.full")->table;
  never.table.min_level = 1 << 30;
  EXPECT_FALSE(check(never));
  EXPECT_THAT(lines_[0].sentence, HasSubstr("needs device level"));
}

struct Defect {
  const char *name, *words;
};
class Misbehaving : public Conformance, public testing::WithParamInterface<Defect> {};
TEST_P(Misbehaving, IsFound) {
  std::string file = GetParam().name;
  for (char &c : file) c = c == '_' ? '-' : c;
  ConformanceOptions options;
  EXPECT_FALSE(check(kernel(file, std::string("com.example.") + GetParam().name), options));
  EXPECT_THAT(failure(), HasSubstr(GetParam().words));
}
INSTANTIATE_TEST_SUITE_P(Defects, Misbehaving,
                         testing::Values(Defect{"wrong_answer", "y differs from factor x"},
                                         Defect{"nan_answer", "nan times the error bound"},
                                         Defect{"error_in_run", "failed to run: the moon is in the wrong phase"},
                                         Defect{"throw_in_run", "let an exception out: thrown in run"},
                                         Defect{"scratch_overflow", "beyond the 100 bytes of scratch"},
                                         Defect{"scratch_underflow", "before the beginning of its scratch"},
                                         Defect{"allocates_in_run", "run allocated memory 1 time(s)"},
                                         Defect{"leaks_state", "left 1 allocation(s) behind"},
                                         Defect{"unstable_candidates", "the same question twice"},
                                         Defect{"nan_candidate", "run_s = nan"},
                                         Defect{"infinite_setup", "setup_s = inf"},
                                         Defect{"no_candidate", "states no candidate"},
                                         Defect{"silent_decline", "declines without a reason"},
                                         Defect{"long_winded_decline", "beyond the capacity of its message"},
                                         Defect{"thread_dependent_bits", "with 1 and 3 threads its answers differ"},
                                         Defect{"wrong_after_refresh", "wrong answer after refresh"},
                                         Defect{"wrong_beside_another", "wrong answer beside another caller"}),
                         [](const auto &info) { return std::string(info.param.name); });

// ---- composed kernels
// ------------------------------------------------------------------------------------------------

TEST_F(Conformance, AComposedKernelGetsItsSlotsFilled) {
  EXPECT_TRUE(check(kernel("composed", "com.example.composed"))) << failure();
  ASSERT_EQ(lines_.size(), 4u);
  EXPECT_FALSE(lines_[1].applicable);
  EXPECT_TRUE(lines_[2].passed && lines_[3].passed);
}

TEST_F(Conformance, SlotsWithoutAQueryAreRefusedBeforeAnyTest) {
  kernel("composed", "com.example.composed");
  EXPECT_EQ(registry_.find("com.example.composed.mute"), nullptr);
  ASSERT_FALSE(registry_.refusals().empty());
  EXPECT_THAT(registry_.refusals().back()->reason, HasSubstr("its function slot_query is NULL"));
}

TEST_F(Conformance, ASlotThatNoKernelFillsIsAReasonToDecline) {
  EXPECT_FALSE(check(kernel("composed", "com.example.composed.incomplete")));
  EXPECT_EQ(failure(), "");
  EXPECT_FALSE(lines_[3].applicable);
  EXPECT_THAT(lines_[3].sentence, HasSubstr("slot 'S' cannot be filled here"));
  EXPECT_THAT(lines_[3].sentence, HasSubstr("no kernel of kind 'com.example.unheard-of/1' serves"));
}

// A third party's kernel is first run in a child process: a crash or a hang ends only the child.
int probe(const std::string &file, const std::string &name, unsigned seconds) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    alarm(seconds);
    Registry registry("/nonexistent");
    registry.load_path(own_plugin("device/device-cpu.so"), {});
    registry.load_path(mock("scale"), {});
    registry.load_path(mock(file), {});
    Device device(registry.find("device.cpu")->table, 0, 1, {}, {});
    check_kernel(
        *registry.find(name), device, {}, [](const CheckLine &) {}, registry);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
TEST_F(Conformance, ACrashEndsTheChildOnly) {
  EXPECT_EQ(probe("crash-in-run", "com.example.crash_in_run", 60), SIGSEGV);
}
TEST_F(Conformance, AHangIsEndedFromOutside) { EXPECT_EQ(probe("hang-in-run", "com.example.hang_in_run", 1), SIGALRM); }

// ---- a third party's kernel of the library's own kind
// ----------------------------------

class OnMatrices : public Conformance {
 protected:
  OnMatrices() {
    for (const char *plugin : {"cpu/storage-csr.so", "cpu/storage-coo.so", "cpu/spmv-reference.so", "cpu/spmv-csr.so"})
      registry_.load_path(own_plugin(plugin), {});
  }
};

TEST_F(OnMatrices, AThirdPartysProductPasses) {
  EXPECT_TRUE(check(kernel("spmv-serial", "com.example.spmv_serial"))) << failure();
  int applied = 0;
  for (const CheckLine &line : lines_) applied += line.passed;
  EXPECT_GE(applied, 1);
  EXPECT_THAT(lines_[0].check, HasSubstr(", in sxt.storage.csr/1"));
}

TEST_F(OnMatrices, AWrongOneDoesNot) {
  EXPECT_FALSE(check(kernel("spmv-wrong", "com.example.spmv_wrong")));
  EXPECT_THAT(failure(), HasSubstr("wrong answer"));
}

// The settings of the calling thread belong to the host, and are restored.
TEST_F(OnMatrices, ARunLeavesTheSettingsOfItsThreadAlone) {
  const int rounding = std::fegetround();
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  const std::map<std::string, std::string> defects = {{"rounds", "run left another rounding mode"},
                                                      {"flushes", "flushing to zero"},
                                                      {"masks", "other signals blocked"}};
  for (const auto &[defect, says] : defects) {
    EXPECT_FALSE(check(kernel("spmv-" + defect, "com.example.spmv_" + defect))) << defect;
    EXPECT_THAT(failure(), HasSubstr(says));
    EXPECT_EQ(std::fegetround(), rounding) << defect;
    EXPECT_GT(std::numeric_limits<double>::min() / 2, 0) << defect;
    pthread_sigmask(SIG_BLOCK, nullptr, &after);
    EXPECT_EQ(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1)) << defect;
  }
}

// ---- the short test in the process
// -------------------------------------------------------------------------------------

TEST_F(OnMatrices, SelfTestPassesAGoodKernelOfAThirdParty) {
  const Kernel &good = kernel("spmv-serial", "com.example.spmv_serial");
  EXPECT_EQ(good.verdict, Verdict::untested);
  EXPECT_EQ(self_test(good, *device_, nullptr, registry_), "");
}

TEST_F(OnMatrices, SelfTestQuarantinesAWrongOne) {
  const Kernel &wrong = kernel("spmv-wrong", "com.example.spmv_wrong");
  EXPECT_THAT(self_test(wrong, *device_, nullptr, registry_), HasSubstr("quarantined"));
  EXPECT_EQ(wrong.verdict, Verdict::quarantined);
  EXPECT_THAT(wrong.quarantine_reason, HasSubstr("wrong answer"));
  ASSERT_EQ(refusals_of(registry_, mock("spmv-wrong")).size(), 1u);
  EXPECT_EQ(refusals_of(registry_, mock("spmv-wrong"))[0].stage, "self-test");
}

// As the library's own allocations do, those through the hooks throw here.
TEST_F(Conformance, ShortMemoryIsNoFailureOfAKernel) {
  const Kernel &good = kernel("scale", "com.example.scale.full");
  int left = 0, short_of_memory = 0;
  const sextant::Allocator hooks{&left,
                                 [](void *user, std::uint64_t bytes, std::uint64_t alignment) -> void * {
                                   if (--*static_cast<int *>(user) == 0) throw std::bad_alloc();
                                   return std::aligned_alloc(alignment, bytes);
                                 },
                                 [](void *, void *memory) { std::free(memory); }};
  Device device(registry_.find("device.cpu")->table, 0, 2, hooks, log_.sink());
  std::string said = "not tested";
  for (int n = 1; said == "not tested" && n < 1000; ++n) {
    left = n;
    try {
      said = self_test(good, device, nullptr, registry_);
    } catch (const sextant::Error &problem) {
      EXPECT_EQ(problem.status(), SXT_E_MEMORY) << problem.what();
      ++short_of_memory;
    }
  }
  EXPECT_EQ(said, "");
  EXPECT_GT(short_of_memory, 0);
}

TEST_F(Conformance, SelfTestFindsNaN) {
  const Kernel &wrong = kernel("nan-answer", "com.example.nan_answer");
  EXPECT_THAT(self_test(wrong, *device_, nullptr, registry_), HasSubstr("quarantined"));
}

TEST_F(Conformance, AKindWithoutCasesIsTheProgramsOwnDecision) {
  const Kernel &device = kernel("device-mock", "device.mock");
  Device mock_device(device.table, 0, 0, {}, {});
  for (int again = 0; again < 2; ++again) EXPECT_EQ(self_test(device, mock_device, nullptr, registry_), "");
  EXPECT_EQ(device.verdict, Verdict::untested);
}

TEST_F(Conformance, StopsWhenTimeIsUp) {
  ConformanceOptions options;
  options.seconds = 1e-9;
  EXPECT_TRUE(check(kernel("scale", "com.example.scale.full"), options));
  EXPECT_EQ(lines_.size(), 2u);  // the first case declined, the second ran
}

// ---- on a device with streams
// ------------------------------------------------------------------------------------------

TEST_F(Conformance, MovesCasesToADevice) {
  const Kernel &plugin = kernel("device-mock", "device.mock");
  const Kernel &scale = kernel("kernels-mock", "com.example.scale.mock");
  Device mock_device(plugin.table, 0, 0, {}, log_.sink());
  lines_.clear();
  EXPECT_TRUE(check_kernel(
      scale, mock_device, {}, [this](const CheckLine &line) { lines_.push_back(line); }, registry_))
      << failure();
  EXPECT_EQ(lines_.size(), 4u);
  EXPECT_THROW(check(scale), sextant::Error);  // not on this device
}

}  // namespace
