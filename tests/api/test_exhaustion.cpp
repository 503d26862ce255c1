// SPDX-License-Identifier: BSD-3-Clause
// The library's own small allocations fail as well: operator new of this program, which the library shares, throws at
// the N-th call, once or for ever, for all N. Every call then ends with a status, and destroying works.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "sextant/cholesky_sets.h"
#include "tests/api/support.hpp"

namespace {

std::atomic<std::int64_t> calls_left{-1};  // until one fails; negative: none does
std::atomic<bool> for_ever{false};
std::atomic<std::int64_t> calls{0};

bool fails() {
  ++calls;
  if (calls_left < 0) return false;
  if (calls_left > 0) return --calls_left == 0 && (!for_ever || (calls_left = 0, true));
  return for_ever;
}

void *get(std::size_t bytes, std::size_t alignment) {
  void *memory = nullptr;
  if (fails() || posix_memalign(&memory, std::max(alignment, sizeof(void *)), bytes)) return nullptr;
  return memory;
}
void *get_or_throw(std::size_t bytes, std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
  void *const memory = get(bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void *operator new(std::size_t bytes) { return get_or_throw(bytes); }
void *operator new[](std::size_t bytes) { return get_or_throw(bytes); }
void *operator new(std::size_t bytes, std::align_val_t a) { return get_or_throw(bytes, static_cast<std::size_t>(a)); }
void *operator new[](std::size_t bytes, std::align_val_t a) { return get_or_throw(bytes, static_cast<std::size_t>(a)); }
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept { return get(bytes, alignof(std::max_align_t)); }
void *operator new[](std::size_t bytes, const std::nothrow_t &) noexcept {
  return get(bytes, alignof(std::max_align_t));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace api_test {
namespace {

// The whole job. Continues after a failure with the handles it has; the first status that is an error, or SXT_OK.
class Job {
 public:
  sxt_status run() {
    sxt_context_options options = context_options();
    options.device = "cpu";
    options.threads = 2;
    take(sxt_context_create(&options, &context_));
    if (first_ == SXT_OK) sparse();
    if (first_ == SXT_OK) sets();
    if (first_ == SXT_OK) words();
    if (context_ && first_ == SXT_OK) dense();
    sxt_context_destroy(context_);
    return first_;
  }

 private:
  void take(sxt_status status) {
    if (status < 0 && first_ == SXT_OK) first_ = status;
  }
  void sparse() {
    static const Csr a = laplacian(9, 0.5);
    static const std::vector<double> b(81, 1);
    static std::vector<double> x(81);
    static char text[2000];
    sxt_matrix *matrix = nullptr;
    sxt_pcg *pcg = nullptr;
    take(sxt_matrix_from_csr(context_, 81, 81, a.ptr.data(), a.col.data(), a.values.data(), nullptr, &matrix));
    if (matrix) {
      take(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix, b.data(), nullptr, x.data()));
      sxt_pcg_options how = pcg_options();
      how.reorder = 1;
      take(sxt_pcg_create(matrix, &how, &pcg));
      double feature = 0;
      take(sxt_matrix_feature(matrix, "row_nnz_max", &feature));
    }
    if (pcg) {
      take(sxt_pcg_solve_array(pcg, 81, b.data(), x.data(), nullptr, nullptr));
      take(sxt_pcg_explain(pcg, SXT_JSON, text, sizeof text, nullptr));
      take(sxt_matrix_update_values(matrix, a.values.data(), static_cast<std::int64_t>(a.values.size())));
      take(sxt_pcg_solve_array(pcg, 81, b.data(), x.data(), nullptr, nullptr));
      static std::vector<double> answers(2 * 81), sides(2 * 81, 1);
      take(sxt_pcg_solve_block(pcg, 81, 2, sides.data(), 81, answers.data(), 81, nullptr, nullptr));
      semidefinite(matrix);
    }
    sxt_matrix_destroy(matrix);
    sxt_pcg_destroy(pcg);
  }
  // Not a null space: a refusal is expected, unless memory is missing for the test.
  void semidefinite(sxt_matrix *matrix) {
    sxt_pcg_options how = pcg_options();
    how.null_space_size = 1;
    sxt_pcg *pcg = nullptr;
    const sxt_status status = sxt_pcg_create(matrix, &how, &pcg);
    EXPECT_NE(status, SXT_OK);
    if (status != SXT_E_ARGUMENT) take(status);
    sxt_pcg_destroy(pcg);
  }
  // Factors of several sets of values, one of them without.
  void sets() {
    static const Csr a = laplacian(9, 0.5);
    static const auto nnz = static_cast<std::int64_t>(a.values.size());
    static std::vector<double> values;
    static std::vector<double> x(3 * 81, 1), logs(3);
    if (values.empty())
      for (int k = 0; k < 3; ++k) values.insert(values.end(), a.values.begin(), a.values.end());
    sxt_matrix *matrix = nullptr;
    sxt_analysis *analysis = nullptr;
    sxt_cholesky_sets *all = nullptr;
    take(sxt_matrix_from_csr(context_, 81, 81, a.ptr.data(), a.col.data(), a.values.data(), nullptr, &matrix));
    if (matrix) take(sxt_analysis_create(matrix, nullptr, &analysis));
    if (analysis) take(sxt_cholesky_sets_create(analysis, 3, &all));
    if (all) {
      values[0] = 4;
      take(sxt_cholesky_sets_factor(all, 0, 3, nnz, values.data(), nnz, nullptr));
      const std::int64_t before = calls;
      take(sxt_cholesky_sets_factor(all, 0, 3, nnz, values.data(), nnz, nullptr));
      if (first_ == SXT_OK) {
        EXPECT_EQ(calls, before) << "a second factorisation asked for memory";
      }
      values[0] = -1;  // this set has none
      const sxt_status status = sxt_cholesky_sets_factor(all, 0, 3, nnz, values.data(), nnz, nullptr);
      if (status != SXT_E_NOT_POSITIVE_DEFINITE) take(status);
      EXPECT_NE(status, SXT_OK);
      if (first_ == SXT_OK)
        take(sxt_cholesky_sets_solve(all, 0, 3, 81, 1, x.data(), 81, 81, x.data(), 81, 81, nullptr));
      sxt_cholesky_sets_outcomes to;
      sxt_cholesky_sets_outcomes_init(&to, sizeof to);
      to.log_determinant = logs.data();
      take(sxt_cholesky_sets_get_outcomes(all, 0, 3, &to));
      static char text[2000];
      take(sxt_cholesky_sets_explain(all, SXT_JSON, text, sizeof text, nullptr));
    }
    sxt_cholesky_sets_destroy(all);
    sxt_analysis_destroy(analysis);
    sxt_matrix_destroy(matrix);
  }
  // Plans, trees, descriptions and names.
  void words() {
    static char text[4000];
    static const std::string path = testing::TempDir() + "sextant-exhaustion.toml";
    take(sxt_plan_save(context_, path.c_str()));
    take(sxt_plan_load(context_, path.c_str(), 0));
    take(sxt_decision_tree(context_, "dot", SXT_F64, SXT_JSON, text, sizeof text, nullptr));
    take(sxt_context_describe(context_, text, sizeof text, nullptr));
    take(sxt_context_force(context_, "sxt.spmv/1", "spmv.csr.rows.cpu"));
    sxt_matrix *matrix = nullptr;
    static const std::string file = SEXTANT_TEST_DATA "/mm/reader/fmm__eye3.mtx.gz";
    take(sxt_matrix_from_file(context_, file.c_str(), nullptr, &matrix));
    sxt_matrix_destroy(matrix);
  }
  void dense() {
    static double a[3 * 4], b[3 * 2];
    static std::int32_t info[3];
    for (int s = 0; s < 3; ++s) a[4 * s] = a[4 * s + 3] = 2, a[4 * s + 1] = 1, b[2 * s] = b[2 * s + 1] = 3;
    sxt_hermitian_options how;
    sxt_hermitian_options_init(&how, sizeof how);
    how.batch = 3;
    how.n = 2;
    how.refine_steps = 1;
    how.definiteness = SXT_TRY_DEFINITE;
    how.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS;
    static const double shifts[] = {0};
    how.shifts = shifts, how.n_shifts = 1;
    static char text[2000];
    sxt_hermitian *systems = nullptr;
    take(sxt_hermitian_create(context_, &how, &systems));
    sxt_hermitian_set set;
    sxt_hermitian_set_init(&set, sizeof set);
    static std::int32_t pivots[3 * 2];
    set.a = a, set.b = b, set.info = info, set.pivots = pivots;
    if (systems) take(sxt_hermitian_factor_solve(systems, &set));
    if (systems) take(sxt_hermitian_explain(systems, SXT_JSON, text, sizeof text, nullptr));
    if (systems && first_ == SXT_OK) {
      EXPECT_NEAR(b[0], 1, 1e-14);
    }
    sxt_hermitian_destroy(systems);
  }
  sxt_context *context_ = nullptr;
  sxt_status first_ = SXT_OK;
};

#ifndef SEXTANT_OWN_RUNTIME  // then the library has its own operator new
class ExhaustionTest : public testing::TestWithParam<bool> {};

TEST_P(ExhaustionTest, EveryNewMayFail) {
  ASSERT_EQ(Job().run(), SXT_OK) << sxt_last_error(nullptr);  // plugins are loaded, trees are made
  const std::int64_t before = calls;
  ASSERT_EQ(Job().run(), SXT_OK) << sxt_last_error(nullptr);
  const std::int64_t all = calls - before;
  ASSERT_GT(all, 100);
  for (std::int64_t n = 1; n <= all; n += 1 + all / 200) {
    for_ever = GetParam();
    calls_left = n;
    const sxt_status status = Job().run();
    calls_left = -1;
    ASSERT_TRUE(status == SXT_E_MEMORY || (status == SXT_OK && !GetParam()))
        << "allocation " << n << " of " << all << ": " << sxt_status_name(status) << ", " << sxt_last_error(nullptr);
  }
  EXPECT_EQ(Job().run(), SXT_OK) << sxt_last_error(nullptr);
}

INSTANTIATE_TEST_SUITE_P(OnceAndForEver, ExhaustionTest, testing::Bool());
#endif

// These have no status to report a lack of memory.
TEST(ShortMemoryTest, CountsAllocateNothing) {
  const Context context = cpu(1);
  const std::int64_t plugins = sxt_plugin_count(), kernels = sxt_kernel_count(), refusals = sxt_refusal_count();
  for_ever = true;
  calls_left = 1;
  const std::int64_t found[] = {sxt_plugin_count(), sxt_kernel_count(), sxt_refusal_count()};
  calls_left = -1;
  EXPECT_EQ(found[0], plugins);
  EXPECT_EQ(found[1], kernels);
  EXPECT_EQ(found[2], refusals);
}

}  // namespace
}  // namespace api_test
