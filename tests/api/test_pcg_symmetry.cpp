// SPDX-License-Identifier: BSD-3-Clause
// A symmetry that was not stated but the set-up's check finds: it counts as stated, where every entry equals its mirror
// image, for the solver that checked, and while it holds.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

sxt_pcg_options half_stored() {
  sxt_pcg_options options = pcg_options();
  options.format = "dia-symmetric";
  return options;
}

Matrix stated_symmetric(const Csr &a, const Context &context) {
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  options.symmetry = SXT_SYMMETRIC;
  return make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), &options,
                               out);
  });
}

Pcg set_up(const Matrix &matrix, const sxt_pcg_options &options, sxt_status expected = SXT_OK) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); }, expected);
}

std::pair<sxt_status, std::vector<double>> solve(const Pcg &pcg, std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i * i % 1009));
  const sxt_status status = sxt_pcg_solve_array(pcg.get(), n, b.data(), x.data(), nullptr, nullptr);
  return {status, x};
}

// One unit of rounding in an entry above the diagonal: replaced by the mean of both halves, which are then equal.
Csr nearly_symmetric(int side) {
  Csr a = laplacian(side, 0.5);
  a.values[1] = std::nextafter(a.values[1], 0.0);
  return a;
}

TEST(PcgSymmetryTest, FoundSymmetryCountsAsStated) {
  const Context context = cpu();
  for (const double shift : {0.0, 0.5}) {
    Csr a = laplacian(40, shift);
    if (shift > 0) a.values[0] += 1;  // no constant diagonal, so that the system is scaled
    const Matrix found = a.matrix(context), stated = stated_symmetric(a, context);
    const Pcg by_check = set_up(found, half_stored()), by_word = set_up(stated, half_stored());
    EXPECT_NE(explain(by_check).find("dia-symmetric"), std::string::npos) << explain(by_check);
    const auto [status, x] = solve(by_check, a.rows);
    EXPECT_EQ(status, SXT_OK);
    EXPECT_EQ(x, solve(by_word, a.rows).second) << "bits";
  }
}

TEST(PcgSymmetryTest, TheMatrixKeepsItsStatedSymmetry) {
  const Context context = cpu();
  const Matrix matrix = laplacian(40).matrix(context);
  const Pcg pcg = set_up(matrix, half_stored());
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(sxt_matrix_get_info(matrix.get(), &info), SXT_OK);
  EXPECT_EQ(info.symmetry, SXT_GENERAL);
}

TEST(PcgSymmetryTest, UncheckedHalvesAreBothKept) {
  const Context context = cpu();
  sxt_pcg_options unchecked = half_stored();
  unchecked.check_symmetry = 0;
  const Matrix equal = laplacian(20).matrix(context), nearly = nearly_symmetric(20).matrix(context);
  set_up(equal, unchecked, SXT_E_NO_KERNEL);
  EXPECT_NE(last_error(context).find("not known to be symmetric"), std::string::npos) << last_error(context);
  set_up(nearly, unchecked, SXT_E_NO_KERNEL);
  const Pcg half = set_up(nearly, half_stored());
  EXPECT_EQ(solve(half, 400).first, SXT_OK);
}

// New values for which it does not hold would be solved with half of them.
TEST(PcgSymmetryTest, NewValuesAreChecked) {
  const Context context = cpu();
  const Csr a = laplacian(30);
  const auto count = static_cast<std::int64_t>(a.values.size());
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = set_up(matrix, half_stored());
  const std::vector<double> x = solve(pcg, a.rows).second;
  std::vector<double> values = a.values;
  values[1] = -0.5;
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), count), SXT_OK);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(solve(pcg, a.rows).first, SXT_E_NOT_SYMMETRIC);
    EXPECT_NE(last_error(context).find("entry (0, 1) is -0.5"), std::string::npos) << last_error(context);
  }
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), a.values.data(), count), SXT_OK);
  const auto [status, restored] = solve(pcg, a.rows);
  EXPECT_EQ(status, SXT_OK);
  EXPECT_EQ(restored, x);
}

}  // namespace
}  // namespace api_test
