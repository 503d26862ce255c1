// SPDX-License-Identifier: BSD-3-Clause
// A set of Hermitian systems on the host and on a GPU, for tests that call kernels one by one: its query and arguments,
// and checks of an answer (small backward errors, nothing written outside the triangle).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/sdk/cases.hpp"
#include "support.hpp"

namespace gpu_test {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using sextant::ChoicePtr;
using sextant::DeviceBuffer;
using sextant::Prepared;

// One set on both sides: uniform or varying orders up to n, leading dimension n + 1.
struct HermitianSet {
  HermitianSet(sextant::Device &device, sxt_value_type type, std::int64_t n, std::int64_t batch, std::int64_t n_rhs,
               sxt_triangle triangle, bool definite, bool vary, Random &random)
      : n(n),
        batch(batch),
        n_rhs(n_rhs),
        lda(n + 1),
        definite(definite),
        lower(triangle == SXT_LOWER),
        a(type, lda * n * batch, random),
        b(type, lda * n_rhs * batch, random),
        info(batch),
        device(device),
        a_there(device, a.bytes()),
        b_there(device, b.bytes()),
        orders_there(device, 4 * batch),
        info_there(device, 4 * batch),
        pivots_there(device, 4 * batch * std::max<std::int64_t>(1, n)) {
    for (std::int64_t s = 0; s < batch; ++s) orders.push_back(static_cast<std::int32_t>(vary ? s * 7 % (n + 1) : n));
    for (std::int64_t s = 0; s < batch && definite; ++s)
      for (std::int64_t i = 0; i < orders[s]; ++i) {
        const std::int64_t at = (s * n + i) * lda + i;
        a.set(at, Wide(2.0 * n + 1, a.at(at).imag()));
      }
    device.copy(orders_there.data(), orders.data(), 4 * batch);
    fill_query(type, triangle, vary);
  }

  void fill_query(sxt_value_type type, sxt_triangle triangle, bool vary) {
    query.q = {{sizeof query, SXT_KIND_HERMITIAN}, 1, 0, type};
    query.batch = batch, query.n_max = n, query.n_rhs = n_rhs;
    query.n_min = *std::min_element(orders.begin(), orders.end());
    for (const double order : orders)
      query.sum_n1 += order, query.sum_n2 += order * order, query.sum_n3 += order * order * order;
    query.definiteness = definite ? SXT_HERMITIAN_DEFINITE : SXT_HERMITIAN_INDEFINITE;
    query.triangle = triangle;
    query.orders_vary = vary;
    args.h = head<sxt_hermitian_args>(SXT_KIND_HERMITIAN);
    args.definiteness = query.definiteness;
    args.value_type = type, args.triangle = triangle;
    args.batch = batch, args.n_max = n, args.n_rhs = n_rhs;
    if (vary) args.orders = orders.data(), args.orders_device = orders_there.as<std::int32_t>();
    args.a = a_there.data(), args.lda = lda, args.stride_a = lda * n;
    args.b = b_there.data(), args.ldb = lda, args.stride_b = lda * n_rhs;
    args.info = info_there.as<std::int32_t>();
    args.pivots = definite ? nullptr : pivots_there.as<std::int32_t>(), args.stride_pivots = n;
  }
  void scale(double by) {
    for (std::int64_t i = 0; i < a.size(); ++i) a.set(i, a.at(i) * by);
  }
  // Entries of which a product of two (three in double precision) leaves the range of the type.
  double far_from_one(bool below) const {
    const double size = real_type(a.type()) == SXT_F32 ? 1e30 : 1e140;
    return below ? 1 / size : size;
  }
  void upload() {
    device.copy(a_there.data(), a.data(), a.bytes());
    device.copy(b_there.data(), b.data(), b.bytes());
  }
  void download(Array &factor, Array &x) {
    factor = a, x = b;
    device.copy(factor.data(), a_there.data(), a.bytes());
    device.copy(x.data(), b_there.data(), b.bytes());
    device.copy(info.data(), info_there.data(), 4 * batch);
  }
  Wide element(std::int64_t s, std::int64_t i, std::int64_t j) const {
    const bool held = lower ? i >= j : i <= j;
    const Wide value = a.at((s * n + (held ? j : i)) * lda + (held ? i : j));
    return i == j ? Wide(value.real()) : held ? value : std::conj(value);
  }
  // |b - A x| / (sqrt(n) eps (|A| |x| + |b|) + n tiny (1 + |x|)) in the largest norm, over the right-hand sides of a
  // system; tiny, the least positive number of the type, bounds the loss of each sum where numbers are that small.
  double backward_error(std::int64_t s, const Array &x) const {
    const std::int64_t order = orders[s];
    double worst = 0;
    for (std::int64_t k = 0; k < n_rhs; ++k) {
      const std::int64_t at = (s * n_rhs + k) * lda;
      double residual = 0, size_a = 0, size_x = 0, size_b = 0;
      for (std::int64_t i = 0; i < order; ++i) {
        Wide rest = b.at(at + i);
        double row = 0;
        size_b = std::max(size_b, magnitude(rest));
        for (std::int64_t j = 0; j < order; ++j) {
          const Wide value = element(s, i, j);
          rest -= value * x.at(at + j);
          row += magnitude(value);
        }
        residual = std::max(residual, magnitude(rest));
        size_a = std::max(size_a, row), size_x = std::max(size_x, magnitude(x.at(at + i)));
      }
      const double tiny = real_type(a.type()) == SXT_F32 ? std::numeric_limits<float>::denorm_min()
                                                         : std::numeric_limits<double>::denorm_min();
      const double bound = std::sqrt(order + 1.0) * epsilon(a.type()) * (size_a * size_x + size_b) +
                           static_cast<double>(order) * tiny * (1 + size_x);
      if (order > 0) worst = std::isfinite(residual) ? std::max(worst, residual / bound) : 1e30;
    }
    return worst;
  }
  // Values outside the triangle, which must not be changed.
  bool rest_intact(const Array &factor) const {
    for (std::int64_t s = 0; s < batch; ++s)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < lda; ++i) {
          const bool held = i < orders[s] && j < orders[s] && (lower ? i >= j : i <= j);
          const std::int64_t at = (s * n + j) * lda + i;
          if (!held && factor.at(at) != a.at(at)) return false;
        }
    return factor.guard_intact();
  }

  std::int64_t n, batch, n_rhs, lda;
  bool definite, lower;
  Array a, b;
  std::vector<std::int32_t> orders, info;
  sextant::Device &device;
  DeviceBuffer a_there, b_there, orders_there, info_there, pivots_there;
  sxt_hermitian_query query{};
  sxt_hermitian_args args{};
};

}  // namespace gpu_test
