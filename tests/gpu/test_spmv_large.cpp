// SPDX-License-Identifier: BSD-3-Clause
// Products with more than 2^31 entries, so that offsets need 64 bits. The matrix is one block of rows again and again,
// made in device memory by copies that double what is there; its values and those of x are small multiples of a
// quarter, so that every sum is exact in single precision, in any order of additions.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"
#include "sextant/plugin/kinds/features.h"
#include "sextant/plugin/kinds/spmv.h"
#include "support.hpp"

namespace gpu_test {
namespace {

using sextant::Call;
using sextant::DeviceBuffer;
using sextant::Error;
using sextant::registry::Kernel;
using sextant::registry::Registry;

constexpr std::int64_t block_rows = 1024, row_entries = 1100, repeats = 1950, cols = 100000, stride = 61;
constexpr std::int64_t block_entries = block_rows * row_entries, rows = block_rows * repeats, nnz = rows * row_entries;
static_assert(nnz > (std::int64_t{1} << 31));
// A state larger than this holds a copy of the matrix, which takes long to make: of such a kernel only the first and
// the last launch configuration are run.
constexpr std::uint64_t copy_bytes = std::uint64_t{2} << 30;

float x_value(std::int64_t j) { return static_cast<float>(j % 17 - 8); }

class LargeOnGpu : public Gpu {
 protected:
  // The block on the host, and the whole on the device; false where memory is short.
  bool make() {
    std::vector<std::int32_t> columns;
    for (std::int64_t i = 0; i < block_rows; ++i)
      for (std::int64_t k = 0; k < row_entries; ++k) {
        columns.push_back(static_cast<std::int32_t>(i * 31 % (cols - stride * row_entries) + stride * k));
        values_.push_back(static_cast<float>((3 * i + 5 * k) % 13 - 6) / 4);
      }
    columns_ = columns;
    std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(rows) + 1);
    for (std::size_t i = 0; i < row_ptr.size(); ++i) row_ptr[i] = static_cast<std::int64_t>(i) * row_entries;
    try {
      col_ = repeated(columns_.data(), sizeof(std::int32_t));
      val_ = repeated(values_.data(), sizeof(float));
      row_ptr_ = DeviceBuffer(device(), row_ptr.size() * sizeof(std::int64_t));
    } catch (const Error &problem) {
      if (problem.status() != SXT_E_MEMORY) throw;
      return false;
    }
    device().copy(row_ptr_.data(), row_ptr.data(), row_ptr_.bytes());
    a_.s.h = {sizeof a_, SXT_KIND_STORAGE_CSR};
    a_.s.value_type = SXT_F32;
    a_.s.index_type = SXT_I32;
    a_.s.offset_type = SXT_I64;
    a_.s.space = SXT_SPACE_DEVICE;
    a_.s.rows = rows;
    a_.s.cols = cols;
    a_.s.nnz = nnz;
    a_.row_ptr = row_ptr_.data();
    a_.col = col_.data();
    a_.values = val_.data();
    return true;
  }
  DeviceBuffer repeated(const void *block, std::uint64_t element) {
    DeviceBuffer all(device(), static_cast<std::uint64_t>(nnz) * element);
    const std::uint64_t bytes = static_cast<std::uint64_t>(block_entries) * element;
    device().copy(all.data(), block, bytes);
    for (std::uint64_t there = bytes; there < all.bytes(); there *= 2)
      device().copy(all.as<char>() + there, all.data(), std::min(there, all.bytes() - there));
    return all;
  }
  sxt_matrix_query query(const char *kind, std::uint64_t size) const {
    sxt_matrix_query q{};
    q.q.h = {size, kind};
    q.q.expected_runs = 100;
    q.q.flags = SXT_QUERY_MATRIX;
    q.q.value_type = q.matrix_type = SXT_F32;
    q.rows = rows;
    q.cols = cols;
    q.nnz = nnz;
    q.storage = SXT_KIND_STORAGE_CSR;
    return q;
  }
  // Prepares, runs once and releases.
  void run_once(const Kernel &kernel, const sxt_query &query, const sxt_candidate &candidate, sxt_head *args) {
    Call call(device());
    sxt_exec exec = make_exec(call);
    const DeviceBuffer scratch(device(), candidate.scratch_bytes);
    exec.scratch = scratch.data();
    exec.scratch_bytes = candidate.scratch_bytes;
    const sxt_problem problem{sizeof problem, &query, &a_.s.h, nullptr};
    struct Held {
      const Kernel &kernel;
      void *state = nullptr, *session = nullptr;
      ~Held() {
        if (session && kernel.table.close) kernel.table.close(session);
        if (state && kernel.table.release) kernel.table.release(state);
      }
    } held{kernel};
    call.finish(kernel.table.prepare(&problem, &candidate, nullptr, &exec, &held.state), kernel.name(), "prepare");
    if (kernel.table.open)
      call.finish(kernel.table.open(held.state, nullptr, &exec, &held.session), kernel.name(), "open");
    call.finish(kernel.table.run(held.state, held.session, args, &exec), kernel.name(), "run");
  }
  struct Runs {
    int plain = 0, with_copies = 0, short_of_memory = 0;
  };
  // False where memory is short.
  bool run_if_it_fits(const Kernel &kernel, const sxt_query &query, const sxt_candidate &candidate, sxt_head *args) {
    try {
      run_once(kernel, query, candidate, args);
      return true;
    } catch (const Error &problem) {
      if (problem.status() != SXT_E_MEMORY) throw;
      std::printf("[ large    ] left out: %s\n", problem.what());
      return false;
    }
  }
  // Every kernel that reads CSR, in every launch configuration, and in two of those that copy the matrix.
  Runs multiply(sxt_op op, const DeviceBuffer &x, const DeviceBuffer &y, const std::vector<float> &want) {
    Runs runs;
    for (const Kernel *kernel : Registry::instance().kernels(SXT_KIND_SPMV, "cuda")) {
      const char *const *form = kernel->table.storages;
      const bool reads = form && *form && !std::strcmp(*form, SXT_KIND_STORAGE_CSR);
      if (!reads || kernel->has(SXT_KERNEL_BASELINE) || !kernel->table.candidates) continue;
      sxt_spmv_query q{};
      q.m = query(SXT_KIND_SPMV, sizeof q);
      q.op = op;
      q.n_rhs = 1;
      const sxt_machine &machine = context_->context->machine();
      const sxt_features none{};
      if (kernel->table.applicable && kernel->table.applicable(&q.m.q, &none, &machine, nullptr) != SXT_OK) continue;
      std::vector<sxt_candidate> candidates(64);
      std::uint64_t count = 0;
      expect_ok(kernel->table.candidates(&q.m.q, &none, &machine, nullptr, candidates.data(), 64, &count));
      for (std::uint64_t c = 0; c < count; ++c) {
        const bool copies = candidates[c].state_bytes > copy_bytes;
        if (copies && c > 0 && c + 1 < count) continue;
        const std::vector<float> rubbish(want.size(), -77);
        device().copy(y.data(), rubbish.data(), y.bytes());
        sxt_spmv_args args = args_of(op, x, y);
        if (!run_if_it_fits(*kernel, q.m.q, candidates[c], &args.h)) {
          ++runs.short_of_memory;
          continue;
        }
        std::vector<float> got(want.size());
        device().copy(got.data(), y.data(), y.bytes());
        for (std::size_t i = 0; i < want.size(); ++i)
          if (got[i] != want[i]) {
            ADD_FAILURE() << kernel->name() << ", launch " << candidates[c].launch[0] << " " << candidates[c].launch[1]
                          << ", op " << op << ": y[" << i << "] is " << got[i] << ", expected " << want[i];
            break;
          }
        ++(copies ? runs.with_copies : runs.plain);
      }
    }
    return runs;
  }
  static void expect_ok(sxt_status status) { EXPECT_EQ(status, SXT_OK); }
  sxt_spmv_args args_of(sxt_op op, const DeviceBuffer &x, const DeviceBuffer &y) const {
    sxt_spmv_args args{};
    args.h = {sizeof args, SXT_KIND_SPMV};
    args.op = op;
    args.n_rhs = 1;
    args.alpha = {&one_, 0, 0};
    args.beta = {&zero_, 0, 0};
    args.x = x.data();
    args.y = y.data();
    return args;
  }
  double feature(const char *name) {
    for (const Kernel *kernel : Registry::instance().kernels(SXT_KIND_FEATURES, "cuda")) {
      const auto *ops = static_cast<const sxt_features_ops *>(kernel->table.ops);
      const char *const *own = ops->names;
      while (*own && std::strcmp(*own, name) != 0) ++own;
      if (!*own) continue;
      const sxt_matrix_query q = query(SXT_KIND_FEATURES, sizeof q);
      sxt_candidate candidate{};
      std::uint64_t count = 0;
      const sxt_features none{};
      expect_ok(kernel->table.candidates(&q.q, &none, &context_->context->machine(), nullptr, &candidate, 1, &count));
      double value = -1;
      sxt_features_args args{};
      args.h = {sizeof args, SXT_KIND_FEATURES};
      args.count = 1;
      args.names = &name;
      args.values = &value;
      run_once(*kernel, q.q, candidate, &args.h);
      return value;
    }
    ADD_FAILURE() << "no kernel offers " << name;
    return -1;
  }

  std::vector<std::int32_t> columns_;  // of the block
  std::vector<float> values_;
  DeviceBuffer row_ptr_, col_, val_;
  sxt_csr a_{};
  const float one_ = 1, zero_ = 0;
};

TEST_F(LargeOnGpu, MoreThan2To31EntriesAreAllMultiplied) {
  const auto start = std::chrono::steady_clock::now();
  if (!make()) GTEST_SKIP() << "too little device memory for " << nnz << " entries";
  std::vector<float> x(cols), xt(static_cast<std::size_t>(rows)), y(static_cast<std::size_t>(rows)), yt(cols);
  for (std::int64_t j = 0; j < cols; ++j) x[static_cast<std::size_t>(j)] = x_value(j);
  for (std::int64_t i = 0; i < rows; ++i) xt[static_cast<std::size_t>(i)] = x_value(i % block_rows);
  std::vector<std::int64_t> of_column(cols, 0);
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const std::size_t i = k / row_entries, j = static_cast<std::size_t>(columns_[k]);
    y[i] += values_[k] * x[j];
    yt[j] += static_cast<float>(repeats) * values_[k] * xt[i];
    ++of_column[j];
  }
  for (std::size_t i = block_rows; i < y.size(); ++i) y[i] = y[i % block_rows];
  const auto there = [&](const std::vector<float> &values) {
    DeviceBuffer buffer(device(), values.size() * sizeof(float));
    device().copy(buffer.data(), values.data(), buffer.bytes());
    return buffer;
  };
  const DeviceBuffer x_there = there(x), xt_there = there(xt), y_there = there(y), yt_there = there(yt);
  const Runs plain = multiply(SXT_NO_TRANSPOSE, x_there, y_there, y);
  const Runs transposed = multiply(SXT_TRANSPOSE, xt_there, yt_there, yt);
  EXPECT_GE(plain.plain, 10);                                         // at least one a kernel, several widths and tiles
  EXPECT_GE(plain.with_copies + plain.short_of_memory, 2);            // with hubs and without
  EXPECT_GE(transposed.plain, 1);                                     // by atomics
  EXPECT_GE(transposed.with_copies + transposed.short_of_memory, 4);  // a transpose is built
  EXPECT_EQ(feature("row_nnz_max"), static_cast<double>(row_entries));
  EXPECT_EQ(feature("empty_rows"), 0);
  EXPECT_EQ(feature("transpose_row_nnz_max"),
            static_cast<double>(repeats * *std::max_element(of_column.begin(), of_column.end())));
  std::printf(
      "[ large    ] %lld entries: %d plain products, %d by a copy of hubs; %d transposed, %d by a built "
      "transpose; %d left out for lack of memory; %.1f s\n",
      static_cast<long long>(nnz), plain.plain, plain.with_copies, transposed.plain, transposed.with_copies,
      plain.short_of_memory + transposed.short_of_memory,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace
}  // namespace gpu_test
