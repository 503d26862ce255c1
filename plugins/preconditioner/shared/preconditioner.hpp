// SPDX-License-Identifier: BSD-3-Clause
// Common parts of preconditioners on every device: the method's name with an optional number ("block-jacobi:8"), the
// tests of queries and args, the blocks of block-Jacobi and the numbers behind the choice of omega.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "sextant/plugin/kinds/preconditioner_columns.h"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::precondition {

// ---- the method of a query ---------------------------------------------------------------------------------

// A method takes at most one number behind its name, "name:number"; number_name NULL: it takes none.
struct Method {
  const char *name, *number_name;
  double low, high;  // what the number may be
  bool whole;        // only whole numbers
  // sxt_preconditioner_ops.typical_iterations: medians over the matrices of docs/measurements/preconditioners.md.
  double typical_iterations;
};

// Whether a query asks for this method. *number: NaN where it leaves the number open.
inline sxt_status read_method(const sxt_preconditioner_query &query, const Method &method, double *number,
                              sxt_message *reason) {
  *number = std::numeric_limits<double>::quiet_NaN();
  const char *const text = query.method;
  const std::uint64_t length = strnlen(text, sizeof query.method);
  if (length == 0) return SXT_OK;  // any method will do
  const std::uint64_t name = std::strlen(method.name);
  const bool named = std::strncmp(text, method.name, name) == 0 && length >= name;
  if (!named || (length > name && text[name] != ':'))
    return refuse(reason, "this is \"%s\", the query asks for \"%.24s\"", method.name, text);
  if (length == name) return SXT_OK;
  if (!method.number_name)
    return refuse(reason, "\"%s\" takes no number, the query asks for \"%.24s\"", method.name, text);
  char digits[sizeof query.method + 1] = "", *end = digits;
  std::memcpy(digits, text + name + 1, length - name - 1);
  *number = std::strtod(digits, &end);
  const bool read = end != digits && *end == 0;
  // Written so that NaN fails.
  if (!read || !(*number >= method.low && *number <= method.high) || (method.whole && *number != std::floor(*number)))
    return refuse(reason, "\"%.24s\": the %s of %s is a %snumber from %g to %g", text, method.number_name, method.name,
                  method.whole ? "whole " : "", method.low, method.high);
  return SXT_OK;
}

// The number a query asks for, or otherwise where it leaves that open.
inline double number_or(const sxt_preconditioner_query &query, const Method &method, double otherwise) {
  double number = 0;
  return read_method(query, method, &number, nullptr) == SXT_OK && !std::isnan(number) ? number : otherwise;
}

// The number of vectors of a run.
inline std::int32_t columns_of(const sxt_preconditioner_query &query) {
  const bool several = (query.m.q.flags & SXT_QUERY_SIDE_BY_SIDE) != 0;
  return several ? as<sxt_preconditioner_columns_query>(&query.m.q).n_rhs : 1;
}

// sxt_kernel.applicable of preconditioners that read CSR with 32-bit columns.
inline sxt_status applies(const sxt_query *head, const Method &method, sxt_message *reason) {
  const auto &query = as<sxt_preconditioner_query>(head);
  double number = 0;
  if (const sxt_status status = read_method(query, method, &number, reason); status != SXT_OK) return status;
  if (query.m.rows != query.m.cols)
    return refuse(reason, "the matrix is not square: %lld rows, %lld columns", (long long)query.m.rows,
                  (long long)query.m.cols);
  if (query.m.rows >= std::numeric_limits<std::int32_t>::max())
    return refuse(reason, "%lld rows do not fit the 32-bit indices it holds", (long long)query.m.rows);
  return SXT_OK;
}

template <const Method &method>
sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return applies(head, method, reason);
}

// The CSR of a problem, or a status with a sentence.
inline sxt_status need_csr(const sxt_problem &problem, std::int64_t rows, const sxt_exec *exec, const sxt_csr **out) {
  if (!problem.a || !is_kind(*problem.a, SXT_KIND_STORAGE_CSR))
    return error(exec, SXT_E_ARGUMENT, "the preconditioner needs the matrix as %s", SXT_KIND_STORAGE_CSR);
  const auto &a = as<sxt_csr>(problem.a);
  if (a.s.index_type != SXT_I32) return error(exec, SXT_E_NOT_SUPPORTED, "columns are stored as 64-bit numbers");
  if (rows >= 0 && a.s.rows != rows)
    return error(exec, SXT_E_DIMENSION, "the matrix has %lld rows, the preconditioner was prepared for %lld",
                 (long long)a.s.rows, (long long)rows);
  return *out = &a, SXT_OK;
}

// sxt_kernel.refresh on the host: compute(state, a, exec) again from a matrix of the same state.n rows.
template <class State, auto compute>
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return guard(exec, [&]() -> sxt_status {
    State &state = *static_cast<State *>(opaque);
    const sxt_csr *a = nullptr;
    const sxt_status status = need_csr(*problem, state.n, exec, &a);
    return status == SXT_OK ? compute(state, *a, exec) : status;
  });
}

// Bytes of a vector in scratch, so that the next one is aligned.
inline std::uint64_t vector_bytes(std::int64_t n, sxt_value_type type) {
  return (static_cast<std::uint64_t>(n) * value_bytes(type) + 255) / 256 * 256;
}

// Checks args of a run against the state. usable: a refused refresh left no preconditioner behind.
inline sxt_status check_args(const sxt_preconditioner_args &args, std::int64_t n, bool usable, const sxt_exec *exec) {
  if (args.n != n)
    return error(exec, SXT_E_DIMENSION, "the args have n = %lld, the matrix %lld rows", (long long)args.n,
                 (long long)n);
  if (!usable) return error(exec, SXT_E_STATE, "the last values were refused: refresh with others first");
  return SXT_OK;
}

// The table of a preconditioner on any device that reads CSR, in all types and equal bits, and may be captured. The
// caller gives applicable, candidates, prepare, refresh, run, perhaps open; release deletes the State.
struct Functions {
  KernelCalls calls;
  decltype(sxt_kernel::run) run;
  decltype(sxt_kernel::open) open = nullptr;
};
template <class State>
sxt_kernel csr_kernel(const char *name, const char *device, const char *description, const Functions &functions,
                      const sxt_preconditioner_ops *ops, const char *const *term_names) {
  static const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
  sxt_kernel k = new_kernel(SXT_KIND_PRECONDITIONER, name, device, description, functions.run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = all_value_types;
  k.storages = storages;
  k.term_names = term_names;
  k.ops = ops;
  set_calls<State>(k, functions.calls);
  k.open = functions.open;
  return k;
}

inline bool is_single(sxt_value_type type) { return type == SXT_F32 || type == SXT_C64; }
inline std::uint64_t real_bytes(sxt_value_type type) { return is_single(type) ? 4 : 8; }

// ---- block-Jacobi ------------------------------------------------------------------------------------------------

inline constexpr Method block_jacobi{"block-jacobi", "block size", 2, 32, true, 0.87};
inline constexpr int default_block = 8, largest_block = 32;

// First rows of the blocks, and n. Rows with the pattern of the row before them (the unknowns of one node) stay
// together; such groups are joined, and cut where they are larger, to blocks of at most `size` rows.
// same(i): row i has the pattern of row i - 1.
template <class Same>
std::vector<std::int32_t> block_borders(std::int64_t n, std::int64_t size, Same &&same) {
  std::vector<std::int32_t> borders{0};
  for (std::int64_t begin = 0; begin < n;) {
    std::int64_t end = begin + 1;
    while (end < n && end - begin < size && same(end)) ++end;
    if (end - borders.back() > size) borders.push_back(static_cast<std::int32_t>(begin));
    begin = end;
  }
  if (n > 0) borders.push_back(static_cast<std::int32_t>(n));
  return borders;
}

// Entries of the lower triangle of a block.
constexpr std::int64_t triangle(std::int64_t rows) { return rows * (rows + 1) / 2; }

// ---- SSOR's omega ------------------------------------------------------------------------------------------------

inline constexpr Method ssor_ai_1{"ssor-ai", "omega", 0.01, 1.99, false, 0.56};
inline constexpr Method ssor_ai_2{"ssor-ai-2", "omega", 0.01, 1.99, false, 0.5};
inline constexpr int omega_probes = 4;

// Sums over random vectors v of g_ij = Re p_i' A p_j, where p_0 = D^-1/2 v, p_1 = B' p_0, p_2 = B' p_1 and
// B = L D^-1: 00 01 11 02 12 22. With F = D^-1/2 (I - w B + w^2 B^2), v' F A F' v is a polynomial in w of them.
struct OmegaSums {
  double g00 = 0, g01 = 0, g11 = 0, g02 = 0, g12 = 0, g22 = 0;
  double at(double w, int order) const {
    const double first = g00 - 2 * w * g01 + w * w * g11;
    return order == 1 ? first : first + 2 * w * w * g02 - 2 * w * w * w * g12 + w * w * w * w * g22;
  }
};

// The omega with the least trace of F A F'. Its determinant does not depend on omega, so this omega has the least
// Kaporin number (trace / n)^n / determinant, which bounds the iterations.
inline double choose_omega(const OmegaSums &sums, int order) {
  double best = 1;
  for (int i = 5; i <= 195; ++i)
    if (sums.at(i / 100.0, order) < sums.at(best, order)) best = i / 100.0;
  return best;
}

// Entry i of random vector `probe`: 1 or -1, the same on every machine and device (the last step of splitmix64).
#ifdef __CUDACC__
__host__ __device__
#endif
    inline double
    random_sign(std::uint64_t probe, std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull + probe * 0xd1b54a32d192ed03ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (z ^ (z >> 31)) & 1 ? 1.0 : -1.0;
}

}  // namespace sextant::plugin::precondition
