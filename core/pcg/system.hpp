// SPDX-License-Identifier: BSD-3-Clause
// The system that engines see, S P A P^T S: the matrix as it was taken in, its rows perhaps in another order (P), and
// scaled on both sides where the preconditioner is a scaling (M = S S). A value: trying another order makes another
// system beside this one, and one of the two is kept.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/matrix/matrix.hpp"
#include "core/pcg/crossing.hpp"
#include "core/pcg/narrow.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

// Another order of the rows, and what it took.
struct RowOrder {
  ChoicePtr choice;
  DeviceBuffer index;  // the caller's number of each of the engine's rows
  sxt_index_type index_type;
  std::int64_t bandwidth_before = 0, bandwidth = 0;  // after; negative: unknown
  bool on_device = false;                            // entries were brought into it there
  double move_s = 0;                                 // predicted seconds of that, or of the host's way
  double took_s = 0;                                 // measured
};

// Solves read it, any number at once; what changes it wants it for itself.
class EngineSystem {
 public:
  // Without a preconditioner.
  explicit EngineSystem(std::shared_ptr<Matrix> base) : base_(std::move(base)), scaled_(base_) {}
  EngineSystem(std::shared_ptr<Matrix> base, RowOrder order) : EngineSystem(std::move(base)) {
    order_ = std::move(order);
  }

  // Puts a preconditioner in force. Where its kernel is a scaling it is prepared and A is scaled: true. Any other is
  // left to the engine, which applies it through its slot M. Throws what the kernel fails with, Declined: call it again
  // with another choice, or drop the system.
  bool precondition(const std::string &method, ChoicePtr choice);
  // One that the engine applies, instead of what was in force.
  void leave_to_engine(const std::string &method, ChoicePtr choice);
  // New values, in the order in which one is made of another. taken: the matrix that the base was made of. Throws
  // SXT_E_OVERFLOW where one does not fit f32.
  void refresh(Matrix &taken);

  const std::string &method() const noexcept { return method_; }  // "none", "jacobi", ...
  const ChoicePtr &preconditioner_choice() const noexcept { return preconditioner_choice_; }
  Runner *preconditioner() const noexcept { return preconditioner_.get(); }  // NULL: none, or the engine applies it
  const void *scaling() const noexcept { return scaling_; }  // s with M = S S, device space, real; NULL: not scaled
  const std::optional<RowOrder> &order() const noexcept { return order_; }
  std::string order_text() const;

  Matrix &base() const noexcept { return *base_; }      // before it is scaled
  Matrix &scaled() const noexcept { return *scaled_; }  // in the precision of the vectors
  // That in f32, or NULL.
  const NarrowMatrix *narrow() const noexcept { return narrow_.get(); }
  void hold_narrow(std::unique_ptr<NarrowMatrix> narrow) { narrow_ = std::move(narrow); }
  void hold_wide();
  // What an engine would read beside this preconditioner. A method that scales is in the system that the engine sees.
  Matrix &seen_with(const std::string &method) const;
  Matrix &seen() const { return seen_with(method_); }

  // Between the vectors of the matrix as it was taken in and the engine's.
  Crossing crossing() const;
  // Whether the engine's b is another than the caller's.
  bool changes_rhs() const { return scaling_ || order_; }
  // Every matrix that it holds; NULL among them.
  std::vector<const Matrix *> matrices() const;

  // Engines that were chosen for it, by question and matrix: the same question is answered once while a set-up is
  // planned (choosing.hpp). They end with the system whose matrices they were chosen for.
  using Answers = std::map<std::pair<std::uint64_t, const Matrix *>, ChoicePtr>;
  Answers answers;

 private:
  void ask_for_scaling();

  std::shared_ptr<Matrix> base_, scaled_;
  std::optional<RowOrder> order_;
  std::string method_ = "none";
  ChoicePtr preconditioner_choice_;
  std::unique_ptr<Runner> preconditioner_;
  const void *scaling_ = nullptr;
  std::unique_ptr<NarrowMatrix> narrow_;
};

}  // namespace sextant
