// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix is what its caller stated: mirror images that came apart are compared before anything builds on
// them.
#include "core/base/error.hpp"
#include "core/matrix/checks.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

sxt_symmetry Matrix::sure_symmetry() const {
  if (symmetry_ == SXT_GENERAL || mirrored_ || !data_.csr.values.data()) return symmetry_;
  if (compared_.load(std::memory_order_acquire) == version()) return equal_images_ ? symmetry_ : SXT_GENERAL;
  std::string unlike;
  {
    const std::lock_guard lock(mutex_);
    if (compared_.load(std::memory_order_relaxed) != version()) {
      unlike = unequal_image(data_.csr, symmetry_, context_->threads());
      equal_images_ = unlike.empty();
      compared_.store(version(), std::memory_order_release);
    }
  }
  if (!unlike.empty())  // without the lock: what is told may call the library
    context_->log()(SXT_LOG_WARNING, text("a matrix was stated to be symmetric or Hermitian, and is not: ", unlike,
                                          "; products take it as general"));
  return equal_images_ ? symmetry_ : SXT_GENERAL;
}

// Kernels that read a storage may have been prepared for a symmetry which new values ended: they choose anew.
void Matrix::leave_symmetry() {
  if (symmetry_ == SXT_GENERAL || forms_.empty() || sure_symmetry() != SXT_GENERAL) return;
  for (auto &[kind, form] : forms_) form->decline("the matrix is not symmetric any more");
  forms_.clear();
}

}  // namespace sextant
