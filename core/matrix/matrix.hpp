// SPDX-License-Identifier: BSD-3-Clause
// A sparse matrix: its canonical host CSR, the storages built from it (each once), and its cached features.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/context/context.hpp"
#include "core/matrix/assemble.hpp"
#include "core/matrix/feature_index.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace sextant {

// One storage of a matrix, as its storage kernel built it.
class StoredForm {
 public:
  StoredForm(Context &context, const registry::Kernel &kernel, const sxt_problem &problem);
  // CSR that another owner keeps in device space: no kernel builds or refreshes it.
  StoredForm(Context &context, const sxt_csr &kept) : context_(context), kept_(kept) {}
  // P A P^T of what another holds; perm as sxt_storage_permuted_ops says. Throws SXT_E_NOT_SUPPORTED where its kernel
  // does not offer that.
  StoredForm(const StoredForm &whole, const void *perm);
  ~StoredForm();
  StoredForm(const StoredForm &) = delete;
  StoredForm &operator=(const StoredForm &) = delete;

  const registry::Kernel *kernel() const { return kernel_; }  // that built it; NULL: none did
  const sxt_storage *view() const { return ops_ ? ops_->view(state_) : &kept_.s; }
  std::uint64_t bytes() const { return ops_ ? ops_->bytes(state_) : 0; }
  bool trusted() const { return kernel_ && kernel_->plugin->own; }  // built by a kernel that came with the library
  void keep(const sxt_csr &changed) { kept_ = changed; }
  void refresh(const sxt_problem &problem);
  void decline(const std::string &why);  // as if its kernel had declined new values
  // "" or why it does not hold the matrix's values any more: its kernel declined them.
  const std::string &why_void() const noexcept { return why_void_; }
  // The version of the matrix whose values it holds (Matrix::version).
  std::uint64_t values() const noexcept { return values_; }
  void holds_values(std::uint64_t version) noexcept { values_ = version; }
  void diagonal(void *out) const;  // device space; throws SXT_E_NOT_SUPPORTED when the storage does not offer it
  void scale(const void *s);

 private:
  void release() noexcept;
  const char *name() const { return kernel_ ? kernel_->name() : "CSR of another owner"; }

  Context &context_;
  const registry::Kernel *kernel_ = nullptr;  // NULL, as ops_: it shows kept_
  const sxt_storage_ops *ops_ = nullptr;
  void *state_ = nullptr;
  std::string why_void_;
  std::uint64_t values_ = 0;
  sxt_csr kept_{};
};

// New values of a matrix, written on the host and sent to memory of the device from which the next copy of them is
// taken.
class SentAhead {
 public:
  SentAhead() = default;  // nothing was sent, nothing is changed
  SentAhead(Device &device, DeviceBuffer memory) : device_(&device), memory_(std::move(memory)) {}
  SentAhead(SentAhead &&other) noexcept : device_(std::exchange(other.device_, nullptr)) {
    memory_.swap(other.memory_);
  }
  ~SentAhead() {
    if (device_) device_->recall();
  }
  explicit operator bool() const noexcept { return device_; }

 private:
  Device *device_ = nullptr;
  DeviceBuffer memory_;
};

// Told of new values as soon as they are there: for states that captured graphs read, since a replay asks for nothing.
class ValuesFollower {
 public:
  virtual void values_changed() noexcept = 0;

 protected:
  ~ValuesFollower() = default;
};

class Matrix : public std::enable_shared_from_this<Matrix> {
 public:
  // check_finite: whether updates refuse NaN and infinity.
  Matrix(std::shared_ptr<Context> context, Assembled assembled, sxt_symmetry symmetry, bool check_finite = true);
  // A matrix over CSR arrays that another owner keeps: a factor of a preconditioner, a renumbered copy. The
  // arrays lie on the host, or in the memory of the context's device, and outlive it; nothing of them is copied but
  // offsets that are wider than they need be. They are canonical, as a storage kernel gets them, and trusted to be so.
  // One on a device has no arrays on the host: csr() shows sizes and types only. pattern_hash: 0 to have it computed,
  // which arrays on a device do not allow: then it must tell patterns apart from run to run. Throws SXT_E_ARGUMENT.
  static std::shared_ptr<Matrix> of_view(std::shared_ptr<Context> context, const sxt_csr &view, sxt_symmetry symmetry,
                                         std::uint64_t pattern_hash = 0);
  // New values under the pattern it was made with, perhaps elsewhere: storages are refreshed in place. Allocates
  // nothing. [exclusive]
  void view_changed(const sxt_csr &view);

  Context &context() const noexcept { return *context_; }
  const std::shared_ptr<Context> &shared_context() const noexcept { return context_; }
  const CsrArrays &csr() const noexcept { return data_.csr; }
  const ValueOrder &order() const noexcept { return data_.order; }
  sxt_symmetry symmetry() const noexcept { return symmetry_; }  // as stated
  // As stated, where every entry equals its mirror image: else SXT_GENERAL. Compared when it is first asked for, once a
  // version, unless one of the two was all the caller gave. [any-thread]
  sxt_symmetry sure_symmetry() const;
  // As stated, or as a comparison of the values found; later values may be otherwise.
  sxt_symmetry known_symmetry() const noexcept { return known_symmetry_.load(std::memory_order_relaxed); }
  // Whether each entry and its mirror image are one value that the caller gave, so that they need not be compared.
  bool mirrored() const noexcept { return mirrored_; }
  // That it is real symmetric or Hermitian: by the way it was given, or these values were compared before.
  bool surely_hermitian() const noexcept {
    const bool equal = mirrored_ || (compared_.load(std::memory_order_acquire) == version() && equal_images_);
    return equal && (symmetry_ == SXT_HERMITIAN || (symmetry_ == SXT_SYMMETRIC && value_type() <= SXT_F64));
  }
  // That every entry equals its mirror image to the last bit: storages that keep one of the two may be built.
  // [any-thread]
  void found_symmetry(sxt_symmetry symmetry);
  std::int64_t rows() const noexcept { return data_.csr.rows; }
  std::int64_t cols() const noexcept { return data_.csr.cols; }
  sxt_value_type value_type() const noexcept { return data_.csr.value_type; }

  // The matrix part of a query about this matrix, for vectors of its own value type.
  sxt_matrix_query query_part(const char *kind, std::uint64_t query_size, double expected_runs) const;
  // The canonical CSR as the ABI's struct.
  const sxt_csr &csr_view() const noexcept { return csr_view_; }

  // Whether a storage is held or could be built here, with the predicted seconds of the kernel that builds it soonest
  // (0 when it is held already) and bytes. False with a reason when none can. It sees features of these tiers, and
  // known_too: others that are known already. [any-thread]
  bool storage_offered(const std::string &kind, double *setup_s, std::uint64_t *bytes, std::string *reason,
                       unsigned tiers = 1, bool known_too = true);
  // The kernel that built it, or else the one that would: of this device and context, not refused, soonest done. NULL:
  // none could, or none did (CSR on a device that another owner keeps). [any-thread]
  const registry::Kernel *storage_kernel(const std::string &kind);
  // Builds it if need be. Throws SXT_E_NO_KERNEL, or what the kernel failed with. [any-thread]
  const sxt_storage *storage(const std::string &kind);
  StoredForm &form(const std::string &kind);
  std::uint64_t storage_bytes() const;
  // Predicted seconds of all storages that were built and features that were computed so far.
  double built_seconds() const;
  bool holds(const std::string &kind) const;
  std::set<std::string> storages() const;  // those held
  // The storage, kept while the pointer lives even if it is dropped meanwhile.
  std::shared_ptr<StoredForm> lend(const std::string &kind);
  // CSR that a kernel of the library's own built, whichever plugin builds other storages. Throws as storage().
  // [any-thread]
  std::shared_ptr<StoredForm> lend_trusted_csr();
  // Gives a storage back unless something lent reads it.
  void drop(const std::string &kind);

  // A kernel's features as features() gives them, without comparing names. What is computed for it is computed with
  // all that other kernels ask for of the same feature kernels. Those of the transpose are NaN unless it transposes.
  // [any-thread]
  std::vector<double> features_for(const registry::Kernel &kernel, unsigned tiers = all_feature_tiers,
                                   bool known_too = false, bool transposes = false);
  // Named features, NaN where no kernel offers one, or only in a tier that is not asked for; computed once. known_too:
  // what was computed before is given whatever its tier. [any-thread]
  std::vector<double> features(const char *const *names, unsigned tiers = all_feature_tiers, bool known_too = false);
  void forget_features();                     // as if none had been asked for
  void share_features(const Matrix &source);  // those that a matrix of the same pattern knows, as they speak of it only
  bool knows_feature(int id) const;           // by number (feature_index.hpp)
  // Predicted seconds of computing them, whether or not they are known. [any-thread]
  double features_cost(const std::vector<int> &ids);
  double feature(const std::string &name);  // SXT_E_UNKNOWN_NAME

  std::uint64_t pattern_hash();  // computed once

  // New values; storages are refreshed in place. All or nothing: once the values are checked, the version rises, and a
  // storage that could not be refreshed is tried again before it is used (freshen). Throws SXT_E_STATE while the
  // caller's stream is being captured. [exclusive]
  void update_values(const void *values, std::int64_t count);
  // The same of a copy that has no other user: `write` puts its canonical values where they belong. as_compared: they
  // equal their mirror images, as found_symmetry says. [exclusive]
  void rewrite_values(const std::function<void(Buffer &values)> &write, bool as_compared);
  // Rises with every update; users of the values refresh when it changed.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  // Brings a storage of this matrix up to the present values, where that failed when they came. Throws what fails now;
  // the matrix then gives the storage up and builds another for the next that wants one. [any-thread]
  void freshen(const std::string &kind, StoredForm &form);
  // Followers are told by update_values, where the caller has a stream that graphs may be captured on. [exclusive]
  void follow(ValuesFollower &follower);
  void unfollow(ValuesFollower &follower) noexcept;

  // The same matrix in the CPU context that stands beside an automatic one (Context::companion); it borrows this one's
  // arrays and keeps it alive. NULL where there is no such context. [any-thread]
  std::shared_ptr<Matrix> twin();
  void update_twin();  // after update_values; does nothing without a twin in use. [exclusive]

  // S A S for a diagonal S given as n numbers of the real type in device space: borrows this matrix's arrays; each
  // storage is scaled when it is built, so the canonical CSR still shows A.
  std::shared_ptr<Matrix> scaled(const void *s);
  // On a scaled matrix, after its source's values (and so s) changed: brings every storage up to date.
  void source_changed(const Matrix &source, const void *s);

  // P A P^T made on the device, of the CSR held there; perm: a permutation of this matrix's index type in device space.
  // It has no arrays on the host. pattern_hash: as for of_view. Throws SXT_E_NOT_SUPPORTED where no kernel offers it.
  std::shared_ptr<Matrix> permuted(const void *perm, std::uint64_t pattern_hash);
  // Who makes it, with what it takes as the set-up of a candidate; NULL where no kernel offers it.
  const registry::Kernel *permuting_kernel(sxt_candidate *candidate);
  // Predicted seconds of that, without building storages of it; NaN where no kernel offers it.
  double permuted_seconds();
  // On such a matrix, after the values of the one that it was made of changed. Allocates nothing.
  void source_changed(Matrix &source);
  // The arrays on the host, copied from the device where they are only there.
  CsrArrays on_host();

 private:
  // What a storage is built from; there: the matrix's CSR on the device, to convert from, or NULL.
  sxt_problem problem(const StoredForm *there = nullptr) const;
  // The CSR with the canonical values in a device's memory, if one is held; NULL when it is CSR that is to be built,
  // unless there is no other.
  std::shared_ptr<StoredForm> csr_there(const std::string &kind) const;
  double csr_seconds();
  struct Builder {
    const registry::Kernel *kernel;
    double setup_s;
    std::uint64_t bytes;
  };
  std::vector<Builder> builders(const std::string &kind, std::string *reason, unsigned tiers, bool known_too);
  std::shared_ptr<StoredForm> build_by(const Builder &builder, const std::string &kind, std::string &reasons);
  std::shared_ptr<StoredForm> build_form(const registry::Kernel &kernel, const std::string &kind);
  void refresh_form(const std::string &kind, StoredForm &form);
  sxt_matrix_query part_as(const char *kind, std::uint64_t query_size, double expected_runs,
                           sxt_symmetry symmetry) const;
  void take_as_equal() noexcept { equal_images_ = true, compared_ = version(); }
  void leave_symmetry();
  void try_refresh(const std::string &kind, StoredForm &form);
  // as_compared: the new values equal their mirror images.
  void refresh_forms(bool as_compared = false);
  Assembled shape() const;
  void borrow_arrays(const CsrArrays &source);
  void borrow_view(const sxt_csr &view);
  void own_values();
  SentAhead send_ahead(const void *values);  // send_ahead.cpp; what is not sent must be taken the plain way
  sxt_matrix_query features_query(const registry::Kernel &kernel) const;
  double features_seconds(const registry::Kernel &kernel) const;
  sxt_candidate features_candidate(const registry::Kernel &kernel, const sxt_matrix_query &query,
                                   const sxt_machine &machine) const;
  std::vector<double> features_of(const std::vector<int> &ids, unsigned tiers, bool known_too, bool together);
  void add_companions(const FeatureSources &sources, std::vector<int> &missing) const;
  void compute_features(const std::vector<int> &ids);
  bool may_serve(const registry::Kernel &kernel);

  std::shared_ptr<Context> context_;
  std::shared_ptr<const Matrix> source_;  // of a scaled matrix: keeps the borrowed arrays alive
  const void *scaling_ = nullptr;
  Assembled data_;
  const bool check_finite_;
  bool mirrored_;
  sxt_symmetry symmetry_;
  std::atomic<sxt_symmetry> known_symmetry_;
  sxt_csr csr_view_{};
  sxt_matrix_query storage_query_{};    // of this and the view the symmetry changes under mutex_
  mutable std::recursive_mutex mutex_;  // of what follows; feature kernels ask for storages while it is held
  std::map<std::string, std::shared_ptr<StoredForm>> forms_;
  std::shared_ptr<StoredForm> given_;  // of a matrix over arrays on a device: the CSR it is, also among the forms
  std::weak_ptr<Matrix> twin_;
  std::shared_ptr<StoredForm> whole_;  // of a permuted one: what given_ takes new values from
  FeatureValues features_;
  std::vector<ValuesFollower *> followers_;
  double built_s_ = 0;
  std::uint64_t pattern_hash_ = 0;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  mutable std::atomic<std::uint64_t> compared_{never};  // the version whose mirror images are known to be
  mutable std::atomic<bool> equal_images_{false};       // equal, or not
  std::atomic<std::uint64_t> version_{1};
};

// Names of all features that loaded kernels offer, on one device or on any (""), in name order.
std::vector<std::string> feature_names(const registry::Scope &scope, const std::string &device = "");
// The tier at which a feature is computed; -1 when no kernel offers it.
int feature_tier(const std::string &name, const registry::Scope &scope, const std::string &device);

}  // namespace sextant
