// SPDX-License-Identifier: BSD-3-Clause
// The arguments of kind sxt.dense/1 as a kind of its own, with its reference, all four operations on groups of
// matrices, and a second kernel for the two that work on panels. Textbook loops on the host, for real and complex
// numbers.
#include <cstdint>

#include "sextant/plugin/kinds/dense.h"
#include "sextant/sdk/kernel.hpp"

using namespace sextant::plugin;

namespace {

// Column-major.
template <class T>
struct View {
  T *data;
  std::int64_t ld;
  T &operator()(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }
};
template <class T>
View<T> view(void *const *matrices, const std::int64_t *ld, std::int64_t item) {
  return {static_cast<T *>(matrices[item]), ld[item]};
}

// A = L L^H in place. Returns 0, or the 1-based column whose pivot is not positive; the pivot is then on the diagonal.
template <class T>
std::int32_t potrf(View<T> a, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    real_of<T> pivot = std::real(a(j, j));
    for (std::int64_t k = 0; k < j; ++k) pivot -= std::norm(a(j, k));
    a(j, j) = pivot;
    if (!(pivot > 0)) return static_cast<std::int32_t>(j + 1);
    a(j, j) = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      T value = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) value -= a(i, k) * conjugate(a(j, k));
      a(i, j) = value / a(j, j);
    }
  }
  return 0;
}

// B = B L^-H, with L the lower triangle of a.
template <class T>
void trsm(View<T> l, View<T> b, std::int64_t m, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      T value = b(i, j);
      for (std::int64_t k = 0; k < j; ++k) value -= b(i, k) * conjugate(l(j, k));
      b(i, j) = value / conjugate(l(j, j));
    }
}

// C -= A B^H; only the lower triangle where `lower`.
template <class T>
void gemm(View<T> a, View<T> b, View<T> c, std::int64_t m, std::int64_t n, std::int64_t k, bool lower) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = lower ? j : 0; i < m; ++i)
      for (std::int64_t l = 0; l < k; ++l) c(i, j) -= a(i, l) * conjugate(b(j, l));
}

template <class T>
void item(const sxt_dense_args &d, std::int64_t g) {
  const View<T> a = view<T>(d.a, d.lda, g);
  switch (d.operation) {
    case SXT_DENSE_POTRF: {
      const std::int32_t info = potrf(a, d.n[g]);
      if (d.info) d.info[g] = info;
      return;
    }
    case SXT_DENSE_TRSM: return trsm(a, view<T>(d.b, d.ldb, g), d.m[g], d.n[g]);
    case SXT_DENSE_SYRK: return gemm(a, a, view<T>(d.c, d.ldc, g), d.n[g], d.n[g], d.k[g], true);
    default: return gemm(a, view<T>(d.b, d.ldb, g), view<T>(d.c, d.ldc, g), d.m[g], d.n[g], d.k[g], false);
  }
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = as<sxt_dense_args>(head);
  return with_value_type(args.value_type, [&](auto tag) {
    for (std::int64_t g = 0; g < args.count; ++g) item<typename decltype(tag)::type>(args, g);
    return SXT_OK;
  });
}

sxt_status on_panels(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const std::int32_t operation = as<sxt_dense_query>(query).operation;
  if (operation == SXT_DENSE_POTRF || operation == SXT_DENSE_TRSM) return SXT_OK;
  return refuse(reason, "it knows potrf and trsm, not operation %d", operation);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &asked = as<sxt_dense_query>(query);
  CandidateList(out, capacity, count).add().run_s = 1e-7 * static_cast<double>(asked.count) + 1e-9 * asked.flops;
  return SXT_OK;
}

const sxt_kernel reference = [] {
  sxt_kernel k = new_kernel("com.example.dense/1", "dense.textbook.cpu", "cpu", "all operations, by the book", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_REFERENCE;
  k.value_types = all_value_types;
  k.candidates = candidates;
  return k;
}();

const sxt_kernel panels = [] {
  sxt_kernel k = new_kernel("com.example.dense/1", "dense.panels.cpu", "cpu", "potrf and trsm", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = all_value_types;
  k.applicable = on_panels;
  k.candidates = candidates;
  return k;
}();

const sxt_kind kind = [] {
  sxt_kind k = new_kind("com.example.dense/1", "groups of dense operations");
  k.reference = &reference;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&reference, &panels};
  static const sxt_kind *const kinds[] = {&kind};
  static const sxt_plugin plugin = describe("hard-dense", kernels, kinds, 1);
  return *out = &plugin, SXT_OK;
}
