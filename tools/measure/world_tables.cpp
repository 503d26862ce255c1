// SPDX-License-Identifier: BSD-3-Clause
// Tables of docs/measurements/two_gpus.md: conjugate gradients without preconditioner on one GPU and on worlds of
// several, microseconds an iteration. usage: gpu_world_tables [--explain] GPUS ITERATIONS SYSTEM...   with SYSTEM:
// 7pt:N (an N^3 grid) or power-law:N (N rows). The same system is solved by one context on GPU 0, then by worlds of 2
// to GPUS members, by each engine of a world and by the one that the library chooses, three times each; the least time
// is told, and what was predicted. --explain prints the predictions of every kernel of a world, too.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sextant/sextant.h"

namespace {

struct Csr {
  std::int64_t rows = 0;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> col;
  std::vector<double> values;
};

Csr seven_point(std::int64_t n) {
  Csr a;
  a.rows = n * n * n;
  const std::int64_t steps[] = {-n * n, -n, -1, 0, 1, n, n * n};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t x = i % n, y = i / n % n, z = i / (n * n);
    const bool there[] = {z > 0, y > 0, x > 0, true, x + 1 < n, y + 1 < n, z + 1 < n};
    for (int k = 0; k < 7; ++k)
      if (there[k]) a.col.push_back(static_cast<std::int32_t>(i + steps[k])), a.values.push_back(k == 3 ? 6 : -1);
    a.ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  return a;
}

// Each row has eight edges to rows drawn with a density that falls towards higher numbers; numbers are then shuffled. A
// graph's Laplacian plus one. Rows are counted, filled and sorted in arrays of the whole.
Csr power_law(std::int64_t rows) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::int32_t> name(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < name.size(); ++i) name[i] = static_cast<std::int32_t>(i);
  std::shuffle(name.begin(), name.end(), random);
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  edges.reserve(8 * name.size());
  std::vector<std::int64_t> at(name.size() + 1);
  for (std::int64_t i = 0; i < rows; ++i)
    for (int e = 0; e < 8; ++e) {
      const double u = uniform(random);
      const auto j = std::min(rows - 1, static_cast<std::int64_t>(u * u * u * static_cast<double>(rows)));
      if (i == j) continue;
      edges.emplace_back(name[static_cast<std::size_t>(i)], name[static_cast<std::size_t>(j)]);
      ++at[static_cast<std::size_t>(edges.back().first) + 1], ++at[static_cast<std::size_t>(edges.back().second) + 1];
    }
  for (std::size_t i = 0; i + 1 < at.size(); ++i) at[i + 1] += at[i] + 1;  // and the diagonal
  std::vector<std::int32_t> near(static_cast<std::size_t>(at.back()));
  std::vector<std::int64_t> next = at;
  for (std::size_t i = 0; i < name.size(); ++i)
    near[static_cast<std::size_t>(next[i]++)] = static_cast<std::int32_t>(i);
  for (const auto &[one, other] : edges) {
    near[static_cast<std::size_t>(next[static_cast<std::size_t>(one)]++)] = other;
    near[static_cast<std::size_t>(next[static_cast<std::size_t>(other)]++)] = one;
  }
  Csr a;
  a.rows = rows;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto begin = near.begin() + at[i];
    std::sort(begin, near.begin() + at[i + 1]);
    const auto end = std::unique(begin, near.begin() + at[i + 1]);
    for (auto j = begin; j != end; ++j) {
      a.col.push_back(*j);
      a.values.push_back(*j == static_cast<std::int32_t>(i) ? static_cast<double>(end - begin) : -1);
    }
    a.ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  return a;
}

[[noreturn]] void end(const char *what, const sxt_context *context) {
  std::fprintf(stderr, "%s: %s\n", what, sxt_last_error(context));
  std::exit(1);
}

sxt_context *open_gpu(int ordinal) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  options.device_ordinal = ordinal;
  sxt_context *context = nullptr;
  if (sxt_context_create(&options, &context)) end("context", nullptr);
  return context;
}

std::string explained(const sxt_pcg *pcg) {
  std::vector<char> text(1 << 22);
  std::int64_t length = 0;
  if (sxt_pcg_explain(pcg, SXT_TEXT, text.data(), static_cast<std::int64_t>(text.size()), &length)) return "";
  return text.data();
}

// Lines that have a word, without candidates.
std::string lines_with(const std::string &text, const std::vector<std::string> &words) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.rfind("Candidates", 0) == 0) break;
    for (const std::string &word : words)
      if (line.find(word) != std::string::npos) {
        out += "    | " + line + "\n";
        break;
      }
    at = end + 1;
  }
  return out;
}

bool explain_all = false;

// Least microseconds an iteration of three solves with a fixed number of iterations.
double time_solves(sxt_pcg *pcg, sxt_vector *b, sxt_vector *x, const sxt_context *context, std::int64_t iterations) {
  double least = 1e300;
  sxt_solve_options options;
  sxt_solve_options_init(&options, sizeof options);
  options.max_iterations = iterations;
  for (int again = 0; again < 4; ++again) {  // the first one warms up
    const double zero = 0;
    if (sxt_fill(&zero, x)) end("x", context);
    sxt_pcg_report report{};
    report.struct_size = sizeof report;
    if (sxt_pcg_solve(pcg, b, x, &options, &report) < 0) end("solve", context);
    if (again > 0) least = std::min(least, report.solve_seconds / static_cast<double>(report.iterations));
    if (again == 3)
      std::printf("    %s after %lld iterations, ||r|| / ||b|| = %.3e\n", sxt_reason_name(report.reason),
                  static_cast<long long>(report.iterations), report.true_relative_residual);
  }
  return least * 1e6;
}

sxt_pcg_options solver_options(std::int64_t iterations) {
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  options.preconditioner = "none";
  options.rtol = 1e-15;
  options.max_iterations = iterations;
  return options;
}

double on_one(const Csr &a, std::int64_t iterations) {
  sxt_context *context = open_gpu(0);
  sxt_matrix_options given;
  sxt_matrix_options_init(&given, sizeof given);
  given.offset_type = SXT_I64;
  sxt_matrix *matrix = nullptr;
  sxt_pcg *pcg = nullptr;
  sxt_vector *b = nullptr, *x = nullptr;
  const double one = 1;
  sxt_pcg_options options = solver_options(iterations);
  if (sxt_matrix_from_csr(context, a.rows, a.rows, a.ptr.data(), a.col.data(), a.values.data(), &given, &matrix) ||
      sxt_vector_create(context, a.rows, SXT_F64, &b) || sxt_vector_create(context, a.rows, SXT_F64, &x) ||
      sxt_fill(&one, b) || sxt_pcg_create(matrix, &options, &pcg))
    end("one GPU", context);
  const double least = time_solves(pcg, b, x, context, iterations);
  std::printf("  1 GPU: %.2f us an iteration\n%s", least,
              lines_with(explained(pcg), {"engine", "pcg:", "predicted"}).c_str());
  sxt_pcg_destroy(pcg), sxt_vector_destroy(b), sxt_vector_destroy(x), sxt_matrix_destroy(matrix);
  sxt_context_destroy(context);
  return least;
}

void tell_members(const sxt_pcg *pcg, int gpus) {
  for (int i = 0; i < gpus; ++i) {
    sxt_member_report report{};
    report.struct_size = sizeof report;
    if (sxt_pcg_get_member(pcg, i, &report) == SXT_OK)
      std::printf("    member %d: %lld rows, halo %lld in, %lld out; last solve %.2f ms in products, %.2f waiting\n", i,
                  static_cast<long long>(report.rows), static_cast<long long>(report.halo_received),
                  static_cast<long long>(report.halo_sent), 1e3 * report.product_seconds, 1e3 * report.waiting_seconds);
  }
}

void on_several(const Csr &a, int gpus, std::int64_t iterations, double alone, const char *engine) {
  std::vector<sxt_context *> contexts;
  for (int i = 0; i < gpus; ++i) contexts.push_back(open_gpu(i));
  sxt_world *world = nullptr;
  sxt_matrix *matrix = nullptr;
  sxt_pcg *pcg = nullptr;
  sxt_vector *b = nullptr, *x = nullptr;
  sxt_matrix_options given;
  sxt_matrix_options_init(&given, sizeof given);
  given.offset_type = SXT_I64;
  std::vector<std::int64_t> begin(static_cast<std::size_t>(gpus) + 1), lengths;
  const double one = 1;
  sxt_pcg_options options = solver_options(iterations);
  options.engine = engine;
  const auto begun = std::chrono::steady_clock::now();
  if (sxt_world_create(gpus, contexts.data(), nullptr, nullptr, &world) ||
      sxt_matrix_from_csr_rows(world, a.rows, a.rows, 0, a.rows, a.ptr.data(), a.col.data(), a.values.data(), &given,
                               &matrix) ||
      sxt_matrix_rows(matrix, begin.data()))
    end("world", contexts[0]);
  for (int i = 0; i < gpus; ++i) lengths.push_back(begin[i + 1] - begin[i]);
  if (sxt_world_vector_create(world, lengths.data(), SXT_F64, &b) ||
      sxt_world_vector_create(world, lengths.data(), SXT_F64, &x) || sxt_fill(&one, b) ||
      sxt_pcg_create(matrix, &options, &pcg))
    end("world", contexts[0]);
  const double set_up = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const double least = time_solves(pcg, b, x, contexts[0], iterations);
  std::printf("  %d GPUs: %.2f us an iteration, %.2f times as fast as one; %s; set-up %.2f s\n", gpus, least,
              alone / least, engine ? engine : "chosen", set_up);
  std::vector<std::string> words{"iteration predicted", "members used"};
  if (explain_all) words.push_back("a run");
  std::printf("%s", lines_with(explained(pcg), words).c_str());
  tell_members(pcg, gpus);
  sxt_pcg_destroy(pcg), sxt_vector_destroy(b), sxt_vector_destroy(x), sxt_matrix_destroy(matrix),
      sxt_world_destroy(world);
  for (sxt_context *context : contexts) sxt_context_destroy(context);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc > 1 && !std::strcmp(argv[1], "--explain")) explain_all = true, --argc, ++argv;
  if (argc < 4)
    return std::fprintf(stderr, "usage: gpu_world_tables [--explain] GPUS ITERATIONS 7pt:N|power-law:N ...\n"), 2;
  const int gpus = std::atoi(argv[1]);
  const std::int64_t iterations = std::atoll(argv[2]);
  for (int i = 3; i < argc; ++i) {
    const char *size = std::strchr(argv[i], ':');
    const std::int64_t n = size ? std::atoll(size + 1) : 0;
    const bool grid = std::strncmp(argv[i], "7pt:", 4) == 0;
    if (n < 2 || (!grid && std::strncmp(argv[i], "power-law:", 10)))
      return std::fprintf(stderr, "no system: %s\n", argv[i]), 2;
    const Csr a = grid ? seven_point(n) : power_law(n);
    std::printf("%s: %lld rows, %lld entries\n", argv[i], static_cast<long long>(a.rows),
                static_cast<long long>(a.col.size()));
    std::fflush(stdout);
    const double alone = on_one(a, iterations);
    for (int members = 2; members <= gpus; members *= 2) {
      on_several(a, members, iterations, alone, "world.by-host");
      on_several(a, members, iterations, alone, "world.on-devices");
      on_several(a, members, iterations, alone, nullptr);
    }
    std::fflush(stdout);
  }
  return 0;
}
