// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/entered.hpp"
#include "core/base/hash.hpp"
#include "core/base/query.hpp"
#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/conformance/conformance.hpp"
#include "core/device/capturing.hpp"

namespace sextant {

using registry::Kernel;

namespace {

// Made when the library is loaded: an update allocates nothing.
const std::string csr_kind = SXT_KIND_STORAGE_CSR;
// The name under which CSR is kept that the library's own kernel built beside a third party's.
const std::string trusted_csr_kind = SXT_KIND_STORAGE_CSR " (trusted)";

sxt_csr view_of(const CsrArrays &csr, sxt_symmetry symmetry) {
  sxt_csr view{};
  view.s.h = {sizeof view, SXT_KIND_STORAGE_CSR};
  view.s.value_type = csr.value_type;
  view.s.index_type = csr.index_type;
  view.s.offset_type = csr.offset_type;
  view.s.space = SXT_SPACE_HOST;
  view.s.symmetry = symmetry;
  view.s.rows = csr.rows;
  view.s.cols = csr.cols;
  view.s.nnz = csr.nnz;
  view.row_ptr = csr.row_ptr.data();
  view.col = csr.col.data();
  view.values = csr.values.data();
  return view;
}

// The pattern of a large matrix must not take longer to hash than a few products with it: of an array beyond some size
// only pieces count, spread evenly. A plan that is followed on a matrix of equal pieces costs time at worst.
std::uint64_t hash_words(const Buffer &buffer, std::uint64_t seed) {
  constexpr std::uint64_t piece = 64, most_pieces = 64;  // words
  const auto *bytes = buffer.as<unsigned char>();        // adopted arrays may start anywhere
  const std::uint64_t count = buffer.bytes() / 8;
  const bool all = count <= piece * most_pieces;
  const std::uint64_t pieces = all ? 1 : most_pieces, length = all ? count : piece;
  std::uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
  for (std::uint64_t p = 0; p < pieces; ++p) {
    const unsigned char *from = bytes + 8 * (all ? 0 : (count - piece) / (most_pieces - 1) * p);
    for (std::uint64_t i = 0; i < length; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + 8 * i, sizeof word);
      lanes[i & 3] = (lanes[i & 3] ^ word) * 0x9E3779B97F4A7C15ull + (lanes[i & 3] >> 29);
    }
  }
  return fnv1a(bytes + 8 * count, buffer.bytes() % 8, fnv1a(lanes, sizeof lanes));
}

// Three arrays within a device's memory, read and written.
double copy_seconds(double bytes, const sxt_machine &machine) {
  return 3 * machine.launch_s + 2 * bytes / std::max(1.0, machine.stream_rate);
}

}  // namespace

Matrix::Matrix(std::shared_ptr<Context> context, Assembled assembled, sxt_symmetry symmetry, bool check_finite)
    : context_(std::move(context)),
      data_(std::move(assembled)),
      check_finite_(check_finite),
      mirrored_(data_.order.mirrored),
      symmetry_(symmetry),
      known_symmetry_(symmetry) {
  csr_view_ = view_of(data_.csr, symmetry_);
  storage_query_ = part_as("", sizeof storage_query_, 1, symmetry_);
}

sxt_matrix_query Matrix::query_part(const char *kind, std::uint64_t query_size, double expected_runs) const {
  return part_as(kind, query_size, expected_runs, sure_symmetry());
}

sxt_matrix_query Matrix::part_as(const char *kind, std::uint64_t query_size, double expected_runs,
                                 sxt_symmetry symmetry) const {
  sxt_matrix_query part{};
  part.q.h = {query_size, kind};
  part.q.expected_runs = expected_runs;
  part.q.flags = SXT_QUERY_MATRIX;
  part.q.value_type = value_type();
  part.rows = rows();
  part.cols = cols();
  part.nnz = data_.csr.nnz;
  part.matrix_type = value_type();
  part.symmetry = symmetry;
  part.matrix = this;
  return part;
}

void Matrix::found_symmetry(sxt_symmetry symmetry) {
  const std::lock_guard lock(mutex_);
  known_symmetry_ = storage_query_.symmetry = csr_view_.s.symmetry = symmetry;
  if (symmetry == symmetry_) take_as_equal();
}

sxt_problem Matrix::problem(const StoredForm *there) const {
  return {sizeof(sxt_problem), &storage_query_.q, &csr_view_.s.h, there ? &there->view()->h : nullptr};
}

// A scaled matrix's own CSR would hold scaled values: its source's holds what the canonical arrays do, and its own is
// copied from there, too.
std::shared_ptr<StoredForm> Matrix::csr_there(const std::string &kind) const {
  if (context_->device().on_host() || kind == trusted_csr_kind) return nullptr;
  const Matrix &owner = source_ ? *source_ : *this;
  if (kind == SXT_KIND_STORAGE_CSR && (!source_ || owner.given_)) return owner.given_;
  const std::lock_guard lock(owner.mutex_);
  const auto held = owner.forms_.find(SXT_KIND_STORAGE_CSR);
  const bool fresh = held != owner.forms_.end() && held->second->values() == owner.version();
  return fresh ? held->second : nullptr;  // the host has the values in any case
}

// What it takes to bring the CSR to the device; 0 where nothing does.
double Matrix::csr_seconds() {
  double seconds = 0;
  std::uint64_t bytes = 0;
  std::string reason;
  return storage_offered(SXT_KIND_STORAGE_CSR, &seconds, &bytes, &reason) ? seconds : 0;
}

// Kernels of this context that may build a storage, the soonest done first.
std::vector<Matrix::Builder> Matrix::builders(const std::string &kind, std::string *reason, unsigned tiers,
                                              bool known_too) {
  reason->clear();
  std::vector<Builder> all;
  for (const Kernel *kernel : context_->scope().kernels(kind, context_->device_name())) {
    if (!kernel->table.ops || kernel->verdict == registry::Verdict::quarantined) continue;
    char why[256] = "";
    sxt_message message{why, sizeof why};
    const std::vector<double> values = features_for(*kernel, tiers, known_too);
    const sxt_features found{values.size(), kernel->table.features, values.data()};
    const sxt_query *query = &storage_query_.q;
    std::string threw;
    const auto applies = [&] { return kernel->table.applicable(query, &found, &context_->machine(), &message); };
    if (kernel->table.applicable && model_entered(applies, threw) != SXT_OK) {
      *reason = text(kernel->name(), ": ", threw.empty() ? why : threw.c_str());
      continue;
    }
    sxt_candidate candidate{};
    std::uint64_t count = 0;
    const auto offers = [&] {
      return kernel->table.candidates(query, &found, &context_->machine(), nullptr, &candidate, 1, &count);
    };
    if (kernel->table.candidates && model_entered(offers, threw) != SXT_OK) count = 0;
    if (!threw.empty()) {
      *reason = text(kernel->name(), ": ", threw);
      continue;
    }
    const double predicted = count ? predict_setup(kernel->table, *query, candidate, context_->profile()) : 0;
    // On a device forms are converted from its CSR, which has to be there first, or comes over in pieces meanwhile.
    double setup = std::isfinite(predicted) && predicted > 0 ? predicted : 0;
    if (!context_->device().on_host()) {
      const bool there = csr_there(kind) != nullptr, csr = kind == SXT_KIND_STORAGE_CSR;
      if (there && csr) setup = copy_seconds(candidate.working_set_bytes, context_->machine());
      if (!there && !csr) setup += csr_seconds();
    }
    all.push_back({kernel, setup, candidate.state_bytes});
  }
  if (all.empty() && reason->empty()) *reason = "no kernel builds " + kind + " on " + context_->device_name();
  if (all.size() > 1)
    std::stable_sort(all.begin(), all.end(), [](const Builder &a, const Builder &b) { return a.setup_s < b.setup_s; });
  return all;
}

bool Matrix::storage_offered(const std::string &kind, double *setup_s, std::uint64_t *bytes, std::string *reason,
                             unsigned tiers, bool known_too) {
  const std::lock_guard lock(mutex_);
  if (const auto held = forms_.find(kind); held != forms_.end()) {
    *setup_s = 0;
    *bytes = held->second->bytes();
    return true;
  }
  const std::vector<Builder> all = builders(kind, reason, tiers, known_too);
  if (all.empty()) return false;
  *setup_s = all.front().setup_s;
  *bytes = all.front().bytes;
  return true;
}

const Kernel *Matrix::storage_kernel(const std::string &kind) {
  const std::lock_guard lock(mutex_);
  if (const auto held = forms_.find(kind); held != forms_.end()) return held->second->kernel();
  std::string reason;
  const std::vector<Builder> all = builders(kind, &reason, 1, true);
  return all.empty() ? nullptr : all.front().kernel;
}

StoredForm &Matrix::form(const std::string &kind) { return *lend(kind); }

// NULL where the kernel is not known to be right, or declines these values, with the reason.
std::shared_ptr<StoredForm> Matrix::build_by(const Builder &builder, const std::string &kind, std::string &reasons) {
  const Kernel &kernel = *builder.kernel;
  sxt_matrix_query asked = storage_query_;
  asked.q.h.kind = kind.c_str();
  const Query query(&asked.q);
  std::string why_not = conformance::self_test(kernel, context_->device(), &query, context_->scope());
  if (why_not.empty()) try {
      std::shared_ptr<StoredForm> built = build_form(kernel, kind);
      built_s_ += builder.setup_s;
      return built;
    } catch (const Error &problem) {
      const sxt_status status = problem.status();
      const bool unsuited = status > 0 || status == SXT_E_NOT_SUPPORTED;
      const bool others_too = status == SXT_E_MEMORY || status == SXT_E_DEVICE;
      if (!unsuited && (others_too || kernel.verdict == registry::Verdict::passed)) throw;
      why_not = problem.what();
    }
  reasons += text(reasons.empty() ? "" : "; ", kernel.name(), ": ", why_not);
  return nullptr;
}

std::shared_ptr<StoredForm> Matrix::lend(const std::string &kind) {
  const std::lock_guard lock(mutex_);
  if (const auto held = forms_.find(kind); held != forms_.end()) {
    std::shared_ptr<StoredForm> form = held->second;
    freshen(kind, *form);
    return form;
  }
  std::string reason, reasons;
  const std::vector<Builder> all = builders(kind, &reason, 1, true);
  require(!all.empty(), SXT_E_NO_KERNEL, reason);
  for (const Builder &builder : all)
    if (auto built = build_by(builder, kind, reasons)) return forms_[kind] = std::move(built);
  fail(SXT_E_NOT_SUPPORTED, kind, " could not be built: ", reasons);
}

std::shared_ptr<StoredForm> Matrix::lend_trusted_csr() {
  const std::lock_guard lock(mutex_);
  const auto fresh = [this](const std::string &kind, std::shared_ptr<StoredForm> form) {
    freshen(kind, *form);
    return form;
  };
  const auto held = forms_.find(csr_kind);
  if (held != forms_.end() && held->second->trusted()) return fresh(csr_kind, held->second);
  const std::string &kept_as = held == forms_.end() ? csr_kind : trusted_csr_kind;
  if (const auto own = forms_.find(kept_as); own != forms_.end()) return fresh(kept_as, own->second);
  const std::vector<const Kernel *> builders =
      registry::Registry::instance().own_kernels(csr_kind, context_->device_name());
  require(!builders.empty(), SXT_E_NO_KERNEL, "no kernel that came with the library builds ", csr_kind, " on ",
          context_->device_name());
  return forms_[kept_as] = build_form(*builders.front(), kept_as);
}

// Where memory is short, the device's CSR makes room if nothing reads it: it can be built again.
std::shared_ptr<StoredForm> Matrix::build_form(const Kernel &kernel, const std::string &kind) {
  std::shared_ptr<StoredForm> there = csr_there(kind), built;
  try {
    built = std::make_shared<StoredForm>(*context_, kernel, problem(there.get()));
  } catch (const Error &problem) {
    there.reset();
    if (!out_of_memory(problem) || kind == SXT_KIND_STORAGE_CSR || !holds(SXT_KIND_STORAGE_CSR)) throw;
    drop(SXT_KIND_STORAGE_CSR);
    if (holds(SXT_KIND_STORAGE_CSR)) throw;
    context_->log()(SXT_LOG_INFO, text("gave back the CSR arrays of a matrix to make room for ", kind));
    built = std::make_shared<StoredForm>(*context_, kernel, this->problem());
  }
  if (scaling_) built->scale(scaling_);
  built->holds_values(version());
  return built;
}

const sxt_storage *Matrix::storage(const std::string &kind) { return form(kind).view(); }

std::uint64_t Matrix::storage_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const Buffer *buffer :
       {&data_.csr.row_ptr, &data_.csr.col, &data_.csr.values, &data_.order.slot, &data_.order.mirror})
    if (buffer->owned()) bytes += buffer->bytes();
  for (const auto &[kind, form] : forms_) bytes += form->bytes();
  return bytes;
}

double Matrix::built_seconds() const {
  const std::lock_guard lock(mutex_);
  return built_s_;
}

bool Matrix::holds(const std::string &kind) const {
  const std::lock_guard lock(mutex_);
  return forms_.count(kind) > 0;
}

std::set<std::string> Matrix::storages() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> kinds;
  for (const auto &[kind, form] : forms_) kinds.insert(kind);
  return kinds;
}

void Matrix::drop(const std::string &kind) {
  const std::lock_guard lock(mutex_);
  if (const auto held = forms_.find(kind); held != forms_.end() && held->second.use_count() == 1) forms_.erase(held);
}

std::uint64_t Matrix::pattern_hash() {
  const std::lock_guard lock(mutex_);
  if (pattern_hash_ == 0) {
    const std::int64_t sizes[] = {rows(), cols(), data_.csr.nnz};
    pattern_hash_ = hash_words(data_.csr.col, hash_words(data_.csr.row_ptr, fnv1a(sizes, sizeof sizes)));
    if (pattern_hash_ == 0) pattern_hash_ = 1;  // 0 means "no matrix"
  }
  return pattern_hash_;
}

void Matrix::refresh_form(const std::string &kind, StoredForm &form) {
  const std::shared_ptr<StoredForm> there = csr_there(kind);
  form.refresh(problem(there.get()));
  if (scaling_ && form.why_void().empty()) form.scale(scaling_);
}

// One that fails keeps its older version, by which freshen() knows it: the values themselves are new by now, and the
// other storages with them.
void Matrix::try_refresh(const std::string &kind, StoredForm &form) {
  try {
    refresh_form(kind, form);
    form.holds_values(version());
  } catch (const Error &problem) {
    context_->log()(SXT_LOG_WARNING, problem.what());
  } catch (...) {  // a plugin broke its contract, or there is no memory: said when the storage is next used
  }
}

// The version rises first, so that states made of older values are never taken for present ones. CSR before the others,
// which may take their values from it. What was given has its values.
void Matrix::refresh_forms(bool as_compared) {
  version_.fetch_add(1, std::memory_order_acq_rel);
  if (as_compared) take_as_equal();
  if (given_) given_->holds_values(version());
  const auto csr = forms_.find(csr_kind);
  if (csr != forms_.end() && csr->second != given_) try_refresh(csr->first, *csr->second);
  for (auto form = forms_.begin(); form != forms_.end(); ++form)
    if (form != csr) try_refresh(form->first, *form->second);
  std::erase_if(forms_, [](const auto &each) { return !each.second->why_void().empty(); });
}

void Matrix::freshen(const std::string &kind, StoredForm &form) {
  const std::lock_guard lock(mutex_);
  if (form.values() == version()) return;
  require_no_capture(context_->device(), "a storage of the matrix has yet to take its new values; use it once before");
  try {
    refresh_form(kind, form);
    require(form.why_void().empty(), SXT_E_NOT_SUPPORTED, form.why_void());
    form.holds_values(version());
  } catch (...) {
    if (const auto held = forms_.find(kind); held != forms_.end() && held->second.get() == &form) forms_.erase(held);
    throw;
  }
}

void Matrix::follow(ValuesFollower &follower) {
  const std::lock_guard lock(mutex_);
  followers_.push_back(&follower);
}

void Matrix::unfollow(ValuesFollower &follower) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(followers_, &follower);
}

void Matrix::update_values(const void *values, std::int64_t count) {
  const std::int64_t wanted = data_.order.kept ? data_.order.input_nnz : data_.csr.nnz;
  require(values != nullptr || wanted == 0, SXT_E_ARGUMENT, "values is NULL");
  require(count == wanted, SXT_E_DIMENSION, "an update of this matrix takes ", wanted, " values (",
          data_.order.kept ? "in the order it was made from" : "in canonical CSR order", "), not ", count);
  require_no_capture(context_->device(), "new values cannot be part of a graph; give them before or after the capture");
  {
    const std::lock_guard lock(mutex_);
    own_values();
    const bool was_sure = mirrored_ || (compared_ == version() && equal_images_);
    mirrored_ = mirrored_ && data_.order.mirror.data() != nullptr;  // else both images are new
    const SentAhead sent = send_ahead(values);
    if (!sent)
      sextant::update_values(data_.csr, data_.order, values, check_finite_, context_->threads(), context_->allocator());
    refresh_forms();
    if (was_sure) leave_symmetry();
  }
  if (!context_->device().callers_stream()) return;
  for (ValuesFollower *each : followers_) each->values_changed();
}

void Matrix::rewrite_values(const std::function<void(Buffer &values)> &write, bool as_compared) {
  const std::lock_guard lock(mutex_);
  write(data_.csr.values);
  refresh_forms(as_compared);
}

void Matrix::borrow_arrays(const CsrArrays &source) {
  CsrArrays &own = data_.csr;
  own.row_ptr = Buffer::borrow(source.row_ptr.data(), source.row_ptr.bytes());
  own.col = Buffer::borrow(source.col.data(), source.col.bytes());
  own.values = Buffer::borrow(source.values.data(), source.values.bytes());
  csr_view_ = view_of(own, known_symmetry());
}

// Sizes and types.
Assembled Matrix::shape() const {
  Assembled shape;
  shape.csr.rows = rows();
  shape.csr.cols = cols();
  shape.csr.nnz = data_.csr.nnz;
  shape.csr.value_type = value_type();
  shape.csr.index_type = data_.csr.index_type;
  shape.csr.offset_type = data_.csr.offset_type;
  return shape;
}

std::shared_ptr<Matrix> Matrix::scaled(const void *s) {
  auto matrix = std::make_shared<Matrix>(context_, shape(), symmetry_);
  matrix->found_symmetry(known_symmetry());
  matrix->borrow_arrays(data_.csr);
  matrix->source_ = shared_from_this();
  matrix->scaling_ = s;
  matrix->share_features(*this);
  return matrix;
}

void Matrix::source_changed(const Matrix &source, const void *s) {
  const std::lock_guard lock(mutex_);
  borrow_arrays(source.csr());
  scaling_ = s;
  refresh_forms(source.compared_ == source.version() && source.equal_images_);
}

// Adopted arrays stay the caller's: the first update moves the values into memory of our own.
void Matrix::own_values() {
  Buffer &values = data_.csr.values;
  if (values.owned() || values.empty()) return;
  Buffer copy(values.bytes(), context_->allocator());
  std::memcpy(copy.data(), values.data(), values.bytes());
  values = std::move(copy);
  csr_view_ = view_of(data_.csr, known_symmetry());
}

StoredForm::StoredForm(Context &context, const Kernel &kernel, const sxt_problem &problem)
    : context_(context), kernel_(&kernel), ops_(static_cast<const sxt_storage_ops *>(kernel.table.ops)) {
  Call call(context_.device());
  const sxt_exec exec = make_exec(call);
  const sxt_candidate candidate{};
  if (!kernel.table.prepare) return;
  try {
    const auto build = [&] { return kernel.table.prepare(&problem, &candidate, nullptr, &exec, &state_); };
    call.finish(call.enter(build), kernel.name(), "prepare");
  } catch (...) {  // the work it enqueued may have failed after the state was made
    release();
    throw;
  }
}

StoredForm::~StoredForm() { release(); }

void StoredForm::release() noexcept {
  const Device::Current current(context_.device());
  if (state_ && kernel_->table.release) kernel_->table.release(state_);
}

void StoredForm::decline(const std::string &why) {
  why_void_ = text("storage '", name(), "' declined new values: ", why);
}

void StoredForm::refresh(const sxt_problem &problem) {
  if (!kernel_ || !kernel_->table.refresh) return;
  Call call(context_.device());
  const sxt_exec exec = make_exec(call);
  why_void_.clear();
  const sxt_status status = call.enter([&] { return kernel_->table.refresh(state_, &problem, &exec); });
  if (status == SXT_NOT_APPLICABLE) {  // not for these values: its readers are chosen anew
    return decline(call.sentence.empty() ? status_sentence(status) : call.sentence);
  }
  call.finish(status, kernel_->name(), "refresh");
}

void StoredForm::diagonal(void *out) const {
  require(ops_ && ops_->diagonal, SXT_E_NOT_SUPPORTED, name(), " does not give its diagonal");
  Call call(context_.device());
  const sxt_exec exec = make_exec(call);
  call.finish(call.enter([&] { return ops_->diagonal(state_, out, &exec); }), name(), "diagonal");
}

void StoredForm::scale(const void *s) {
  require(ops_ && ops_->scale, SXT_E_NOT_SUPPORTED, name(), " cannot be scaled");
  Call call(context_.device());
  const sxt_exec exec = make_exec(call);
  call.finish(call.enter([&] { return ops_->scale(state_, s, &exec); }), name(), "scale");
}

}  // namespace sextant
