// SPDX-License-Identifier: BSD-3-Clause
// P A P^T made on a GPU beside the host's: rows around every border of the kernels, all value types, both offset types,
// and new values.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/base/types.hpp"
#include "core/matrix/renumber.hpp"
#include "core/registry/registry.hpp"
#include "sextant/plugin/kinds/storage_permuted.h"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant;

std::vector<std::int32_t> random_order(std::int64_t n, unsigned seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  return order;
}

// Rows of the lengths given, in turn, with columns that lie anywhere.
struct Pattern {
  Pattern(std::int64_t n, const std::vector<std::int64_t> &lengths) : n(n) {
    const std::vector<std::int32_t> all = random_order(n, 3);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t length = std::min(n, lengths[static_cast<std::size_t>(i) % lengths.size()]);
      for (std::int64_t e = 0; e < length; ++e) col.push_back(all[static_cast<std::size_t>((37 * i + e) % n)]);
      std::sort(col.end() - length, col.end());
      ptr.push_back(static_cast<std::int64_t>(col.size()));
    }
  }
  std::int64_t n;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> col;
};

class PermutedOnGpu : public Gpu {
 protected:
  template <class V>
  std::shared_ptr<sextant::Matrix> matrix_of(const Pattern &a, const std::vector<V> &values) {
    EntryArrays arrays;
    arrays.layout = EntryArrays::Layout::csr;
    arrays.rows = arrays.cols = a.n, arrays.nnz = static_cast<std::int64_t>(a.col.size());
    arrays.offset_type = SXT_I64;
    arrays.value_type = value_type_of<V>;
    arrays.row = a.ptr.data(), arrays.col = a.col.data(), arrays.values = values.data();
    auto &context = context_->context;
    return std::make_shared<sextant::Matrix>(context, assemble(arrays, {}, context->allocator()), SXT_GENERAL);
  }
  DeviceBuffer on_device(const std::vector<std::int32_t> &perm) {
    DeviceBuffer there(device(), perm.size() * sizeof(std::int32_t));
    device().copy(there.data(), perm.data(), there.bytes());
    return there;
  }
  template <class T>
  std::vector<T> fetched(const void *from, std::int64_t count) {
    std::vector<T> out(static_cast<std::size_t>(count));
    if (count) device().copy(out.data(), from, out.size() * sizeof(T));
    return out;
  }
  template <class T>
  static std::vector<T> held(const Buffer &buffer) {
    return {buffer.as<T>(), buffer.as<T>() + buffer.bytes() / sizeof(T)};
  }

  template <class V>
  void check(const Pattern &pattern) {
    std::vector<V> values;
    for (std::size_t k = 0; k < pattern.col.size(); ++k) values.push_back(V(static_cast<float>(k % 100003)));
    const auto a = matrix_of(pattern, values);
    const std::vector<std::int32_t> perm = random_order(pattern.n, 5);
    const DeviceBuffer there = on_device(perm);
    const auto made = a->permuted(there.data(), 1);
    compare<V>(*made, *renumbered(*a, perm.data()));
    for (V &each : values) each = each * V(-2) + V(1);
    a->update_values(values.data(), static_cast<std::int64_t>(values.size()));
    made->source_changed(*a);
    compare<V>(*made, *renumbered(*a, perm.data()));
  }
  template <class V>
  void compare(sextant::Matrix &made, const sextant::Matrix &wanted) {
    const CsrArrays got = made.on_host();
    EXPECT_EQ(held<std::int32_t>(got.row_ptr), held<std::int32_t>(wanted.csr().row_ptr));
    EXPECT_EQ(held<std::int32_t>(got.col), held<std::int32_t>(wanted.csr().col));
    EXPECT_TRUE(held<V>(got.values) == held<V>(wanted.csr().values));
    EXPECT_EQ(made.feature("bandwidth"), static_cast<double>(bandwidth_of(wanted.csr(), 2)));
  }
};

TEST_F(PermutedOnGpu, RowsAroundEveryBorder) {
  check<double>(Pattern(1, {1}));
  check<double>(Pattern(5000, {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33}));
  check<double>(Pattern(3000, {1, 127, 128, 129, 255, 256, 257}));
  check<double>(Pattern(
      20000, {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,    3,    3,    3,    3,    3,    3,     3,
              3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2047, 2048, 2049, 4096, 4097, 8191, 12289, 20000}));
}

TEST_F(PermutedOnGpu, OneRowOfAllColumns) {
  std::vector<std::int64_t> lengths(300000, 2);
  lengths[77777] = 300000;
  check<float>(Pattern(300000, lengths));
}

TEST_F(PermutedOnGpu, EveryValueType) {
  const Pattern pattern(2000, {0, 5, 40, 200, 2000});
  check<float>(pattern);
  check<double>(pattern);
  check<std::complex<float>>(pattern);
  check<std::complex<double>>(pattern);
}

// Core asks for such offsets from 2^31 entries on; the kernels are the same.
TEST_F(PermutedOnGpu, OffsetsOf64Bits) {
  const Pattern pattern(3000, {4, 130, 2500});
  std::vector<double> values(pattern.col.size());
  std::iota(values.begin(), values.end(), 0);
  const auto narrow = matrix_of(pattern, values);
  const std::vector<std::int32_t> perm = random_order(pattern.n, 9);
  const DeviceBuffer there = on_device(perm);
  const CsrArrays wanted = narrow->permuted(there.data(), 1)->on_host();

  sxt_csr wide = narrow->csr_view();
  wide.s.offset_type = SXT_I64;
  wide.row_ptr = pattern.ptr.data();
  const sxt_matrix_query query = narrow->query_part(SXT_KIND_STORAGE_CSR, sizeof query, 1);
  const sxt_problem problem{sizeof problem, &query.q, &wide.s.h, nullptr};
  const sxt_kernel &kernel = registry::Registry::instance().kernels(SXT_KIND_STORAGE_CSR, "cuda").front()->table;
  const auto *ops = static_cast<const sxt_storage_permuted_ops *>(kernel.ops);
  const sxt_candidate candidate{};
  void *whole = nullptr, *made = nullptr;
  {
    Call call(device());
    const sxt_exec exec = make_exec(call);
    call.finish(kernel.prepare(&problem, &candidate, nullptr, &exec, &whole), kernel.name, "prepare");
    call.finish(ops->permuted(whole, there.data(), &exec, &made), kernel.name, "permuted");
  }
  const auto &got = *reinterpret_cast<const sxt_csr *>(ops->one.view(made));
  const auto ptr = held<std::int32_t>(wanted.row_ptr);
  EXPECT_EQ(fetched<std::int64_t>(got.row_ptr, pattern.n + 1), std::vector<std::int64_t>(ptr.begin(), ptr.end()));
  EXPECT_EQ(fetched<std::int32_t>(got.col, got.s.nnz), held<std::int32_t>(wanted.col));
  EXPECT_EQ(fetched<double>(got.values, got.s.nnz), held<double>(wanted.values));
  kernel.release(made);
  kernel.release(whole);
}

TEST_F(PermutedOnGpu, MatricesThatAreNotSquareAreRefused) {
  EntryArrays arrays;
  const std::int32_t ptr[] = {0, 1}, col[] = {2};
  const double value = 1;
  arrays.layout = EntryArrays::Layout::csr;
  arrays.rows = 1, arrays.cols = 3, arrays.nnz = 1;
  arrays.row = ptr, arrays.col = col, arrays.values = &value;
  auto &context = context_->context;
  sextant::Matrix a(context, assemble(arrays, {}, context->allocator()), SXT_GENERAL);
  const DeviceBuffer there = on_device({0});
  try {
    a.permuted(there.data(), 1);
    FAIL() << "it was permuted";
  } catch (const Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_NOT_SQUARE);
    EXPECT_THAT(problem.what(), testing::HasSubstr("1 x 3"));
  }
}

}  // namespace
}  // namespace gpu_test
