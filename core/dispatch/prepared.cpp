// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "core/dispatch/prepared.hpp"

#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

namespace {
constexpr std::int32_t no_failure = SXT_OK;
}

Prepared::Prepared(Context &context, ChoicePtr choice, Matrix *matrix, const sxt_head *data)
    : context_(context), choice_(std::move(choice)), matrix_(matrix) {
  problem_.struct_size = sizeof problem_;
  problem_.query = choice_->query.get();
  problem_.data = data;
  if (matrix_ && !choice_->storage.empty()) problem_.a = &matrix_->storage(choice_->storage)->h;
  build_parts(matrix, data);
  prepare();
}

void Prepared::build_parts(Matrix *matrix, const sxt_head *data) {
  for (const SlotChoice &slot : choice_->slots) {
    auto &parts = parts_.emplace_back();
    auto &bounds = bounds_.emplace_back();
    for (const ChoicePtr &part : slot.parts) {
      parts.push_back(std::make_unique<Prepared>(context_, part, part->query.about_matrix() ? matrix : nullptr, data));
      bounds.push_back(&parts.back()->bound());
    }
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i) filled_.push_back(filled_slot(choice_->slots[i], bounds_[i]));
}

void Prepared::prepare() {
  const sxt_kernel &kernel = choice_->kernel->table;
  if (matrix_) version_ = matrix_->version();
  if (kernel.prepare) {
    Call call(context_.device());
    const sxt_exec exec = make_exec(call);
    call.finish(kernel.prepare(&problem_, &choice_->candidate, filled_.data(), &exec, &state_), kernel.name, "prepare");
  }
  bound_ = {kernel.name,    state_,       nullptr, kernel.run, choice_->candidate.scratch_bytes,
            choice_->run_s, kernel.flags, 0};
}

Prepared::~Prepared() {
  const sxt_kernel &kernel = choice_->kernel->table;
  if (state_ && kernel.release) kernel.release(state_);
}

void Prepared::refresh_if_stale() {
  if (!matrix_) return;
  const std::lock_guard lock(refresh_mutex_);
  if (version_ == matrix_->version()) return;
  refresh();
  version_ = matrix_->version();
}

void Prepared::refresh() {
  for (auto &slot : parts_)
    for (auto &part : slot) part->refresh_if_stale();
  const sxt_kernel &kernel = choice_->kernel->table;
  if (!kernel.refresh) return;
  Call call(context_.device());
  const sxt_exec exec = make_exec(call);
  call.finish(kernel.refresh(state_, &problem_, &exec), kernel.name, "refresh");
}

std::unique_ptr<Session> Prepared::open() { return std::make_unique<Session>(*this, true); }

Session::Session(Prepared &prepared, bool top) : prepared_(prepared), bound_(prepared.bound()) {
  for (auto &slot : prepared.parts_) {
    auto &parts = parts_.emplace_back();
    auto &bounds = bounds_.emplace_back();
    for (auto &part : slot) {
      parts.push_back(std::make_unique<Session>(*part, false));
      bounds.push_back(&parts.back()->bound());
    }
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i)
    filled_.push_back(filled_slot(prepared.choice().slots[i], bounds_[i]));
  Device &device = prepared.context_.device();
  if (top) scratch_ = DeviceBuffer(device, bound_.scratch_bytes);
  if (top && device.stream()) {
    device_status_ = DeviceBuffer(device, sizeof(std::int32_t));
    device.copy(device_status_.data(), &no_failure, sizeof no_failure);
  }
  const sxt_kernel &kernel = prepared.choice().kernel->table;
  if (kernel.open) {  // last: a constructor that throws after it would leave the session open
    Call call(device);
    const sxt_exec exec = make_exec(call);
    call.finish(kernel.open(prepared.state(), filled_.data(), &exec, &bound_.session), kernel.name, "open");
  }
}

Session::~Session() {
  const sxt_kernel &kernel = prepared_.choice().kernel->table;
  if (bound_.session && kernel.close) kernel.close(bound_.session);
}

sxt_status Session::run(sxt_head *args, const volatile std::int32_t *cancel) {
  Call call(prepared_.context_.device());
  sxt_exec exec = make_exec(call);
  exec.scratch = scratch_.data();
  exec.scratch_bytes = scratch_.bytes();
  exec.cancel = cancel;
  exec.device_status = device_status_.as<std::int32_t>();
  if (prepared_.choice().query.has(SXT_QUERY_DETERMINISTIC)) exec.flags |= SXT_EXEC_DETERMINISTIC;
  const sxt_status status = bound_.run(bound_.state, bound_.session, args, &exec);
  call.finish(status < 0 ? status : SXT_OK, bound_.kernel, "run");  // positive: an answer, not an error
  check_device_status();
  return status;
}

// Failures that a kernel could only find while its work ran; it says so by a status in the word it was lent.
void Session::check_device_status() {
  if (!device_status_.data()) return;
  const Device &device = prepared_.context_.device();
  std::int32_t found = SXT_OK;
  device.copy(&found, device_status_.data(), sizeof found);
  if (found == SXT_OK) return;
  device.copy(device_status_.data(), &no_failure, sizeof no_failure);  // the session stays usable
  fail(found < 0 ? found : SXT_E_INTERNAL, "kernel '", bound_.kernel,
       "' failed while it ran on the device: ", status_sentence(found));
}

sxt_status Runner::run(sxt_head *args, const volatile std::int32_t *cancel) {
  prepared_.refresh_if_stale();
  std::unique_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      session = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!session) session = prepared_.open();
  struct Return {  // back to the pool whatever happens
    Runner &runner;
    std::unique_ptr<Session> &session;
    ~Return() {
      try {
        const std::lock_guard lock(runner.mutex_);
        runner.idle_.push_back(std::move(session));
      } catch (...) {  // no memory for the pool's list: the session just ends
      }
    }
  } give_back{*this, session};
  return session->run(args, cancel);
}

}  // namespace sextant
