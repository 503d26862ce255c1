// SPDX-License-Identifier: BSD-3-Clause
// Products, vector operations and reductions.
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

#include "abi/handles.hpp"
#include "abi/overlap.hpp"
#include "abi/world_calls.hpp"
#include "core/base/aligned.hpp"
#include "core/operations/operations.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

// Operands of one call. The first operand that is given sets context and type, and all others must agree. Only the
// caller knows which of two differing operands is wrong, so the sentence names both.
struct Operands {
  const sxt_vector *first;
  const char *first_name;

  const sxt_vector &with(const sxt_vector *vector, const char *name) const {
    const sxt_vector &other = given(vector, name);
    check_alike(*first, first_name, other, name);
    require(other.context->id() == first->context->id(), SXT_E_ARGUMENT, first_name, " and ", name,
            " belong to different contexts");
    require(other.type == first->type, SXT_E_TYPE, first_name, " holds ", value_name(first->type), ", ", name, " ",
            value_name(other.type), ": they must be of one type");
    return other;
  }
  const sxt_vector &same_length(const sxt_vector *vector, const char *name) const {
    const sxt_vector &other = with(vector, name);
    for (std::size_t i = 0; first->world && i < first->world->parts.size(); ++i)
      require(other.world->parts[i].n == first->world->parts[i].n, SXT_E_DIMENSION, first_name, " has ",
              first->world->parts[i].n, " values with this process's member ", i, " (counting from 0), ", name, " ",
              other.world->parts[i].n, ": they must have the same number");
    require(other.n == first->n, SXT_E_DIMENSION, first_name, " has ", first->n, " values, ", name, " ", other.n,
            ": they must have the same number");
    return other;
  }
};

// What belongs to one context: a whole vector, or one member's part of a vector of a world.
struct Piece {
  Context *context;
  std::int64_t n;
  void *data;
  std::int64_t each;  // bytes of a value
};

std::size_t pieces(const sxt_vector &vector) { return vector.world ? vector.world->parts.size() : 1; }

Piece piece(const sxt_vector &vector, std::size_t i) {
  const std::int64_t each = value_bytes(vector.type);
  if (!vector.world) return {vector.context.get(), vector.n, vector.data, each};
  const WorldVector::Part &part = vector.world->parts[i];
  return {&vector.world->world->context(i), part.n, part.data, each};
}

// Where a call writes one of two operands, they are the same array, each element combined only with itself, or they do
// not overlap.
void check_same_or_apart(const Piece &read, const Piece &written, const char *read_name, const char *written_name) {
  if (read.data == written.data) return;
  const std::int64_t bytes = read.n * read.each;
  require(apart(read.data, bytes, written.data, bytes), SXT_E_ARGUMENT, read_name, " and ", written_name,
          " overlap without being the same array");
}

Operations &operations(const sxt_vector &vector) { return Operations::of(*vector.context); }

void check_apart(const sxt_vector &read, const void *other, std::int64_t other_bytes, const char *names) {
  require(apart(read.data, read.n * value_bytes(read.type), other, other_bytes), SXT_E_ARGUMENT, names, " overlap");
}

struct Argument {
  const void *pointer;
  const char *name;
};

// z = x (op) y on vectors of one length, with the scalars of the operation. needed: the operands that the caller must
// give beside y.
sxt_status element_wise(int32_t operation, std::initializer_list<Argument> needed, const void *alpha,
                        const sxt_vector *x, const void *beta, const sxt_vector *y, const sxt_vector *z) {
  const sxt_vector *first = x ? x : y;
  return guarded(id_of(first ? first : z), [&] {
    for (const Argument &argument : needed) present(argument.pointer, argument.name);
    const Operands operands{&given(first, "y"), x ? "x" : "y"};
    operands.same_length(y, "y");
    if (z) operands.same_length(z, "w");
    for (std::size_t i = 0; i < pieces(*first); ++i) {
      if (x) check_same_or_apart(piece(*x, i), piece(z ? *z : *y, i), "x", z ? "w" : "y");
      if (z) check_same_or_apart(piece(*y, i), piece(*z, i), "y", "w");
    }
    for (std::size_t i = 0; i < pieces(*first); ++i) {
      const Piece of_y = piece(*y, i);
      Operations::of(*of_y.context)
          .vector({.operation = operation,
                   .type = first->type,
                   .n = of_y.n,
                   .alpha = alpha,
                   .beta = beta,
                   .x = x ? piece(*x, i).data : nullptr,
                   .y = of_y.data,
                   .z = z ? piece(*z, i).data : nullptr});
    }
  });
}

// call: the name of the call. Ranks of a world compare it.
sxt_status reduce(const char *call, int32_t operation, const sxt_vector *x, const sxt_vector *y, void *result,
                  bool two) {
  return guarded(id_of(x), [&] {
    const Operands operands{&given(x, "x"), "x"};
    const auto check = [&] {
      present(result, "result");
      require_aligned(result, operation == SXT_REDUCTION_IAMAX ? index_bytes(SXT_I64) : value_alignment(x->type),
                      "result");
      if (two) operands.same_length(y, "y");
    };
    if (x->world) return reduce_in_world(call, operation, *x, y, result, check);
    check();
    operations(*x).reduce(operation, x->type, x->n, x->data, two ? y->data : nullptr, result);
  });
}

// Checks every index on the host. Kernels do not check them.
void check_indices(const sxt_vector &indexed, const void *index, sxt_index_type type, int64_t count) {
  present(index, "index");
  require_aligned(index, index_bytes(type), "index");
  if (!indexed.context->device().on_host()) return;
  with_index_type(type, [&](auto tag) {
    const auto *at = static_cast<const typename decltype(tag)::type *>(index);
    for (int64_t i = 0; i < count; ++i)
      require(at[i] >= 0 && at[i] < indexed.n, SXT_E_INDEX, "index[", i, "] (counting from 0) is ", at[i],
              ", outside 0 to ", indexed.n - 1);
  });
}

sxt_status move_indexed(int32_t operation, const sxt_vector *x, const void *index, sxt_index_type type, sxt_vector *y) {
  return guarded(id_of(x), [&] {
    const Operands operands{&of_context(x, "x"), "x"};
    const sxt_vector &out = operands.with(y, "y");
    const bool gather = operation == SXT_VECTOR_GATHER;
    const int64_t count = gather ? out.n : x->n;
    with_index_type(type, [](auto) {});
    if (count == 0) return;
    check_apart(*x, out.data, out.n * value_bytes(out.type), "x and y");
    check_apart(out, index, count * index_bytes(type), "y and index");
    check_indices(gather ? *x : out, index, type, count);
    operations(*x).vector({.operation = operation,
                           .type = x->type,
                           .n = count,
                           .x = x->data,
                           .y = out.data,
                           .index = index,
                           .index_type = type});
  });
}

// A vector of a product. Each is compared with the matrix, so that the sentence names the one that differs.
void check_factor(const Matrix &matrix, const sxt_vector &vector, const char *name) {
  require(!vector.world, SXT_E_ARGUMENT, name, " is a vector of a world, a is of one context");
  require(vector.context->id() == matrix.context().id(), SXT_E_ARGUMENT, name, " belongs to another context than a");
  require(vector.type == matrix.value_type(), SXT_E_TYPE, name, " holds ", value_name(vector.type), ", a ",
          value_name(matrix.value_type()));
}

void check_op(sxt_op op) {
  require(op >= SXT_NO_TRANSPOSE && op <= SXT_CONJUGATE_TRANSPOSE, SXT_E_ARGUMENT, "op ", op, " is not an sxt_op");
}

void multiply_arrays(sxt_matrix &a, const Matrix &matrix, sxt_op op, const void *alpha, const void *x, const void *beta,
                     void *y, const Products::Columns &columns) {
  if (columns.count == 0) return;
  const Products::Columns one = a.products->column(op);
  const std::int64_t in = (columns.count - 1) * columns.ldx + one.ldx,
                     out = (columns.count - 1) * columns.ldy + one.ldy;
  require(x != nullptr || one.ldx == 0, SXT_E_ARGUMENT, "x is NULL but has ", one.ldx, " values to give");
  require(y != nullptr || one.ldy == 0, SXT_E_ARGUMENT, "y is NULL but has ", one.ldy, " values to take");
  require_aligned(x, value_alignment(matrix.value_type()), "x");
  require_aligned(y, value_alignment(matrix.value_type()), "y");
  const std::int64_t each = value_bytes(matrix.value_type());
  require(apart(x, in * each, y, out * each), SXT_E_ARGUMENT, "x and y overlap");
  a.arrays->serving(*a.products, op, x, y, columns).multiply_arrays(op, alpha, x, beta, y, columns);
}

}  // namespace

sxt_status sxt_spmv(sxt_op op, const void *alpha, sxt_matrix *a, const sxt_vector *x, const void *beta, sxt_vector *y) {
  return guarded(id_of(a), [&] {
    if (given(a, "a").world) return spmv_in_world(op, alpha, *a, x, beta, y);
    const Matrix &matrix = *a->matrix;
    check_op(op);
    check_factor(matrix, given(x, "x"), "x");
    check_factor(matrix, given(y, "y"), "y");
    const bool plain = op == SXT_NO_TRANSPOSE;
    require(x->n == (plain ? matrix.cols() : matrix.rows()), SXT_E_DIMENSION, "x has ", x->n, " values; a is ",
            matrix.rows(), " x ", matrix.cols(), plain ? "" : ", transposed");
    require(y->n == (plain ? matrix.rows() : matrix.cols()), SXT_E_DIMENSION, "y has ", y->n, " values; a is ",
            matrix.rows(), " x ", matrix.cols(), plain ? "" : ", transposed");
    check_apart(*x, y->data, y->n * value_bytes(y->type), "x and y");
    a->products->multiply(op, alpha, x->data, beta, y->data);
  });
}

sxt_status sxt_spmv_array(sxt_op op, const void *alpha, sxt_matrix *a, const void *x, const void *beta, void *y) {
  return guarded(id_of(a), [&] {
    const Matrix &matrix = *of_context(a, "a").matrix;
    check_op(op);
    multiply_arrays(*a, matrix, op, alpha, x, beta, y, a->products->column(op));
  });
}

sxt_status sxt_spmv_block(sxt_op op, const void *alpha, sxt_matrix *a, int64_t n_rhs, const void *x, int64_t ldx,
                          const void *beta, void *y, int64_t ldy) {
  return guarded(id_of(a), [&] {
    const Matrix &matrix = *of_context(a, "a").matrix;
    check_op(op);
    const Products::Columns one = a->products->column(op);
    require(n_rhs >= 0, SXT_E_ARGUMENT, "n_rhs is negative (", n_rhs, ")");
    require(ldx >= one.ldx, SXT_E_DIMENSION, "ldx is ", ldx, "; columns of x have ", one.ldx, " values");
    require(ldy >= one.ldy, SXT_E_DIMENSION, "ldy is ", ldy, "; columns of y have ", one.ldy, " values");
    require(n_rhs == 0 || std::max(ldx, ldy) <= INT64_MAX / 16 / n_rhs, SXT_E_OVERFLOW, n_rhs, " columns ",
            std::max(ldx, ldy), " values apart do not fit the address space");
    multiply_arrays(*a, matrix, op, alpha, x, beta, y, {n_rhs, ldx, ldy});
  });
}

sxt_status sxt_copy(const sxt_vector *x, sxt_vector *y) {
  return element_wise(SXT_VECTOR_COPY, {{x, "x"}}, nullptr, x, nullptr, y, nullptr);
}
sxt_status sxt_fill(const void *alpha, sxt_vector *y) {
  return element_wise(SXT_VECTOR_FILL, {{alpha, "alpha"}}, alpha, nullptr, nullptr, y, nullptr);
}
sxt_status sxt_scale(const void *alpha, sxt_vector *y) {
  return element_wise(SXT_VECTOR_SCALE, {{alpha, "alpha"}}, alpha, nullptr, nullptr, y, nullptr);
}
sxt_status sxt_axpy(const void *alpha, const sxt_vector *x, sxt_vector *y) {
  return element_wise(SXT_VECTOR_AXPY, {{alpha, "alpha"}, {x, "x"}}, alpha, x, nullptr, y, nullptr);
}
sxt_status sxt_axpby(const void *alpha, const sxt_vector *x, const void *beta, sxt_vector *y) {
  return element_wise(SXT_VECTOR_AXPBY, {{alpha, "alpha"}, {beta, "beta"}, {x, "x"}}, alpha, x, beta, y, nullptr);
}
sxt_status sxt_waxpby(const void *alpha, const sxt_vector *x, const void *beta, const sxt_vector *y, sxt_vector *w) {
  return element_wise(SXT_VECTOR_WAXPBY, {{alpha, "alpha"}, {beta, "beta"}, {x, "x"}, {w, "w"}}, alpha, x, beta, y, w);
}
sxt_status sxt_multiply(const sxt_vector *x, const sxt_vector *y, sxt_vector *w) {
  return element_wise(SXT_VECTOR_MULTIPLY, {{x, "x"}, {w, "w"}}, nullptr, x, nullptr, y, w);
}

sxt_status sxt_gather(const sxt_vector *x, const void *index, sxt_index_type index_type, sxt_vector *y) {
  return move_indexed(SXT_VECTOR_GATHER, x, index, index_type, y);
}
sxt_status sxt_scatter(const sxt_vector *x, const void *index, sxt_index_type index_type, sxt_vector *y) {
  return move_indexed(SXT_VECTOR_SCATTER, x, index, index_type, y);
}

sxt_status sxt_sum(const sxt_vector *x, void *result) {
  return reduce("sxt_sum", SXT_REDUCTION_SUM, x, nullptr, result, false);
}
sxt_status sxt_dot(const sxt_vector *x, const sxt_vector *y, void *result) {
  return reduce("sxt_dot", SXT_REDUCTION_DOT, x, y, result, true);
}
sxt_status sxt_dotc(const sxt_vector *x, const sxt_vector *y, void *result) {
  return reduce("sxt_dotc", SXT_REDUCTION_DOTC, x, y, result, true);
}
sxt_status sxt_nrm2(const sxt_vector *x, void *result) {
  return reduce("sxt_nrm2", SXT_REDUCTION_NRM2, x, nullptr, result, false);
}
sxt_status sxt_asum(const sxt_vector *x, void *result) {
  return reduce("sxt_asum", SXT_REDUCTION_ASUM, x, nullptr, result, false);
}
sxt_status sxt_amax(const sxt_vector *x, void *result) {
  return reduce("sxt_amax", SXT_REDUCTION_AMAX, x, nullptr, result, false);
}
sxt_status sxt_iamax(const sxt_vector *x, int64_t *index) {
  return reduce("sxt_iamax", SXT_REDUCTION_IAMAX, x, nullptr, index, false);
}
sxt_status sxt_min(const sxt_vector *x, void *result) {
  return reduce("sxt_min", SXT_REDUCTION_MIN, x, nullptr, result, false);
}
sxt_status sxt_max(const sxt_vector *x, void *result) {
  return reduce("sxt_max", SXT_REDUCTION_MAX, x, nullptr, result, false);
}

namespace {
constexpr const char *names_x[] = {"x[0]", "x[1]", "x[2]", "x[3]", "x[4]", "x[5]", "x[6]", "x[7]"};
constexpr const char *names_y[] = {"y[0]", "y[1]", "y[2]", "y[3]", "y[4]", "y[5]", "y[6]", "y[7]"};
static_assert(std::size(names_x) == SXT_MULTIDOT_MAX && std::size(names_y) == SXT_MULTIDOT_MAX);
}  // namespace

sxt_status sxt_multidot(int64_t count, const sxt_vector *const *x, const sxt_vector *const *y, void *results) {
  const bool usable = x && y && count > 0;
  return guarded(usable ? id_of(x[0]) : 0, [&] {
    require(count >= 0 && count <= SXT_MULTIDOT_MAX, SXT_E_ARGUMENT, "count is ", count, "; up to ",
            int{SXT_MULTIDOT_MAX}, " products are possible");
    if (count == 0) return;
    given(x, "x");
    given(y, "y");
    present(results, "results");
    const Operands operands{&given(x[0], "x[0]"), "x[0]"};
    const auto check = [&] {
      require_aligned(results, value_alignment(x[0]->type), "results");
      for (int64_t i = 0; i < count; ++i) {
        operands.same_length(x[i], names_x[i]);
        operands.same_length(y[i], names_y[i]);
      }
    };
    if (x[0]->world) return multidot_in_world(static_cast<std::int32_t>(count), x, y, results, check);
    check();
    std::array<const void *, SXT_MULTIDOT_MAX> u{}, v{};
    for (int64_t i = 0; i < count; ++i) {
      u[static_cast<std::size_t>(i)] = x[i]->data;
      v[static_cast<std::size_t>(i)] = y[i]->data;
    }
    operations(*x[0]).multidot(x[0]->type, x[0]->n, static_cast<std::int32_t>(count), u.data(), v.data(), results);
  });
}
