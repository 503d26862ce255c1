// SPDX-License-Identifier: BSD-3-Clause
// Problems by the names that programs here take: 5pt:SIDE, 7pt:SIDE, 27pt:SIDE, 27pt3:SIDE (three unknowns a point), or
// a Matrix Market file of real numbers.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "abi/handles.hpp"
#include "core/base/types.hpp"
#include "tools/measure/cholesky_problems.hpp"

namespace gpu_test {

inline Problem read_file(const std::string &path, sxt_context *context) {
  sxt_matrix *made = nullptr;
  if (sxt_matrix_from_file(context, path.c_str(), nullptr, &made) < 0)
    throw std::runtime_error(sxt_last_error(nullptr));
  const std::unique_ptr<sxt_matrix, void (*)(sxt_matrix *)> held(made, sxt_matrix_destroy);
  const sextant::CsrArrays &csr = made->matrix->csr();
  if (csr.value_type != SXT_F64) throw std::runtime_error(path + " holds no real numbers");
  Problem a;
  a.name = path.substr(path.rfind('/') + 1);
  sextant::with_index_type(csr.offset_type, [&](auto offset) {
    using Offset = typename decltype(offset)::type;
    for (std::int64_t i = 0; i < csr.rows; ++i)
      a.ptr.push_back(static_cast<std::int32_t>(csr.row_ptr.as<Offset>()[i + 1]));
  });
  sextant::with_index_type(csr.index_type, [&](auto index) {
    using Index = typename decltype(index)::type;
    for (std::int64_t k = 0; k < csr.nnz; ++k) a.put(csr.col.as<Index>()[k], csr.values.as<double>()[k]);
  });
  return a;
}

// "7pt:40" and the like, or a file.
inline Problem problem_of(const std::string &name, sxt_context *context) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return read_file(name, context);
  const std::string kind = name.substr(0, colon);
  const std::int64_t side = std::stoll(name.substr(colon + 1));
  if (kind == "5pt") return stencil(name.c_str(), side, 1, false, 1);
  if (kind == "7pt") return stencil(name.c_str(), side, side, false, 1);
  if (kind == "27pt") return stencil(name.c_str(), side, side, true, 1);
  if (kind == "27pt3") return stencil(name.c_str(), side, side, true, 3);
  throw std::runtime_error("no problem is called " + name);
}

}  // namespace gpu_test
