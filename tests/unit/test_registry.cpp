// SPDX-License-Identifier: BSD-3-Clause
// The registry on good plugins: order, versions, kinds that are loaded late, devices that are not present, and its
// speed.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>

#include "core/device/host.hpp"
#include "core/registry/validate.hpp"
#include "sextant/plugin/kinds/device.h"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::registry::Kernel;
using sextant::registry::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// No plugins but those the test names.
class RegistryTest : public testing::Test {
 protected:
  Environment no_path_{"SEXTANT_PLUGIN_PATH", nullptr};
  Environment no_data_{"XDG_DATA_HOME", "/nonexistent"};
  Environment no_state_{"XDG_STATE_HOME", "/nonexistent"};
  Folder folder_;
};

TEST_F(RegistryTest, TakesAThirdPartysKindAndKernels) {
  Registry registry("/nonexistent");
  EXPECT_EQ(registry.load_path(mock("scale"), {}), 1);
  ASSERT_EQ(registry.plugins().size(), 1u);
  const auto &plugin = *registry.plugins()[0];
  EXPECT_EQ(plugin.name, "mock-scale");
  EXPECT_EQ(plugin.version, "1.2.0");
  EXPECT_EQ(plugin.vendor, "Example");
  EXPECT_EQ(plugin.license, "MIT");
  EXPECT_EQ(plugin.build_id, "abc");
  EXPECT_EQ(plugin.path, fs::canonical(mock("scale")));
  EXPECT_FALSE(plugin.own);
  EXPECT_EQ(plugin.kernels, 2);

  const auto kernels = registry.kernels("com.example.scale/1", "cpu");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_STREQ(kernels[0]->name(), "com.example.scale.full");
  EXPECT_STREQ(kernels[1]->name(), "com.example.scale.reference");
  EXPECT_EQ(kernels[0]->verdict, Verdict::untested);
  EXPECT_EQ(registry.find("com.example.scale.full"), kernels[0]);
  EXPECT_EQ(registry.find("com.example.scale"), nullptr);
  EXPECT_THAT(registry.kernels("com.example.scale/1", "cuda"), IsEmpty());

  const auto *kind = registry.kind("com.example.scale/1");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->reference, kernels[1]);
  EXPECT_EQ(kind->table.n_cases, 4u);
  EXPECT_EQ(registry.kinds().size(), 1u);
  EXPECT_THAT(registry.refusals(), IsEmpty());
}

TEST_F(RegistryTest, AFileAlreadyLoadedCountsAsAdded) {
  Registry registry("/nonexistent");
  EXPECT_EQ(registry.load_path(mock("scale"), {}), 1);
  EXPECT_EQ(registry.load_path(mock("scale"), {}), 1);
  fs::create_symlink(mock("scale"), folder_ / "link.so");
  EXPECT_EQ(registry.load_path(folder_ / "link.so", {}), 1);
  EXPECT_EQ(registry.plugins().size(), 1u);
  EXPECT_THAT(registry.refusals(), IsEmpty());
}

TEST_F(RegistryTest, LongerStructsOfALaterMinorAreTaken) {
  Registry registry("/nonexistent");
  registry.load_path(mock("scale"), {});
  EXPECT_EQ(load(registry, mock("newer-struct")), "");
  ASSERT_NE(registry.find("com.example.newer_struct"), nullptr);
  EXPECT_EQ(registry.find("com.example.newer_struct")->table.struct_size, sizeof(sxt_kernel));
}

TEST_F(RegistryTest, AKindMayComeFromALaterFile) {
  Registry registry("/nonexistent");
  folder_.copy(mock("none"), "a-first.so");
  folder_.copy(mock("scale"), "b-second.so");
  EXPECT_EQ(registry.load_path(folder_.path(), {}), 2);
  EXPECT_THAT(registry.refusals(), IsEmpty());  // checked only after all files were loaded
  EXPECT_EQ(registry.kernels("com.example.scale/1", "cpu").size(), 3u);
}

TEST_F(RegistryTest, AKernelWaitsForItsKind) {
  Registry registry("/nonexistent");
  const std::string path = folder_.copy(mock("none"), "a.so");
  EXPECT_EQ(load(registry, path), "");
  EXPECT_EQ(registry.find("com.example.copy-@@@"), nullptr);
  const auto records = refusals_of(registry, path);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].stage, "kind");
  EXPECT_THAT(records[0].reason, HasSubstr("'com.example.copy-@@@'"));
  EXPECT_THAT(records[0].reason, HasSubstr("'com.example.scale/1'"));
  registry.load_path(mock("scale"), {});
  EXPECT_NE(registry.find("com.example.copy-@@@"), nullptr);
}

TEST_F(RegistryTest, AKernelOfNoKindStaysOut) {
  Registry registry("/nonexistent");
  registry.load_path(mock("scale"), {});
  EXPECT_EQ(load(registry, mock("unknown-kind")), "");
  EXPECT_EQ(registry.find("com.example.unknown_kind"), nullptr);
  const auto records = refusals_of(registry, mock("unknown-kind"));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].stage, "kind");
  EXPECT_THAT(records[0].reason, HasSubstr("com.example.unheard-of/1"));
}

TEST_F(RegistryTest, TheHigherVersionWinsWhicheverComesFirst) {
  for (const bool older_first : {true, false}) {
    Registry registry("/nonexistent");
    registry.load_path(mock("scale"), {});
    const std::string older = load(registry, mock(older_first ? "older-version" : "newer-version"));
    const std::string newer = load(registry, mock(older_first ? "newer-version" : "older-version"));
    EXPECT_EQ(older, "");
    if (older_first)
      EXPECT_EQ(newer, "");
    else
      EXPECT_THAT(newer, HasSubstr("'duplicate'"));  // a named file of which nothing was taken
    ASSERT_EQ(registry.plugins().size(), 2u);
    EXPECT_EQ(registry.plugins()[1]->version, "1.10");
    const auto records = refusals_of(registry, mock("older-version"));
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].stage, "duplicate");
    EXPECT_THAT(records[0].reason, HasSubstr("'mock-versioned' 1.9.3"));
    EXPECT_THAT(records[0].reason, HasSubstr("1.10"));
    EXPECT_NE(registry.find("com.example.newer_version"), nullptr);
    EXPECT_EQ(registry.find("com.example.older_version"), nullptr);
  }
}

// The kernels that check answers stay the library's own, even if another plugin has the same name and a higher version.
TEST_F(RegistryTest, OwnKernelsAreNotDisplaced) {
  folder_.copy(own_plugin("device/device-cpu.so"), "own/device/device-cpu.so");
  folder_.copy(mock("scale"), "own/cpu/scale.so");
  folder_.copy(mock("older-version"), "own/cpu/versioned.so");
  Registry registry(folder_ / "own");
  registry.load_default({});
  const auto *before = registry.find("com.example.older_version");
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(load(registry, mock("newer-version")), "");
  EXPECT_EQ(registry.find("com.example.older_version"), nullptr);
  const auto own = registry.own_kernels(before->table.kind, before->table.device);
  EXPECT_NE(std::find(own.begin(), own.end(), before), own.end());
  for (const auto *kernel : own) EXPECT_TRUE(kernel->plugin->own) << kernel->name();
  EXPECT_NE(registry.find("com.example.newer_version"), nullptr);
  registry.quarantine(*before, "a test says so");
  const auto left = registry.own_kernels(before->table.kind, before->table.device);
  EXPECT_EQ(std::find(left.begin(), left.end(), before), left.end());
}

TEST_F(RegistryTest, ThePathsOfATreeAreTakenInOrder) {
  Registry registry("/nonexistent");
  folder_.copy(mock("scale"), "z/scale.so");
  folder_.copy(mock("device-mock"), "device/mock.so");
  numbered_copy(folder_, "a/b/c", 7);
  numbered_copy(folder_, "a", 8);
  fs::create_directory_symlink(folder_.path(), folder_ / "a/circle");
  write(folder_ / "a/readme.txt", "not a plugin, and no refusal either");
  EXPECT_EQ(registry.load_path(folder_.path(), {}), 4);
  EXPECT_THAT(plugin_names(registry), ElementsAre("mock-device-mock", "mock-copy-007", "mock-copy-008", "mock-scale"));
  EXPECT_THAT(registry.refusals(), IsEmpty());
}

TEST_F(RegistryTest, LoadsItsOwnDirectoryDeviceByDevice) {
  folder_.copy(own_plugin("device/device-cpu.so"), "own/device/device-cpu.so");
  folder_.copy(mock("device-absent"), "own/device/device-absent.so");
  folder_.copy(mock("scale"), "own/cpu/scale.so");
  numbered_copy(folder_, "own/absent", 1);
  numbered_copy(folder_, "own/unheard-of", 2);
  Registry registry(folder_ / "own");
  Log log;
  registry.load_default(log.sink());
  EXPECT_THAT(plugin_names(registry), ElementsAre("mock-device-absent", "device-cpu", "mock-scale"));
  for (const auto *kernel : registry.all_kernels()) {
    EXPECT_TRUE(kernel->plugin->own);
    EXPECT_EQ(kernel->verdict, Verdict::passed) << kernel->name();
  }
  ASSERT_EQ(registry.refusals().size(), 2u);
  const Refusal &absent = *registry.refusals()[0], &unheard_of = *registry.refusals()[1];
  EXPECT_EQ(absent.path, folder_ / "own/absent/copy-001.so");
  EXPECT_EQ(absent.stage, "device");
  EXPECT_EQ(absent.reason, "device 'absent' is not there: its driver is not installed");
  EXPECT_EQ(unheard_of.path, folder_ / "own/unheard-of/copy-002.so");
  EXPECT_EQ(unheard_of.reason, "no loaded device plugin offers device 'unheard-of'");
  // Plugins that cannot be used here give no warning.
  for (const auto &[level, line] : log.lines) EXPECT_EQ(level, SXT_LOG_DEBUG) << line;
  const std::size_t lines = log.lines.size();
  registry.load_default(log.sink());  // the second time does nothing
  EXPECT_EQ(log.lines.size(), lines);
}

TEST_F(RegistryTest, ItsOwnPluginsKeepTheirNames) {
  // A third party's kernel came first, but the name is the library's.
  Registry registry(folder_ / "own");
  folder_.copy(own_plugin("device/device-cpu.so"), "own/device/device-cpu.so");
  std::string bytes = contents(mock("none"));
  bytes.replace(bytes.find("mock-copy-@@@"), 13, "mock-unlisted");
  write(folder_ / "unlisted.so", bytes);
  folder_.copy(mock("none"), "own/cpu/copy.so");
  folder_.copy(mock("scale"), "own/cpu/scale.so");
  EXPECT_EQ(load(registry, folder_ / "unlisted.so"), "");
  registry.load_default({});
  ASSERT_NE(registry.find("com.example.copy-@@@"), nullptr);
  EXPECT_TRUE(registry.find("com.example.copy-@@@")->plugin->own);
  const auto records = refusals_of(registry, folder_ / "unlisted.so");
  ASSERT_EQ(records.size(), 2u);  // first it waited for its kind
  EXPECT_EQ(records[1].stage, "duplicate");
  EXPECT_THAT(records[1].reason, HasSubstr("'mock-unlisted'"));
}

TEST_F(RegistryTest, WarnsOfWhatIsRefused) {
  Registry registry("/nonexistent");
  Log log;
  EXPECT_THROW(registry.load_path(mock("old-major"), log.sink()), sextant::Error);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0].first, SXT_LOG_WARNING);
  EXPECT_THAT(log.lines[0].second, HasSubstr(mock("old-major")));
  EXPECT_THAT(log.lines[0].second, HasSubstr("(abi)"));
}

TEST_F(RegistryTest, QuarantineIsRecorded) {
  Registry registry("/nonexistent");
  registry.load_path(mock("scale"), {});
  const Kernel &kernel = *registry.find("com.example.scale.full");
  registry.quarantine(kernel, "its answers are wrong");
  registry.quarantine(kernel, "a second reason");
  EXPECT_EQ(kernel.verdict, Verdict::quarantined);
  EXPECT_EQ(kernel.quarantine_reason, "its answers are wrong");
  ASSERT_EQ(registry.refusals().size(), 1u);
  EXPECT_EQ(registry.refusals()[0]->stage, "self-test");
  EXPECT_THAT(registry.refusals()[0]->reason, HasSubstr("'com.example.scale.full'"));
}

TEST_F(RegistryTest, MayBeReadWhileItGrows) {
  Registry registry("/nonexistent");
  for (int i = 0; i < 20; ++i) numbered_copy(folder_, "many", i);
  registry.load_path(mock("scale"), {});
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      for (const Kernel *kernel : registry.kernels("com.example.scale/1", "cpu"))
        EXPECT_EQ(registry.find(kernel->name()), kernel);
    }
  });
  for (int i = 0; i < 20; ++i)
    registry.load_path(folder_ / ("many/copy-" + std::to_string(1000 + i).substr(1) + ".so"), {});
  done = true;
  reader.join();
  EXPECT_EQ(registry.plugins().size(), 21u);
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Processor time, so that a busy machine does not disturb it.
TEST_F(RegistryTest, LoadsSixtyPluginsInFifteenMilliseconds) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr double limit = 0.15;  // sanitizers follow every load
#else
  constexpr double limit = 0.015;
#endif
  std::vector<double> seconds;
  for (int round = 0; round < 3; ++round) {
    const std::string own = "own-" + std::to_string(round);  // files the loader has not seen
    folder_.copy(own_plugin("device/device-cpu.so"), own + "/device/device-cpu.so");
    folder_.copy(mock("scale"), own + "/cpu/scale.so");
    for (int i = 0; i < 58; ++i) numbered_copy(folder_, own + "/cpu", i);
    Registry registry(folder_ / own);
    const double start = processor_seconds();
    registry.load_default({});
    seconds.push_back(processor_seconds() - start);
    ASSERT_EQ(registry.plugins().size(), 60u);
    ASSERT_THAT(registry.refusals(), IsEmpty());
  }
  std::sort(seconds.begin(), seconds.end());
  RecordProperty("median_microseconds", static_cast<int>(1e6 * seconds[1]));
  EXPECT_LT(seconds[1], limit);
}

TEST(Versions, CompareNumberByNumber) {
  using sextant::registry::compare_versions;
  EXPECT_LT(compare_versions("1.9.3", "1.10"), 0);
  EXPECT_GT(compare_versions("2", "1.99.99"), 0);
  EXPECT_EQ(compare_versions("1.0", "1"), 0);
  EXPECT_EQ(compare_versions("1.2.3", "1.2.3"), 0);
  EXPECT_LT(compare_versions("1.2", "1.2.1"), 0);
  EXPECT_EQ(compare_versions("1.2-rc1", "1.2-rc2"), 0);  // words do not count
  EXPECT_GT(compare_versions("1.3-rc1", "1.2"), 0);
}

TEST(OwnDirectory, IsFoundFromTheTestsExecutable) {
  EXPECT_EQ(fs::path(sextant::registry::own_plugin_directory()), fs::canonical(SEXTANT_PLUGIN_DIR));
}

}  // namespace
