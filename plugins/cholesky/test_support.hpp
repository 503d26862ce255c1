// SPDX-License-Identifier: BSD-3-Clause
// A scheduler with its dense slots filled, prepared on a structure and opened, driven through the tables alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/cholesky/shared/structure.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {

// A prepared kernel of kind sxt.dense/1 as a slot's part.
class DensePart {
 public:
  explicit DensePart(const std::string &name) {
    const std::size_t first = name.find('.'), last = name.rfind('.');
    kernel_ = &find_kernel(load_own("dense-" + name.substr(first + 1, last - first - 1)), name);
    const sxt_exec exec = make_exec();
    sxt_dense_query query{};
    query.q = {{sizeof query, SXT_KIND_DENSE}, 1, 0, SXT_F64};
    const sxt_problem problem = {sizeof problem, &query.q, nullptr, nullptr};
    if (kernel_->prepare) status_ = kernel_->prepare(&problem, nullptr, nullptr, &exec, &state_);
    bound_ = {kernel_->name, state_, nullptr, kernel_->run, 0, 0, kernel_->flags, 0};
  }
  DensePart(const DensePart &) = delete;
  ~DensePart() {
    if (kernel_->release && status_ == SXT_OK) kernel_->release(state_);
  }
  const sxt_bound *bound() const { return &bound_; }
  sxt_status status() const { return status_; }

 private:
  const sxt_kernel *kernel_;
  void *state_ = nullptr;
  sxt_status status_ = SXT_OK;
  sxt_bound bound_{};
};

// "" where dense.openblas.cpu works, else that its library is missing: the only reason for which a test may leave it
// out.
inline std::string why_no_openblas() {
  const sxt_status status = DensePart("dense.openblas.cpu").status();
  if (status == SXT_OK) return "";
  const bool missing = status == SXT_E_NOT_SUPPORTED && Host::sentence.find("libopenblas0") != std::string::npos;
  EXPECT_TRUE(missing) << status << ": " << Host::sentence;
  return Host::sentence;
}

class Scheduler {
 public:
  Scheduler(const sxt_kernel &kernel, const sxt_symbolic &symbolic, const sxt_cholesky_query &query, int threads,
            const std::string &small = "dense.loops.cpu", const std::string &large = "dense.reference.cpu",
            std::int64_t how = 0)  // the second number of the launch: the kernel's own
      : kernel_(kernel), query_(query), small_(small), large_(large), threads_(threads) {
    parts_[0] = small_.bound(), parts_[1] = large_.bound();
    for (int slot = 0; slot < 2; ++slot) filled_[slot] = {"", 0, 1, 1, 0, &parts_[slot], 0, 0, 0};
    candidate_.launch[0] = threads, candidate_.launch[1] = how;
    const sxt_exec exec = make_exec(threads);
    const sxt_problem problem = {sizeof problem, &query_.m.q, nullptr, &symbolic.h};
    status_ = kernel_.prepare(&problem, &candidate_, filled_, &exec, &state_);
    if (status_ == SXT_OK && kernel_.open) status_ = kernel_.open(state_, filled_, &exec, &session_);
  }
  Scheduler(const Scheduler &) = delete;
  ~Scheduler() {
    if (session_ && kernel_.close) kernel_.close(session_);
    if (state_) kernel_.release(state_);
  }
  sxt_status status() const { return status_; }
  sxt_status run(const sxt_cholesky_args &args, const volatile std::int32_t *cancel = nullptr) {
    sxt_exec exec = make_exec(threads_);
    exec.cancel = cancel;
    const bool lends = !kernel_.open;  // to the reference
    const Scratch scratch(lends ? 16 * static_cast<std::uint64_t>(query_.m.rows) : 0);
    if (lends) exec.scratch = scratch.data(), exec.scratch_bytes = 16 * static_cast<std::uint64_t>(query_.m.rows);
    const int before = Host::allocations;
    const sxt_status status = kernel_.run(state_, session_, &args.h, &exec);
    EXPECT_EQ(Host::allocations, before) << kernel_.name << " allocates while running";
    return status;
  }

 private:
  const sxt_kernel &kernel_;
  sxt_cholesky_query query_;
  DensePart small_, large_;
  const sxt_bound *parts_[2];
  sxt_filled filled_[2];
  sxt_candidate candidate_{};
  int threads_;
  void *state_ = nullptr, *session_ = nullptr;
  sxt_status status_ = SXT_OK;
};

}  // namespace plugin_test
