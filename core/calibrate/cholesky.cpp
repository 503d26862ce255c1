// SPDX-License-Identifier: BSD-3-Clause
// Samples of schedulers of a sparse Cholesky factorisation: factorisations and solves of definite matrices on the
// patterns of the synthetic families, made symmetric, of sizes far apart.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/calibrate/families.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/cholesky/analysis.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

namespace {

// Entries: from what is factored in some microseconds to what takes a good part of a second.
constexpr double factor_nnz[] = {2e3, 4e4, 5e2, 1.5e5, 8e3, 4e5, 1.2e3, 8e4, 2e4};
// A device needs more to be full.
constexpr double device_factor_nnz[] = {8e3, 3e5, 2e3, 1.2e6, 4e4, 3e6, 8e4, 6e5, 1.5e5};
constexpr double analysis_s_an_entry = 1e-6, most_of_what_is_left = 0.2, sample_s = 2e-3;
constexpr int timed_runs = 3, ldlh_every = 4;
constexpr double longest_on_device_s = 0.02;  // of a device's candidates, but for the best of each kernel
constexpr std::int64_t right_hand_sides[] = {1, 8, 64};

// I plus the Laplacian of the pattern of A + A^T: its inverse makes nothing larger, so a solve may be repeated on its
// own result.
std::shared_ptr<Matrix> definite_matrix(Context &context, int family, double nnz, sxt_value_type type) {
  const Assembled made = make_family_matrix(family, static_cast<std::int64_t>(nnz), SXT_F32, context.allocator());
  const std::int64_t n = made.csr.rows;
  const auto *const row_ptr = made.csr.row_ptr.as<std::int32_t>();
  const auto *const col = made.csr.col.as<std::int32_t>();
  std::vector<std::pair<std::int32_t, std::int32_t>> below;  // the lower triangle by rows
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const auto row = static_cast<std::int32_t>(i);
      if (col[k] != row) below.emplace_back(std::max(row, col[k]), std::min(row, col[k]));
    }
  std::sort(below.begin(), below.end());
  below.erase(std::unique(below.begin(), below.end()), below.end());
  std::vector<std::int32_t> rows, cols;
  std::vector<double> degrees(static_cast<std::size_t>(n), 0);
  for (const auto &[i, j] : below) {
    rows.push_back(i), cols.push_back(j);
    ++degrees[static_cast<std::size_t>(i)], ++degrees[static_cast<std::size_t>(j)];
  }
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(static_cast<std::int32_t>(i));
  cols.insert(cols.end(), rows.end() - static_cast<std::ptrdiff_t>(n), rows.end());
  return with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> values(below.size(), T(-1));
    for (const double degree : degrees) values.push_back(static_cast<T>(1 + degree));
    EntryArrays entries;
    entries.rows = entries.cols = n;
    entries.nnz = static_cast<std::int64_t>(values.size());
    entries.value_type = type;
    entries.row = rows.data(), entries.col = cols.data(), entries.values = values.data();
    AssemblyOptions options;
    options.symmetry = SXT_HERMITIAN;
    options.triangle = SXT_LOWER;
    options.threads = context.threads();
    return std::make_shared<Matrix>(context.shared_from_this(), assemble(entries, options, context.allocator()),
                                    SXT_HERMITIAN);
  });
}

// One analysed system, its factor, and right-hand sides.
class System {
 public:
  System(std::shared_ptr<Matrix> matrix, Sampler &sampler, int family)
      : analysis_(std::move(matrix), settings()), sampler_(sampler), family_(family) {}
  double factor_seconds() const { return analysis_.factor_seconds(); }
  double bytes() const {
    return static_cast<double>(analysis_.symbolic().values * value_bytes(analysis_.value_type()));
  }

  // Memory for what follows. Throws SXT_E_MEMORY.
  void allocate() {
    const sxt_symbolic &symbolic = analysis_.symbolic();
    Device &device = context().device();
    const std::int64_t each = value_bytes(analysis_.value_type());
    const std::int64_t count = symbolic.n * right_hand_sides[std::size(right_hand_sides) - 1];
    factor_ = DeviceBuffer(device, static_cast<std::uint64_t>(symbolic.values * each));
    b_ = DeviceBuffer(device, static_cast<std::uint64_t>(count * each));
    with_value_type(analysis_.value_type(), [&](auto tag) {
      const std::vector<typename decltype(tag)::type> ones(static_cast<std::size_t>(count), 1);
      device.copy(b_.data(), ones.data(), b_.bytes());
    });
    if (device.on_host()) return;
    const Buffer &values = analysis_.matrix().csr().values;
    values_ = DeviceBuffer(device, values.bytes());
    device.copy(values_.data(), values.data(), values.bytes());
  }

  // Solves read what the factorisation before them wrote.
  void measure_all(std::int32_t factors) {
    if (!measure(SXT_CHOLESKY_FACTOR, factors, 0) || failed_ >= 0) return;
    for (const std::int64_t n_rhs : right_hand_sides) measure(SXT_CHOLESKY_SOLVE, factors, n_rhs);
  }

 private:
  Context &context() const { return analysis_.context(); }

  static cholesky::Settings settings() {
    cholesky::Settings out;
    out.recorded = false;  // the plan is the caller's
    return out;
  }

  // False: nothing was measured.
  bool measure(std::int32_t phase, std::int32_t factors, std::int64_t n_rhs) {
    sxt_cholesky_query query = analysis_.query(phase, n_rhs);
    query.factors = factors;
    sxt_cholesky_args args = arguments(phase, factors, n_rhs);
    sxt_head *const head = &args.h;
    bool any = false;
    const bool on_host = context().device().on_host();
    std::set<const registry::Kernel *> seen;
    Selector selector(context(), nullptr);
    for (const ChoicePtr &choice : selector.every({.query = Query(&query.m.q), .role = "cholesky"})) {
      const registry::Kernel &kernel = *choice->kernel;
      if (kernel.has(SXT_KERNEL_REFERENCE) || kernel.verdict == registry::Verdict::quarantined) continue;
      const bool best = seen.insert(&kernel).second;  // the least predicted comes first
      const sxt_head *const structure = &analysis_.symbolic().h;
      if (on_host)
        any |= sampler_.measure(choice, nullptr, {&head, 1}, family_, sample_s, timed_runs, structure) > 0;
      else if (best || choice->run_s < longest_on_device_s)
        any |= sampler_.measure_calls(choice, head, family_, timed_runs, structure) > 0;
    }
    return any;
  }

  sxt_cholesky_args arguments(std::int32_t phase, std::int32_t factors, std::int64_t n_rhs) {
    sxt_cholesky_args args{};
    args.h = {sizeof args, SXT_KIND_CHOLESKY};
    args.phase = phase;
    args.factors = factors;
    args.value_type = args.value_type_a = analysis_.value_type();
    args.n_sets = 1;
    args.values = context().device().on_host() ? analysis_.matrix().csr().values.data() : values_.data();
    args.factor = factor_.data();
    args.failed_column = &failed_;
    args.failed_pivot = &pivot_;
    args.changed = &changed_;
    args.b = b_.data();
    args.ldb = analysis_.symbolic().n;
    args.n_rhs = n_rhs;
    return args;
  }

  cholesky::Analysis analysis_;
  Sampler &sampler_;
  int family_;
  DeviceBuffer factor_, b_, values_;
  std::int64_t failed_ = -1, changed_ = 0;
  double pivot_ = 0;
};

}  // namespace

void calibrate_cholesky(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                        Sampler &sampler, sxt_value_type type, double until) {
  static_assert(std::size(factor_nnz) == std::size(device_factor_nnz));
  const bool on_host = context.device().on_host();
  const int n_sizes = static_cast<int>(std::size(factor_nnz));
  for (int pass = 0; pass < n_sizes; ++pass)
    for (int family = 0; family < family_count(); ++family) {
      const double nnz = (on_host ? factor_nnz : device_factor_nnz)[(2 * family + 4 * pass) % n_sizes],
                   left = until - clock.elapsed();
      if (left <= 0) return;
      if (nnz * analysis_s_an_entry > most_of_what_is_left * left || nnz * 12 > settings.most_bytes) continue;
      clock.report(text("sparse Cholesky ", value_name(type), ", ", family_name(family), " with ",
                        static_cast<std::int64_t>(nnz), " entries"));
      try {
        System system(definite_matrix(context, family, nnz, type), sampler, family);
        // Predictions may be off by a factor before there are models.
        const double seconds = 4 * timed_runs * system.factor_seconds();
        if (seconds > most_of_what_is_left * (until - clock.elapsed()) || system.bytes() > settings.most_bytes)
          continue;
        system.allocate();
        system.measure_all(SXT_FACTORS_LLH);
        if ((family + pass) % ldlh_every == 0) system.measure_all(SXT_FACTORS_LDLH);
      } catch (const Error &problem) {
        if (problem.status() != SXT_E_NO_KERNEL && !out_of_memory(problem)) throw;
        context.log()(SXT_LOG_DEBUG, text("calibration leaves out a system: ", problem.what()));
      } catch (const std::bad_alloc &) {
        context.log()(SXT_LOG_DEBUG, "calibration leaves out a system: there is not enough memory");
      }
    }
}

}  // namespace sextant
