// SPDX-License-Identifier: BSD-3-Clause
// Products with sparse matrices on a GPU, through everything that core offers for a query: every kernel, storage and
// launch configuration, all pairs of types, operations and numbers of right-hand sides, at sizes around warps, slices
// and windows, and on matrices that are hard for one format or another. New values, symmetric scaling, diagonals and
// captured calls. Answers are compared row by row with a sum in double precision and the a-priori rounding bound.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/choose/selector.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cases.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;
using sextant::Choice;
using sextant::ChoicePtr;
using sextant::DeviceBuffer;
using sextant::Error;
using sextant::Prepared;

struct Types {
  sxt_value_type vectors, stored;
};
constexpr Types all_types[] = {{SXT_F64, SXT_F64},   {SXT_F32, SXT_F32}, {SXT_F64, SXT_F32},
                               {SXT_C128, SXT_C128}, {SXT_C64, SXT_C64}, {SXT_C128, SXT_C64}};
constexpr sxt_op all_ops[] = {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE};

using Handle = std::unique_ptr<sxt_matrix, void (*)(sxt_matrix *)>;

// The requested product.
struct Ask {
  Types types = all_types[0];
  sxt_op op = SXT_NO_TRANSPOSE;
  std::int32_t n_rhs = 1;
  Wide alpha = 1, beta = 0;
};

class SpmvOnGpu : public Gpu {
 protected:
  Random random{20, 7};

  Handle make(Matrix &host, sxt_symmetry symmetry = SXT_GENERAL) {
    sxt_matrix_options options;
    sxt_matrix_options_init(&options, sizeof options);
    const sxt_csr &csr = host.csr();
    options.value_type = csr.s.value_type;
    options.symmetry = symmetry;
    sxt_matrix *matrix = nullptr;
    if (sxt_matrix_from_csr(context_.get(), csr.s.rows, csr.s.cols, csr.row_ptr, csr.col, csr.values, &options,
                            &matrix) != SXT_OK)
      throw std::runtime_error(sxt_last_error(context_.get()));
    return {matrix, sxt_matrix_destroy};
  }
  std::vector<ChoicePtr> choices(sextant::Matrix &matrix, const Ask &ask) {
    sxt_spmv_query query{};
    query.m = matrix.query_part(SXT_KIND_SPMV, sizeof query, 100);
    query.m.q.value_type = ask.types.vectors;
    query.op = ask.op;
    query.n_rhs = ask.n_rhs;
    return sextant::Selector(matrix.context(), &matrix).every({sextant::Query(&query.m.q), "spmv"});
  }
  void upload(const DeviceBuffer &to, const Array &from) {
    if (from.bytes()) device().copy(to.data(), from.data(), from.bytes());
  }
  void download(Array &to, const DeviceBuffer &from) {
    if (to.bytes()) device().copy(to.data(), from.data(), to.bytes());
  }

  // One product's vectors, on host and device, and the check of the answer against its bound. `scale`: of S A S, or
  // empty.
  struct Vectors {
    Vectors(sextant::Device &device, const sxt_storage &shape, const Ask &ask, Random &random)
        : in(ask.op == SXT_NO_TRANSPOSE ? shape.cols : shape.rows),
          out(ask.op == SXT_NO_TRANSPOSE ? shape.rows : shape.cols),
          ldx(in + 2),
          ldy(out + 3),
          x(ask.types.vectors, ldx * ask.n_rhs, random),
          y(ask.types.vectors, ldy * ask.n_rhs, random),
          alpha(ask.types.vectors, 1),
          beta(ask.types.vectors, 1),
          x_there(device, x.bytes()),
          y_there(device, y.bytes()) {
      alpha.set(0, ask.alpha);
      beta.set(0, ask.beta);
      if (ask.beta == Wide(0))  // never read: any values in it must not matter
        for (std::int32_t r = 0; r < ask.n_rhs; ++r)
          for (std::int64_t i = 0; i < out; ++i) y.set(r * ldy + i, std::nan(""));
      args.h = head<sxt_spmv_args>(SXT_KIND_SPMV);
      args.op = ask.op;
      args.n_rhs = ask.n_rhs;
      args.ldx = ldx;
      args.ldy = ldy;
      args.alpha = {alpha.data(), 0, 0};
      args.beta = {beta.data(), 0, 0};
      args.x = x_there.data();
      args.y = y_there.data();
    }
    std::int64_t in, out, ldx, ldy;
    Array x, y, alpha, beta;
    DeviceBuffer x_there, y_there;
    sxt_spmv_args args{};
  };

  // The largest distance from the correct answer in units of the bound, with a message where it is exceeded.
  double distance(const Matrix &host, const Ask &ask, const Vectors &v, const Array &got, const Array &before,
                  const Array &scale, std::string &sentence) {
    double worst = 0;
    char said[256] = "";
    sxt_message message{said, sizeof said};
    Verdict verdict(&worst, &message);
    const sxt_value_type precise = ask.types.vectors;
    const double eps = epsilon(precise) + (scale.size() ? 2 * epsilon(ask.types.stored) : 0);
    for (std::int32_t r = 0; r < ask.n_rhs; ++r) {
      std::vector<Wide> sum(v.out);
      std::vector<double> size(v.out), entries(v.out);
      host.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
        if (scale.size()) value *= scale.at(i) * scale.at(j);
        if (ask.op == SXT_CONJUGATE_TRANSPOSE) value = std::conj(value);
        const std::int64_t to = ask.op == SXT_NO_TRANSPOSE ? i : j, from = ask.op == SXT_NO_TRANSPOSE ? j : i;
        const Wide x = v.x.at(r * v.ldx + from);
        sum[to] += value * x;
        size[to] += magnitude(value) * magnitude(x);
        entries[to] += 1;
      });
      for (std::int64_t i = 0; i < v.ldy; ++i) {
        const std::int64_t at = r * v.ldy + i;
        if (i >= v.out) {  // the gap between columns
          verdict.check("y", at, got.at(at), before.at(at), 0);
          continue;
        }
        Wide want = v.alpha.at(0) * sum[i];
        double bound = magnitude(v.alpha.at(0)) * size[i];
        if (ask.beta != Wide(0)) {
          want += v.beta.at(0) * before.at(at);
          bound += magnitude(v.beta.at(0)) * magnitude(before.at(at));
        }
        verdict.check("y", at, got.at(at), want, 2 * (entries[i] + 8) * eps * bound + tiny(precise));
      }
    }
    if (!got.guard_intact()) verdict.fail("it wrote beyond the end of y");
    sentence = said;
    return worst;
  }

  static std::string name(const Choice &choice, const Ask &ask) {
    return std::string(choice.kernel->name()) + " on " + choice.storage + ", launch " +
           std::to_string(choice.candidate.launch[0]) + " " + std::to_string(choice.candidate.launch[1]) + " " +
           std::to_string(choice.candidate.launch[2]) + ", " + value_name(ask.types.stored) + " under " +
           value_name(ask.types.vectors) + ", op " + std::to_string(ask.op) + ", " + std::to_string(ask.n_rhs) +
           " columns";
  }

  // One run, and a second one where equal bits are promised.
  void expect(sextant::Session &session, const Choice &choice, const Matrix &host, const Ask &ask, Vectors &v,
              const char *what, const Array &scale = {}) {
    Array got = v.y, again = v.y;
    upload(v.x_there, v.x);
    upload(v.y_there, v.y);
    session.run(&v.args.h);
    download(got, v.y_there);
    std::string sentence;
    EXPECT_LE(distance(host, ask, v, got, v.y, scale, sentence), 1)
        << name(choice, ask) << ", " << what << ": " << sentence;
    ++runs_[choice.kernel->name()];
    if (!choice.kernel->has(SXT_KERNEL_DETERMINISTIC)) return;
    upload(v.y_there, v.y);
    session.run(&v.args.h);
    download(again, v.y_there);
    EXPECT_EQ(std::memcmp(got.data(), again.data(), got.bytes()), 0)
        << name(choice, ask) << ", " << what << ": two runs gave different bits";
  }

  // With offsets of 64 bits, which core makes beyond 2^31 entries alone. `offsets` has to outlive it.
  std::shared_ptr<sextant::Matrix> make_wide(Matrix &host, std::vector<std::int64_t> &offsets) {
    const sxt_csr &csr = host.csr();
    offsets.assign(host.row_ptr().begin(), host.row_ptr().end());
    sextant::Assembled made;
    made.csr.rows = csr.s.rows;
    made.csr.cols = csr.s.cols;
    made.csr.nnz = csr.s.nnz;
    made.csr.value_type = csr.s.value_type;
    made.csr.offset_type = SXT_I64;
    made.csr.row_ptr = sextant::Buffer::borrow(offsets.data(), offsets.size() * sizeof(std::int64_t));
    made.csr.col = sextant::Buffer::borrow(csr.col, host.col().size() * sizeof(std::int32_t));
    made.csr.values = sextant::Buffer::borrow(csr.values, host.col().size() * value_bytes(csr.s.value_type));
    return std::make_shared<sextant::Matrix>(context_->context, std::move(made), csr.s.symmetry);
  }

  // All candidates; a storage may refuse the matrix, which is no failure of the kernel.
  void check_all(const Pattern &pattern, const Ask &ask, const std::string &what, sxt_symmetry symmetry = SXT_GENERAL) {
    SCOPED_TRACE(what);
    Matrix host(pattern, ask.types.stored, random);
    if (symmetry != SXT_GENERAL) host.mirror_upper(symmetry);
    const Handle handle = make(host, symmetry);
    check_all(*handle->matrix, host, ask, what);
  }
  void check_all(sextant::Matrix &matrix, Matrix &host, const Ask &ask, const std::string &what) {
    Vectors v(device(), matrix.csr_view().s, ask, random);
    int answered = 0;
    for (const ChoicePtr &choice : choices(matrix, ask)) {
      try {
        Prepared prepared(matrix.context(), choice, &matrix, nullptr);
        expect(*prepared.open(), *choice, host, ask, v, "at first");
        ++answered;
      } catch (const Error &problem) {
        EXPECT_TRUE(declined(problem)) << name(*choice, ask) << ": " << problem.what();
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(answered, 0) << "nothing answers " << what;
  }
  void TearDown() override {
    for (const auto &[kernel, count] : runs_) std::printf("[ runs     ] %-36s %5d\n", kernel.c_str(), count);
  }
  std::map<std::string, int> runs_;
};

Pattern about(std::int64_t rows, std::int64_t cols, std::int64_t mean, Random &random) {
  return random_pattern(rows, cols, random, [&](auto) { return random.below(2 * mean + 1); });
}

// Scalars in turn, independent of the order of the other loops.
Ask in_turn(const Types &types, sxt_op op, int turn) {
  return {types, op, 1, turn % 5 ? Wide(1.5) : Wide(1), turn % 7 > 3 ? Wide(-0.5) : Wide(0)};
}

// Sizes around a warp, a block, a slice of 32 and a window of 512 rows; every type and operation at each.
TEST_F(SpmvOnGpu, SizesAroundEveryBoundary) {
  int turn = 0;
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 511, 512, 513, 1025})
    for (const Types &types : all_types)
      for (const sxt_op op : all_ops) {
        check_all(about(n, n, turn % 5 * 3, random), in_turn(types, op, turn), "n = " + std::to_string(n));
        ++turn;
        if (HasFailure()) return;
      }
}

// The same with offsets of 64 bits, on all that storages make of them.
TEST_F(SpmvOnGpu, WideOffsetsAroundEveryBoundary) {
  int turn = 0;
  for (const std::int64_t n : {31, 33, 128, 257, 513, 1025})
    for (const Types &types : all_types)
      for (const sxt_op op : all_ops) {
        const std::string what = "64-bit offsets, n = " + std::to_string(n);
        SCOPED_TRACE(what);
        Matrix host(about(n, n + turn % 3, 1 + turn % 5 * 3, random), types.stored, random);
        std::vector<std::int64_t> offsets;
        check_all(*make_wide(host, offsets), host, in_turn(types, op, turn), what);
        ++turn;
        if (HasFailure()) return;
      }
}

TEST_F(SpmvOnGpu, EveryTypeOperationAndNumberOfColumns) {
  for (const Types &types : all_types)
    for (const sxt_op op : all_ops)
      for (const std::int32_t n_rhs : {1, 2, 4, 5, 32}) {
        const bool complex = complex_type(types.vectors);
        const Ask ask{types, op, n_rhs, complex ? Wide(0.5, 1) : Wide(2), complex ? Wide(-1, 0.25) : Wide(0.75)};
        check_all(about(300, 170, 6, random), ask, "300 x 170");
        if (HasFailure()) return;
      }
}

TEST_F(SpmvOnGpu, HardMatrices) {
  const auto empty = [](std::int64_t rows, std::int64_t cols) {
    return Pattern{rows, cols, std::vector<std::vector<std::int64_t>>(rows)};
  };
  Pattern dense_column = about(3000, 3000, 1, random);
  for (auto &columns : dense_column.row)
    if (std::find(columns.begin(), columns.end(), 1234) == columns.end())
      columns.insert(std::lower_bound(columns.begin(), columns.end(), 1234), 1234);
  Pattern far = banded_pattern(2000, 2000, {-1, 0, 1});
  far.row[3].push_back(1999);
  const std::pair<const char *, Pattern> matrices[] = {
      {"n = 0", empty(0, 0)},
      {"no rows", empty(0, 40)},
      {"no columns", empty(40, 0)},
      {"no entries", empty(700, 700)},
      {"one dense row", random_pattern(9000, 9000, random, [](auto i) { return i == 4321 ? 9000 : 2; })},
      {"a dense last row", random_pattern(5000, 5000, random, [](auto i) { return i == 4999 ? 5000 : 1; })},
      {"one dense column", dense_column},
      {"only a last row", random_pattern(4097, 4097, random, [](auto i) { return i == 4096 ? 3000 : 0; })},
      {"long runs of empty rows", random_pattern(20000, 500, random, [](auto i) { return i % 4000 < 3 ? 90 : 0; })},
      {"wide", about(70, 20000, 300, random)},
      {"tall", about(20000, 70, 3, random)},
      {"a diagonal far out", far},
      {"13 rows to a block of 2", about(13, 13, 3, random)}};
  for (const auto &[what, pattern] : matrices)
    for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
      check_all(pattern, {all_types[0], op, 1, 1, 0}, what);
      check_all(pattern, {all_types[3], op, 1, {0.5, -1}, 1}, what);
      if (HasFailure()) return;
    }
}

// Rows that blocks share, alone and next to each other, among short and empty ones: with several columns as with one.
TEST_F(SpmvOnGpu, LongRowsWithSeveralColumns) {
  const Pattern pattern = random_pattern(4000, 4000, random, [](auto i) {
    return i == 0 || i == 1500 ? 3900 : i / 5 == 500 ? 900 : i % 3 ? i % 5 : 0;
  });
  for (const Types &types : all_types)
    for (const std::int32_t n_rhs : {1, 4, 5}) {
      check_all(pattern, {types, SXT_NO_TRANSPOSE, n_rhs, 1.5, n_rhs == 5 ? Wide(-1) : Wide(0)}, "long rows");
      if (HasFailure()) return;
    }
}

TEST_F(SpmvOnGpu, SymmetricMatricesAreTheirOwnTransposes) {
  const Pattern bands = banded_pattern(1500, 1500, {-40, -1, 0, 1, 40});
  for (const sxt_symmetry symmetry : {SXT_SYMMETRIC, SXT_HERMITIAN})
    for (const Types &types : {all_types[0], all_types[3]})
      for (const sxt_op op : all_ops) check_all(bands, {types, op, 1, 1, 0}, "symmetric bands", symmetry);
}

// Storages and states that were built take new values.
TEST_F(SpmvOnGpu, NewValuesReachEveryStorage) {
  for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
    const Pattern pattern = banded_pattern(3000, 3000, {-60, -1, 0, 1, 60});
    Matrix host(pattern, SXT_F64, random), other(pattern, SXT_F64, random);
    const Handle handle = make(host);
    sextant::Matrix &matrix = *handle->matrix;
    const Ask ask{all_types[0], op, 1, 1, 0};
    Vectors v(device(), matrix.csr_view().s, ask, random);
    std::vector<std::unique_ptr<Prepared>> prepared;
    for (const ChoicePtr &choice : choices(matrix, ask)) {
      try {
        prepared.push_back(std::make_unique<Prepared>(matrix.context(), choice, &matrix, nullptr));
      } catch (const Error &problem) {
        EXPECT_TRUE(declined(problem)) << name(*choice, ask) << ": " << problem.what();
      }
    }
    ASSERT_FALSE(prepared.empty());
    ASSERT_EQ(sxt_matrix_update_values(handle.get(), other.values().data(), pattern.nnz()), SXT_OK)
        << sxt_last_error(context_.get());
    for (const auto &each : prepared) {
      each->refresh_if_stale();
      expect(*each->open(), each->choice(), other, ask, v, "after new values");
    }
  }
}

// S A S on every storage that offers it, and the diagonal that PCG scales by.
TEST_F(SpmvOnGpu, ScaledMatricesAndDiagonals) {
  for (const Types &types : {all_types[0], all_types[1], all_types[3], all_types[4]}) {
    const std::int64_t n = 1300;
    Matrix host(banded_pattern(n, n, {-33, -1, 0, 1, 33}), types.stored, random);
    const Handle handle = make(host);
    Array scale(real_type(types.stored), n, random);
    const DeviceBuffer scale_there(device(), scale.bytes());
    upload(scale_there, scale);
    const auto scaled = handle->matrix->scaled(scale_there.data());
    const Ask ask{types, SXT_NO_TRANSPOSE, 1, 1, 0};
    Vectors v(device(), scaled->csr_view().s, ask, random);
    std::map<std::string, int> seen;
    for (const ChoicePtr &choice : choices(*scaled, ask)) {
      try {
        Prepared prepared(scaled->context(), choice, scaled.get(), nullptr);
        expect(*prepared.open(), *choice, host, ask, v, "scaled", scale);
        if (seen[choice->storage]++ > 0) continue;
        Array diagonal(types.stored, n, random);
        const DeviceBuffer there(device(), diagonal.bytes());
        handle->matrix->lend(choice->storage)->diagonal(there.data());
        device().copy(diagonal.data(), there.data(), n * value_bytes(types.stored));
        host.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
          if (i != j) return;
          EXPECT_EQ(diagonal.at(i), value) << choice->storage << " at " << i;
        });
      } catch (const Error &problem) {
        EXPECT_TRUE(declined(problem)) << name(*choice, ask) << ": " << problem.what();
      }
      if (HasFailure()) return;
    }
    EXPECT_GE(seen.size(), 3u);
  }
}

// Vectors one element past an aligned place, in each space that a device reaches: every kernel, the same sums.
TEST_F(SpmvOnGpu, VectorsNeedNoMoreThanTheirValuesAlignment) {
  for (const Types &types : {all_types[0], all_types[1], all_types[2], all_types[3]}) {
    Matrix host(banded_pattern(1100, 1100, {-37, -1, 0, 1, 37}), types.stored, random);
    const Handle handle = make(host);
    const Ask ask{types, SXT_NO_TRANSPOSE, 1, Wide(1.5), Wide(-1)};
    Vectors v(device(), handle->matrix->csr_view().s, ask, random);
    const std::uint64_t each = value_bytes(types.vectors);
    for (const sxt_space space : {SXT_SPACE_DEVICE, SXT_SPACE_PINNED, SXT_SPACE_MANAGED}) {
      const DeviceBuffer x_there(device(), v.x.bytes() + each, space), y_there(device(), v.y.bytes() + each, space);
      v.args.x = x_there.as<char>() + each;
      v.args.y = y_there.as<char>() + each;
      for (const ChoicePtr &choice : choices(*handle->matrix, ask)) {
        try {
          Prepared prepared(handle->matrix->context(), choice, handle->matrix.get(), nullptr);
          const auto session = prepared.open();
          Array got = v.y;
          device().copy(y_there.as<char>() + each, v.y.data(), v.y.bytes());
          device().copy(x_there.as<char>() + each, v.x.data(), v.x.bytes());
          session->run(&v.args.h);
          device().copy(got.data(), y_there.as<char>() + each, got.bytes());
          std::string sentence;
          EXPECT_LE(distance(host, ask, v, got, v.y, {}, sentence), 1)
              << name(*choice, ask) << ", space " << space << ": " << sentence;
        } catch (const Error &problem) {
          EXPECT_TRUE(declined(problem)) << name(*choice, ask) << ": " << problem.what();
        }
      }
    }
    if (HasFailure()) return;
  }
}

// Products on the caller's arrays: plain and transposed, with y read and not, on a stream of the device's and on one of
// the caller's, with x on the host or on the device.
TEST_F(SpmvOnGpu, PlainArraysLieAnywhere) {
  const std::int64_t rows = 700, cols = 300;
  Matrix host(about(rows, cols, 5, random), SXT_F64, random);
  const Handle handle = make(host);
  const double alpha = -2, beta = 0.5;
  const auto check = [&](sxt_op op, const double *b, bool there, const char *what) {
    const bool plain = op == SXT_NO_TRANSPOSE;
    std::vector<double> x(plain ? cols : rows), y(plain ? rows : cols), want(y.size()), size(y.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = b ? std::cos(static_cast<double>(i)) : std::nan("");
    for (std::size_t i = 0; b && i < y.size(); ++i) size[i] = std::abs(want[i] = *b * y[i]);
    host.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
      const double term = alpha * value.real() * x[plain ? j : i];
      want[plain ? i : j] += term;
      size[plain ? i : j] += std::abs(term);
    });
    const DeviceBuffer copy(device(), x.size() * sizeof(double));
    device().copy(copy.data(), x.data(), copy.bytes());
    const void *from = there ? copy.data() : x.data();
    ASSERT_EQ(sxt_spmv_array(op, &alpha, handle.get(), from, b, y.data()), SXT_OK) << sxt_last_error(context_.get());
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want[i], 30 * epsilon(SXT_F64) * size[i]) << what << i;
  };
  check(SXT_NO_TRANSPOSE, nullptr, false, "plain ");
  check(SXT_TRANSPOSE, &beta, false, "transposed ");
  check(SXT_NO_TRANSPOSE, &beta, true, "x on the device ");
  void *stream = nullptr;
  ASSERT_EQ(ops().stream_create(Gpu::handle(), &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
  check(SXT_NO_TRANSPOSE, &beta, false, "on the caller's stream ");
  check(SXT_TRANSPOSE, nullptr, true, "on the caller's stream, x on the device ");
  EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  ops().stream_destroy(Gpu::handle(), stream);
}

// The C interface from end to end, then the same call captured: a replay reads the current values of x.
TEST_F(SpmvOnGpu, TheCInterfaceAndACapturedCall) {
  const std::int64_t n = 5000;
  Matrix host(banded_pattern(n, n, {-70, -1, 0, 1, 70}), SXT_F64, random);
  const Handle handle = make(host);
  Array x(SXT_F64, n, random);
  std::vector<double> values(static_cast<const double *>(x.data()), static_cast<const double *>(x.data()) + n);
  const Vector x_there = make_vector(values), y_there = make_vector(std::vector<double>(n, std::nan("")));
  void *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(ops().stream_create(Gpu::handle(), &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
  const auto product = [&] {
    return sxt_spmv(SXT_NO_TRANSPOSE, nullptr, handle.get(), x_there.get(), nullptr, y_there.get());
  };
  ASSERT_EQ(product(), SXT_OK) << sxt_last_error(context_.get());
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  const auto check = [&](const char *what) {
    const std::vector<double> got = values_of(y_there);
    std::vector<double> want(n), size(n);
    host.for_each([&](std::int64_t i, std::int64_t j, Wide value) {
      want[i] += value.real() * values[j];
      size[i] += std::abs(value.real() * values[j]);
    });
    for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], want[i], 30 * epsilon(SXT_F64) * size[i]) << what << i;
  };
  check("eager ");
  ASSERT_EQ(ops().capture_begin(Gpu::handle(), stream), SXT_OK);
  EXPECT_EQ(product(), SXT_OK) << sxt_last_error(context_.get());
  ASSERT_EQ(ops().capture_end(Gpu::handle(), stream, &graph), SXT_OK);
  for (double &value : values) value = -2 * value + 1;
  device().copy(sxt_vector_data(x_there.get()), values.data(), n * sizeof(double));
  ASSERT_EQ(ops().graph_launch(Gpu::handle(), stream, graph), SXT_OK);
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  check("replayed ");
  ops().graph_destroy(Gpu::handle(), graph);
  EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  ops().stream_destroy(Gpu::handle(), stream);
}

}  // namespace
}  // namespace gpu_test
