// SPDX-License-Identifier: BSD-3-Clause
// What the opaque handles hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "abi/guard.hpp"
#include "abi/places.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/operations/array_products.hpp"
#include "core/operations/products.hpp"
#include "core/pcg/placed.hpp"
#include "core/world/pcg.hpp"
#include "core/world/vector.hpp"

#include "sextant/sextant.h"

struct sxt_context {
  std::shared_ptr<sextant::Context> context;
};

struct sxt_matrix {
  explicit sxt_matrix(std::shared_ptr<sextant::Matrix> held)
      : matrix(std::move(held)), products(std::in_place, matrix), arrays(std::in_place, matrix) {}
  explicit sxt_matrix(std::shared_ptr<sextant::WorldMatrix> held) : world(std::move(held)) {}
  std::shared_ptr<sextant::Matrix> matrix;  // of one context, with what its products need; all empty in a world
  std::optional<sextant::Products> products;
  std::optional<sextant::ArrayProducts> arrays;
  std::shared_ptr<sextant::WorldMatrix> world;  // NULL: the matrix belongs to one context
  int index_base = 0;                           // of the caller's arrays; files count from 1
};

struct sxt_vector {
  std::shared_ptr<sextant::Context> context;
  std::int64_t n;
  sxt_value_type type;
  void *data;
  sextant::DeviceBuffer owned;
  // NULL: the vector belongs to one context. Otherwise context is the first of the world's in this process, n the
  // length of all parts in this process, and data the address of the only part, or NULL.
  std::shared_ptr<sextant::WorldVector> world = {};
};

struct sxt_world {
  std::shared_ptr<sextant::World> world;
};

struct sxt_pcg {
  sxt_pcg(std::shared_ptr<sextant::Matrix> matrix, const sextant::PcgSettings &settings)
      : solver(std::in_place, std::move(matrix), settings) {}
  sxt_pcg(std::shared_ptr<sextant::WorldMatrix> matrix, const sextant::PcgSettings &settings)
      : world(std::make_unique<sextant::WorldPcg>(std::move(matrix), settings)) {}
  std::optional<sextant::PlacedSolver> solver;  // empty: the solver belongs to a world
  std::unique_ptr<sextant::WorldPcg> world;
  int index_base = 0;  // of the matrix it was made from
  std::int64_t null_space_size = 0;
};

struct sxt_selection {
  std::shared_ptr<sextant::Context> context;
  std::shared_ptr<sextant::Matrix> matrix;  // NULL when the query is about no matrix
  sextant::ChoicePtr predicted;             // without a runner
  std::unique_ptr<sextant::Runner> runner;  // NULL where nothing was built

  // Includes the choices that were made while the kernel was built.
  const sextant::ChoicePtr &choice() const { return runner ? runner->prepared().shared_choice() : predicted; }
};

namespace sextant::abi {

// The context a message belongs to; 0 for a NULL handle.
inline std::uint64_t id_of(const sxt_context *handle) { return handle ? handle->context->id() : 0; }
inline std::uint64_t id_of(const sxt_matrix *handle) {
  return !handle ? 0 : handle->world ? handle->world->world().id() : handle->matrix->context().id();
}
inline std::uint64_t id_of(const sxt_vector *handle) { return handle ? handle->context->id() : 0; }
inline std::uint64_t id_of(const sxt_pcg *handle) {
  return !handle ? 0 : handle->world ? handle->world->matrix().world().id() : handle->solver->matrix().context().id();
}
inline std::uint64_t id_of(const sxt_world *handle) { return handle ? handle->world->id() : 0; }
inline std::uint64_t id_of(const sxt_selection *handle) { return handle ? handle->context->id() : 0; }

// Memory that a caller lends to a vector of `bytes` in this context. Throws what sxt_vector_wrap documents.
void check_wrapped(const Context &context, const void *data, std::uint64_t bytes, sxt_value_type type, sxt_space space);

// For calls that worlds do not offer: the object, which must belong to one context.
template <class T>
T &of_context(T *object, const char *name) {
  require(!given(object, name).world, SXT_E_NOT_SUPPORTED, name,
          " belongs to a world; this call takes objects of one context (docs/world.md lists those for worlds)");
  return *object;
}

}  // namespace sextant::abi
