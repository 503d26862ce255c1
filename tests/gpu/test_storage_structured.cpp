// SPDX-License-Identifier: BSD-3-Clause
// Storages by diagonals, ELL, HYB and blocks on a GPU: the arrays they publish, the widths and block edges they choose,
// and what they refuse, with the numbers.
#include <cstdint>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using testing::HasSubstr;

class StructuredStorage : public Gpu {
 protected:
  std::shared_ptr<Matrix> matrix_of(const Rows &rows, sxt_symmetry symmetry = SXT_GENERAL) {
    return rows.on(context_->context, SXT_F64, symmetry);
  }
  template <class T>
  std::vector<T> values_at(const void *from, std::int64_t n) {
    std::vector<T> values(static_cast<std::size_t>(n));
    if (n) device().copy(values.data(), from, values.size() * sizeof(T));
    return values;
  }
  // The error of building this storage.
  std::string refusal(const Rows &rows, const char *kind) {
    try {
      matrix_of(rows)->form(kind);
    } catch (const Error &problem) {
      EXPECT_TRUE(problem.status() == SXT_E_NO_KERNEL || problem.status() == SXT_NOT_APPLICABLE ||
                  problem.status() == SXT_E_NOT_SUPPORTED)
          << problem.status();
      return problem.what();
    }
    return "nothing was refused";
  }
};

// [ 4 1 . 2 ; 1 . . . ; . . 5 . ; 2 . . 7 ]
Rows small() {
  Rows a(4, 4);
  a.set(0, 0, 4), a.set(0, 1, 1), a.set(0, 3, 2), a.set(1, 0, 1), a.set(2, 2, 5), a.set(3, 0, 2), a.set(3, 3, 7);
  return a;
}

TEST_F(StructuredStorage, Diagonals) {
  const auto matrix = matrix_of(small(), SXT_SYMMETRIC);
  const auto check = [&](const char *kind, const std::vector<std::int64_t> &offsets,
                         const std::vector<std::vector<double>> &values) {
    const auto &a = *reinterpret_cast<const sxt_dia *>(matrix->storage(kind));
    ASSERT_EQ(a.n_diagonals, static_cast<std::int64_t>(offsets.size()));
    EXPECT_EQ(std::vector<std::int64_t>(a.host_offsets, a.host_offsets + a.n_diagonals), offsets);
    EXPECT_EQ(values_at<std::int64_t>(a.offsets, a.n_diagonals), offsets);
    EXPECT_EQ(a.s.space, SXT_SPACE_DEVICE);
    for (std::size_t d = 0; d < values.size(); ++d)
      EXPECT_EQ(values_at<double>(static_cast<const double *>(a.values) + d * static_cast<std::size_t>(a.ld), 4),
                values[d]);
  };
  check(SXT_KIND_STORAGE_DIA, {-3, -1, 0, 1, 3},
        {{0, 0, 0, 2}, {0, 1, 0, 0}, {4, 0, 5, 7}, {1, 0, 0, 0}, {2, 0, 0, 0}});
  check(SXT_KIND_STORAGE_DIA_SYMMETRIC, {0, 1, 3}, {{4, 0, 5, 7}, {1, 0, 0, 0}, {2, 0, 0, 0}});
}

TEST_F(StructuredStorage, EqualWidths) {
  const auto matrix = matrix_of(small());
  const auto &a = *reinterpret_cast<const sxt_ell *>(matrix->storage(SXT_KIND_STORAGE_ELL));
  ASSERT_EQ(a.width, 3);
  const std::vector<std::vector<std::int32_t>> columns = {{0, 0, 2, 0}, {1, -1, -1, 3}, {3, -1, -1, -1}};
  const std::vector<std::vector<double>> values = {{4, 1, 5, 2}, {1, 0, 0, 7}, {2, 0, 0, 0}};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(values_at<std::int32_t>(static_cast<const std::int32_t *>(a.col) + k * static_cast<std::size_t>(a.ld), 4),
              columns[k]);
    EXPECT_EQ(values_at<double>(static_cast<const double *>(a.values) + k * static_cast<std::size_t>(a.ld), 4),
              values[k]);
  }
}

// Rows of `few` entries, and every `period`-th of `many`.
Rows uneven(std::int64_t n, std::int64_t period, std::int64_t few, std::int64_t many) {
  Rows a(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < (i % period ? few : many); ++k) a.set(i, (i + 7 * k) % n, 1);
  return a;
}

TEST_F(StructuredStorage, WidthsOfHyb) {
  const registry::Kernel &kernel = *registry::Registry::instance().kernels(SXT_KIND_STORAGE_HYB, "cuda").front();
  const auto width = [&](const Rows &rows, std::int64_t rule, std::int64_t rest) {
    const auto matrix = matrix_of(rows);
    sxt_matrix_query query = matrix->query_part(SXT_KIND_STORAGE_HYB, sizeof query, 1);
    const sxt_problem problem{sizeof problem, &query.q, &matrix->csr_view().s.h, nullptr};
    sxt_candidate candidate{};
    candidate.launch[0] = rule;
    void *state = nullptr;
    {
      Call call(device());
      const sxt_exec exec = make_exec(call);
      call.finish(kernel.table.prepare(&problem, &candidate, nullptr, &exec, &state), kernel.name(), "prepare");
    }
    const auto &a =
        *reinterpret_cast<const sxt_hyb *>(static_cast<const sxt_storage_ops *>(kernel.table.ops)->view(state));
    EXPECT_EQ(a.coo.s.nnz, rest) << "rule " << rule;
    const std::int64_t found = a.ell.width;
    kernel.table.release(state);
    return found;
  };
  // The rule of a third: exactly a third of the rows have nine entries, then only a quarter.
  EXPECT_EQ(width(uneven(3000, 3, 2, 9), 1, 0), 9);
  EXPECT_EQ(width(uneven(3000, 4, 2, 9), 1, 750 * 7), 2);
  EXPECT_EQ(width(uneven(3000, 2, 1, 1500), 1, 0), 1500) << "wider than one pass counts";
  // The model: padding of a small matrix costs less than the second step, that of a larger one does not.
  EXPECT_EQ(width(uneven(3000, 4, 2, 9), 0, 0), 9);
  EXPECT_EQ(width(uneven(60000, 50, 2, 200), 0, 1200 * 198), 2);
}

TEST_F(StructuredStorage, RefusalsGiveTheNumbers) {
  Rows arrow = Rows::bands(2000, {-1, 0, 1});
  for (std::int64_t j = 2; j < 2000; ++j) arrow.set(0, j, 1);
  EXPECT_THAT(refusal(arrow, SXT_KIND_STORAGE_DIA), HasSubstr("2001 diagonals x 2000 rows for 7996 entries"));
  EXPECT_THAT(refusal(arrow, SXT_KIND_STORAGE_ELL), HasSubstr("2000 rows of 2000 entries"));
  EXPECT_THAT(refusal(Rows::bands(40000, {-9000, 0, 9000}), SXT_KIND_STORAGE_BSR), HasSubstr("% full"));
}

}  // namespace
}  // namespace gpu_test
