// SPDX-License-Identifier: BSD-3-Clause
// Mixed precision: the matrix in f32 beside vectors in f64, half of what an iteration reads of its values. What
// rounding takes away is given back by corrections from true residuals (refine.cpp); where they do not help, an engine
// on the matrix in f64 serves.
#pragma once

#include <memory>
#include <mutex>

#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

class EngineSystem;
struct Expectation;
struct PcgProblem;

// The values of a system of f64, rounded. Solves read it, any number at once; refresh wants it for itself.
class NarrowMatrix {
 public:
  // Of S A S. scaling: in device space, or NULL. NULL where one value does not fit f32.
  static std::unique_ptr<NarrowMatrix> make(Matrix &base, const void *scaling, sxt_symmetry symmetry);
  Matrix &matrix() const noexcept { return *matrix_; }
  // New values of what it was made of. Throws SXT_E_OVERFLOW where one does not fit.
  void refresh(Matrix &base, const void *scaling);

 private:
  std::shared_ptr<Matrix> matrix_;
  Buffer values_, scaling_on_host_;  // from the first new values on
};

// What serves where the rounded matrix does not: built when the first solve finds that out. Thread-safe.
class WideEngine {
 public:
  // left_out gets kernels that decline. Throws what building an engine throws.
  Runner &get(const PcgProblem &problem, const EngineSystem &system, const Expectation &expected, LeftOut &left_out);
  void refresh();  // new values. Not while it runs.
  void drop();     // not while it runs

 private:
  std::mutex mutex_;
  std::unique_ptr<Runner> engine_;
};

}  // namespace sextant
