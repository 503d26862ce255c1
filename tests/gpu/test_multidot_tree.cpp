// SPDX-License-Identifier: BSD-3-Clause
// Inner products by the library's one tree: a GPU gives the bits of a CPU, for every type and number of pairs, around
// the borders of leaves, of blocks, and of the part that one thread of the last block adds.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>

#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/sdk/kernel.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant;

class MultidotTree : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (context_) cpu_ = open_context("cpu");
  }
  // `pairs` inner products of `vectors` arrays, all next to each other, by this kernel.
  template <class T>
  std::vector<T> products(Context &context, const char *kernel, sxt_value_type type, const std::vector<T> &values,
                          std::int64_t n, int pairs) {
    sxt_multidot_query query{};
    query.q.h = {sizeof query, SXT_KIND_MULTIDOT};
    query.q.expected_runs = 1;
    query.q.value_type = type;
    query.n = n;
    query.n_dots = query.distinct = pairs;
    sextant::Context &own = *context->context;
    Selector selector(own, nullptr, {.forced = {{SXT_KIND_MULTIDOT, kernel}}});
    Runner runner(own, selector.select({Query(&query.q), "dots"}), nullptr);
    const DeviceBuffer data(own.device(), values.size() * sizeof(T)), result(own.device(), 8 * sizeof(T));
    own.device().copy(data.data(), values.data(), values.size() * sizeof(T));
    const void *u[SXT_MULTIDOT_MAX], *v[SXT_MULTIDOT_MAX];
    for (int k = 0; k < pairs; ++k) {
      u[k] = static_cast<const T *>(data.data()) + k * n;
      v[k] = static_cast<const T *>(data.data()) + (k + 1) % pairs * n;
    }
    sxt_multidot_args args{};
    args.h = {sizeof args, SXT_KIND_MULTIDOT};
    args.n = n;
    args.n_dots = pairs;
    args.u = u;
    args.v = v;
    args.result = result.data();
    runner.run(&args.h);
    std::vector<T> out(static_cast<std::size_t>(pairs));
    own.device().copy(out.data(), result.data(), out.size() * sizeof(T));
    return out;
  }
  template <class T>
  void agree(sxt_value_type type, std::int64_t n, int pairs) {
    std::mt19937_64 random(static_cast<std::uint64_t>(n) + 7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<T> values(static_cast<std::size_t>(std::max<std::int64_t>(1, n * pairs)));
    auto *numbers = reinterpret_cast<plugin::real_of<T> *>(values.data());
    for (std::size_t i = 0; i < values.size() * (sizeof(T) / sizeof(plugin::real_of<T>)); ++i)
      numbers[i] = static_cast<plugin::real_of<T>>(uniform(random));
    const std::vector<T> here = products(cpu_, "multidot.tree.cpu", type, values, n, pairs),
                         there = products(context_, "multidot.tree.cuda", type, values, n, pairs);
    EXPECT_EQ(std::memcmp(here.data(), there.data(), here.size() * sizeof(T)), 0)
        << "type " << type << ", n = " << n << ", " << pairs << " pairs";
  }
  Context cpu_{nullptr, sxt_context_destroy};
};

TEST_F(MultidotTree, HasTheBitsOfTheCpu) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 1000, 1023, 1024, 1025, 2048, 3000, 5 * 1024 + 1, 63 * 1024, 64 * 1024,
                               64 * 1024 + 1, 65 * 1024 - 3, 128 * 1024 + 5, 333333})
    for (const int pairs : {1, 4}) {
      agree<double>(SXT_F64, n, pairs);
      agree<float>(SXT_F32, n, pairs);
      agree<std::complex<double>>(SXT_C128, n, pairs);
      agree<std::complex<float>>(SXT_C64, n, pairs);
    }
  agree<double>(SXT_F64, 2'000'003, 3);
  agree<double>(SXT_F64, 10'007, 8);
}

}  // namespace
}  // namespace gpu_test
