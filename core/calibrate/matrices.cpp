// SPDX-License-Identifier: BSD-3-Clause
// Samples of storages and sparse products on the synthetic families. Each storage of a matrix is built once, and every
// kernel that reads it is measured on it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <future>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/entered.hpp"
#include "core/base/types.hpp"
#include "core/calibrate/families.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/model/timing.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/spmv_dots.h"

namespace sextant {

namespace {

// Entries, from launch-bound to well beyond any private cache; the largest stay within settings.most_bytes. A device is
// filled by far more than a core, and what its caches hold lies in between; its largest take most of the time, so that
// they are few.
constexpr double host_sizes[] = {4e2, 1.5e3, 4e3, 1e4, 2.5e4, 6e4, 1.5e5, 4e5, 1e6};
constexpr double device_sizes[] = {4e2, 2e5, 4e3, 2e6, 2e4, 6e5, 6e4, 6e6, 1e4, 1.2e5, 1.5e7};
// Matrices made by threads of the host while a device works: the largest take as long to make as ten others to measure.
constexpr unsigned most_made_ahead = 12;
constexpr double seconds_an_entry = 50e-9;  // of making a matrix
constexpr double runs_a_sample = 7;         // of a long run: warm-up, finding the batch, a few
constexpr int device_samples = 5;           // replays: another matrix teaches more than another sample of one
// On the host all candidates of a matrix take turns, and the median of their turns counts: what another program takes
// away for a while falls on all of them. A run of long_run_s is measured once: it averages by itself.
constexpr int host_rounds = 3, samples_a_round = 2;
constexpr double long_run_s = 2e-3;
// So many times the fastest run so far, and so many seconds: such a candidate need not be known better.
constexpr double hopeless_product = 30, hopeless_s = 1e-3;

// Beyond host_sizes one matrix takes as long as ten others, so that few of them have to do: families that between them
// suit every format, each with most of large_sizes before the next, in a part of the time.
constexpr double large_sizes[] = {3e6, 1.6e7};
constexpr const char *large_families[] = {"stencil-3d-7", "nodes-3",      "uniform-12", "band-21",  "blocks-4",
                                          "power-law",    "stencil-2d-9", "shuffled-8", "clusters", "pairs-2"};
constexpr int between_large = 8;  // matrices of host_sizes
constexpr double large_share = 0.4;

// What one product needs: vectors of ones, scalars, results.
struct ProductOperands {
  ProductOperands(Context &context, sxt_value_type type, std::int64_t rows, std::int64_t cols) {
    Device &device = context.device();
    for (int i = 0; i < 3; ++i) vectors[i] = filled(device, type, i == 0 ? cols : rows);
    results = DeviceBuffer(device, 256);
    with_value_type(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      new (one) T(static_cast<T>(1));
      new (zero) T(static_cast<T>(0));
    });
  }
  static DeviceBuffer filled(Device &device, sxt_value_type type, std::int64_t n) {
    std::vector<double> memory(static_cast<std::size_t>(n * value_bytes(type) / 8 + 1));
    with_value_type(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (std::int64_t i = 0; i < n; ++i) reinterpret_cast<T *>(memory.data())[i] = static_cast<T>(1);
    });
    DeviceBuffer out(device, static_cast<std::uint64_t>(n * value_bytes(type)));
    device.copy(out.data(), memory.data(), out.bytes());
    return out;
  }
  DeviceBuffer vectors[3], results;  // x, y and one beside them
  alignas(16) unsigned char one[16] = {}, zero[16] = {};
};

sxt_spmv_args product_args(const ProductOperands &operands, std::uint64_t size, const char *kind) {
  sxt_spmv_args args{};
  args.h = {size, kind};
  args.n_rhs = 1;
  args.alpha = {operands.one, 0, 0};
  args.beta = {operands.zero, 0, 0};
  args.x = operands.vectors[0].data();
  args.y = operands.vectors[1].data();
  return args;
}

// The time of building each storage; those that decline are left out.
void build_storages(Context &context, Matrix &matrix, Sampler &sampler, sxt_value_type vectors) {
  std::map<std::string, const registry::Kernel *> kinds;
  for (const registry::Kernel *kernel : context.scope().all_kernels()) {
    const std::string kind = kernel->table.kind;
    if (kind.find(".storage.") != std::string::npos && context.device_name() == std::string_view(kernel->table.device))
      kinds[kind] = kernel;
  }
  std::vector<std::string> order{SXT_KIND_STORAGE_CSR};  // first: a device's others are converted from it
  for (const auto &[kind, any] : kinds)
    if (kind != SXT_KIND_STORAGE_CSR) order.push_back(kind);
  for (const std::string &kind : order) {
    const registry::Kernel *kernel = matrix.storage_kernel(kind);
    if (!kernel || !kernel->table.candidates) continue;
    sxt_matrix_query query = matrix.query_part(kind.c_str(), sizeof query, 1);
    sxt_candidate candidate{};
    std::uint64_t count = 0;
    const std::vector<double> values = matrix.features_for(*kernel);
    const sxt_features found{values.size(), kernel->table.features, values.data()};
    std::string why;
    const auto ask = [&] {
      return kernel->table.candidates(&query.q, &found, &context.machine(), nullptr, &candidate, 1, &count);
    };
    if (model_entered(ask, why) != SXT_OK) continue;
    try {
      const double seconds = time_once([&] { matrix.form(kind); });
      if (vectors == matrix.value_type()) sampler.add_setup(kernel->table, query.q, candidate, seconds);
    } catch (const Error &) {  // too much fill, too much memory: not for this matrix
    }
  }
}

// The time of P A P^T where the CSR's storage makes it: rows and columns in an order that leaves no neighbours
// together.
void permute_storage(Context &context, Matrix &matrix, Sampler &sampler) {
  sxt_candidate candidate;
  const std::int64_t n = matrix.rows();
  const registry::Kernel *kernel = matrix.permuting_kernel(&candidate);
  if (!kernel || n != matrix.cols() || n < 2 || !matrix.holds(SXT_KIND_STORAGE_CSR)) return;
  constexpr double golden = 0.6180339887498949;  // of n, or the next number that shares no factor with it
  auto step = static_cast<std::int64_t>(golden * static_cast<double>(n));
  while (std::gcd(step, n) != 1) ++step;
  try {
    const DeviceBuffer perm = with_index_type(matrix.csr().index_type, [&](auto tag) {
      std::vector<typename decltype(tag)::type> order(static_cast<std::size_t>(n));
      for (std::int64_t k = 0, row = 0; k < n; ++k, row = (row + step) % n)
        order[static_cast<std::size_t>(k)] = static_cast<typename decltype(tag)::type>(row);
      DeviceBuffer out(context.device(), order.size() * sizeof order[0]);
      context.device().copy(out.data(), order.data(), out.bytes());
      return out;
    });
    double seconds = 0;
    for (int turn = 0; turn < 2; ++turn) {  // the first may load code
      const auto start = std::chrono::steady_clock::now();
      matrix.permuted(perm.data(), 1);
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    const sxt_matrix_query query = matrix.query_part(SXT_KIND_STORAGE_CSR, sizeof query, 1);
    sampler.add_setup(kernel->table, query.q, candidate, seconds);
  } catch (const Error &) {  // too little memory
  }
}

class MatrixStage {
 public:
  MatrixStage(Context &context, const CalibrationClock &clock, Sampler &sampler, sxt_value_type vectors, double until)
      : context_(context), clock_(clock), sampler_(sampler), vectors_(vectors), until_(until) {}

  void measure(Matrix &matrix, int family, double sample_s) {
    build_storages(context_, matrix, sampler_, vectors_);
    if (vectors_ == matrix.value_type()) permute_storage(context_, matrix, sampler_);
    const ProductOperands operands(context_, vectors_, matrix.rows(), matrix.cols());
    Selector selector(context_, &matrix);
    sxt_spmv_query query{};
    query.m = matrix.query_part(SXT_KIND_SPMV, sizeof query, 1000);
    query.m.q.value_type = vectors_;
    query.n_rhs = 1;
    sxt_spmv_args args = product_args(operands, sizeof args, SXT_KIND_SPMV);
    const std::set<std::string_view> plain =
        measure_all(selector, Query(&query.m.q), &args.h, matrix, family, sample_s);
    measure_transposed(selector, query, args, matrix, family, sample_s, plain);

    sxt_spmv_dots_query dots{};
    dots.m = query;
    dots.m.m.q.h = {sizeof dots, SXT_KIND_SPMV_DOTS};
    // As the recurrences of conjugate gradients ask for them: p'q; u'w and u'u; p'q, r'q, q'q and r'r.
    constexpr std::int32_t counts[] = {1, 2, 4};
    dots.n_dots = counts[family % 3];
    const void *const p = operands.vectors[0].data(), *const r = operands.vectors[2].data();
    const void *u[] = {p, dots.n_dots == 2 ? p : r, nullptr, r};
    const void *v[] = {nullptr, dots.n_dots == 2 ? p : nullptr, nullptr, r};
    sxt_spmv_dots_args dots_args{};
    dots_args.m = product_args(operands, sizeof dots_args, SXT_KIND_SPMV_DOTS);
    dots_args.n_dots = dots.n_dots;
    dots_args.u = u;
    dots_args.v = v;
    dots_args.dots = operands.results.data();
    measure_all(selector, Query(&dots.m.m.q), &dots_args.m.h, matrix, family, sample_s);
  }

 private:
  // Kernels that only a transposed product has: the others do there what they do with the matrix that was transposed.
  void measure_transposed(Selector &selector, sxt_spmv_query query, sxt_spmv_args args, Matrix &matrix, int family,
                          double sample_s, const std::set<std::string_view> &known) {
    if (matrix.rows() != matrix.cols()) return;  // the vectors are of the plain product's lengths
    query.op = args.op = SXT_TRANSPOSE;
    measure_all(selector, Query(&query.m.q), &args.h, matrix, family, sample_s, &known);
  }
  // Names of the kernels that have a part in it; those of `except` are left out.
  std::set<std::string_view> measure_all(Selector &selector, const Query &query, sxt_head *args, Matrix &matrix,
                                         int family, double sample_s,
                                         const std::set<std::string_view> *except = nullptr) {
    double fastest = std::numeric_limits<double>::infinity();
    std::set<std::string_view> names;
    std::vector<Sampler::Runner> runners;
    const bool host = context_.device().on_host();
    const int rounds = host ? host_rounds : 1, least = host ? samples_a_round : device_samples;
    for (const ChoicePtr &choice : selector.every({query, query.kind()})) {
      names.insert(choice->kernel->name());
      if (except && except->count(choice->kernel->name())) continue;
      // A hopeless candidate (a format that is mostly padding) may not eat the stage.
      const bool affordable = runs_a_sample * choice->run_s < 0.2 * std::max(0.0, until_ - clock_.elapsed());
      const bool slow = choice->run_s > std::max(hopeless_s, hopeless_product * fastest);
      if (!Sampler::wanted(*choice->kernel) || !affordable || slow) continue;
      Sampler::Runner runner = sampler_.set_up(choice, &matrix);
      sampler_.take_turn(runner, {&args, 1}, sample_s / rounds, least);
      if (runner.turns.empty()) continue;
      fastest = std::min(fastest, runner.turns.front());
      runners.push_back(std::move(runner));
    }
    for (int round = 1; round < rounds; ++round)
      for (Sampler::Runner &runner : runners)
        if (runner.turns.front() < long_run_s && runner.turns.front() < hopeless_product * fastest)
          sampler_.take_turn(runner, {&args, 1}, sample_s / rounds, least);
    for (const Sampler::Runner &runner : runners) sampler_.keep(runner, family);
    return names;
  }

  Context &context_;
  const CalibrationClock &clock_;
  Sampler &sampler_;
  sxt_value_type vectors_;
  double until_;
};

// Products that will be measured on one matrix, about.
double candidates_here(Context &context) {
  double count = 0;
  for (const registry::Kernel *kernel : context.scope().kernels(SXT_KIND_SPMV, context.device_name()))
    if (Sampler::wanted(*kernel)) count += 1 + (context.machine().units > 1);
  return std::max(1.0, count);
}

struct Problem {
  int family;
  double nnz;
};

int family_named(std::string_view name) {
  int family = 0;
  while (name != family_name(family)) ++family;
  return family;
}

// The large ones: four times the first of large_sizes, then the second for the first family that has not had it.
std::vector<Problem> large_problems() {
  constexpr int n = std::size(large_families);
  std::vector<Problem> problems;
  for (int i = 0; i < n; ++i) {
    problems.push_back({family_named(large_families[i]), large_sizes[0]});
    if (i % 4 == 3) problems.push_back({family_named(large_families[i / 4]), large_sizes[1]});
  }
  return problems;
}

// A device's sizes are not all a few steps apart: whether blocks just fill it shows between them. From 0.6 to 1.6.
double spread(int family, int pass) {
  constexpr int places = 11;
  return std::exp2(1.4 * (static_cast<double>((3 * family + 5 * pass) % places) / (places - 1) - 0.5));
}

// Every family comes with another size in each pass: wherever the time ends, families and sizes are spread evenly.
std::vector<Problem> problems_for(Context &context) {
  const bool host = context.device().on_host();
  const std::span<const double> sizes = host ? std::span<const double>(host_sizes) : std::span(device_sizes);
  const int n_sizes = static_cast<int>(sizes.size()), step = host ? 4 : 1;
  const std::vector<Problem> large = host ? large_problems() : std::vector<Problem>();
  std::vector<Problem> problems;
  std::size_t next_large = 0;
  for (int pass = 0; pass < (host ? 1 : 2) * n_sizes; ++pass)
    for (int family = 0; family < family_count(); ++family) {
      const double nnz = sizes[static_cast<std::size_t>((2 * family + step * pass) % n_sizes)];
      problems.push_back({family, host ? nnz : std::round(nnz * spread(family, pass))});
      if ((pass * family_count() + family) % between_large == between_large - 1 && next_large < large.size())
        problems.push_back(large[next_large++]);
    }
  return problems;
}

}  // namespace

void calibrate_matrices(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                        Sampler &sampler, sxt_value_type vectors, sxt_value_type values, double until) {
  const double start = clock.elapsed(), kernels = candidates_here(context);
  // A device's runs are replayed, which is precise at once: time goes to more matrices.
  const bool host = context.device().on_host();
  const double share = host ? 200 : 4000;
  const double sample_s = std::clamp((until - start) / (share * kernels), 2e-4, host ? 2e-3 : 5e-3);
  const double entry_bytes = 4 + static_cast<double>(value_bytes(values));
  MatrixStage stage(context, clock, sampler, vectors, until);
  const std::vector<Problem> problems = problems_for(context);
  // A device's matrices are made while it works on those before; on the host that would disturb what is measured.
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 3u, most_made_ahead + 1) - 1;
  const std::size_t ahead = host ? 0 : threads;
  double large_s = large_share * (until - start);  // left for matrices beyond host_sizes
  std::deque<std::future<Assembled>> made;
  std::size_t begun = 0;
  for (std::size_t at = 0; at < problems.size(); ++at) {
    const auto &[family, nnz] = problems[at];
    for (; begun < problems.size() && begun <= at + ahead; ++begun)
      made.push_back(std::async(ahead ? std::launch::async : std::launch::deferred, [&, next = problems[begun]] {
        return make_family_matrix(next.family, static_cast<std::int64_t>(next.nnz), values, context.allocator());
      }));
    std::future<Assembled> matrix_to_be = std::move(made.front());
    made.pop_front();
    const double left = until - clock.elapsed();
    if (left <= 0) return;
    // What would take too long is left out.
    const double memory_s = nnz * entry_bytes / context.machine().stream_rate;
    const double cost = (ahead ? 0 : nnz * seconds_an_entry) + kernels * (runs_a_sample * 2 * memory_s + sample_s);
    const bool large = host && nnz > std::end(host_sizes)[-1];
    if (cost > 0.35 * left || nnz * entry_bytes > settings.most_bytes || (large && cost > large_s)) continue;
    const double begin = clock.elapsed();
    clock.report(text("products ", value_name(vectors), values == vectors ? "" : text("/", value_name(values)), ", ",
                      family_name(family), " with ", static_cast<std::int64_t>(nnz), " entries"));
    Matrix matrix(context.shared_from_this(), matrix_to_be.get(),
                  family_symmetric(family) ? SXT_SYMMETRIC : SXT_GENERAL);
    stage.measure(matrix, family, sample_s);
    if (large) large_s -= clock.elapsed() - begin;
  }
}

}  // namespace sextant
