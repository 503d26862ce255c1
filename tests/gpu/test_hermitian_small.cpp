// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems on a GPU through every candidate of the kernels for small orders, of the published one and
// of the pivoted one: orders around blocks of 16, all types and both triangles, many right-hand sides, 70,000 systems,
// flawed systems among good ones, equal bits, captured calls. Solutions are judged by their backward error.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/prepared.hpp"
#include "core/dispatch/select.hpp"
#include "sextant/kinds/hermitian.h"
#include "sextant/plugin_cases.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using sextant::ChoicePtr;
using sextant::DeviceBuffer;
using sextant::Prepared;

// One set on both sides: uniform or varying orders up to n, leading dimension n + 1.
struct Set {
  Set(sextant::Device &device, sxt_value_type type, std::int64_t n, std::int64_t batch, std::int64_t n_rhs,
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
  // |b - A x| / (sqrt(n) eps (|A| |x| + |b|)) in the largest norm, over the right-hand sides of a system.
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
      const double bound = std::sqrt(order + 1.0) * epsilon(a.type()) * (size_a * size_x + size_b);
      if (order > 0) worst = std::isfinite(residual) ? std::max(worst, residual / bound) : 1e30;
    }
    return worst;
  }
  // What stands beside the triangle: nobody may touch it.
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

class HermitianSmall : public Gpu {
 protected:
  Random random{6, 1};

  std::vector<ChoicePtr> choices(Set &set, std::int32_t phase) {
    set.query.phase = phase;
    std::vector<ChoicePtr> mine;
    for (const ChoicePtr &choice :
         sextant::Selector(*context_->context, nullptr).every(sextant::Query(&set.query.q), "set")) {
      const std::string_view name = choice->kernel->name();
      if (name == "hermitian.tile.cuda" || name == "hermitian.block.cuda" || name == "hermitian.pivoted.cuda")
        mine.push_back(choice);
    }
    return mine;
  }
  void run(Set &set, const ChoicePtr &choice, std::int32_t phase) {
    Prepared prepared(*context_->context, choice, nullptr, nullptr);
    set.args.phase = phase;
    prepared.open()->run(&set.args.h);
    ++runs_[choice->kernel->name()];
  }
  static std::string name(const ChoicePtr &choice, const Set &set) {
    return std::string(choice->kernel->name()) + " launch " + std::to_string(choice->candidate.launch[0]) + " " +
           std::to_string(choice->candidate.launch[1]) + " " + std::to_string(choice->candidate.launch[2]) + ", " +
           value_name(set.a.type()) + ", order " + std::to_string(set.n) + (set.lower ? ", lower" : ", upper");
  }
  // Every candidate, in one call and in two; `checked`: systems whose solution is looked at.
  void check(Set &set, const std::vector<std::int64_t> &checked) {
    Array factor, x, again_factor, again_x;
    const std::vector<ChoicePtr> all = choices(set, SXT_HERMITIAN_FACTOR_SOLVE);
    ASSERT_FALSE(all.empty());
    for (const ChoicePtr &choice : all) {
      set.upload();
      run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      set.download(factor, x);
      EXPECT_EQ(std::count(set.info.begin(), set.info.end(), 0), set.batch) << name(choice, set);
      for (const std::int64_t s : checked)
        EXPECT_LE(set.backward_error(s, x), set.definite ? 4 : 40) << name(choice, set) << ", system " << s;
      EXPECT_TRUE(set.rest_intact(factor)) << name(choice, set);
      set.upload();
      run(set, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      set.download(again_factor, again_x);
      EXPECT_EQ(std::memcmp(x.data(), again_x.data(), x.bytes()), 0) << name(choice, set) << ": other bits";
      EXPECT_EQ(std::memcmp(factor.data(), again_factor.data(), factor.bytes()), 0)
          << name(choice, set) << ": other bits";
      if (HasFailure()) return;
    }
    for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_SOLVE)) {  // the last factor still stands there
      set.device.copy(set.b_there.data(), set.b.data(), set.b.bytes());
      run(set, choice, SXT_HERMITIAN_SOLVE);
      set.download(factor, x);
      for (const std::int64_t s : checked)
        EXPECT_LE(set.backward_error(s, x), set.definite ? 4 : 40) << name(choice, set) << ", system " << s;
      if (HasFailure()) return;
    }
  }
  void TearDown() override {
    for (const auto &[kernel, count] : runs_) std::printf("[ runs     ] %-36s %5d\n", kernel.c_str(), count);
  }
  std::map<std::string, int> runs_;
};

TEST_F(HermitianSmall, OrdersAroundBlocksOf16) {
  int turn = 0;
  for (const std::int64_t n : {1, 2, 15, 16, 17, 31, 33, 64, 65, 100, 128, 129})
    for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
      for (const bool definite : {true, false}) {
        const sxt_triangle triangle = turn++ % 2 ? SXT_LOWER : SXT_UPPER;
        Set set(device(), type, n, 9, 1 + turn % 3, triangle, definite, turn % 4 == 3, random);
        check(set, {0, 3, 8});
        if (HasFailure()) return;
      }
}

TEST_F(HermitianSmall, ManyRightHandSides) {
  for (const bool definite : {true, false})
    for (const sxt_value_type type : {SXT_F32, SXT_C128}) {
      Set set(device(), type, 40, 5, 37, SXT_LOWER, definite, true, random);
      check(set, {1, 2, 4});
      if (HasFailure()) return;
    }
}

TEST_F(HermitianSmall, SeventyThousandSystems) {
  for (const bool definite : {true, false}) {
    Set set(device(), SXT_C64, 3, 70000, 1, SXT_UPPER, definite, false, random);
    check(set, {0, 1, 34999, 65535, 65536, 69999});
  }
}

// A NaN and a negative pivot: their own codes, and neighbours with the bits they have without them.
TEST_F(HermitianSmall, FlawedSystemsDoNotDisturbOthers) {
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
    Set good(device(), SXT_C128, 50, 8, 1, triangle, true, false, random);
    const Array sound = good.a;
    for (const ChoicePtr &choice : choices(good, SXT_HERMITIAN_FACTOR_SOLVE)) {
      Array want_factor, want, got_factor, got;
      good.a = sound;
      good.upload();
      run(good, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      good.download(want_factor, want);
      good.a.set((2 * 50 + 20) * 51 + 20, Wide(-1));
      const std::int64_t row = triangle == SXT_LOWER ? 30 : 10, column = triangle == SXT_LOWER ? 10 : 30;
      good.a.set((5 * 50 + column) * 51 + row, Wide(std::nan("")));
      good.upload();
      run(good, choice, SXT_HERMITIAN_FACTOR_SOLVE);
      good.download(got_factor, got);
      EXPECT_THAT(good.info, testing::ElementsAre(0, 0, 21, 0, 0, SXT_HERMITIAN_NOT_FINITE, 0, 0))
          << name(choice, good);
      for (const std::int64_t s : {0, 1, 3, 4, 6, 7})
        for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(got.at(s * 51 + i), want.at(s * 51 + i)) << name(choice, good);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gpu_test
