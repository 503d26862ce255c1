// SPDX-License-Identifier: BSD-3-Clause
// A test over the fake libraries: skipped visibly without the CUDA plugins, begun with them loaded, and a check that
// nothing is left when everything was destroyed.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "sextant/sextant.h"
#include "tests/fake_device/fake.h"
#include "tests/poison.hpp"

namespace fake_test {

// Objects that must be gone when everything was destroyed.
inline const char *const kinds[] = {"contexts", "current", "streams", "events", "graphs", "pools", "allocations"};

inline std::string left_behind() {
  std::string all;
  for (const char *kind : kinds)
    if (const std::int64_t live = fake_count(kind)) all += std::string(kind) + ": " + std::to_string(live) + " ";
  return all;
}

// Faults that never happen where no call fails; reported once.
inline std::string faults() {
  std::string all;
  for (const char *fault : {"races", "unsafe calls"})
    if (const std::int64_t count = fake_count(fault)) {
      all += std::string(fault) + ": " + std::to_string(count) + " ";
      fake_add(fault, -count);
    }
  return all;
}

inline sxt_status open(sxt_context **context) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  poison::fill(options);
  return sxt_context_create(&options, context);
}

class FakeDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(SEXTANT_PLUGIN_DIR "/device/device-cuda.so"))
      GTEST_SKIP() << "this build has no CUDA plugins";
    const char *path = std::getenv("LD_LIBRARY_PATH");
    if (!path || !std::strstr(path, FAKE_FOLDER)) GTEST_SKIP() << "the fakes are not first in LD_LIBRARY_PATH";
    // Plugins are loaded once a process: before anything fails.
    sxt_context *context = nullptr;
    ASSERT_EQ(open(&context), SXT_OK) << sxt_last_error(nullptr);
    sxt_context_destroy(context);
    ASSERT_GT(fake_count("calls"), 0) << "the plugins use other libraries than the fakes";
    ASSERT_EQ(left_behind(), "");
    faults();
  }
  void TearDown() override {
    fake_fail(0, 0);
    fake_limit_memory(-1);
  }
};

}  // namespace fake_test
