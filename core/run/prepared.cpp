// SPDX-License-Identifier: BSD-3-Clause
#include "core/run/prepared.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/base/intern.hpp"
#include "core/conformance/conformance.hpp"
#include "core/context/context.hpp"
#include "core/context/feedback.hpp"
#include "core/device/capturing.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/spread.hpp"
#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/ordering.h"

namespace sextant {

namespace {
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
}  // namespace

sxt_filled filled_slot(const SlotChoice &slot, const std::vector<const sxt_bound *> &bounds) {
  sxt_filled filled{};
  filled.role = slot.role.c_str();
  filled.alternative = slot.alternative;
  filled.instances = slot.instances;
  filled.kinds_per_instance = slot.kinds_per_instance;
  filled.parts = bounds.data();
  for (const ChoicePtr &part : slot.parts) {
    filled.run_s += part->run_s;
    filled.setup_s += part->setup_s;
  }
  for (const sxt_bound *part : bounds) filled.scratch_bytes = std::max(filled.scratch_bytes, part->scratch_bytes);
  return filled;
}

Prepared::Prepared(Context &context, ChoicePtr choice, Matrix *matrix, const sxt_head *data, bool part)
    : context_(context), asked_(std::move(choice)), choice_(asked_), matrix_(matrix) {
  problem_.struct_size = sizeof problem_;
  problem_.query = asked_->query.get();
  problem_.data = data;
  if (matrix_ && !choice_->storage.empty()) {
    form_ = choice_->trusted ? matrix_->lend_trusted_csr() : matrix_->lend(choice_->storage);
    problem_.a = &form_->view()->h;
  }
  build_parts(matrix, data);
  prepare();
  try {
    if (part) choose_factors();
  } catch (...) {
    release();
    throw;
  }
}

void Prepared::build_parts(Matrix *matrix, const sxt_head *data) {
  std::shared_ptr<Choice> changed;  // where a part chose something itself
  for (std::size_t s = 0; s < asked_->slots.size(); ++s) {
    const SlotChoice &slot = asked_->slots[s];
    auto &parts = parts_.emplace_back();
    for (std::size_t i = 0; i < slot.parts.size(); ++i) {
      const ChoicePtr &part = slot.parts[i];
      Matrix *const its_matrix = part->query.about_matrix() ? matrix : nullptr;
      parts.push_back(std::make_unique<Prepared>(context_, part, its_matrix, data, true));
      const ChoicePtr &made = parts.back()->shared_choice();
      if (made == part) continue;
      if (!changed) changed = std::make_shared<Choice>(*asked_);
      changed->setup_s += made->setup_s - part->setup_s;
      changed->slots[s].parts[i] = made;
    }
  }
  if (changed) choice_ = std::move(changed);
  fill();
}

// The slots as kernels see them.
void Prepared::fill() {
  bounds_.clear();
  filled_.clear();
  for (const auto &slot : parts_) {
    auto &bounds = bounds_.emplace_back();
    for (const auto &part : slot) bounds.push_back(&part->bound());
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i) filled_.push_back(filled_slot(choice_->slots[i], bounds_[i]));
}

// Two kinds of failure: the kernel does not serve here, or no kernel could go on. A third party's kernel with troubles
// of its own is of the first kind: others serve.
template <class F>
void Prepared::or_declined(F &&f) const {
  try {
    f();
  } catch (const Error &problem) {
    const sxt_status status = problem.status();
    const bool unsuited = status > 0 || status == SXT_E_NOT_SUPPORTED;
    const bool others_too = status == SXT_E_MEMORY || status == SXT_E_DEVICE || status == SXT_E_NOT_POSITIVE_DEFINITE;
    const bool own = choice_->kernel->verdict == registry::Verdict::passed;
    if (!unsuited && (own || others_too)) throw;
    throw Declined(*choice_->kernel, status > 0 ? SXT_E_NOT_SUPPORTED : status, problem.what());
  }
}

// The last gate: however it was chosen, no kernel runs that is not known to be right.
void Prepared::admit() const {
  const registry::Kernel &kernel = *choice_->kernel;
  if (kernel.verdict == registry::Verdict::passed) return;
  Query query = choice_->query;
  if (query.about_matrix()) query.matrix_part().storage = choice_->storage.empty() ? nullptr : intern(choice_->storage);
  const std::string why_not = conformance::self_test(kernel, context_.device(), &query, context_.scope());
  if (!why_not.empty()) throw Declined(kernel, SXT_E_NOT_SUPPORTED, text(kernel.name(), ": ", why_not));
}

void Prepared::prepare() {
  admit();
  or_declined([this] { build_state(); });
  const sxt_kernel &kernel = choice_->kernel->table;
  bound_ = {kernel.name, state_, nullptr, kernel.run, launched_.scratch_bytes, choice_->run_s, kernel.flags, 0};
}

void Prepared::build_state() {
  const sxt_kernel &kernel = choice_->kernel->table;
  if (matrix_) version_ = matrix_->version();
  launched_ = spread(context_, *choice_, matrix_, filled_);
  if (kernel.prepare) {
    Call call(context_.device());
    const sxt_exec exec = make_exec(call);
    try {
      const auto build = [&] { return kernel.prepare(&problem_, &launched_, filled_.data(), &exec, &state_); };
      call.finish(call.enter(build), kernel.name, "prepare");
    } catch (...) {  // the work it enqueued may have failed after the state was made
      release();
      throw;
    }
  }
}

Prepared::~Prepared() { release(); }

const Device &Prepared::device() const noexcept { return context_.device(); }

// Factors' matrices read arrays of the state.
void Prepared::release() noexcept {
  parts_.resize(std::min(parts_.size(), asked_->slots.size()));
  factors_.clear();
  const sxt_kernel &kernel = choice_->kernel->table;
  const Device::Current current(context_.device());
  if (state_ && kernel.release) kernel.release(state_);
  state_ = nullptr;
}

void Prepared::refresh_if_stale() {
  if (!matrix_ || version_.load(std::memory_order_acquire) == matrix_->version()) return;
  const std::lock_guard lock(refresh_mutex_);
  if (version_ == matrix_->version()) return;
  require_no_capture(context_.device(),
                     "the matrix has new values, which a graph cannot bring to where it reads them; "
                     "use it once before the capture");
  refresh();
  version_.store(matrix_->version(), std::memory_order_release);
}

void Prepared::refresh() {
  if (form_) matrix_->freshen(asked_->storage, *form_);
  for (std::size_t i = 0; i < asked_->slots.size(); ++i)
    for (auto &part : parts_[i]) part->refresh_if_stale();
  const sxt_kernel &kernel = choice_->kernel->table;
  if (form_ && !form_->why_void().empty())
    throw Declined(*choice_->kernel, SXT_E_NOT_SUPPORTED, text(kernel.name, ": ", form_->why_void()));
  if (!kernel.refresh) return;
  or_declined([&] {
    Call call(context_.device());
    const sxt_exec exec = make_exec(call);
    call.finish(call.enter([&] { return kernel.refresh(state_, &problem_, &exec); }), kernel.name, "refresh");
  });
  refresh_factors();
}

// Where measured runs do not count, a few are watched all the same, to find a model that misses grossly.
bool Prepared::watches() noexcept {
  const Feedback *feedback = context_.feedback();
  if (!feedback || feedback->all()) return feedback != nullptr;
  return watched_.load(std::memory_order_relaxed) < Feedback::watched_runs &&
         watched_.fetch_add(1, std::memory_order_relaxed) < Feedback::watched_runs;
}

// What composed kernels do beside their parts is told by no clock. True: choices should be made anew.
bool Prepared::tell(Feedback &feedback, const sxt_head &args, double seconds) const {
  const Choice &ran = *choice_;
  if (!ran.slots.empty() || ran.no_estimate) return false;
  return feedback.observe({*ran.kernel, ran.query, ran.candidate}, ran.run_s / ran.correction, args, seconds);
}

void Prepared::append_views(std::string &views) const {
  if (form_) {
    const sxt_head &view = form_->view()->h;
    views.append(reinterpret_cast<const char *>(&view), view.struct_size);
  }
  for (const auto &slot : parts_)
    for (const auto &part : slot) part->append_views(views);
}

bool Prepared::stateless() const noexcept {
  if (bound_.scratch_bytes > 0 || choice_->kernel->table.open || context_.device().has_streams()) return false;
  for (const auto &slot : parts_)
    for (const auto &part : slot)
      if (!part->stateless()) return false;
  return true;
}

std::unique_ptr<Session> Prepared::open() {
  context_.device().begin_setup();
  return std::make_unique<Session>(*this, true);
}

Session::Session(Prepared &prepared, bool top)
    : prepared_(prepared), bound_(prepared.bound()), foreign_(!prepared.choice().kernel->plugin->own) {
  for (auto &slot : prepared.parts_) {
    auto &parts = parts_.emplace_back();
    auto &bounds = bounds_.emplace_back();
    for (auto &part : slot) {
      parts.push_back(std::make_unique<Session>(*part, false));
      bounds.push_back(&parts.back()->bound());
      foreign_ |= parts.back()->foreign_;
    }
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i)
    filled_.push_back(filled_slot(prepared.choice().slots[i], bounds_[i]));
  Device &device = prepared.context_.device();
  if (top) scratch_ = DeviceBuffer(device, bound_.scratch_bytes);
  if (top && device.has_streams()) {  // pinned: the device writes it in place, and reading it costs no copy
    device_status_ = DeviceBuffer(device, sizeof(std::int32_t), SXT_SPACE_PINNED);
    *device_status_.as<volatile std::int32_t>() = SXT_OK;
  }
  const sxt_kernel &kernel = prepared.choice().kernel->table;
  if (kernel.open) {  // last: a constructor that throws after it would leave the session open
    Call call(device);
    const sxt_exec exec = make_exec(call);
    try {
      const sxt_filled *const slots = filled_.empty() ? nullptr : filled_.data();
      const auto open = [&] { return kernel.open(prepared.state(), slots, &exec, &bound_.session); };
      call.finish(call.enter(open), kernel.name, "open");
    } catch (...) {
      close();
      throw;
    }
  }
}

Session::~Session() { close(); }

void Session::close() noexcept {
  const sxt_kernel &kernel = prepared_.choice().kernel->table;
  const Device::Current current(prepared_.context_.device());
  if (bound_.session && kernel.close) kernel.close(bound_.session);
}

bool may_answer(std::string_view kind) noexcept {
  return kind == SXT_KIND_ORDERING || kind == SXT_KIND_CHOLESKY || !kind.starts_with("sxt.");
}

void Session::run_by(Function function, sxt_head *args, const volatile std::int32_t *cancel) {
  call(function, args, cancel, false);
}

sxt_status Session::ask(sxt_head *args, const volatile std::int32_t *cancel) {
  return call(bound_.run, args, cancel, true);
}

sxt_status Session::call(Function function, sxt_head *args, const volatile std::int32_t *cancel, bool answers) {
  Device &device = prepared_.context_.device();
  Call under_way(device, Call::unless_callers, foreign_);
  if (use_ != device.stream_use()) use_ = device.stream_use();
  if (!under_way.waits) check_device_status();  // of earlier work on the caller's stream, as far as it has come
  sxt_exec exec = make_exec(under_way);
  exec.scratch = scratch_.data();
  exec.scratch_bytes = scratch_.bytes();
  exec.cancel = cancel;
  exec.device_status = device_status_.as<std::int32_t>();
  exec.flags |= exec_flags();
  // A call that does not wait would only tell how long enqueueing takes.
  Feedback *const feedback = under_way.waits && prepared_.watches() ? prepared_.context_.feedback() : nullptr;
  const Clock::time_point start = feedback ? Clock::now() : Clock::time_point();
  const sxt_status status = under_way.enter([&] { return function(bound_.state, bound_.session, args, &exec); });
  const bool answer = status > 0 && answers && is_defined(status);
  under_way.finish(answer ? SXT_OK : status, bound_.kernel, "run");
  if (feedback && status == SXT_OK && prepared_.tell(*feedback, *args, seconds_since(start)))
    prepared_.context_.reconsider(prepared_.choice().query.kind());
  if (under_way.waits) check_device_status();
  return status;
}

// Failures that a kernel could only find while its work ran; it says so by a status in the word it was lent.
void Session::check_device_status() {
  if (!device_status_.data()) return;
  auto *word = device_status_.as<volatile std::int32_t>();
  const std::int32_t found = *word;
  if (found == SXT_OK) return;
  *word = SXT_OK;  // the session stays usable
  fail(found < 0 ? found : SXT_E_INTERNAL, "kernel '", bound_.kernel,
       "' failed while it ran on the device: ", status_sentence(found));
}

Runner::~Runner() {
  delete ready_.load(std::memory_order_relaxed);
  while (Session *const session = idle_) {
    idle_ = session->next_;
    delete session;
  }
}

std::unique_ptr<Session> Runner::take_idle() {
  const StreamUse *const use = prepared_.device().stream_use().get();
  if (Session *const session = ready_.exchange(nullptr, std::memory_order_acquire)) {
    if (session->free_for(use)) return std::unique_ptr<Session>(session);
    keep(session);
  }
  const std::lock_guard lock(mutex_);
  for (Session **at = &idle_; *at; at = &(*at)->next_)
    if (Session *const session = *at; session->free_for(use)) {
      *at = session->next_;
      return std::unique_ptr<Session>(session);
    }
  return nullptr;
}

Session *Runner::take() {
  if (std::unique_ptr<Session> session = take_idle()) return session.release();
  return prepared_.open().release();
}

void Runner::give_back(Session *session) noexcept {
  Session *none = nullptr;
  if (!ready_.compare_exchange_strong(none, session, std::memory_order_release, std::memory_order_relaxed))
    keep(session);
}

void Runner::keep(Session *session) noexcept {
  const std::lock_guard lock(mutex_);
  session->next_ = idle_;
  idle_ = session;
}

template <class F>
auto Runner::with_session(F &&f) {
  prepared_.refresh_if_stale();
  if (shared_) return f(*shared_);
  struct Lent {  // goes back whatever happens
    Runner &runner;
    Session *session;
    ~Lent() { runner.give_back(session); }
  } const lent{*this, take()};
  return f(*lent.session);
}

void Runner::run(sxt_head *args, const volatile std::int32_t *cancel) { run_by(prepared_.bound().run, args, cancel); }

void Runner::run_by(Session::Function function, sxt_head *args, const volatile std::int32_t *cancel) {
  with_session([&](Session &session) { session.run_by(function, args, cancel); });
}

sxt_status Runner::ask(sxt_head *args, const volatile std::int32_t *cancel) {
  return with_session([&](Session &session) { return session.ask(args, cancel); });
}

}  // namespace sextant
