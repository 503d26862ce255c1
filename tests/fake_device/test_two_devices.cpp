// SPDX-License-Identifier: BSD-3-Clause
// Two devices in one process: memory of one is refused by a context of the other, vectors as well as arrays of a
// matrix, and products stay with the context of their matrix.
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

sxt_context *context_on(std::int32_t ordinal) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  options.device_ordinal = ordinal;
  sxt_context *context = nullptr;
  return sxt_context_create(&options, &context) == SXT_OK ? context : nullptr;
}

// Ends the process with 0 where all was refused as it should be, else with the number of the step that was not.
[[noreturn]] void mix_devices() {
  const auto need = [](bool good, int step) {
    if (!good) std::fprintf(stderr, "step %d: %s\n", step, sxt_last_error(nullptr)), std::_Exit(step);
  };
  const auto said = [](const sxt_context *context, const char *words) {
    return std::strstr(sxt_last_error(context), words) != nullptr;
  };
  sxt_context *const here = context_on(0), *const there = context_on(1);
  need(here && there, 1);
  sxt_vector *own = nullptr, *other = nullptr, *wrapped = nullptr;
  need(sxt_vector_create(here, 3, SXT_F64, &own) == SXT_OK, 2);
  need(sxt_vector_create(there, 3, SXT_F64, &other) == SXT_OK, 3);
  need(sxt_vector_wrap(here, 3, SXT_F64, SXT_SPACE_DEVICE, sxt_vector_data(other), &wrapped) == SXT_E_ARGUMENT, 4);
  need(said(here, "lies on device 1"), 5);
  const std::vector<std::int32_t> row_ptr{0, 1, 2, 3}, col{0, 1, 2};
  const std::vector<double> values{1, 2, 3};
  sxt_matrix *matrix = nullptr;
  need(sxt_matrix_from_csr(here, 3, 3, row_ptr.data(), col.data(), sxt_vector_data(other), nullptr, &matrix) ==
           SXT_E_ARGUMENT,
       6);
  need(sxt_matrix_from_csr(here, 3, 3, row_ptr.data(), col.data(), values.data(), nullptr, &matrix) == SXT_OK, 7);
  need(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix, other, nullptr, other) == SXT_E_ARGUMENT, 8);
  need(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix, own, nullptr, other) == SXT_E_ARGUMENT, 9);
  sxt_matrix_destroy(matrix);
  sxt_vector_destroy(own);
  sxt_vector_destroy(other);
  sxt_context_destroy(here);
  sxt_context_destroy(there);
  need(left_behind().empty(), 10);
  std::_Exit(0);
}

TEST(TwoDevices, KeepTheirMemoryApart) {
  if (!std::filesystem::exists(SEXTANT_PLUGIN_DIR "/device/device-cuda.so"))
    GTEST_SKIP() << "this build has no CUDA plugins";
  const char *path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::strstr(path, FAKE_FOLDER)) GTEST_SKIP() << "the fakes are not first in LD_LIBRARY_PATH";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked for devices yet
  setenv("SEXTANT_FAKE_DEVICES", "2", 1);
  EXPECT_EXIT(mix_devices(), testing::ExitedWithCode(0), "");
  unsetenv("SEXTANT_FAKE_DEVICES");
}

}  // namespace
