// SPDX-License-Identifier: BSD-3-Clause
#include "abi/world_calls.hpp"

#include <vector>

#include "abi/matrix_options.hpp"
#include "abi/overlap.hpp"
#include "core/base/aligned.hpp"
#include "core/base/types.hpp"
#include "core/device/capturing.hpp"

namespace sextant::abi {

namespace {

// A vector whose part on each member is as long as the matrix has rows there.
const sxt_vector &operand(const WorldMatrix &matrix, const sxt_vector *vector, const char *name) {
  const sxt_vector &own = given(vector, name);
  require(own.world != nullptr, SXT_E_ARGUMENT, name, " is of one context, the matrix of a world: make it with ",
          "sxt_world_vector_create");
  require(own.world->world.get() == &matrix.world(), SXT_E_ARGUMENT, name, " belongs to another world than the matrix");
  require(own.type == matrix.value_type(), SXT_E_TYPE, name, " holds ", value_name(own.type), ", the matrix ",
          value_name(matrix.value_type()));
  for (std::size_t i = 0; i < own.world->parts.size(); ++i)
    require(own.world->parts[i].n == matrix.rows_of(i), SXT_E_DIMENSION, name, " has ", own.world->parts[i].n,
            " values with member ", matrix.world().first() + static_cast<std::int32_t>(i), ", the matrix ",
            matrix.rows_of(i), " rows");
  return own;
}

void check_parts_apart(const sxt_vector &x, const sxt_vector &y, const char *names) {
  const std::int64_t each = value_bytes(x.type);
  for (std::size_t i = 0; i < x.world->parts.size(); ++i) {
    const WorldVector::Part &one = x.world->parts[i], &other = y.world->parts[i];
    require(apart(one.data, one.n * each, other.data, other.n * each), SXT_E_ARGUMENT, names, " overlap");
  }
}

template <class T>
std::vector<T> pointers(const sxt_vector &vector) {
  std::vector<T> out;
  for (const WorldVector::Part &part : vector.world->parts) out.push_back(part.data);
  return out;
}

void require_no_captures(const World &world) {
  for (std::size_t i = 0; i < world.own(); ++i)
    require_no_capture(world.context(i).device(), "calls on a world cannot become part of a graph");
}

}  // namespace

void check_alike(const sxt_vector &first, const char *first_name, const sxt_vector &other, const char *name) {
  require((first.world != nullptr) == (other.world != nullptr), SXT_E_ARGUMENT, first.world ? first_name : name,
          " is a vector of a world, ", first.world ? name : first_name, " one of a context");
  if (!first.world) return;
  require(first.world->world == other.world->world, SXT_E_ARGUMENT, first_name, " and ", name,
          " belong to different worlds");
}

void reduce_in_world(const char *call, std::int32_t operation, const sxt_vector &x, const sxt_vector *y, void *result,
                     const std::function<void()> &check) {
  World &world = *x.world->world;
  world.collective(call, [&] {
    world.together(call, 1, [&](Frame &) {
      require_no_captures(world);
      check();
    });
    reduce_world(call, operation, *x.world, y ? y->world.get() : nullptr, result);
  });
}

void multidot_in_world(std::int32_t count, const sxt_vector *const *x, const sxt_vector *const *y, void *results,
                       const std::function<void()> &check) {
  World &world = *x[0]->world->world;
  world.collective("sxt_multidot", [&] {
    world.together("sxt_multidot", static_cast<std::uint64_t>(count), [&](Frame &) {
      require_no_captures(world);
      check();
    });
    std::vector<const WorldVector *> left, right;
    for (std::int32_t i = 0; i < count; ++i) left.push_back(x[i]->world.get()), right.push_back(y[i]->world.get());
    multidot_world(count, left.data(), right.data(), results);
  });
}

void spmv_in_world(sxt_op op, const void *alpha, sxt_matrix &a, const sxt_vector *x, const void *beta, sxt_vector *y) {
  WorldMatrix &matrix = *a.world;
  World &world = matrix.world();
  constexpr const char *call = "sxt_spmv";
  world.collective(call, [&] {
    world.together(call, static_cast<std::uint64_t>(op), [&](Frame &) {
      require(op == SXT_NO_TRANSPOSE, SXT_E_NOT_SUPPORTED, "op is ", op,
              "; products with a matrix of a world are SXT_NO_TRANSPOSE (0)");
      require_no_captures(world);
      check_parts_apart(operand(matrix, x, "x"), operand(matrix, y, "y"), "x and y");
    });
    world.together(call, 16, [&](Frame &) {
      matrix.halo().with_exchange([&] {
        const Lanes lanes(world);
        matrix.multiply(alpha, pointers<const void *>(*x), beta, pointers<void *>(*y), lanes);
        lanes.finish();
      });
    });
  });
}

void update_world_values(sxt_matrix &matrix, const void *values, std::int64_t count) {
  World &world = matrix.world->world();
  constexpr const char *call = "sxt_matrix_update_values";
  world.collective(call, [&] {
    world.together(call, 0, [&](Frame &) {
      require_no_captures(world);
      check_on_host(world.context(0), values, "values");
      require_aligned(values, value_alignment(matrix.world->value_type()), "values");
    });
    counting_from(matrix.index_base, [&] { matrix.world->update_values(values, count); });
  });
}

sxt_matrix_info world_info(const WorldMatrix &matrix) {
  const CsrArrays &own = matrix.own_rows();
  return {sizeof(sxt_matrix_info), matrix.given().rows, matrix.given().cols,     matrix.nnz(),  own.value_type,
          own.index_type,          own.offset_type,     matrix.given().symmetry, matrix.bytes()};
}

sxt_pcg_report solve_in_world(sxt_pcg &pcg, const sxt_vector *b, sxt_vector *x,
                              const std::function<SolveSettings()> &settings) {
  WorldMatrix &matrix = pcg.world->matrix();
  constexpr const char *call = "sxt_pcg_solve";
  return matrix.world().collective(call, [&] {
    SolveSettings wanted{};
    matrix.world().together(call, 0, [&](Frame &) {
      require_no_captures(matrix.world());
      check_parts_apart(operand(matrix, b, "b"), operand(matrix, x, "x"), "b and x");
      wanted = settings();
    });
    return pcg.world->solve(pointers<const void *>(*b), pointers<void *>(*x), wanted);
  });
}

}  // namespace sextant::abi
