// SPDX-License-Identifier: BSD-3-Clause
// Common helpers of these tests: handles that free themselves, vectors on the mock device, model problems,
// explanations.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mock_driver.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/sextant.h"

namespace composition {

struct Destroy {
  void operator()(sxt_context *context) const { sxt_context_destroy(context); }
  void operator()(sxt_matrix *matrix) const { sxt_matrix_destroy(matrix); }
  void operator()(sxt_selection *selection) const { sxt_selection_destroy(selection); }
};
using Context = std::unique_ptr<sxt_context, Destroy>;
using Matrix = std::unique_ptr<sxt_matrix, Destroy>;
using Selection = std::unique_ptr<sxt_selection, Destroy>;

// A context with the mock plugins and, by path, further ones. Fails the test with the library's sentence.
Context open_context(const char *device, std::vector<std::string> extra = {}, bool deterministic = false);

// A square sparse matrix in host CSR.
struct Csr {
  std::int64_t n = 0;
  std::vector<std::int32_t> row_ptr, col;
  std::vector<double> values;
  std::vector<double> operator*(const std::vector<double> &x) const;
};
// The five-point operator on a width x height grid, plus `shift` on the diagonal: five diagonals, definite for shift >
// 0.
Csr five_point(std::int64_t width, std::int64_t height, double shift = 0.1);
Matrix make_matrix(const Context &context, const Csr &a);

Selection select(const Context &context, const sxt_query &query, const Matrix &matrix = nullptr);
// The status of a selection that is expected to fail; its sentence is in sxt_last_error.
sxt_status try_select(const Context &context, const sxt_query &query, const Matrix &matrix = nullptr);

nlohmann::json explain(const Selection &selection);
// Why a kernel was chosen or not; "" when it is not mentioned.
std::string reason_for(const Selection &selection, const std::string &kernel);
// The kernels that fill the chosen kernel's slots, in order.
std::vector<std::string> parts_of(const Selection &selection);

// An array in the mock device's memory. Readable from here once the work that writes it has been waited for.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n), data_(static_cast<T *>(mock::allocate(nullptr, n * sizeof(T), 64))) {}
  explicit DeviceArray(const std::vector<T> &from) : DeviceArray(from.size()) {
    std::copy(from.begin(), from.end(), data_);
  }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { mock::release(nullptr, data_); }
  T *data() const { return data_; }
  T &operator[](std::size_t i) const { return data_[i]; }
  std::vector<T> host() const { return {data_, data_ + n_}; }

 private:
  std::size_t n_;
  T *data_;
};

// One solve by an engine of kind sxt.pcg/1, with the callbacks that core would give it.
struct Solve {
  std::vector<double> x, history;
  sxt_pcg_args args{};
  sxt_status status = SXT_OK;
};
sxt_pcg_query pcg_query(double iterations = 100);
Solve solve(const Selection &engine, const Csr &a, const std::vector<double> &b, double tolerance = 1e-10);

// |b - A x| / |b|.
double relative_residual(const Csr &a, const std::vector<double> &x, const std::vector<double> &b);

// Starts every test with knobs at their defaults, and ends it by checking that the device's state is unchanged.
class HardCase : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

 private:
  std::int64_t live_allocations_ = 0, live_streams_ = 0, live_graphs_ = 0, violations_ = 0, open_devices_ = 0;
};

}  // namespace composition
