// SPDX-License-Identifier: BSD-3-Clause
// vector.loops.cpu: bits and threads at sizes around the borders between them; refusals; the model.
#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Random;

const sxt_kernel &kernel() { return find_kernel(load_own("vector-cpu"), "vector.loops.cpu"); }
const sxt_kernel &past_caches() { return find_kernel(load_own("vector-cpu"), "vector.past_caches.cpu"); }

sxt_vector_query query_of(std::int32_t operation, std::int64_t n, sxt_value_type type) {
  return {{{sizeof(sxt_vector_query), SXT_KIND_VECTOR}, 1, 0, type}, n, operation, 0};
}

Array axpby(std::int64_t n, sxt_value_type type, int threads) {
  Random random(1, static_cast<std::uint64_t>(n));
  Array x(type, n, random), y(type, n, random), scalars(type, 2, random);
  const sxt_vector_query query = query_of(SXT_VECTOR_AXPBY, n, type);
  sxt_vector_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR};
  args.n = n;
  args.operation = SXT_VECTOR_AXPBY;
  args.alpha.value = scalars.data();
  args.beta.value = static_cast<char *>(scalars.data()) + sextant::plugin::value_bytes(type);
  args.x = x.data();
  args.y = y.data();
  Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, threads));
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
  EXPECT_TRUE(y.guard_intact());
  return y;
}

TEST(VectorLoops, SameBitsOnAnyNumberOfThreads) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    for (std::int64_t n : {1, 63, 64, 65, 127, 129, 1000, 4097}) {
      const Array one = axpby(n, type, 1);
      for (int threads : {2, 3, 16}) {
        const Array more = axpby(n, type, threads);
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_EQ(one.at(i), more.at(i)) << "n = " << n << ", " << threads << " threads";
      }
    }
}

// waxpby into a z of any alignment, by both kernels on every instruction set: bits of plain arithmetic.
template <class T>
void expect_waxpby(std::int64_t n, std::int64_t offset) {
  const sxt_value_type type = sizeof(T) == 4 ? SXT_F32 : SXT_F64;
  Random random(3, static_cast<std::uint64_t>(n));
  std::vector<T> x(n), y(n);
  for (T &value : x) value = static_cast<T>(random.symmetric());
  for (T &value : y) value = static_cast<T>(random.symmetric());
  const volatile T alpha = T(0.3), beta = T(-1.7);
  const T a = alpha, b = beta;
  const sxt_vector_query query = query_of(SXT_VECTOR_WAXPBY, n, type);
  for (const sxt_kernel *k : {&kernel(), &past_caches()})
    for (int level : {1, 2, 3})
      for (int threads : {1, 2}) {
        std::vector<T> z(n + 2 * offset + 32, T(77));
        sxt_vector_args args{};
        args.h = {sizeof args, SXT_KIND_VECTOR};
        args.n = n;
        args.operation = SXT_VECTOR_WAXPBY;
        args.alpha.value = &a;
        args.beta.value = &b;
        args.x = x.data();
        args.y = y.data();
        args.z = z.data() + offset;
        sxt_candidate candidate = candidate_of(*k, &query.q, threads);
        candidate.launch[1] = level;
        Ready ready(*k, &query.q, candidate);
        ASSERT_EQ(ready.run(&args.h), SXT_OK);
        for (std::int64_t i = 0; i < n; ++i) {
          const volatile T first = alpha * x[i], second = beta * y[i];  // rounded before they are added
          ASSERT_EQ(z[offset + i], first + second) << k->name << ", n = " << n << ", level " << level;
        }
        for (std::int64_t i = 0; i < offset; ++i) ASSERT_EQ(z[i], T(77));
        for (std::size_t i = offset + n; i < z.size(); ++i) ASSERT_EQ(z[i], T(77));
      }
}

TEST(VectorLoops, EverySizeAlignmentAndInstructionSet) {
  for (std::int64_t n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 130, 257, 1025})
    for (std::int64_t offset : {0, 1, 5, 8}) {
      expect_waxpby<float>(n, offset);
      expect_waxpby<double>(n, offset);
    }
}

// NaN and infinity propagate as in IEEE arithmetic, also times zero; denormals are not flushed.
TEST(VectorLoops, NumbersAtTheEdge) {
  const double infinity = std::numeric_limits<double>::infinity(), zero = 0;
  for (int level : {1, 2, 3}) {
    std::vector<double> y = {infinity, -infinity, std::nan(""), 1, 0x1p-1074, 0x1p-1060, -0.0, 2, 3};
    const sxt_vector_query query = query_of(SXT_VECTOR_SCALE, 9, SXT_F64);
    sxt_vector_args args{};
    args.h = {sizeof args, SXT_KIND_VECTOR};
    args.n = 9;
    args.operation = SXT_VECTOR_SCALE;
    const double two = 2;
    args.alpha.value = &two;
    args.y = y.data();
    sxt_candidate candidate = candidate_of(kernel(), &query.q, 1);
    candidate.launch[1] = level;
    Ready ready(kernel(), &query.q, candidate);
    ASSERT_EQ(ready.run(&args.h), SXT_OK);
    EXPECT_EQ(y[0], infinity);
    EXPECT_EQ(y[4], 0x1p-1073);
    EXPECT_TRUE(std::signbit(y[6]));
    args.alpha.value = &zero;
    ASSERT_EQ(ready.run(&args.h), SXT_OK);
    for (int i : {0, 1, 2}) EXPECT_TRUE(std::isnan(y[i])) << i;
    EXPECT_EQ(y[3], 0);
  }
}

TEST(VectorLoops, OnlyWrittenArraysGoPastTheCaches) {
  const sxt_vector_query axpy = query_of(SXT_VECTOR_AXPY, 1000000, SXT_F64);
  EXPECT_EQ(refusal(past_caches(), &axpy.q), "operation 4 reads the array it writes, or writes it in no order");
  // A copy moves two elements past the caches and three through them; small ones cost as much as from memory.
  const sxt_vector_query copy = query_of(SXT_VECTOR_COPY, 1000, SXT_F64);
  const sxt_machine machine = make_machine(2);
  const auto past = ask_candidates(past_caches(), &copy.q, machine), plain = ask_candidates(kernel(), &copy.q, machine);
  EXPECT_EQ(past[0].terms[2], 16e3);
  EXPECT_EQ(plain[0].terms[2], 24e3);
  EXPECT_GT(past[0].working_set_bytes, static_cast<double>(machine.cache_bytes));
  EXPECT_LT(plain[0].working_set_bytes, static_cast<double>(machine.cache_bytes));
  EXPECT_EQ(plain[0].model_class, 2u);
  EXPECT_EQ(plain[1].model_class, 3u);
}

TEST(VectorLoops, DeclinesUnknownOperations) {
  const sxt_vector_query query = query_of(12, 5, SXT_F64);
  EXPECT_EQ(refusal(kernel(), &query.q), "operation 12 is not one of 1 to 11");
}

// axpy moves three elements; a gather of a vector far beyond the caches misses.
TEST(VectorLoops, ModelCountsBytesAndMisses) {
  sxt_vector_query query = query_of(SXT_VECTOR_AXPY, 1000000, SXT_F64);
  const auto axpy = ask_candidates(kernel(), &query.q, make_machine(4));
  ASSERT_EQ(axpy.size(), 3u);  // 1, 2, 4 threads
  for (const sxt_candidate &candidate : axpy) EXPECT_EQ(candidate.terms[2], 24e6);
  EXPECT_EQ(axpy[0].terms[1], 0);
  EXPECT_EQ(axpy[2].terms[1], 1);
  query.operation = SXT_VECTOR_GATHER;
  query.index_type = SXT_I32;
  query.n = 100000000;
  EXPECT_GT(ask_candidates(kernel(), &query.q, make_machine(4))[0].terms[3], 0.9e8);
  query.n = 1000;
  EXPECT_EQ(ask_candidates(kernel(), &query.q, make_machine(4))[0].terms[3], 0);
}

}  // namespace
}  // namespace plugin_test
