// SPDX-License-Identifier: BSD-3-Clause
// A matrix of an automatic context as the CPU sees it: the same host arrays, with storages of their own.
#include "core/matrix/matrix.hpp"

namespace sextant {

std::shared_ptr<Matrix> Matrix::twin() {
  const std::shared_ptr<Context> beside = context_->companion();
  if (!beside || given_ || source_) return nullptr;  // arrays on the device, or borrowed from another matrix
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<Matrix> made = twin_.lock()) return made;
  const std::shared_ptr<Matrix> made = of_view(beside, csr_view_, symmetry_, pattern_hash());
  made->source_ = shared_from_this();
  twin_ = made;
  return made;
}

void Matrix::update_twin() {
  if (const std::shared_ptr<Matrix> made = twin_.lock()) made->view_changed(csr_view_);
}

}  // namespace sextant
