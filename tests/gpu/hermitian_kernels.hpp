// SPDX-License-Identifier: BSD-3-Clause
// For tests of kernels for sets of Hermitian systems on a GPU, called one by one through every candidate that they
// offer: solutions with small backward errors, equal bits, and flawed systems that leave their neighbours alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hermitian_set.hpp"

namespace gpu_test {

class HermitianKernels : public Gpu {
 protected:
  // one_answer: all candidates give the same bits, and the factor of definite sets is checked, too.
  HermitianKernels(std::vector<std::string_view> kernels, bool one_answer)
      : kernels_(std::move(kernels)), one_answer_(one_answer) {}

  std::vector<ChoicePtr> choices(HermitianSet &set, std::int32_t phase) {
    set.query.phase = phase;
    std::vector<ChoicePtr> mine;
    for (const ChoicePtr &choice :
         sextant::Selector(*context_->context, nullptr).every({sextant::Query(&set.query.q), "set"}))
      if (std::count(kernels_.begin(), kernels_.end(), choice->kernel->name())) mine.push_back(choice);
    return mine;
  }
  void run(HermitianSet &set, const ChoicePtr &choice, std::int32_t phase) {
    Prepared prepared(*context_->context, choice, nullptr, nullptr);
    set.args.phase = phase;
    prepared.open()->run(&set.args.h);
    ++runs_[choice->kernel->name()];
  }
  void run_on_new_values(HermitianSet &set, const ChoicePtr &choice, Array &factor, Array &x,
                         std::int32_t phase = SXT_HERMITIAN_FACTOR_SOLVE) {
    set.upload();
    run(set, choice, phase);
    set.download(factor, x);
  }
  static std::string name(const ChoicePtr &choice, const HermitianSet &set) {
    return std::string(choice->kernel->name()) + " launch " + std::to_string(choice->candidate.launch[0]) + " " +
           std::to_string(choice->candidate.launch[1]) + " " + std::to_string(choice->candidate.launch[2]) + ", " +
           value_name(set.a.type()) + ", order " + std::to_string(set.n) + (set.lower ? ", lower" : ", upper");
  }

  // |A - L L^H| / (n eps max |A|), largest element.
  static double factor_error(const HermitianSet &set, std::int64_t s, const Array &factor) {
    const std::int64_t n = set.orders[s];
    std::vector<Wide> l(static_cast<std::size_t>(n * n));
    double worst = 0, largest = 0;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) {
        const Wide held = factor.at((s * set.n + (set.lower ? j : i)) * set.lda + (set.lower ? i : j));
        l[i * n + j] = set.lower ? held : std::conj(held);
      }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        Wide rest = set.element(s, i, j);
        largest = std::max(largest, magnitude(rest));
        for (std::int64_t k = 0; k <= j; ++k) rest -= l[i * n + k] * std::conj(l[j * n + k]);
        worst = std::isfinite(magnitude(rest)) ? std::max(worst, magnitude(rest)) : 1e300;
      }
    return n > 0 ? worst / ((static_cast<double>(n) + 8) * epsilon(set.a.type()) * largest) : 0;
  }
  static void expect_same_bits(const Array &got, const Array &want, const std::string &what) {
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0) << what << ": other bits";
  }

  // Every candidate, in one call and in two; `checked`: systems whose solution is looked at.
  void check(HermitianSet &set, const std::vector<std::int64_t> &checked) {
    const double most = set.definite ? 4 : 40;
    Array factor, x, same_factor, same_x;
    const std::vector<ChoicePtr> all = choices(set, SXT_HERMITIAN_FACTOR_SOLVE);
    ASSERT_FALSE(all.empty());
    for (const ChoicePtr &choice : all) {
      const std::string what = name(choice, set);
      run_on_new_values(set, choice, factor, x);
      EXPECT_EQ(std::count(set.info.begin(), set.info.end(), 0), set.batch) << what;
      EXPECT_TRUE(set.rest_intact(factor)) << what;
      for (const std::int64_t s : checked) {
        if (one_answer_ && choice != all.front()) break;  // the bits are those of the first
        EXPECT_LE(set.backward_error(s, x), most) << what << ", system " << s;
        if (one_answer_ && set.definite) {
          EXPECT_LE(factor_error(set, s, factor), 4) << what << ", system " << s;
        }
      }
      if (!one_answer_)
        run_on_new_values(set, choice, same_factor, same_x);
      else if (choice == all.front())
        same_factor = factor, same_x = x;
      expect_same_bits(x, same_x, what);
      expect_same_bits(factor, same_factor, what);
      if (HasFailure()) return;
    }
    for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_SOLVE)) {  // the last factor is still there
      set.device.copy(set.b_there.data(), set.b.data(), set.b.bytes());
      run(set, choice, SXT_HERMITIAN_SOLVE);
      set.download(factor, x);
      for (const std::int64_t s : checked)
        EXPECT_LE(set.backward_error(s, x), most) << name(choice, set) << ", solve " << s;
      if (HasFailure()) return;
    }
  }

  // A pivot that is not positive in one system, a NaN at `row` and `column` of the lower triangle of another: their
  // codes, and the neighbours with the bits that they have without them.
  void check_flaws(HermitianSet &set, std::int64_t not_definite, std::int64_t minor, std::int64_t not_finite,
                   std::int64_t row, std::int64_t column) {
    if (!set.lower) std::swap(row, column);
    const Array sound = set.a;
    std::vector<std::int32_t> infos(static_cast<std::size_t>(set.batch), 0);
    infos[not_definite] = static_cast<std::int32_t>(minor), infos[not_finite] = SXT_HERMITIAN_NOT_FINITE;
    for (const ChoicePtr &choice : choices(set, SXT_HERMITIAN_FACTOR_SOLVE)) {
      Array want_factor, want, got_factor, got;
      set.a = sound;
      run_on_new_values(set, choice, want_factor, want);
      set.a.set((not_definite * set.n + minor - 1) * set.lda + minor - 1, Wide(-1));
      set.a.set((not_finite * set.n + column) * set.lda + row, Wide(std::nan("")));
      run_on_new_values(set, choice, got_factor, got);
      EXPECT_EQ(set.info, infos) << name(choice, set);
      for (std::int64_t s = 0; s < set.batch; ++s)
        for (std::int64_t i = 0; i < set.n && infos[s] == 0; ++i)
          EXPECT_EQ(got.at(s * set.lda + i), want.at(s * set.lda + i)) << name(choice, set);
      if (HasFailure()) return;
    }
  }
  void TearDown() override {
    for (const auto &[kernel, count] : runs_) std::printf("[ runs     ] %-36s %5d\n", kernel.c_str(), count);
  }

 private:
  std::vector<std::string_view> kernels_;
  bool one_answer_;
  std::map<std::string, int> runs_;
};

}  // namespace gpu_test
