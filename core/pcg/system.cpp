// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/system.hpp"

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "sextant/plugin/kinds/preconditioner.h"

namespace sextant {

namespace {

const sxt_preconditioner_ops *chosen_ops(const Choice &choice) {
  return static_cast<const sxt_preconditioner_ops *>(choice.kernel->table.ops);
}

}  // namespace

bool EngineSystem::precondition(const std::string &method, ChoicePtr choice) {
  leave_to_engine(method, std::move(choice));
  const auto *ops = chosen_ops(*preconditioner_choice_);
  if (!ops || !ops->scaling) return false;
  preconditioner_ = std::make_unique<Runner>(base_->context(), preconditioner_choice_, base_.get());
  ask_for_scaling();
  scaled_ = base_->scaled(scaling_);  // only the storages that the engine reads are scaled copies
  return true;
}

void EngineSystem::ask_for_scaling() {
  Call call(base_->context().device());
  call.check(chosen_ops(*preconditioner_choice_)->scaling(preconditioner_->prepared().state(), &scaling_),
             preconditioner_choice_->kernel->name(), "scaling");
}

void EngineSystem::leave_to_engine(const std::string &method, ChoicePtr choice) {
  scaling_ = nullptr;
  scaled_ = base_;
  preconditioner_.reset();
  method_ = method;
  preconditioner_choice_ = std::move(choice);
}

void EngineSystem::refresh(Matrix &taken) {
  if (order_ && order_->on_device)
    base_->source_changed(taken);
  else if (order_)
    base_->update_values(taken.csr().values.data(), taken.csr().nnz);
  if (preconditioner_) preconditioner_->prepared().refresh_if_stale();
  if (scaling_) {
    ask_for_scaling();
    scaled_->source_changed(*base_, scaling_);
  }
  if (narrow_) narrow_->refresh(*base_, scaling_);
}

void EngineSystem::hold_wide() {
  const Matrix *const narrow = narrow_ ? &narrow_->matrix() : nullptr;
  std::erase_if(answers, [narrow](const auto &each) { return each.first.second == narrow; });
  narrow_.reset();
}

Matrix &EngineSystem::seen_with(const std::string &method) const {
  if (method != method_) return *base_;
  return narrow_ ? narrow_->matrix() : *scaled_;
}

Crossing EngineSystem::crossing() const {
  return {Operations::own_of(base_->context()),
          base_->value_type(),
          base_->rows(),
          scaling_,
          order_ ? order_->index.data() : nullptr,
          order_ ? order_->index_type : 0};
}

std::vector<const Matrix *> EngineSystem::matrices() const {
  return {base_.get(), scaled_.get(), narrow_ ? &narrow_->matrix() : nullptr};
}

std::string EngineSystem::order_text() const {
  if (!order_) return "the caller's";
  const std::string bandwidth = order_->bandwidth < 0 ? "one unknown" : text(order_->bandwidth);
  return text(order_->choice->kernel->name(), ", bandwidth ", order_->bandwidth_before, " to ", bandwidth);
}

}  // namespace sextant
