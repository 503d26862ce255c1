// SPDX-License-Identifier: BSD-3-Clause
// Owning handles for the library's objects, and the two-call idiom of its string getters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "report/error.hpp"
#include "sextant/sextant.h"

namespace tool {

template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T *handle) const {
    Destroy(handle);
  }
};

using Context = std::unique_ptr<sxt_context, Destroyer<sxt_context_destroy>>;
using Matrix = std::unique_ptr<sxt_matrix, Destroyer<sxt_matrix_destroy>>;
using Vector = std::unique_ptr<sxt_vector, Destroyer<sxt_vector_destroy>>;
using Pcg = std::unique_ptr<sxt_pcg, Destroyer<sxt_pcg_destroy>>;
using Analysis = std::unique_ptr<sxt_analysis, Destroyer<sxt_analysis_destroy>>;
using Cholesky = std::unique_ptr<sxt_cholesky, Destroyer<sxt_cholesky_destroy>>;
using Selection = std::unique_ptr<sxt_selection, Destroyer<sxt_selection_destroy>>;

// Calls get(buffer, capacity, &length) once for the length and once for the text.
template <typename Get>
std::string get_text(const sxt_context *context, Get get) {
  std::int64_t length = 0;
  char nothing = 0;
  check(get(&nothing, std::int64_t{1}, &length), context);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  check(get(text.data(), length + 1, &length), context);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace tool
