// SPDX-License-Identifier: BSD-3-Clause
// What the opaque handles hold.
#pragma once

#include <cstdint>
#include <memory>

#include "abi/guard.hpp"
#include "abi/places.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/operations/array_products.hpp"
#include "core/operations/products.hpp"
#include "core/pcg/placed.hpp"

#include "sextant/sextant.h"

struct sxt_context {
  std::shared_ptr<sextant::Context> context;
};

struct sxt_matrix {
  explicit sxt_matrix(std::shared_ptr<sextant::Matrix> held)
      : matrix(std::move(held)), products(matrix), arrays(matrix) {}
  std::shared_ptr<sextant::Matrix> matrix;
  sextant::Products products;
  sextant::ArrayProducts arrays;
  int index_base = 0;  // of the caller's arrays; files count from 1
};

struct sxt_vector {
  std::shared_ptr<sextant::Context> context;
  std::int64_t n;
  sxt_value_type type;
  void *data;
  sextant::DeviceBuffer owned;
};

struct sxt_pcg {
  sxt_pcg(std::shared_ptr<sextant::Matrix> matrix, const sextant::PcgSettings &settings)
      : solver(std::move(matrix), settings) {}
  sextant::PlacedSolver solver;
  int index_base = 0;  // of the matrix it was made from
  std::int64_t null_space_size = 0;
};

struct sxt_selection {
  std::shared_ptr<sextant::Context> context;
  std::shared_ptr<sextant::Matrix> matrix;  // NULL when the query is about none
  sextant::ChoicePtr predicted;             // without a runner
  std::unique_ptr<sextant::Runner> runner;  // NULL where nothing was built

  // Includes what was chosen while it was built.
  const sextant::ChoicePtr &choice() const { return runner ? runner->prepared().shared_choice() : predicted; }
};

namespace sextant::abi {

// The context a message belongs to; 0 for a NULL handle.
inline std::uint64_t id_of(const sxt_context *handle) { return handle ? handle->context->id() : 0; }
inline std::uint64_t id_of(const sxt_matrix *handle) { return handle ? handle->matrix->context().id() : 0; }
inline std::uint64_t id_of(const sxt_vector *handle) { return handle ? handle->context->id() : 0; }
inline std::uint64_t id_of(const sxt_pcg *handle) { return handle ? handle->solver.matrix().context().id() : 0; }
inline std::uint64_t id_of(const sxt_selection *handle) { return handle ? handle->context->id() : 0; }

}  // namespace sextant::abi
