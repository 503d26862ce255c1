// SPDX-License-Identifier: BSD-3-Clause
// Points of kernels for sets of dense Hermitian systems: orders and numbers of systems.
//
// Runs are repeated on the same memory, so the systems are such that a run leaves another system of the same kind: D +
// E with a small E and D = I, or of signs where the set is indefinite, has factors that read as such a matrix again.
#include <algorithm>
#include <complex>

#include "bench/bench.hpp"
#include "model/trial.hpp"
#include "sextant/plugin/kinds/hermitian_step.h"
#include "sextant/plugin/kinds/hermitian_toeplitz.h"

namespace tool {
namespace {

constexpr std::int64_t small_orders[] = {4, 8, 16, 32, 64, 100, 160, 256};
constexpr std::int64_t full_orders[] = {4, 6, 8, 12, 16, 24, 32, 48, 64, 100, 160, 256, 400};
constexpr double batches[] = {2e6, 2e7, 1e8};  // flops of a set, about
constexpr std::int64_t most_systems = 4000, least_systems = 4;

struct Step {
  const char *name;
  std::int32_t phase, definiteness;
};
constexpr Step steps[] = {{"factor", SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_DEFINITE},
                          {"factor-solve", SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_DEFINITE},
                          {"solve", SXT_HERMITIAN_SOLVE, SXT_HERMITIAN_DEFINITE},
                          {"indefinite-factor", SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_INDEFINITE},
                          {"indefinite-factor-solve", SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_INDEFINITE},
                          {"indefinite-solve", SXT_HERMITIAN_SOLVE, SXT_HERMITIAN_INDEFINITE}};
constexpr Step toeplitz_step = {"factor-solve", SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_DEFINITE};

// The systems' matrices in their type, column by column; Toeplitz where the set is definite.
template <class T>
std::vector<T> matrices_of(std::int64_t n, std::int64_t batch, bool definite) {
  std::vector<T> one(static_cast<std::size_t>(n * n)), all;
  const double small = 1e-3 / static_cast<double>(n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t apart = i > j ? i - j : j - i;
      const double diagonal = definite || i % 2 == 0 ? 1 : -1;
      one[static_cast<std::size_t>(i + j * n)] =
          static_cast<T>(static_cast<float>(apart == 0 ? diagonal : small * static_cast<double>(1 + apart % 3)));
    }
  all.reserve(one.size() * static_cast<std::size_t>(batch));
  for (std::int64_t s = 0; s < batch; ++s) all.insert(all.end(), one.begin(), one.end());
  return all;
}

Vector matrices(sxt_context *context, const ModelPoint &point, sxt_value_type type, bool definite) {
  const auto written = [&](const auto &values) {
    sxt_vector *made = nullptr;
    check(sxt_vector_create(context, static_cast<std::int64_t>(values.size()), type, &made), context);
    Vector vector(made);
    check(sxt_vector_write(made, values.data()), context);
    return vector;
  };
  const std::int64_t n = point.size, batch = point.count;
  switch (type) {
    case SXT_F32: return written(matrices_of<float>(n, batch, definite));
    case SXT_C64: return written(matrices_of<std::complex<float>>(n, batch, definite));
    case SXT_C128: return written(matrices_of<std::complex<double>>(n, batch, definite));
    default: return written(matrices_of<double>(n, batch, definite));
  }
}

class SetTrial : public SelectionTrial {
 public:
  SetTrial(sxt_context *context, const std::string &kind, const Step &step, sxt_value_type type,
           const ModelPoint &point)
      : SelectionTrial(context), kind_(kind), step_(step), type_(type), point_(point) {
    const auto n = static_cast<double>(point.size), batch = static_cast<double>(point.count);
    query_.q = {{sizeof query_, kind.c_str()}, usual_runs, 0, type};
    query_.batch = point.count, query_.n_max = query_.n_min = point.size, query_.n_rhs = 1;
    query_.sum_n1 = n * batch, query_.sum_n2 = n * n * batch, query_.sum_n3 = n * n * n * batch;
    query_.phase = step.phase, query_.definiteness = step.definiteness, query_.triangle = SXT_LOWER;
    query_.may_spoil = 1;  // else kernels of other libraries would not apply
  }

 protected:
  sxt_query &query() override { return query_.q; }

  sxt_head *operands() override {
    const std::int64_t n = point_.size, rows = n * point_.count;
    a_ = matrices(context(), point_, type_, step_.definiteness == SXT_HERMITIAN_DEFINITE);
    b_ = filled(context(), rows, type_, 1);
    info_ = words(context(), std::vector<std::int32_t>(static_cast<std::size_t>(point_.count), 0));
    pivots_ = words(context(), std::vector<std::int32_t>(static_cast<std::size_t>(rows), 0));
    args_.h = {sizeof args_, kind_.c_str()};
    args_.definiteness = step_.definiteness, args_.value_type = type_, args_.triangle = SXT_LOWER;
    args_.batch = point_.count, args_.n_max = n, args_.n_rhs = 1;
    args_.a = sxt_vector_data(a_.get()), args_.lda = n, args_.stride_a = n * n;
    args_.info = static_cast<std::int32_t *>(sxt_vector_data(info_.get()));
    args_.pivots = static_cast<std::int32_t *>(sxt_vector_data(pivots_.get())), args_.stride_pivots = n;
    if (step_.phase == SXT_HERMITIAN_SOLVE) factor();
    args_.phase = step_.phase;
    if (step_.phase != SXT_HERMITIAN_FACTOR) args_.b = sxt_vector_data(b_.get()), args_.ldb = args_.stride_b = n;
    return &args_.h;
  }

 private:
  // Solves read the factors of an earlier call; every kernel leaves them in the same form.
  void factor() {
    sxt_hermitian_query query = query_;
    query.phase = args_.phase = SXT_HERMITIAN_FACTOR;
    std::string reason;
    const Selection selection = select_kernel(context(), own_choice, query.q, nullptr, reason);
    if (!selection) fail(exit_not_solved, "no kernel factors these systems: {}", reason);
    check(sxt_kernel_run(selection.get(), &args_.h), context());
  }

  const std::string &kind_;
  const Step &step_;
  sxt_value_type type_;
  ModelPoint point_;
  sxt_hermitian_query query_{};
  sxt_hermitian_args args_{};
  Vector a_, b_, info_, pivots_;
};

// The residual, the step that costs most and by which all are judged.
class ResidualTrial : public SelectionTrial {
 public:
  ResidualTrial(sxt_context *context, const std::string &kind, sxt_value_type type, const ModelPoint &point)
      : SelectionTrial(context), kind_(kind), type_(type), point_(point) {
    const auto n = static_cast<double>(point.size), batch = static_cast<double>(point.count);
    query_.q = {{sizeof query_, kind.c_str()}, usual_runs, 0, type};
    query_.batch = point.count, query_.n_max = point.size, query_.n_rhs = 1;
    query_.sum_n1 = n * batch, query_.sum_n2 = n * n * batch;
  }

 protected:
  sxt_query &query() override { return query_.q; }
  sxt_head *operands() override {
    const std::int64_t n = point_.size;
    a_ = matrices(context(), point_, type_, true);
    b_ = filled(context(), n * point_.count, type_, 1);
    c_ = filled(context(), n * point_.count, type_, 1);
    info_ = words(context(), std::vector<std::int32_t>(static_cast<std::size_t>(point_.count), 0));
    numbers_ = filled(context(), point_.count, SXT_F64, 0);
    args_.h = {sizeof args_, kind_.c_str()};
    args_.step = SXT_HERMITIAN_RESIDUAL;
    args_.value_type = type_, args_.triangle = SXT_LOWER;
    args_.batch = point_.count, args_.n_max = n, args_.n_rhs = 1;
    args_.a.data = sxt_vector_data(a_.get()), args_.a.ld = n, args_.a.stride = n * n;
    args_.b.data = sxt_vector_data(b_.get()), args_.c.data = sxt_vector_data(c_.get());
    args_.b.ld = args_.b.stride = args_.c.ld = args_.c.stride = n;
    args_.numbers = static_cast<double *>(sxt_vector_data(numbers_.get()));
    args_.info = static_cast<std::int32_t *>(sxt_vector_data(info_.get()));
    return &args_.h;
  }

 private:
  const std::string &kind_;
  sxt_value_type type_;
  ModelPoint point_;
  sxt_hermitian_step_query query_{};
  sxt_hermitian_step_args args_{};
  Vector a_, b_, c_, info_, numbers_;
};

class Sets : public PointSource {
 public:
  explicit Sets(const std::string &kind) : kind_(kind) {}

  std::vector<std::string> operations() const override {
    std::vector<std::string> names;
    if (kind_ == SXT_KIND_HERMITIAN)
      for (const Step &step : steps) names.emplace_back(step.name);
    return names;
  }

  std::vector<ModelPoint> places(const ModelSet &set) const override {
    std::vector<ModelPoint> points;
    int family = 0;
    for (const std::int64_t n : set.full ? std::vector(std::begin(full_orders), std::end(full_orders))
                                         : std::vector(std::begin(small_orders), std::end(small_orders))) {
      ++family;  // a fit is tested on orders that it has not seen
      std::int64_t last = 0;
      for (const double flops : batches) {
        const auto nn = static_cast<double>(n);
        ModelPoint point;
        point.size = n;
        point.count = std::clamp(static_cast<std::int64_t>(flops / (nn * nn * nn / 3)), least_systems, most_systems);
        if (point.count == last) continue;
        last = point.count;
        point.shape = set.operation;
        point.sample.family = family;
        points.push_back(point);
      }
    }
    return points;
  }

  std::unique_ptr<Trial> make(sxt_context *context, const ModelSet &set, ModelPoint &point) const override {
    point.name = fmt::format("{} of order {}", point.count, point.size);
    point.sample.rows = static_cast<double>(point.size * point.count);
    point.sample.entries = point.sample.rows * static_cast<double>(point.size);
    if (kind_ == SXT_KIND_HERMITIAN_STEP) return std::make_unique<ResidualTrial>(context, kind_, set.type, point);
    if (kind_ == SXT_KIND_HERMITIAN_TOEPLITZ)
      return std::make_unique<SetTrial>(context, kind_, toeplitz_step, set.type, point);
    const Step *const found =
        std::find_if(std::begin(steps), std::end(steps), [&](const Step &step) { return set.operation == step.name; });
    return std::make_unique<SetTrial>(context, kind_, found == std::end(steps) ? steps[0] : *found, set.type, point);
  }

 private:
  std::string kind_;
};

}  // namespace

std::unique_ptr<PointSource> hermitian_source(const std::string &kind) { return std::make_unique<Sets>(kind); }

}  // namespace tool
