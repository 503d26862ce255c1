// SPDX-License-Identifier: BSD-3-Clause
// Many systems of one pattern through the C interface: each set has the bits of a factor of its own, whatever the
// threads, layouts and orders of values; outcomes are each set's.
#include "tests/api/cholesky_sets_support.hpp"

#include <thread>

namespace api_test {
namespace {

template <class T>
class SetsOf : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SetsOf, Types);

std::vector<int> alternating(std::int64_t n) {
  std::vector<int> sign(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) sign[static_cast<std::size_t>(i)] = i % 2 ? -1 : 1;
  return sign;
}

// Columns of set k of a dense array, one after the other.
template <class T>
std::vector<T> part_of(const std::vector<T> &all, std::int64_t k, std::int64_t size) {
  return {all.begin() + k * size, all.begin() + (k + 1) * size};
}

template <class T>
void has_the_bits_of_one(const Context &context, const char *scheduler, std::int64_t n, std::int64_t sets,
                         sxt_factorization factorization) {
  const std::string where = std::string(scheduler) + ", n " + std::to_string(n) + ", sets " + std::to_string(sets);
  const Family<T> family(random_sparse<T>(n, 3, 7, factorization == SXT_LDLH ? alternating(n) : std::vector<int>()),
                         sets, 3);
  sxt_analysis_options options = analysis_options();
  options.factorization = factorization, options.scheduler = scheduler;
  const Matrix matrix = family.first.matrix(context);
  const Analysis analysis = analyse(matrix, &options);
  const Sets all = sets_of(analysis, sets);
  ASSERT_EQ(family.factor(all), SXT_OK) << sxt_last_error(nullptr) << where;
  for (const std::int64_t n_rhs : {1, 9, 70}) {
    const std::int64_t size = n * n_rhs;
    const std::vector<T> b = random_vector<T>(size * sets, 3);
    std::vector<T> x(b.size());
    ASSERT_EQ(sxt_cholesky_sets_solve(all.get(), 0, sets, n, n_rhs, b.data(), n, size, x.data(), n, size, nullptr),
              SXT_OK)
        << sxt_last_error(nullptr) << where;
    for (const std::int64_t k : {std::int64_t{0}, sets / 2, sets - 1}) {
      const std::vector<T> own = solved_alone(context, analysis, family.matrix_of(k), part_of(b, k, size), n_rhs);
      EXPECT_EQ(std::memcmp(own.data(), x.data() + k * size, own.size() * sizeof(T)), 0) << where << ", set " << k;
    }
  }
}

TYPED_TEST(SetsOf, EachHasTheBitsOfAFactorOfItsOwn) {
  for (const int threads : {1, 3}) {
    const Context context = cpu(threads);
    for (const char *scheduler : {"cholesky.columns.cpu", "cholesky.tasks.cpu", "cholesky.reference.cpu"})
      for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH})
        for (const auto &[n, sets] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 4}, {40, 17}})
          has_the_bits_of_one<TypeParam>(context, scheduler, n, sets, factorization);
  }
}

// A tree of several units, so that its sets go side by side or one after the other; as the default chooses, too.
TYPED_TEST(SetsOf, LargerTreesHaveThemToo) {
  const Context context = cpu(3);
  has_the_bits_of_one<TypeParam>(context, "cholesky.tasks.cpu", 900, 7, SXT_LLH);
  has_the_bits_of_one<TypeParam>(context, "cholesky.tasks.cpu", 900, 2, SXT_LDLH);
  has_the_bits_of_one<TypeParam>(context, "auto", 300, 5, SXT_LLH);
}

TYPED_TEST(SetsOf, DeterministicContextsHaveThemOnAnyNumberOfThreads) {
  using T = TypeParam;
  const Family<T> family(random_sparse<T>(200, 4, 5), 9);
  std::vector<T> first;
  for (const int threads : {1, 2, 4}) {
    const Context context = cpu(threads, true);
    const Matrix matrix = family.first.matrix(context);
    const Analysis analysis = analyse(matrix);
    const Sets sets = sets_of(analysis, 9);
    ASSERT_EQ(family.factor(sets), SXT_OK) << sxt_last_error(nullptr);
    std::vector<T> x = random_vector<T>(200 * 9, 4);
    ASSERT_EQ(sxt_cholesky_sets_solve(sets.get(), 0, 9, 200, 1, x.data(), 200, 200, x.data(), 200, 200, nullptr),
              SXT_OK);
    if (first.empty()) first = x;
    EXPECT_EQ(std::memcmp(first.data(), x.data(), x.size() * sizeof(T)), 0) << threads;
  }
}

// Sets with gaps between them and between columns, and columns with the sets inside.
TYPED_TEST(SetsOf, TakesEveryLayout) {
  using T = TypeParam;
  constexpr std::int64_t n = 30, sets = 5, n_rhs = 3;
  const Context context = cpu();
  const Family<T> family(random_sparse<T>(n, 3, 5), sets, 2);
  const Matrix matrix = family.first.matrix(context);
  const Analysis analysis = analyse(matrix);
  const Sets all = sets_of(analysis, sets);
  ASSERT_EQ(family.factor(all), SXT_OK) << sxt_last_error(nullptr);
  struct Layout {
    std::int64_t ld, stride;
  };
  const Layout dense{n, n * n_rhs}, gaps{n + 2, (n + 2) * n_rhs + 5}, inside{(n + 1) * sets, n + 1};
  const std::vector<T> rhs = random_vector<T>(n * n_rhs * sets, 3);
  std::vector<T> wanted;
  const auto extent = [&](const Layout &of) { return (sets - 1) * of.stride + (n_rhs - 1) * of.ld + n; };
  const auto place = [&](const Layout &of, std::int64_t k, std::int64_t j, std::int64_t i) {
    return static_cast<std::size_t>(k * of.stride + j * of.ld + i);
  };
  for (const Layout &from : {dense, gaps, inside})
    for (const Layout &to : {dense, gaps, inside}) {
      std::vector<T> b(static_cast<std::size_t>(extent(from)), T(5)), x(static_cast<std::size_t>(extent(to)), T(77));
      for (std::int64_t k = 0; k < sets; ++k)
        for (std::int64_t j = 0; j < n_rhs; ++j)
          for (std::int64_t i = 0; i < n; ++i) b[place(from, k, j, i)] = rhs[place(dense, k, j, i)];
      ASSERT_EQ(sxt_cholesky_sets_solve(all.get(), 0, sets, n, n_rhs, b.data(), from.ld, from.stride, x.data(), to.ld,
                                        to.stride, nullptr),
                SXT_OK)
          << sxt_last_error(nullptr);
      std::size_t untouched = 0;
      for (const T &each : x) untouched += each == T(77);
      EXPECT_EQ(untouched, x.size() - rhs.size());
      std::vector<T> found(rhs.size());
      for (std::int64_t k = 0; k < sets; ++k)
        for (std::int64_t j = 0; j < n_rhs; ++j)
          for (std::int64_t i = 0; i < n; ++i) found[place(dense, k, j, i)] = x[place(to, k, j, i)];
      if (wanted.empty()) wanted = found;
      EXPECT_EQ(found, wanted);
    }
  for (std::int64_t k = 0; k < sets; ++k)
    EXPECT_LE(family.matrix_of(k).backward_error(&rhs[place(dense, k, 1, 0)], &wanted[place(dense, k, 1, 0)]),
              20 * std::numeric_limits<Real<T>>::epsilon());
}

// One triangle, its entries in an order of their own, counted from 1: values come in that order.
TYPED_TEST(SetsOf, TakesValuesInTheOrderOfTheMatrixEntries) {
  using T = TypeParam;
  constexpr std::int64_t n = 50, sets = 4;
  const Context context = cpu();
  const Sparse<T> a = random_sparse<T>(n, 4, 9);
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER, SXT_FULL}) {
    std::vector<std::int64_t> rows, cols;
    std::vector<T> values;
    for (std::int64_t i = n; i-- > 0;)
      for (std::int32_t k = a.pattern.ptr[i]; k < a.pattern.ptr[i + 1]; ++k) {
        const std::int64_t j = a.pattern.col[k];
        if ((triangle == SXT_LOWER && j > i) || (triangle == SXT_UPPER && j < i)) continue;
        rows.push_back(i + 1), cols.push_back(j + 1), values.push_back(a.values[k]);
      }
    sxt_matrix_options options = matrix_options();
    options.value_type = code<T>(), options.index_type = SXT_I64, options.index_base = 1;
    options.symmetry = SXT_HERMITIAN, options.triangle = triangle;
    const auto nnz = static_cast<std::int64_t>(values.size());
    const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_coo(context.get(), n, n, nnz, rows.data(), cols.data(), values.data(), &options, out);
    });
    const Analysis analysis = analyse(matrix);
    const Sets all = sets_of(analysis, sets);
    std::vector<T> many;
    for (std::int64_t k = 0; k < sets; ++k)
      for (const T &value : values) many.push_back(value * static_cast<Real<T>>(k + 1));
    ASSERT_EQ(sxt_cholesky_sets_factor(all.get(), 0, sets, nnz, many.data(), nnz, nullptr), SXT_OK)
        << sxt_last_error(nullptr);
    const std::vector<T> b = random_vector<T>(n * sets, 3);
    std::vector<T> x(b.size());
    ASSERT_EQ(sxt_cholesky_sets_solve(all.get(), 0, sets, n, 1, b.data(), n, n, x.data(), n, n, nullptr), SXT_OK);
    for (std::int64_t k = 0; k < sets; ++k) {
      Sparse<T> its = a;
      for (T &value : its.values) value *= static_cast<Real<T>>(k + 1);
      EXPECT_LE(its.backward_error(&b[k * n], &x[k * n]), 20 * std::numeric_limits<Real<T>>::epsilon())
          << triangle << ", set " << k;
    }
    many[static_cast<std::size_t>(2 * nnz)] = T(std::numeric_limits<Real<T>>::quiet_NaN());  // of the last row
    EXPECT_EQ(sxt_cholesky_sets_factor(all.get(), 0, sets, nnz, many.data(), nnz, nullptr), SXT_E_NOT_FINITE);
    const Outcomes told(all, sets);
    EXPECT_EQ(told.status[2], SXT_E_NOT_FINITE);
    EXPECT_GE(told.failed_row[2], 1) << "counted from 1";
    EXPECT_EQ(told.status[3], SXT_OK);
  }
}

TYPED_TEST(SetsOf, SayOfThemselvesWhatOneFactorSays) {
  using T = TypeParam;
  constexpr std::int64_t n = 45, sets = 6;
  const Context context = cpu();
  for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH}) {
    const Family<T> family(random_sparse<T>(n, 3, 5, factorization == SXT_LDLH ? alternating(n) : std::vector<int>()),
                           sets);
    sxt_analysis_options options = analysis_options();
    options.factorization = factorization, options.scheduler = "cholesky.columns.cpu";
    const Matrix matrix = family.first.matrix(context);
    const Analysis analysis = analyse(matrix, &options);
    const Sets all = sets_of(analysis, sets);
    ASSERT_EQ(family.factor(all), SXT_OK);
    const Outcomes told(all, sets);
    for (std::int64_t k = 0; k < sets; ++k) {
      sxt_cholesky_info info{};
      solved_alone(context, analysis, family.matrix_of(k), random_vector<T>(n, 1), 1, &info);
      EXPECT_EQ(told.log_determinant[k], info.log_determinant);
      EXPECT_EQ(told.sign[k], info.sign);
      EXPECT_EQ(told.positive[k], info.positive);
      EXPECT_EQ(told.negative[k], info.negative);
      EXPECT_EQ(told.zero[k], info.zero);
      EXPECT_EQ(told.least[k], info.least_pivot);
      EXPECT_EQ(told.largest[k], info.largest_pivot);
    }
    EXPECT_EQ(info_of(all).factored, sets);
  }
}

class SetsTest : public testing::Test {
 protected:
  static constexpr std::int64_t n = 40, count = 12;
  std::string said() { return sxt_last_error(nullptr); }
  std::vector<double> solve(const Sets &sets, const std::vector<double> &b) {
    std::vector<double> x(b.size());
    EXPECT_EQ(sxt_cholesky_sets_solve(sets.get(), 0, count, n, 1, b.data(), n, n, x.data(), n, n, nullptr), SXT_OK)
        << said();
    return x;
  }
  Context context_ = cpu(3);
  Family<double> family_{random_sparse<double>(n, 3, 7), count};
  Matrix matrix_ = family_.first.matrix(context_);
  Analysis analysis_ = analyse(matrix_);
  Sets sets_ = sets_of(analysis_, count);
};

TEST_F(SetsTest, OneThatFailsLeavesTheOthersSolved) {
  Family<double> bad = family_;
  bad.put(3, 5, 5, -7), bad.put(8, 2, 2, NAN);
  const std::int32_t link = family_.first.pattern.col[family_.first.pattern.ptr[n - 1]];
  bad.put(10, n - 1, link, 1000);
  EXPECT_EQ(bad.factor(sets_), SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_NE(
      said().find("3 of 12 sets have no factor; the first of them, set 3 (sets count from 0): the pivot of row 5"),
      std::string::npos)
      << said();
  const Outcomes told(sets_, count);
  const std::vector<double> b = random_vector<double>(n * count, 3), x = solve(sets_, b);
  for (std::int64_t k = 0; k < count; ++k) {
    const sxt_status wanted = k == 3    ? SXT_E_NOT_POSITIVE_DEFINITE
                              : k == 8  ? SXT_E_NOT_FINITE
                              : k == 10 ? SXT_E_NOT_SYMMETRIC
                                        : SXT_OK;
    EXPECT_EQ(told.status[k], wanted) << k;
    EXPECT_EQ(told.failed_row[k], k == 3 ? 5 : k == 8 ? 2 : -1) << k;
    EXPECT_EQ(std::isnan(told.log_determinant[k]), wanted != SXT_OK);
    if (wanted == SXT_OK)
      EXPECT_LE(family_.matrix_of(k).backward_error(&b[k * n], &x[k * n]), 1e-14) << k;
    else
      for (std::int64_t i = 0; i < n; ++i) EXPECT_TRUE(std::isnan(x[k * n + i])) << k;
  }
  EXPECT_LT(told.failed_pivot[3], 0);
  EXPECT_TRUE(std::isnan(told.failed_pivot[8]));
  EXPECT_EQ(info_of(sets_).factored, count - 3);
  EXPECT_EQ(info_of(sets_).nnz, family_.nnz());
  // The sets that failed, with good values: the others keep their factors.
  for (const std::int64_t k : {3, 8, 10})
    EXPECT_EQ(sxt_cholesky_sets_factor(sets_.get(), k, 1, family_.nnz(), &family_.values[family_.at(k, 0)],
                                       family_.stride, nullptr),
              SXT_OK)
        << said();
  const std::vector<double> y = solve(sets_, b);
  for (std::int64_t k = 0; k < count; ++k)
    EXPECT_LE(family_.matrix_of(k).backward_error(&b[k * n], &y[k * n]), 1e-14) << k;
  EXPECT_EQ(info_of(sets_).factored, count);
}

TEST_F(SetsTest, WithoutTheComparisonOneTriangleIsRead) {
  sxt_analysis_options options = analysis_options();
  options.check_symmetry = 0;
  const Analysis trusting = analyse(matrix_, &options);
  const Sets sets = sets_of(trusting, count);
  Family<double> uneven = family_;
  uneven.put(4, n - 1, family_.first.pattern.col[family_.first.pattern.ptr[n - 1]], 1e-3);
  EXPECT_EQ(uneven.factor(sets), SXT_OK) << said();
  EXPECT_EQ(uneven.factor(sets_), SXT_E_NOT_SYMMETRIC);
}

TEST_F(SetsTest, PivotPoliciesNeedAValue) {
  sxt_analysis_options options = analysis_options();
  options.pivot_policy = SXT_PIVOT_REPLACE, options.factorization = SXT_LDLH, options.pivot_tolerance = 1e-3;
  const Analysis without = analyse(matrix_, &options);
  sets_of(without, 3, SXT_E_NOT_SUPPORTED);
  EXPECT_NE(said().find("options->pivot_value"), std::string::npos) << said();
  options.pivot_value = 2.5;
  const Analysis with = analyse(matrix_, &options);
  const Sets sets = sets_of(with, count);
  Family<double> small = family_;
  for (std::int64_t e = 0; e < family_.nnz(); ++e) small.values[small.at(6, static_cast<std::size_t>(e))] = 0;
  EXPECT_EQ(small.factor(sets), SXT_OK) << said();
  const Outcomes told(sets, count);
  for (std::int64_t k = 0; k < count; ++k) EXPECT_EQ(told.changed[k], k == 6 ? n : 0) << k;
  EXPECT_EQ(told.least[6], 2.5);
}

struct Follower {
  std::vector<std::int64_t> done;
  std::int64_t count = 0, end_at = INT64_MAX;
  static std::int32_t tell(void *user, std::int64_t done, std::int64_t count) {
    auto &self = *static_cast<Follower *>(user);
    self.done.push_back(done), self.count = count;
    return done >= self.end_at;
  }
};

TEST_F(SetsTest, TellsItsProgressAndEndsOnRequest) {
  Follower follower;
  sxt_cholesky_sets_options options = sets_options();
  options.progress = Follower::tell, options.progress_user = &follower;
  EXPECT_EQ(family_.factor(sets_, &options), SXT_OK);
  ASSERT_FALSE(follower.done.empty());
  EXPECT_EQ(follower.done.back(), count);
  EXPECT_EQ(follower.count, count);
  std::vector<double> b(n * count, 1), x(n * count);
  follower.end_at = 0;
  EXPECT_EQ(sxt_cholesky_sets_solve(sets_.get(), 0, count, n, 1, b.data(), n, n, x.data(), n, n, &options),
            SXT_NOT_CONVERGED);
  EXPECT_EQ(info_of(sets_).factored, count) << "a solve changes no factor";
  EXPECT_EQ(family_.factor(sets_, &options), SXT_NOT_CONVERGED);
  EXPECT_NE(said().find("cancelled"), std::string::npos);
  EXPECT_EQ(info_of(sets_).factored, 0);
  EXPECT_EQ(Outcomes(sets_, count).status[0], SXT_E_STATE);
  EXPECT_EQ(sxt_cholesky_sets_solve(sets_.get(), 0, count, n, 1, b.data(), n, n, x.data(), n, n, nullptr), SXT_E_STATE);
  const volatile std::int32_t now = 1;
  options = sets_options();
  options.cancel = &now;
  EXPECT_EQ(family_.factor(sets_, &options), SXT_NOT_CONVERGED);
  EXPECT_EQ(family_.factor(sets_), SXT_OK);
}

TEST_F(SetsTest, ManySlicesGiveTheSameBits) {
  constexpr std::int64_t many = 3000;
  const Family<double> family(random_sparse<double>(120, 4, 7), many);
  const Matrix matrix = family.first.matrix(context_);
  sxt_analysis_options how = analysis_options();
  how.scheduler = "cholesky.reference.cpu";  // the slowest: a slice is a part of the sets
  const Analysis analysis = analyse(matrix, &how);
  const Sets sets = sets_of(analysis, many);
  Follower follower;
  sxt_cholesky_sets_options options = sets_options();
  options.progress = Follower::tell, options.progress_user = &follower;
  ASSERT_EQ(family.factor(sets, &options), SXT_OK) << said();
  EXPECT_GT(follower.done.size(), 1u);
  EXPECT_TRUE(std::is_sorted(follower.done.begin(), follower.done.end()));
  const Outcomes in_slices(sets, many);
  ASSERT_EQ(family.factor(sets), SXT_OK);
  EXPECT_EQ(Outcomes(sets, many).log_determinant, in_slices.log_determinant);
}

TEST_F(SetsTest, SolvesStandBesideEachOther) {
  ASSERT_EQ(family_.factor(sets_), SXT_OK);
  const std::vector<double> b = random_vector<double>(n * count, 3), wanted = solve(sets_, b);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        std::vector<double> x(b.size()), logs(count);
        sxt_cholesky_sets_outcomes to;
        sxt_cholesky_sets_outcomes_init(&to, sizeof to);
        to.log_determinant = logs.data();
        const bool fine =
            sxt_cholesky_sets_solve(sets_.get(), 0, count, n, 1, b.data(), n, n, x.data(), n, n, nullptr) == SXT_OK &&
            sxt_cholesky_sets_get_outcomes(sets_.get(), 0, count, &to) == SXT_OK && x == wanted && logs[0] == logs[0];
        if (!fine) ++wrong;
      }
    });
  for (std::thread &each : threads) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SetsTest, ExplainsHowTheyAreWorkedOn) {
  std::int64_t length = 0;
  ASSERT_EQ(sxt_cholesky_sets_explain(sets_.get(), SXT_TEXT, nullptr, 0, &length), SXT_OK);
  std::string text(static_cast<std::size_t>(length) + 1, ' ');
  ASSERT_EQ(sxt_cholesky_sets_explain(sets_.get(), SXT_TEXT, text.data(), length + 1, nullptr), SXT_OK);
  EXPECT_NE(text.find("12, in one call of cholesky."), std::string::npos) << text;
  EXPECT_NE(text.find("cholesky.reference.cpu"), std::string::npos) << text;
  EXPECT_EQ(sxt_cholesky_sets_explain(sets_.get(), 7, nullptr, 0, &length), SXT_E_ARGUMENT);
}

TEST_F(SetsTest, EmptyMatricesAndCallsOfNoSets) {
  const Sparse<double> none = random_sparse<double>(0, 1, 1);
  const Matrix matrix = none.matrix(context_);
  const Analysis analysis = analyse(matrix);
  const Sets sets = sets_of(analysis, 3);
  EXPECT_EQ(sxt_cholesky_sets_factor(sets.get(), 0, 3, 0, nullptr, 0, nullptr), SXT_OK) << said();
  EXPECT_EQ(sxt_cholesky_sets_solve(sets.get(), 0, 3, 0, 1, nullptr, 0, 0, nullptr, 0, 0, nullptr), SXT_OK) << said();
  EXPECT_EQ(Outcomes(sets, 3).log_determinant, std::vector<double>(3, 0));
  EXPECT_EQ(sxt_cholesky_sets_factor(sets_.get(), count, 0, family_.nnz(), nullptr, family_.stride, nullptr), SXT_OK);
}

}  // namespace
}  // namespace api_test
