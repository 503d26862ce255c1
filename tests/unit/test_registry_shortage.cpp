// SPDX-License-Identifier: BSD-3-Clause
// A load that runs short of a resource of the system reports it and refuses no file for it; the next load does the
// rest. Descriptors stand for memory here, because they can be made to run out at every step.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

#include "core/registry/validate.hpp"
#include "sextant/plugin/kinds/storage.h"
#include "test_registry_util.hpp"

using namespace registry_test;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// While it lives, so many more files can be opened.
class Descriptors {
 public:
  explicit Descriptors(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = dup(0);
    close(lowest_free);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest_free) + more;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~Descriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(RegistryShortage, NothingVanishesAndTheNextLoadGoesOn) {
  const Environment no_path("SEXTANT_PLUGIN_PATH", nullptr), no_data("XDG_DATA_HOME", "/nonexistent"),
      no_state("XDG_STATE_HOME", "/nonexistent");
  const Folder folder;
  for (int i = 0; i < 3; ++i) numbered_copy(folder, "own", 600 + i);
  bool loaded = false;
  int short_of_it = 0;
  for (rlim_t more = 0; more < 10 && !loaded; ++more) {
    Registry registry(folder / "own");
    try {
      const Descriptors few(more);
      registry.load_default({});
      loaded = true;
    } catch (const sextant::Error &problem) {
      ++short_of_it;
      EXPECT_EQ(problem.status(), SXT_E_MEMORY) << problem.what();
      EXPECT_THAT(problem.what(), HasSubstr(folder.path()));
    }
    for (const Refusal *refusal : registry.refusals())
      if (refusal->stage != "kind")  // of the copies' kernels, which no plugin here defines
        ADD_FAILURE() << "with " << more << " descriptors: " << refusal->path << ", " << refusal->reason;
    registry.load_default({});
    EXPECT_EQ(registry.plugins().size(), 3u) << "with " << more << " descriptors";
  }
  EXPECT_TRUE(loaded);
  EXPECT_GT(short_of_it, 0);
}

TEST(RegistryShortage, APathThatIsNamedMayBeLoadedLater) {
  const Folder folder;
  const std::string path = numbered_copy(folder, "named", 610);
  Registry registry("/nonexistent");
  try {
    const Descriptors none(0);
    registry.load_path(path, {});
    ADD_FAILURE();
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_MEMORY) << problem.what();
  }
  EXPECT_THAT(registry.refusals(), IsEmpty());
  EXPECT_EQ(registry.load_path(path, {}), 1);
}

// Of every size that a plugin may state, one that ends inside a member is refused.
TEST(PluginTables, EndWithAWholeMember) {
  using namespace sextant::registry;
  sxt_kernel kernel{};
  kernel.name = "com.example.k";
  kernel.kind = "com.example.kind/1";
  kernel.device = "cpu";
  kernel.run = [](const void *, void *, const sxt_head *, const sxt_exec *) { return sxt_status{SXT_OK}; };
  for (std::uint64_t bytes = 0; bytes <= sizeof kernel + 8; ++bytes) {
    kernel.struct_size = bytes;
    const bool whole = bytes >= sizeof kernel || (bytes >= SXT_END_OF(sxt_kernel, run) && bytes % 8 == 0);
    EXPECT_EQ(kernel_problem(&kernel).empty(), whole) << bytes << ": " << kernel_problem(&kernel);
  }
  kernel.struct_size = sizeof kernel;
  kernel.kind = "sxt.storage.mine/1";
  struct {
    std::uint64_t struct_size;
    const void *view, *bytes, *rest[3];
  } ops{};
  static const auto view = [](const void *) -> const sxt_storage * { return nullptr; };
  static const auto held = [](const void *) -> std::uint64_t { return 0; };
  ops.view = reinterpret_cast<const void *>(+view);
  ops.bytes = reinterpret_cast<const void *>(+held);
  kernel.ops = &ops;
  for (std::uint64_t bytes = 0; bytes <= sizeof ops; ++bytes) {
    ops.struct_size = bytes;
    EXPECT_EQ(kernel_problem(&kernel).empty(), bytes >= 24 && bytes % 8 == 0) << bytes;
  }
}

}  // namespace
