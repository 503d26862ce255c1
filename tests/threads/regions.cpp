// SPDX-License-Identifier: BSD-3-Clause
// Every entry point inside the caller's own OpenMP regions: parallel, single, critical, sections, task, loops, nested
// regions. A program without a test framework, so that any compiler with OpenMP can build it. Prints errors.
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sextant/hermitian.h"
#include "sextant/pcg.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sextant.h"

namespace {

std::atomic<int> problems{0};
const char *where = "";

void check(bool good, const char *what) {
  if (good) return;
  ++problems;
#pragma omp critical(tell)
  std::printf("%s: %s: %s\n", where, what, sxt_last_error(nullptr));
}
#define CHECK(condition) check((condition), #condition)

sxt_context *open_context(int threads) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cpu";
  options.threads = threads;
  sxt_context *context = nullptr;
  CHECK(sxt_context_create(&options, &context) == SXT_OK);
  return context;
}

// [2 -1 0; -1 2 -1; 0 -1 2] times ones is (1, 0, 1).
struct Three {
  const int ptr[4] = {0, 2, 5, 7}, col[7] = {0, 1, 0, 1, 2, 1, 2}, row[7] = {0, 0, 1, 1, 1, 2, 2};
  const double values[7] = {2, -1, -1, 2, -1, -1, 2};
};

bool is_101(const double *y) { return y[0] == 1 && y[1] == 0 && y[2] == 1; }

void multiply(sxt_matrix *a) {
  const double x[3] = {1, 1, 1};
  double y[3] = {9, 9, 9};
  CHECK(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a, x, nullptr, y) == SXT_OK && is_101(y));
  double block[6] = {};
  const double xs[6] = {1, 1, 1, 1, 1, 1};
  CHECK(sxt_spmv_block(SXT_TRANSPOSE, nullptr, a, 2, xs, 3, nullptr, block, 3) == SXT_OK && is_101(block + 3));
  sxt_matrix_destroy(a);
}

// Every way to make a matrix of three rows, and its products.
void matrices(sxt_context *context) {
  const Three three;
  sxt_matrix *a = nullptr;
  CHECK(sxt_matrix_from_csr(context, 3, 3, three.ptr, three.col, three.values, nullptr, &a) == SXT_OK);
  multiply(a);
  CHECK(sxt_matrix_from_csc(context, 3, 3, three.ptr, three.col, three.values, nullptr, &a) == SXT_OK);
  multiply(a);
  CHECK(sxt_matrix_from_coo(context, 3, 3, 7, three.row, three.col, three.values, nullptr, &a) == SXT_OK);
  multiply(a);
  const std::string path = "/tmp/sextant-regions-" + std::to_string(getpid()) + ".mtx";
  CHECK(sxt_matrix_from_file(context, path.c_str(), nullptr, &a) == SXT_OK);
  multiply(a);
}

// Vector operations and reductions, long enough for several threads.
void vectors(sxt_context *context) {
  const std::int64_t n = 100000;
  const double two = 2;
  std::vector<double> x(n, 1.0), y(n, 2.0);
  sxt_vector *vx = nullptr, *vy = nullptr;
  CHECK(sxt_vector_wrap(context, n, SXT_F64, SXT_SPACE_HOST, x.data(), &vx) == SXT_OK);
  CHECK(sxt_vector_wrap(context, n, SXT_F64, SXT_SPACE_HOST, y.data(), &vy) == SXT_OK);
  double result = 0;
  std::int64_t at = -1;
  CHECK(sxt_axpy(&two, vx, vy) == SXT_OK && y[0] == 4 && y[n - 1] == 4);
  CHECK(sxt_dot(vx, vy, &result) == SXT_OK && result == 4.0 * n);
  CHECK(sxt_sum(vy, &result) == SXT_OK && result == 4.0 * n);
  CHECK(sxt_nrm2(vx, &result) == SXT_OK && std::fabs(result - std::sqrt(1.0 * n)) < 1e-9);
  y[n / 2] = -7;
  CHECK(sxt_amax(vy, &result) == SXT_OK && result == 7);
  CHECK(sxt_iamax(vy, &at) == SXT_OK && at == n / 2);
  CHECK(sxt_scale(&two, vx) == SXT_OK && x[n - 1] == 2);
  const sxt_vector *us[] = {vx, vx}, *vs[] = {vx, vy};
  double dots[2] = {};
  CHECK(sxt_multidot(2, us, vs, dots) == SXT_OK && dots[0] == 4.0 * n);
  sxt_vector_destroy(vx);
  sxt_vector_destroy(vy);
}

// A grid of m x m points, five-point stencil.
sxt_matrix *grid(sxt_context *context, int m) {
  std::vector<int> row, col;
  std::vector<double> values;
  const auto add = [&](int i, int j, double v) { row.push_back(i), col.push_back(j), values.push_back(v); };
  for (int i = 0; i < m * m; ++i) {
    add(i, i, 4.1);
    if (i % m) add(i, i - 1, -1), add(i - 1, i, -1);
    if (i >= m) add(i, i - m, -1), add(i - m, i, -1);
  }
  sxt_matrix *a = nullptr;
  CHECK(sxt_matrix_from_coo(context, m * m, m * m, static_cast<std::int64_t>(row.size()), row.data(), col.data(),
                            values.data(), nullptr, &a) == SXT_OK);
  return a;
}

void solve(sxt_matrix *a, std::int64_t n, const char *preconditioner) {
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  options.preconditioner = preconditioner;
  sxt_pcg *pcg = nullptr;
  CHECK(sxt_pcg_create(a, &options, &pcg) == SXT_OK);
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  std::vector<double> b(ones.size()), x(ones.size());
  CHECK(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a, ones.data(), nullptr, b.data()) == SXT_OK);
  CHECK(sxt_pcg_solve_array(pcg, n, b.data(), x.data(), nullptr, nullptr) == SXT_OK);
  double worst = 0;
  for (const double value : x) worst = std::fmax(worst, std::fabs(value - 1));
  CHECK(worst < 1e-5);
  std::int64_t length = 0;
  char text[64];
  CHECK(sxt_pcg_explain(pcg, SXT_TEXT, text, sizeof text, &length) == SXT_OK && length > 0);
  sxt_pcg_destroy(pcg);
}

// Features, selection with its explanation, solves with every preconditioner, new values.
void solves(sxt_context *context) {
  constexpr int m = 40;
  sxt_matrix *a = grid(context, m);
  double value = 0;
  int found = 0;
  for (std::int64_t i = 0; const char *name = sxt_feature_name(i); ++i) {
    const sxt_status status = sxt_matrix_feature(a, name, &value);
    CHECK(status == SXT_OK || status == SXT_E_UNKNOWN_NAME);  // some are of another device's kernels
    found += status == SXT_OK;
  }
  CHECK(found > 30);
  for (const char *name : {"auto", "none", "jacobi", "block-jacobi", "chebyshev", "fsai", "fsai-2", "ssor-ai"})
    solve(a, m * m, name);
  sxt_spmv_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_SPMV};
  query.m.q.flags = SXT_QUERY_MATRIX;
  query.m.q.value_type = SXT_F64;
  query.m.q.expected_runs = 1e6;
  query.n_rhs = 1;
  sxt_selection *selection = nullptr;
  CHECK(sxt_kernel_select(context, &query.m.q, a, &selection) == SXT_OK);
  char text[64];
  CHECK(sxt_selection_explain(selection, SXT_JSON, text, sizeof text, nullptr) == SXT_OK);
  sxt_selection_destroy(selection);
  sxt_matrix_destroy(a);
}

void hermitian(sxt_context *context) {
  sxt_hermitian_options options;
  sxt_hermitian_options_init(&options, sizeof options);
  options.batch = 64;
  options.n = 2;
  sxt_hermitian *sets = nullptr;
  CHECK(sxt_hermitian_create(context, &options, &sets) == SXT_OK);
  std::vector<double> a, b;
  for (int s = 0; s < 64; ++s) a.insert(a.end(), {4, 2, 2, 5}), b.insert(b.end(), {6, 7});
  std::vector<std::int32_t> info(64, 9);
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a = a.data(), set.lda = 2, set.stride_a = 4;
  set.b = b.data(), set.ldb = 2, set.stride_b = 2;
  set.info = info.data();
  CHECK(sxt_hermitian_factor_solve(sets, &set) == SXT_OK);
  CHECK(info[63] == 0 && std::fabs(b[126] - 1) < 1e-12 && std::fabs(b[127] - 1) < 1e-12);
  sxt_hermitian_destroy(sets);
}

int32_t stop_at_once(void *, const sxt_verify_line *) { return 1; }
void measure(sxt_context *context) {
  sxt_matrix *a = grid(context, 20);
  sxt_verify_options verify;
  sxt_verify_options_init(&verify, sizeof verify);
  verify.candidate_seconds = 1e-3;
  CHECK(sxt_verify_model(a, &verify, stop_at_once, nullptr) == SXT_OK);
  sxt_matrix_destroy(a);
  const std::string path = "/tmp/sextant-regions-" + std::to_string(getpid()) + ".toml";
  sxt_calibrate_options options;
  sxt_calibrate_options_init(&options, sizeof options);
  options.seconds = 0.2;
  options.kind = "sxt.vector/1";
  options.path = path.c_str();
  CHECK(sxt_calibrate(context, &options, nullptr, 0, nullptr) == SXT_OK);
  std::remove(path.c_str());
}

void everything(int threads) {
  sxt_context *context = open_context(threads);
  if (!context) return;
  matrices(context);
  vectors(context);
  solves(context);
  hermitian(context);
  sxt_context_destroy(context);
}

void in_regions(int threads) {
  where = "parallel";
#pragma omp parallel num_threads(4)
  everything(threads);
  where = "single";
#pragma omp parallel num_threads(3)
#pragma omp single
  everything(threads);
  where = "critical";
#pragma omp parallel num_threads(3)
#pragma omp critical
  everything(threads);
  where = "sections";
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    everything(threads);
#pragma omp section
    everything(threads);
  }
  where = "task";
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 4; ++i) {
#pragma omp task
    everything(threads);
  }
  where = "for";
#pragma omp parallel for schedule(dynamic) num_threads(3)
  for (int i = 0; i < 3; ++i) everything(threads);
  where = "nested";
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  everything(threads);
}

}  // namespace

int main() {
  const std::string path = "/tmp/sextant-regions-" + std::to_string(getpid()) + ".mtx";
  if (std::FILE *file = std::fopen(path.c_str(), "w")) {
    std::fputs("%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n", file);
    std::fclose(file);
  }
  for (const int threads : {1, 3}) in_regions(threads);
  where = "measuring inside single";
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    sxt_context *context = open_context(2);
    measure(context);
    sxt_context_destroy(context);
  }
  where = "one context in all threads";
  sxt_context *shared = open_context(0);
#pragma omp parallel num_threads(4)
  {
    matrices(shared);
    vectors(shared);
    solves(shared);
  }
  sxt_context_destroy(shared);
  where = "omp_set_dynamic";
  omp_set_dynamic(1);
#pragma omp parallel num_threads(4)
  everything(0);
  CHECK(omp_get_dynamic() != 0);
  std::remove(path.c_str());
  std::printf("%d problems\n", problems.load());
  return problems ? 1 : 0;
}
