// SPDX-License-Identifier: BSD-3-Clause
// A whole life of the library, from the first context on, in which allocation N fails: once, or it and all that follow.
// Each N has its own process, forked before the library did anything, or, for later calls, once the first context
// exists. Nothing may end a process; every failure is SXT_E_MEMORY with a sentence and leaves its arguments unchanged;
// and when memory is available again the same call succeeds.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "failing_malloc.h"
#include "sextant/sextant.h"

namespace {

constexpr int n = 100, entries = 3 * n - 2;
constexpr long for_ever = 1L << 60;
int row[entries], col[entries];
double values[entries], b[n], x[n];
const char *plan_path = nullptr;
int problems = 0;

void complain(const char *what, const char *call, const char *more = "") {
  failing_malloc_pause();
  std::fprintf(stderr, "  %s: %s %s\n", call, what, more);
  ++problems;
  failing_malloc_resume();
}

// The call; where it fails, once more with memory.
template <class Call>
bool done(const char *name, const sxt_context *context, Call &&call) {
  const sxt_status status = call();
  if (status >= 0) return true;
  const char *said = sxt_last_error(context);
  if (status != SXT_E_MEMORY) complain(sxt_status_name(status), name, said);
  if (!said || !*said) complain("it says nothing", name);
  failing_malloc_pause();
  const sxt_status again = call();
  if (again < 0) complain("fails although there is memory again:", name, sxt_last_error(context));
  failing_malloc_resume();
  return again >= 0;
}

void fill() {
  int k = 0;
  const auto add = [&](int i, int j, double value) { row[k] = i, col[k] = j, values[k++] = value; };
  for (int i = 0; i < n; ++i) {
    b[i] = 1;
    if (i > 0) add(i, i - 1, -1);
    add(i, i, 2.1);
    if (i + 1 < n) add(i, i + 1, -1);
  }
}

void check_solution(const char *when) {
  double worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(worst, std::abs(b[i] - 2.1 * x[i] + (i ? x[i - 1] : 0) + (i + 1 < n ? x[i + 1] : 0)));
  if (!(worst < 1e-6)) complain("the solution is wrong", when);
}

void dense(sxt_context *context) {
  sxt_hermitian_options how;
  sxt_hermitian_options_init(&how, sizeof how);
  how.batch = 3, how.n = 4;
  how.definiteness = SXT_INDEFINITE;
  sxt_hermitian *systems = nullptr;
  if (!done("hermitian_create", context, [&] { return sxt_hermitian_create(context, &how, &systems); })) return;
  double a[48] = {}, rhs[12];
  std::int32_t info[3], pivots[12];
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a = a, set.b = rhs, set.info = info, set.pivots = pivots;
  done("hermitian_factor_solve", context, [&] {
    std::memset(a, 0, sizeof a);
    for (int s = 0; s < 3; ++s)
      for (int i = 0; i < 4; ++i) a[16 * s + 5 * i] = 2, rhs[4 * s + i] = 1;
    return sxt_hermitian_factor_solve(systems, &set);
  });
  sxt_hermitian_destroy(systems);
}

void vectors(sxt_context *context) {
  sxt_vector *vector = nullptr;
  if (!done("vector_create", context, [&] { return sxt_vector_create(context, 50, SXT_F64, &vector); })) return;
  double result = 0;
  done("nrm2", context, [&] { return sxt_nrm2(vector, &result); });
  done("dot", context, [&] { return sxt_dot(vector, vector, &result); });
  sxt_vector_destroy(vector);
}

void words(sxt_context *context, sxt_matrix *matrix) {
  static char text[100];
  double feature = 0;
  done("plan_save", context, [&] { return sxt_plan_save(context, plan_path); });
  done("plan_load", context, [&] { return sxt_plan_load(context, plan_path, 0); });
  done("feature", context, [&] { return sxt_matrix_feature(matrix, "row_nnz_max", &feature); });
  done("tree", context,
       [&] { return sxt_decision_tree(context, "axpy", SXT_F64, SXT_TEXT, text, sizeof text, nullptr); });
  done("describe", context, [&] { return sxt_context_describe(context, text, sizeof text, nullptr); });
  done("force", context, [&] { return sxt_context_force(context, "sxt.spmv/1", "spmv.csr.rows.cpu"); });
  sxt_matrix *read = nullptr;
  const char *file = SEXTANT_TEST_DATA "/mm/reader/fmm__eye3.mtx.gz";
  if (done("from_file", context, [&] { return sxt_matrix_from_file(context, file, nullptr, &read); }))
    sxt_matrix_destroy(read);
}

sxt_status open(sxt_context **context) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cpu";
  options.threads = 1;
  return sxt_context_create(&options, context);
}

void work_in(sxt_context *context) {
  sxt_matrix *matrix = nullptr;
  if (!done("from_coo", context,
            [&] { return sxt_matrix_from_coo(context, n, n, entries, row, col, values, nullptr, &matrix); }))
    return;
  done("spmv", context, [&] { return sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix, b, nullptr, x); });
  sxt_pcg *pcg = nullptr;
  if (done("pcg_create", context, [&] { return sxt_pcg_create(matrix, nullptr, &pcg); })) {
    static char text[100];
    done("solve", context, [&] { return sxt_pcg_solve_array(pcg, n, b, x, nullptr, nullptr); });
    check_solution("solve");
    done("explain", context, [&] { return sxt_pcg_explain(pcg, SXT_JSON, text, sizeof text, nullptr); });
    done("update", context, [&] { return sxt_matrix_update_values(matrix, values, entries); });
    done("solve again", context, [&] { return sxt_pcg_solve_array(pcg, n, b, x, nullptr, nullptr); });
    check_solution("solve again");
  }
  words(context, matrix);
  dense(context);
  vectors(context);
  sxt_pcg_destroy(pcg);
  sxt_matrix_destroy(matrix);
}

// Answers how many allocations there were, by a pipe, and whether all was well, by its exit. context: NULL: its own.
[[noreturn]] void live(sxt_context *context, long first, long last, int report_to) {
  failing_malloc_begin(first, last);
  if (context || done("context_create", nullptr, [&] { return open(&context); })) work_in(context);
  sxt_context_destroy(context);
  failing_malloc_pause();
  const long count = failing_malloc_count();
  if (write(report_to, &count, sizeof count) != sizeof count) _exit(3);
  _exit(problems ? 1 : 0);
}

// False: something was wrong with it.
bool one_life(sxt_context *context, long first, long last, long *count = nullptr) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) live(context, first, last, ends[1]);
  close(ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  long counted = 0;
  const bool told = read(ends[0], &counted, sizeof counted) == sizeof counted;
  close(ends[0]);
  if (count) *count = counted;
  if (told && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "  ended by signal %d\n", WTERMSIG(status));
  if (WIFEXITED(status) && !told) std::fprintf(stderr, "  ended by exit %d\n", WEXITSTATUS(status));
  return false;
}

// Runs with failures from allocation 1 on, at most `most` of them.
int lives(const char *name, sxt_context *context, bool once, long most) {
  long all = 0;
  if (!one_life(context, 0, -1, &all)) return std::fprintf(stderr, "%s: a life without failures fails\n", name), 1;
  int bad = 0, tried = 0;
  for (long first = 1; first <= all; first += 1 + all / most) {
    ++tried;
    if (one_life(context, first, once ? first : for_ever)) continue;
    std::fprintf(stderr, "%s: allocation %ld of %ld\n", name, first, all);
    ++bad;
  }
  std::printf("%s: %ld allocations, %d lives, %d bad\n", name, all, tried, bad);
  return bad;
}

}  // namespace

// once|for-ever PLAN [LIVES]
int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const bool once = !std::strcmp(argv[1], "once");
  const long most = argc > 3 ? std::atol(argv[3]) : 150;
  plan_path = argv[2];
  fill();
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  int bad = lives("from the first context on", nullptr, once, most);
  sxt_context *context = nullptr;
  if (open(&context) != SXT_OK) return 1;
  bad += lives("in a context", context, once, 4 * most);
  sxt_context_destroy(context);
  return bad ? 1 : 0;
}
