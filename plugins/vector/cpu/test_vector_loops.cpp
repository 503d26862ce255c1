// SPDX-License-Identifier: BSD-3-Clause
// vector.loops.cpu: bits and threads at sizes around the borders between them; refusals; what the model says.
#include <cstdint>

#include "sextant/kinds/vector.h"
#include "sextant/plugin_cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Random;

const sxt_kernel &kernel() { return find_kernel(load_own("vector-cpu"), "vector.loops.cpu"); }

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
