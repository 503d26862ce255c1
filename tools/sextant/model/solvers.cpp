// SPDX-License-Identifier: BSD-3-Clause
// Points of preconditioners (one application) and of engines of conjugate gradients (some iterations), on definite
// matrices.
#include "bench/bench.hpp"
#include "model/matrices.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace tool {
namespace {

constexpr std::int64_t iterations = 16;  // of a run
constexpr double most_entries = 4e5;     // preconditioners are built for each matrix

const std::string preconditioner_kind = SXT_KIND_PRECONDITIONER, engine_kind = SXT_KIND_PCG;

class MatrixTrial : public SelectionTrial {
 public:
  MatrixTrial(sxt_context *context, Matrix matrix, sxt_value_type type, std::int64_t n)
      : SelectionTrial(context), matrix_(std::move(matrix)), type_(type), n_(n) {}

 protected:
  sxt_matrix *matrix() override { return matrix_.get(); }
  void make_vectors() {
    in_ = filled(context(), n_, type_, 1);
    out_ = filled(context(), n_, type_, 0);
  }
  Matrix matrix_;
  sxt_value_type type_;
  std::int64_t n_;
  Vector in_, out_;
};

class PreconditionerTrial : public MatrixTrial {
 public:
  PreconditionerTrial(sxt_context *context, Matrix matrix, sxt_value_type type, std::int64_t n)
      : MatrixTrial(context, std::move(matrix), type, n) {
    begin_query(query_, query_.m, preconditioner_kind, type, usual_runs);
  }

 protected:
  sxt_query &query() override { return query_.m.q; }
  sxt_head *operands() override {
    make_vectors();
    args_.h = {sizeof args_, SXT_KIND_PRECONDITIONER};
    args_.n = n_;
    args_.r = sxt_vector_data(in_.get());
    args_.z = sxt_vector_data(out_.get());
    return &args_.h;
  }

 private:
  sxt_preconditioner_query query_{};
  sxt_preconditioner_args args_{};
};

class EngineTrial : public MatrixTrial {
 public:
  EngineTrial(sxt_context *context, Matrix matrix, sxt_value_type type, std::int64_t n)
      : MatrixTrial(context, std::move(matrix), type, n) {
    begin_query(query_, query_.m, engine_kind, type, 1);
    query_.iterations = static_cast<double>(iterations);
  }

 protected:
  sxt_query &query() override { return query_.m.q; }
  sxt_head *operands() override {
    make_vectors();
    // No eigenvector of anything simple.
    std::vector<double> b(static_cast<std::size_t>(n_));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + 0.25 * static_cast<double>(i % 7);
    const std::vector<float> narrow(b.begin(), b.end());
    const bool single = type_ == SXT_F32;
    check(sxt_vector_write(in_.get(), single ? static_cast<const void *>(narrow.data()) : b.data()), context());
    args_.h = {sizeof args_, SXT_KIND_PCG};
    args_.n = n_;
    args_.b = sxt_vector_data(in_.get());
    args_.x = sxt_vector_data(out_.get());
    args_.x_is_zero = 1;  // the residual begins with b in every run; x is not read afterwards
    args_.max_iterations = iterations;
    args_.observe = [](void *, std::int64_t, std::int64_t, const double *) -> sxt_reason { return SXT_REASON_NONE; };
    args_.confirm = [](void *, const void *, std::int64_t, double, double *, sxt_reason *) -> std::int32_t {
      return SXT_CONFIRM_GO_ON;
    };
    return &args_.h;
  }
  std::string trial_run(sxt_selection *selection, sxt_head *args) override {
    check(sxt_kernel_run(selection, args), context());
    if (args_.reason == SXT_REASON_ITERATION_LIMIT && args_.iterations == iterations) return "";
    return fmt::format("it ended after {} of {} iterations: the matrix is not definite, or too simple",
                       args_.iterations, iterations);
  }

 private:
  sxt_pcg_query query_{};
  sxt_pcg_args args_{};
};

class Solvers : public MatrixPoints {
 public:
  explicit Solvers(bool engines) : MatrixPoints(engines ? 1e9 : most_entries), engines_(engines) {}
  std::vector<ModelPoint> places(const ModelSet &set) const override {
    if (set.type != SXT_F64 && set.type != SXT_F32) fail(exit_usage, "--type: of solvers, f64 or f32 is measured");
    return MatrixPoints::places(set);
  }
  std::unique_ptr<Trial> make(sxt_context *context, const ModelSet &set, ModelPoint &point) const override {
    Matrix matrix = matrix_at(context, set, point);
    const auto n = static_cast<std::int64_t>(point.sample.rows);
    if (engines_) return std::make_unique<EngineTrial>(context, std::move(matrix), set.type, n);
    return std::make_unique<PreconditionerTrial>(context, std::move(matrix), set.type, n);
  }

 private:
  bool engines_;
};

}  // namespace

std::unique_ptr<PointSource> solver_source(const std::string &kind) {
  return std::make_unique<Solvers>(kind == SXT_KIND_PCG);
}

}  // namespace tool
