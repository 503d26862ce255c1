// SPDX-License-Identifier: BSD-3-Clause
// Points of products y = A x, alone and with inner products in the same pass.
#include "bench/bench.hpp"
#include "model/matrices.hpp"
#include "sextant/plugin/kinds/spmv_dots.h"

namespace tool {
namespace {

class ProductTrial : public SelectionTrial {
 public:
  // n_dots 0: the product alone.
  ProductTrial(sxt_context *context, Matrix matrix, sxt_value_type type, const ModelPoint &point, int n_dots)
      : SelectionTrial(context),
        matrix_(std::move(matrix)),
        type_(type),
        rows_(static_cast<std::int64_t>(point.sample.rows)),
        cols_(point.columns),
        one_(type, 1),
        zero_(type, 0) {
    sxt_spmv_query &product = query_.m;
    begin_query(query_, product.m, kind_of(n_dots), type, usual_runs);
    if (!n_dots) product.m.q.h.struct_size = sizeof product;
    product.op = SXT_NO_TRANSPOSE;
    product.n_rhs = 1;
    query_.n_dots = n_dots;
  }

 protected:
  sxt_query &query() override { return query_.m.m.q; }
  sxt_matrix *matrix() override { return matrix_.get(); }

  sxt_head *operands() override {
    x_ = filled(context(), cols_, type_, 1);
    y_ = filled(context(), rows_, type_, 0);
    other_ = filled(context(), rows_, type_, 1);
    results_ = filled(context(), 16, SXT_F64, 0);
    sxt_spmv_args &product = args_.m;
    const bool alone = query_.n_dots == 0;
    product.h = {alone ? sizeof product : sizeof args_, query_.m.m.q.h.kind};
    product.op = SXT_NO_TRANSPOSE;
    product.n_rhs = 1;
    product.ldx = cols_, product.ldy = rows_;
    product.alpha = one_.scalar(), product.beta = zero_.scalar();
    product.x = sxt_vector_data(x_.get());
    product.y = sxt_vector_data(y_.get());
    // As the recurrences of conjugate gradients ask for them: p'q; u'w and u'u; p'q, r'q, q'q and r'r.
    const void *const p = product.x, *const r = sxt_vector_data(other_.get());
    const bool two = query_.n_dots == 2;
    u_[0] = p, u_[1] = two ? p : r, u_[2] = nullptr, u_[3] = r;
    v_[0] = nullptr, v_[1] = two ? p : nullptr, v_[2] = nullptr, v_[3] = r;
    args_.n_dots = query_.n_dots;
    args_.u = u_, args_.v = v_;
    args_.dots = sxt_vector_data(results_.get());
    return &product.h;
  }

 private:
  static const std::string &kind_of(int n_dots) {
    static const std::string alone = SXT_KIND_SPMV, with_dots = SXT_KIND_SPMV_DOTS;
    return n_dots ? with_dots : alone;
  }

  Matrix matrix_;
  sxt_value_type type_;
  std::int64_t rows_, cols_;
  Number one_, zero_;
  sxt_spmv_dots_query query_{};
  sxt_spmv_dots_args args_{};
  const void *u_[4] = {}, *v_[4] = {};
  Vector x_, y_, other_, results_;
};

class Products : public MatrixPoints {
 public:
  explicit Products(bool with_dots) : MatrixPoints(1e9), with_dots_(with_dots) {}
  // How many inner products.
  std::vector<std::string> operations() const override {
    return with_dots_ ? std::vector<std::string>{"1", "2", "4"} : std::vector<std::string>{};
  }
  std::unique_ptr<Trial> make(sxt_context *context, const ModelSet &set, ModelPoint &point) const override {
    Matrix matrix = matrix_at(context, set, point);
    const int n_dots = !with_dots_ ? 0 : set.operation.empty() ? 1 : std::stoi(set.operation);
    return std::make_unique<ProductTrial>(context, std::move(matrix), set.type, point, n_dots);
  }

 private:
  bool with_dots_;
};

}  // namespace

std::unique_ptr<PointSource> product_source(const std::string &kind) {
  return std::make_unique<Products>(kind == SXT_KIND_SPMV_DOTS);
}

}  // namespace tool
