// SPDX-License-Identifier: BSD-3-Clause
// The fused kernels: y has the bits of one thread on any number of them, inner products have the bits of multidot.tree
// on that y, on every instruction set; refusals, scratch, refresh.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::banded_pattern;

struct Form {
  const char *kernel, *storage_plugin, *storage;
};
const Form csr = {"spmv_dots.csr.cpu", "storage-csr", "storage.csr.cpu"};
const Form dia = {"spmv_dots.dia.cpu", "storage-dia", "storage.dia.cpu"};
const Form dia_symmetric = {"spmv_dots.dia-symmetric.cpu", "storage-dia", "storage.dia-symmetric.cpu"};
const Form sell = {"spmv_dots.sell.cpu", "storage-sell", "storage.sell.cpu"};

const sxt_kernel &kernel(const Form &form) { return find_kernel(load_own("spmv_dots-fused"), form.kernel); }

// A matrix in a storage format; the storage gets as many threads as it has.
struct Stored {
  const sxt_kernel &storage;
  sxt_matrix_query query;
  Ready ready;
  Stored(Matrix &matrix, const Form &form)
      : storage(find_kernel(load_own(form.storage_plugin), form.storage)),
        query(matrix.query(storage.kind, sizeof query, matrix.values().type())),
        ready(storage, &query.q, ask_candidates(storage, &query.q, make_machine())[0], &matrix.csr().s.h) {}
  const sxt_head *head() const { return view_of(storage, ready); }
};

sxt_spmv_dots_query dots_query(const Matrix &matrix, sxt_value_type type, std::int32_t n_dots) {
  sxt_spmv_dots_query query{};
  query.m = spmv_query(matrix, type);
  query.m.m.q.h = {sizeof query, SXT_KIND_SPMV_DOTS};
  query.n_dots = n_dots;
  return query;
}

// y = alpha A x + beta y with (x, y), (y, y), (r, y), (r, r), (r, r).
struct Outcome {
  Array x, r, y, dots;
};
constexpr std::int32_t pairs = 5;

Outcome run(const Form &form, Matrix &matrix, const sxt_head *a, int threads, int level, int lent) {
  Random random(3, 9);
  const sxt_value_type type = matrix.values().type();
  const std::int64_t n = matrix.csr().s.rows;
  Outcome o{Array(type, n, random), Array(type, n, random), Array(type, n, random), Array(type, pairs)};
  const sxt_spmv_dots_query query = dots_query(matrix, type, pairs);
  sxt_candidate candidate = candidate_of(kernel(form), &query.m.m.q, threads);
  candidate.launch[1] = level;
  Ready ready(kernel(form), &query.m.m.q, candidate, a);
  EXPECT_EQ(ready.status(), SXT_OK) << Host::sentence;
  Product product(o.x, o.y, SXT_NO_TRANSPOSE, 1, {0.5, 0.25}, {-1, 0.5});
  sxt_spmv_dots_args args{};
  args.m = product.args;
  args.m.h = {sizeof args, SXT_KIND_SPMV_DOTS};
  args.n_dots = pairs;
  const void *u[] = {o.x.data(), nullptr, o.r.data(), o.r.data(), o.r.data()};
  const void *v[] = {nullptr, nullptr, nullptr, o.r.data(), o.r.data()};
  args.u = u;
  args.v = v;
  args.dots = o.dots.data();
  EXPECT_EQ(ready.run(&args.m.h, lent), SXT_OK) << Host::sentence;
  EXPECT_TRUE(o.y.guard_intact() && o.dots.guard_intact());
  return o;
}

// The results of multidot.tree.cpu for the same vectors.
Array tree_dots(const Outcome &o) {
  const sxt_kernel &tree = find_kernel(load_own("multidot-tree"), "multidot.tree.cpu");
  const std::int64_t n = o.y.size();
  const sxt_multidot_query query{{{sizeof query, SXT_KIND_MULTIDOT}, 1, 0, o.y.type()}, n, pairs, 3};
  Array result(o.y.type(), pairs);
  const void *u[] = {o.x.data(), o.y.data(), o.r.data(), o.r.data(), o.r.data()};
  const void *v[] = {o.y.data(), o.y.data(), o.y.data(), o.r.data(), o.r.data()};
  sxt_multidot_args args{{sizeof args, SXT_KIND_MULTIDOT}, n, pairs, 0, u, v, result.data()};
  Ready ready(tree, &query.q, candidate_of(tree, &query.q, 1));
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
  return result;
}

class FusedTest : public testing::TestWithParam<std::tuple<const Form *, sxt_value_type>> {
 protected:
  const Form &form = *std::get<0>(GetParam());
  const sxt_value_type type = std::get<1>(GetParam());
  bool offered() const { return &form != &sell || type == SXT_F32 || type == SXT_F64; }
};

TEST_P(FusedTest, BitsOfTheTreeOnAnyNumberOfThreads) {
  if (!offered()) {
    Random random(1, 1);
    Matrix matrix(banded_pattern(4, 4, {0}), type, random);
    const auto query = dots_query(matrix, type, 1);
    EXPECT_NE(refusal(kernel(form), &query.m.m.q).find("are not offered"), std::string::npos);
    return;
  }
  for (std::int64_t n : {1, 31, 1023, 1024, 1025, 5000}) {
    Random random(1, static_cast<std::uint64_t>(n));
    Matrix matrix(banded_pattern(n, n, {-1025, -40, -1, 0, 1, 40, 1025}), type, random);
    matrix.mirror_upper(SXT_HERMITIAN);
    const Stored stored(matrix, form);
    for (int level : {1, 2, 3}) {
      const Outcome one = run(form, matrix, stored.head(), 1, level, 1);
      EXPECT_TRUE(equal(one.dots, tree_dots(one))) << n << ", level " << level;
      for (int threads : {2, 3, 8, 61}) {
        const Outcome more = run(form, matrix, stored.head(), threads, level, threads);
        EXPECT_TRUE(equal(one.y, more.y) && equal(one.dots, more.dots)) << n << ", " << threads << " threads";
      }
      const Outcome lent = run(form, matrix, stored.head(), 8, level, 3);
      EXPECT_TRUE(equal(one.y, lent.y) && equal(one.dots, lent.dots)) << "fewer threads lent";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, FusedTest,
                         testing::Combine(testing::Values(&csr, &dia, &dia_symmetric, &sell),
                                          testing::Values(SXT_F32, SXT_F64, SXT_C64, SXT_C128)),
                         [](const auto &info) {
                           std::string name = std::get<0>(info.param)->kernel + 10;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name + "_" + sextant::plugin::value_name(std::get<1>(info.param));
                         });

// Rows of very different lengths: empty ones, two that hold most entries. Leaves are shared by entries.
TEST(SpmvDotsFused, UnevenRowsHaveTheSameBits) {
  Random random(2, 1);
  const auto length = [&](std::int64_t i) { return i == 100 || i == 4999 ? 3000 : i % 7 ? random.below(6) : 0; };
  Matrix matrix(sextant::plugin::cases::random_pattern(5000, 5000, random, length), SXT_F64, random);
  for (const Form *form : {&csr, &sell}) {
    const Stored stored(matrix, *form);
    const Outcome one = run(*form, matrix, stored.head(), 1, 3, 1);
    EXPECT_TRUE(equal(one.dots, tree_dots(one)));
    for (int threads : {2, 3, 8, 61}) {
      const Outcome more = run(*form, matrix, stored.head(), threads, 3, threads);
      EXPECT_TRUE(equal(one.y, more.y) && equal(one.dots, more.dots)) << form->kernel << ", " << threads;
    }
  }
}

TEST(SpmvDotsFused, RefusesWhatItCannotDo) {
  Random random(3, 1);
  Matrix square(banded_pattern(10, 10, {0}), SXT_F64, random), wide(banded_pattern(10, 12, {0}), SXT_F64, random);
  for (const Form *form : {&csr, &dia, &sell}) {
    auto query = dots_query(wide, SXT_F64, 1);
    EXPECT_EQ(refusal(kernel(*form), &query.m.m.q), "10 rows, 12 columns");
    query = dots_query(square, SXT_F64, 9);
    EXPECT_EQ(refusal(kernel(*form), &query.m.m.q), "9 pairs; at most 8 are taken");
    query = dots_query(square, SXT_F64, 1);
    query.m.op = SXT_TRANSPOSE;
    EXPECT_EQ(refusal(kernel(*form), &query.m.m.q), "a transpose is not offered together with inner products");
    query.m.op = SXT_NO_TRANSPOSE;
    query.m.m.q.value_type = SXT_F32;
    EXPECT_EQ(refusal(kernel(*form), &query.m.m.q), "a matrix of type f64 with vectors of type f32 is not offered");
  }
  auto query = dots_query(square, SXT_F64, 1);
  WideCsr columns(square, false, true);
  Ready refused(kernel(csr), &query.m.m.q, candidate_of(kernel(csr), &query.m.m.q, 1), &columns.csr.s.h);
  EXPECT_EQ(refused.status(), SXT_E_NOT_SUPPORTED);
}

TEST(SpmvDotsFused, ReadsWideOffsetsAndFollowsNewValues) {
  Random random(4, 1);
  const auto pattern = banded_pattern(1500, 1500, {-3, 0, 3});
  Matrix matrix(pattern, SXT_F64, random), other(pattern, SXT_F64, random);
  WideCsr offsets(matrix, true, false);
  const Outcome narrow = run(csr, matrix, &matrix.csr().s.h, 2, 3, 2),
                wide = run(csr, matrix, &offsets.csr.s.h, 2, 3, 2);
  EXPECT_TRUE(equal(narrow.y, wide.y) && equal(narrow.dots, wide.dots));
  const auto query = dots_query(matrix, SXT_F64, 1);
  Ready ready(kernel(csr), &query.m.m.q, candidate_of(kernel(csr), &query.m.m.q, 2), &matrix.csr().s.h);
  ASSERT_EQ(ready.refresh(&other.csr().s.h), SXT_OK);
  Array x(SXT_F64, 1500, random), y(SXT_F64, 1500), dot(SXT_F64, 1);
  Product product(x, y, SXT_NO_TRANSPOSE, 1, 1, 0);
  const void *u[] = {nullptr}, *v[] = {nullptr};
  sxt_spmv_dots_args args{product.args, 1, 0, u, v, dot.data()};
  ASSERT_EQ(ready.run(&args.m.h), SXT_OK);
  double first = 0;
  other.for_each([&](std::int64_t i, std::int64_t j, Wide value) { first += i == 0 ? (value * x.at(j)).real() : 0; });
  EXPECT_NEAR(y.at(0).real(), first, 1e-15);
}

TEST(SpmvDotsFused, SaysWhenScratchIsTooSmall) {
  Random random(5, 1);
  Matrix matrix(banded_pattern(1500, 1500, {0}), SXT_F64, random);
  const auto query = dots_query(matrix, SXT_F64, 1);
  sxt_candidate candidate = candidate_of(kernel(csr), &query.m.m.q, 1);
  candidate.scratch_bytes -= 1;
  Ready ready(kernel(csr), &query.m.m.q, candidate, &matrix.csr().s.h);
  sxt_spmv_dots_args args{};
  args.n_dots = 1;
  EXPECT_EQ(ready.run(&args.m.h), SXT_E_STATE);
  EXPECT_EQ(Host::sentence, "15 bytes of scratch lent, 16 needed");
}

}  // namespace
}  // namespace plugin_test
