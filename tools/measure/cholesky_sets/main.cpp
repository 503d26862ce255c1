// SPDX-License-Identifier: BSD-3-Clause
// Many systems of one pattern: one call for all sets beside a loop over single factors and, on a GPU, cuDSS with its
// uniform batch and in a loop.
//
//   gpu_cholesky_sets [--device cuda|cpu] [--threads N] [--sets N] [--repeat N] [--scheduler NAME] [--cudss FOLDER]
//                     PROBLEM...
//
// A table on stdout, as Markdown. PROBLEM: 5pt:SIDE, 7pt:SIDE, 27pt:SIDE, or a Matrix Market file. Set k holds the
// matrix times 1 + k / 1000. Times are medians of whole calls, in milliseconds for all sets: refactorisations, and
// solves of one right-hand side each; where values and right-hand sides lie is in the table. A loop brings the values
// of each set by sxt_matrix_update_values before it factors them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sextant/cholesky_sets.h"
#include "tools/measure/cholesky_problems.hpp"
#include "tools/peers/cudss/system.hpp"

namespace {

using gpu_test::Problem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "cuda", scheduler, cudss;
  int threads = 0, repeat = 7;
  std::int64_t sets = 1000;
  std::vector<std::string> problems;
};

void need(sxt_status status) {
  if (status < 0) throw std::runtime_error(sxt_last_error(nullptr));
}

template <class T, void (*destroy)(T *)>
struct Destroy {
  void operator()(T *handle) const { destroy(handle); }
};
template <class T, void (*destroy)(T *)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;
using ContextHandle = Handle<sxt_context, sxt_context_destroy>;
using MatrixHandle = Handle<sxt_matrix, sxt_matrix_destroy>;
using AnalysisHandle = Handle<sxt_analysis, sxt_analysis_destroy>;
using FactorHandle = Handle<sxt_cholesky, sxt_cholesky_destroy>;
using SetsHandle = Handle<sxt_cholesky_sets, sxt_cholesky_sets_destroy>;
using VectorHandle = Handle<sxt_vector, sxt_vector_destroy>;

template <class H, class F>
H made(F &&make) {
  typename H::pointer raw = nullptr;
  need(make(&raw));
  return H(raw);
}

double median_ms(int repeat, const std::function<void()> &work) {
  work();
  std::vector<double> times;
  for (int k = 0; k < repeat; ++k) {
    const auto start = Clock::now();
    work();
    times.push_back(1e3 * std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + repeat / 2, times.end());
  return times[static_cast<std::size_t>(repeat / 2)];
}

Problem read_file(const std::string &path, sxt_context *context) {
  const auto matrix =
      made<MatrixHandle>([&](sxt_matrix **out) { return sxt_matrix_from_file(context, path.c_str(), nullptr, out); });
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  need(sxt_matrix_get_info(matrix.get(), &info));
  if (info.value_type != SXT_F64) throw std::runtime_error(path + " holds no real numbers");
  Problem a;
  a.name = path.substr(path.rfind('/') + 1);
  const void *ptr = nullptr, *col = nullptr, *values = nullptr;
  need(sxt_matrix_get_csr(matrix.get(), &ptr, &col, &values));
  const auto *const begins = static_cast<const std::int32_t *>(ptr);  // small matrices have these types
  a.ptr.assign(begins, begins + info.rows + 1);
  a.col.assign(static_cast<const std::int32_t *>(col), static_cast<const std::int32_t *>(col) + info.nnz);
  a.values.assign(static_cast<const double *>(values), static_cast<const double *>(values) + info.nnz);
  return a;
}

Problem problem_of(const std::string &name, sxt_context *context) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return read_file(name, context);
  const std::string kind = name.substr(0, colon);
  const std::int64_t side = std::stoll(name.substr(colon + 1));
  if (kind == "5pt") return gpu_test::stencil(name.c_str(), side, 1, false, 1);
  if (kind == "7pt") return gpu_test::stencil(name.c_str(), side, side, false, 1);
  if (kind == "27pt") return gpu_test::stencil(name.c_str(), side, side, true, 1);
  throw std::runtime_error("no problem is called " + name);
}

// A family of systems: values and right-hand sides of all sets.
struct Family {
  Family(Problem of, std::int64_t sets)
      : a(std::move(of)), count(sets), nnz(static_cast<std::int64_t>(a.values.size())) {
    for (std::int64_t k = 0; k < count; ++k)
      for (const double value : a.values) values.push_back(value * size(k));
    b.resize(static_cast<std::size_t>(a.n() * count));
    for (std::size_t k = 0; k < b.size(); ++k) b[k] = 1 + static_cast<double>(k * 2654435761u % 1000) * 1e-3;
  }
  static double size(std::int64_t set) { return 1 + 1e-3 * static_cast<double>(set); }
  // The largest backward error of all sets.
  double error(const std::vector<double> &x) const {
    double worst = 0;
    for (std::int64_t set = 0; set < count; ++set)
      for (std::int64_t i = 0; i < a.n(); ++i) {
        double r = b[static_cast<std::size_t>(set * a.n() + i)], s = std::abs(r);
        for (std::int32_t k = a.ptr[static_cast<std::size_t>(i)]; k < a.ptr[static_cast<std::size_t>(i) + 1]; ++k) {
          const double term = a.values[static_cast<std::size_t>(k)] * size(set) *
                              x[static_cast<std::size_t>(set * a.n() + a.col[static_cast<std::size_t>(k)])];
          r -= term, s += std::abs(term);
        }
        if (!(std::abs(r) / s <= worst)) worst = std::abs(r) / s;
      }
    return worst;
  }
  Problem a;
  std::int64_t count, nnz;
  std::vector<double> values, b;
};

struct Row {
  double factor = NAN, solve = NAN, predicted = NAN, predicted_solve = NAN, error = NAN, megabytes = NAN;
  std::string kernel;
};

void print(const Family &family, const std::string &by, const char *where, const Row &row, const Row *loop) {
  const auto each = static_cast<double>(family.count);
  std::printf("| %s | %lld | %lld | %s | %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.0e | %.2f | %.2f |\n",
              family.a.name.c_str(), (long long)family.a.n(), (long long)family.count, by.c_str(), where, row.factor,
              row.predicted, 1e3 * row.factor / each, row.solve, row.predicted_solve, 1e3 * row.solve / each,
              row.megabytes, row.error, loop ? loop->factor / row.factor : NAN, loop ? loop->solve / row.solve : NAN);
  std::fflush(stdout);
}

// What the first line of an explanation's facts says of the kernel.
std::string kernel_of(const sxt_cholesky_sets *sets) {
  std::int64_t length = 0;
  need(sxt_cholesky_sets_explain(sets, SXT_TEXT, nullptr, 0, &length));
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  need(sxt_cholesky_sets_explain(sets, SXT_TEXT, text.data(), length + 1, nullptr));
  const std::size_t at = text.find("call of ");
  return at == std::string::npos ? "?" : text.substr(at + 8, text.find(':', at) - at - 8);
}

class Ours {
 public:
  Ours(sxt_context *context, const Family &family, const Options &options)
      : context_(context), family_(family), options_(options) {
    const Problem &a = family.a;
    matrix_ = made<MatrixHandle>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context, a.n(), a.n(), a.ptr.data(), a.col.data(), a.values.data(), nullptr, out);
    });
    sxt_analysis_options how;
    sxt_analysis_options_init(&how, sizeof how);
    how.scheduler = options.scheduler.empty() ? nullptr : options.scheduler.c_str();
    how.expected_factors = how.expected_solves = 1000;
    how.check_symmetry = 0;
    analysis_ = made<AnalysisHandle>([&](sxt_analysis **out) { return sxt_analysis_create(matrix_.get(), &how, out); });
  }

  // Values and right-hand sides in the memory of the device, or of the host.
  Row sets(bool on_device) const {
    const auto all = made<SetsHandle>(
        [&](sxt_cholesky_sets **out) { return sxt_cholesky_sets_create(analysis_.get(), family_.count, out); });
    const VectorHandle values = vector_of(family_.values), b = vector_of(family_.b), x = vector_of(family_.b);
    std::vector<double> answer(family_.b.size());
    const void *const v = on_device ? data_of(values) : family_.values.data();
    const void *const from = on_device ? data_of(b) : family_.b.data();
    void *const to = on_device ? data_of(x) : answer.data();
    const std::int64_t n = family_.a.n();
    Row row;
    row.factor = median_ms(options_.repeat, [&] {
      need(sxt_cholesky_sets_factor(all.get(), 0, family_.count, family_.nnz, v, family_.nnz, nullptr));
    });
    row.solve = median_ms(options_.repeat, [&] {
      need(sxt_cholesky_sets_solve(all.get(), 0, family_.count, n, 1, from, n, n, to, n, n, nullptr));
    });
    if (on_device) need(sxt_vector_read(x.get(), answer.data()));
    sxt_cholesky_sets_info info{};
    info.struct_size = sizeof info;
    need(sxt_cholesky_sets_get_info(all.get(), &info));
    row.predicted = 1e3 * info.predicted_factor_seconds, row.predicted_solve = 1e3 * info.predicted_solve_seconds;
    row.megabytes = 1e-6 * static_cast<double>(info.device_bytes ? info.device_bytes : info.host_bytes);
    row.error = family_.error(answer);
    row.kernel = kernel_of(all.get());
    return row;
  }

  // One set after the other, each with a factor of its own, as solves follow.
  Row loop() const {
    const std::int64_t n = family_.a.n();
    std::vector<FactorHandle> factors;
    for (std::int64_t k = 0; k < family_.count; ++k)
      factors.push_back(
          made<FactorHandle>([&](sxt_cholesky **out) { return sxt_cholesky_create(analysis_.get(), out); }));
    Row row;
    row.factor = median_ms(options_.repeat, [&] {
      for (std::int64_t k = 0; k < family_.count; ++k) {
        need(sxt_matrix_update_values(matrix_.get(), family_.values.data() + k * family_.nnz, family_.nnz));
        need(sxt_cholesky_factor(factors[static_cast<std::size_t>(k)].get(), nullptr, nullptr));
      }
    });
    std::vector<double> x(family_.b.size());
    row.solve = median_ms(options_.repeat, [&] {
      for (std::int64_t k = 0; k < family_.count; ++k)
        need(sxt_cholesky_solve(factors[static_cast<std::size_t>(k)].get(), n, 1, family_.b.data() + k * n, n,
                                x.data() + k * n, n, nullptr, nullptr));
    });
    sxt_analysis_info info{};
    info.struct_size = sizeof info;
    need(sxt_analysis_get_info(analysis_.get(), &info));
    row.predicted = 1e3 * info.predicted_factor_seconds * static_cast<double>(family_.count);
    row.predicted_solve = 1e3 * info.predicted_solve_seconds * static_cast<double>(family_.count);
    row.error = family_.error(x);
    return row;
  }

 private:
  VectorHandle vector_of(const std::vector<double> &from) const {
    auto vector = made<VectorHandle>([&](sxt_vector **out) {
      return sxt_vector_create(context_, static_cast<std::int64_t>(from.size()), SXT_F64, out);
    });
    need(sxt_vector_write(vector.get(), from.data()));
    return vector;
  }
  static void *data_of(const VectorHandle &vector) { return sxt_vector_data(vector.get()); }

  sxt_context *context_;
  const Family &family_;
  const Options &options_;
  MatrixHandle matrix_;
  AnalysisHandle analysis_;
};

sxt_peer_csr csr_of(const Family &family) {
  const Problem &a = family.a;
  const auto n = static_cast<std::int32_t>(a.n());
  return {n, n, static_cast<std::int32_t>(a.values.size()), a.ptr.data(), a.col.data(), a.values.data()};
}

// All sets at once, in device memory.
Row cudss_batch(const cudss_peer::Functions &functions, const Family &family, const Options &options) {
  cudss_peer::System system(functions, csr_of(family), family.count);
  system.put_values(family.values.data());
  Row row;
  row.factor = median_ms(options.repeat, [&] { system.factor(); });
  const std::size_t bytes = family.b.size() * sizeof(double);
  cudss_peer::DeviceArray right(functions, bytes), left(functions, bytes);
  right.put(family.b.data(), bytes);
  row.solve = median_ms(options.repeat, [&] { system.solve(right.data(), left.data(), 1); });
  std::vector<double> x(family.b.size());
  cudss_peer::need(functions.copy(x.data(), left.data(), bytes, cudss_peer::memory_to_host), "copy");
  row.error = family.error(x);
  return row;
}

// One set after the other with one object, values and right-hand sides in device memory: solves repeat the last set's.
Row cudss_loop(const cudss_peer::Functions &functions, const Family &family, const Options &options) {
  cudss_peer::System system(functions, csr_of(family));
  const std::int64_t n = family.a.n();
  Row row;
  row.factor = median_ms(options.repeat, [&] {
    for (std::int64_t k = 0; k < family.count; ++k) {
      system.put_values(family.values.data() + k * family.nnz);
      system.factor();
    }
  });
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(double);
  cudss_peer::DeviceArray right(functions, bytes), left(functions, bytes);
  right.put(family.b.data(), bytes);
  row.solve = median_ms(options.repeat, [&] {
    for (std::int64_t k = 0; k < family.count; ++k) system.solve(right.data(), left.data(), 1);
  });
  return row;
}

template <class F>
std::optional<Row> attempt(const Family &family, const char *name, F &&f) {
  try {
    return f();
  } catch (const std::exception &problem) {
    std::printf("| %s | %lld | %lld | %s | %s |\n", family.a.name.c_str(), (long long)family.a.n(),
                (long long)family.count, name, problem.what());
    std::fflush(stdout);
    return std::nullopt;
  }
}

void measure(sxt_context *context, const cudss_peer::Functions *functions, const std::string &name,
             const Options &options) {
  const Family family(problem_of(name, context), options.sets);
  const Ours ours(context, family, options);
  const std::optional<Row> loop = attempt(family, "loop", [&] { return ours.loop(); });
  if (loop) print(family, "a loop of single factors", "host", *loop, nullptr);
  for (const bool on_device : {true, false}) {
    if (on_device && options.device != "cuda") continue;
    const std::optional<Row> row = attempt(family, "sets", [&] { return ours.sets(on_device); });
    if (row) print(family, "sets, " + row->kernel, on_device ? "device" : "host", *row, loop ? &*loop : nullptr);
  }
  if (!functions) return;
  const Row *const other = loop ? &*loop : nullptr;
  if (const auto row = attempt(family, "cuDSS batch", [&] { return cudss_batch(*functions, family, options); }))
    print(family, "cuDSS, uniform batch", "device", *row, other);
  if (const auto row = attempt(family, "cuDSS loop", [&] { return cudss_loop(*functions, family, options); }))
    print(family, "cuDSS in a loop", "values on the host", *row, other);
}

Options parse(int argc, char **argv) {
  Options out;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value = [&] {
      if (++k >= argc) throw std::runtime_error(word + " needs a value");
      return std::string(argv[k]);
    };
    if (word == "--device")
      out.device = value();
    else if (word == "--scheduler")
      out.scheduler = value();
    else if (word == "--cudss")
      out.cudss = value();
    else if (word == "--threads")
      out.threads = std::stoi(value());
    else if (word == "--sets")
      out.sets = std::stoll(value());
    else if (word == "--repeat")
      out.repeat = std::stoi(value());
    else
      out.problems.push_back(word);
  }
  return out;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    const Options options = parse(argc, argv);
    sxt_context_options how;
    sxt_context_options_init(&how, sizeof how);
    how.device = options.device.c_str();
    how.threads = options.threads;
    const auto context = made<ContextHandle>([&](sxt_context **out) { return sxt_context_create(&how, out); });
    cudss_peer::Functions functions;
    std::string tried, location;
    const char *const folders[] = {options.cudss.c_str(), nullptr};
    const bool there = !options.cudss.empty() && functions.load(folders, tried, location);
    if (!options.cudss.empty() && !there) std::fprintf(stderr, "cuDSS was not found: %s\n", tried.c_str());
    std::printf(
        "| problem | n | sets | by | memory | factor ms | predicted | a set us | solve ms | predicted | a set us | MB "
        "| "
        "error | factor, loop / it | solve |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string &name : options.problems)
      measure(context.get(), there ? &functions : nullptr, name, options);
    return 0;
  } catch (const std::exception &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
