// SPDX-License-Identifier: BSD-3-Clause
// For tests of Hermitian batches through the C interface on a GPU: a set's copy on the device, and checks of answers.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "support.hpp"
#include "tests/api/hermitian_support.hpp"

namespace gpu_test {

using api_test::hermitian_options;
using api_test::hermitian_set;
using api_test::Systems;
using Batch = api_test::Hermitian;
using Complex = std::complex<double>;
using Numbers = std::vector<std::int32_t>;

class HermitianGpu : public Gpu {
 protected:
  Batch make_batch(const sxt_hermitian_options &options) {
    sxt_hermitian *made = nullptr;
    EXPECT_EQ(sxt_hermitian_create(context_.get(), &options, &made), SXT_OK) << error();
    return Batch(made);
  }
  std::string error() { return sxt_last_error(context_.get()); }

  // Values on the device, copied to the host on request.
  template <class T>
  struct Array {
    sextant::Device *device;
    sextant::DeviceBuffer memory;
    std::size_t size;
    Array(sextant::Device &on, const std::vector<T> &values)
        : device(&on), memory(on, values.size() * sizeof(T)), size(values.size()) {
      put(values);
    }
    void put(const std::vector<T> &values) { device->copy(memory.data(), values.data(), size * sizeof(T)); }
    std::vector<T> get() const {
      std::vector<T> values(size);
      device->copy(values.data(), memory.data(), size * sizeof(T));
      return values;
    }
    T *data() const { return memory.as<T>(); }
  };

  // The device's copy of a set of systems.
  template <class T>
  struct OnDevice {
    Systems<T> &host;
    Array<T> a, b;
    Array<std::int32_t> info, pivots;
    OnDevice(sextant::Device &device, Systems<T> &systems)
        : host(systems),
          a(device, systems.a),
          b(device, systems.b),
          info(device, systems.info),
          pivots(device, systems.pivots) {}
    sxt_hermitian_set set() {
      sxt_hermitian_set out = host.set();
      out.a = a.data(), out.b = b.data(), out.info = info.data(), out.pivots = pivots.data();
      return out;
    }
    void bring() { host.a = a.get(), host.b = b.get(), host.info = info.get(), host.pivots = pivots.get(); }
    void reset(const Systems<T> &to) { a.put(to.a), b.put(to.b), info.put(to.info); }
  };

  static bool is_baseline(const std::string &kernel) { return kernel.find("cusolver") != std::string::npos; }
  void *new_stream() {
    void *stream = nullptr;
    EXPECT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
    return stream;
  }

  template <class T>
  void expect_solved(Systems<T> &systems, double factor = 10) {
    for (std::int64_t s = 0; s < systems.batch; ++s) {
      ASSERT_EQ(systems.info[s], 0) << "system " << s;
      ASSERT_LE(systems.backward_error(s, systems.b), factor * static_cast<double>(systems.n + 8) * systems.epsilon())
          << "system " << s << " of order " << systems.n;
    }
    systems.expect_rest_untouched();
  }
};

}  // namespace gpu_test
