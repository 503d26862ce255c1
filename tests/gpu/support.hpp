// SPDX-License-Identifier: BSD-3-Clause
// For tests on a GPU: a context, its device's operations, values on the device, and the skip where there is no GPU.
#pragma once

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/context/context.hpp"
#include "sextant/sextant.h"
#include "tests/poison.hpp"

namespace gpu_test {

using Context = std::unique_ptr<sxt_context, void (*)(sxt_context *)>;
using Vector = std::unique_ptr<sxt_vector, void (*)(sxt_vector *)>;

inline Context open_context(const char *device = "cuda", std::int32_t ordinal = 0, bool deterministic = false) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = device;
  options.device_ordinal = ordinal;
  options.deterministic = deterministic;
  poison::fill(options);
  sxt_context *context = nullptr;
  const sxt_status status = sxt_context_create(&options, &context);
  return {status == SXT_OK ? context : nullptr, sxt_context_destroy};
}

class Gpu : public testing::Test {
 protected:
  explicit Gpu(std::int32_t ordinal = 0) : ordinal_(ordinal) {}
  void SetUp() override {
    context_ = open_context("cuda", ordinal_);
    // tests/gpu/run recognises a machine that cannot run the tests by the first of these words.
    if (!context_) GTEST_SKIP() << (ordinal_ == 0 ? "no GPU: " : "no further GPU: ") << sxt_last_error(nullptr);
  }
  sextant::Device &device() { return context_->context->device(); }
  const sxt_device_ops &ops() { return device().ops(); }
  void *handle() { return device().handle(); }
  std::vector<double> read(const void *from, std::size_t n) {
    std::vector<double> values(n);
    device().copy(values.data(), from, n * sizeof(double));
    return values;
  }
  Vector make_vector(const std::vector<double> &values) {
    sxt_vector *made = nullptr;
    if (sxt_vector_create(context_.get(), static_cast<std::int64_t>(values.size()), SXT_F64, &made) != SXT_OK)
      throw std::runtime_error(sxt_last_error(context_.get()));
    device().copy(sxt_vector_data(made), values.data(), values.size() * sizeof(double));
    return {made, sxt_vector_destroy};
  }
  std::vector<double> values_of(const Vector &vector) {
    return read(sxt_vector_data(vector.get()), static_cast<std::size_t>(sxt_vector_length(vector.get())));
  }
  std::int32_t ordinal_;
  Context context_{nullptr, sxt_context_destroy};
};

// Whether a storage or a kernel refused this matrix when it was built: that is not a failure.
inline bool declined(const sextant::Error &problem) {
  return problem.status() == SXT_NOT_APPLICABLE || problem.status() == SXT_E_NOT_SUPPORTED;
}

// A function of one of the two modules built with the shared and the static runtime.
template <class F>
F runtime_function(const char *module, const char *name) {
  void *library = dlopen((std::string(GPU_RUNTIMES) + "/" + module + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return reinterpret_cast<F>(dlsym(library, name));
}

// Loses the device by a kernel that fails. For a separate process, which ends with the number of the step at which
// something else happened.
inline void end_device(sextant::Device &device) {
  using Crash = int (*)(void *);
  void *stream = device.take_stream();
  {
    const sextant::Device::Current current(device);
    if (runtime_function<Crash>("Shared", "doubler_crash")(stream) != 0) std::_Exit(2);
  }
  try {
    device.wait(stream);
    std::_Exit(3);
  } catch (const sextant::Error &problem) {
    if (problem.status() != SXT_E_DEVICE) std::_Exit(4);
  }
  device.give_stream(stream);
}

}  // namespace gpu_test
