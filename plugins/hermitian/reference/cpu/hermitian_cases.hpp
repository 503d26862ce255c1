// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems as conformance cases: their description and their arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/sdk/cases.hpp"
#include "sextant/sdk/hermitian.hpp"

namespace sextant::hermitian_reference {

using namespace plugin::cases;

enum class Flaw { none, some_not_definite, some_not_finite, zero, zero_diagonal };

// One line of the table of cases. Orders are uniform (n) or spread from 0 to n.
struct Shape {
  std::int32_t phase, definiteness;
  std::int64_t batch, n, n_rhs;
  sxt_triangle triangle;
  bool pointers, vary, mask;
  std::int64_t padding;  // of leading dimensions
  double digits_lost;    // log10 of the condition number; halved in single precision
  Flaw flaw = Flaw::none;
  bool may_spoil = false;
  bool solution_only = false;  // the factor is not checked
};

struct Case {
  Shape shape{};
  sxt_value_type type{};
  std::vector<std::int32_t> orders, orders_device, info, pivots;
  std::vector<std::int64_t> lda, ldb, a_at, b_at;  // of each system; offsets into a and b
  std::vector<std::uint8_t> active;
  std::vector<void *> a_pointers, b_pointers;
  Array a, b, a_before, b_before;
  Array matrix;  // as a_before, but not factored where the phase is SOLVE
  sxt_hermitian_query query{};
  sxt_hermitian_args args{};
  Moved moved;
  std::string description;

  bool is_active(std::int64_t s) const { return active.empty() || active[s] != 0; }
  // Pointers of the arrays where they lie on the host.
  void set_pointers();
};

// A full Hermitian matrix, column-major with ld = n, whose eigenvalues are 1 .. 10^-digits, of both signs when it is
// indefinite: reflections of a diagonal one.
std::vector<Wide> with_eigenvalues(std::int64_t n, double digits, bool indefinite, bool complex, Random &random);

// Fills everything but args.info's memory contents for SOLVE, which factor_case does.
void make(const Shape &shape, sxt_value_type type, Random &random, Case &out);
// Turns the matrices of a SOLVE case into factors, by the reference.
void factor_case(Case &c);

}  // namespace sextant::hermitian_reference
