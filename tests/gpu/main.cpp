// SPDX-License-Identifier: BSD-3-Clause
// main of gpu_tests: as GoogleTest's own, but tests that start this program again (death tests) find it for any current
// folder, also when it was found through PATH.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <system_error>

int main(int argc, char **argv) {
  std::error_code problem;
  std::string self = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  if (!problem && argc > 0) argv[0] = self.data();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
