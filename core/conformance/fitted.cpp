// SPDX-License-Identifier: BSD-3-Clause
// A kernel and its parts from query to sessions, with what the contract says about each step checked on the way.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "core/base/intern.hpp"
#include "core/base/types.hpp"
#include "core/conformance/bench.hpp"

namespace sextant::conformance {
namespace {

constexpr std::uint64_t candidate_capacity = 64;
constexpr int deepest = 4;             // parts of parts of parts: more is a circle
constexpr double part_seconds = 1e-6;  // predicted for parts whose model gives terms; nothing here is judged by it
constexpr std::uint64_t message_capacity = 96, message_guard = 32;

template <class... Parts>
[[noreturn]] void breach(const Kernel &kernel, const Parts &...parts) {
  fail(SXT_E_PLUGIN, "kernel '", kernel.name(), "' breaks its contract: ", parts...);
}

void check_number(const Kernel &kernel, std::uint64_t candidate, const std::string &what, double value) {
  if (!std::isfinite(value) || value < 0)
    breach(kernel, "candidate ", candidate, " states ", what, " = ", value, ", which no cost can be");
}

void check_numbers(const Kernel &kernel, std::uint64_t i, const sxt_candidate &candidate) {
  std::uint64_t names = 0;
  while (kernel.table.term_names && kernel.table.term_names[names]) ++names;
  if (candidate.n_terms > names || candidate.n_terms > SXT_MAX_TERMS)
    breach(kernel, "candidate ", i, " fills ", candidate.n_terms, " terms, the kernel names ", names);
  for (std::uint32_t term = 0; term < candidate.n_terms; ++term)
    check_number(kernel, i, text("term ", kernel.table.term_names[term]), candidate.terms[term]);
  if (candidate.n_terms == 0) check_number(kernel, i, "run_s", candidate.run_s);
  check_number(kernel, i, "setup_s", candidate.setup_s);
  check_number(kernel, i, "working_set_bytes", candidate.working_set_bytes);
  check_number(kernel, i, "units", candidate.units);
}

sxt_filled empty_slot(const sxt_slot &slot) { return {slot.role, -1, 0, 0, 0, nullptr, 0, 0, 0}; }

}  // namespace

Fitted::Fitted(Bench &bench, const Kernel &kernel, const Query &query, const std::string &storage, int depth)
    : bench_(bench), kernel_(kernel), query_(query) {
  require(depth < deepest, SXT_NOT_APPLICABLE, "parts are nested more than ", deepest, " deep");
  if (query_.about_matrix()) {
    query_.matrix_part().storage = storage.empty() ? nullptr : intern(storage);
    query_.matrix_part().matrix = nullptr;
  }
  problem_ = {sizeof problem_, query_.get(), nullptr, bench.base().data};
  check_promises();
  const std::vector<double> values = bench.features(kernel.table.features);
  const sxt_features features{values.size(), kernel.table.features, values.data()};
  check_applicable(features);
  if (query_.about_matrix()) problem_.a = storage.empty() ? bench.base().a : bench.matrix_in(storage);
  for (std::uint64_t slot = 0; slot < kernel.table.n_slots; ++slot) fill_slot(slot, storage, depth);
  filled_ = filled(bounds_);
  ask_candidates(features);
  bound_ = {kernel.name(), nullptr, nullptr, kernel.table.run, 0, part_seconds, kernel.table.flags, 0};
  if (candidates_[0].n_terms == 0 && kernel.table.candidates) bound_.run_s = candidates_[0].run_s;
  bound_.scratch_bytes = candidates_[0].scratch_bytes;
}

Fitted::~Fitted() { release(); }

// What the descriptor alone rules out, as the dispatcher does before it asks the kernel.
void Fitted::check_promises() const {
  const sxt_kernel &table = kernel_.table;
  require(table.value_types == 0 || (table.value_types >> query_.value_type() & 1u), SXT_NOT_APPLICABLE,
          "it does not compute in ", value_name(query_.value_type()));
  require(table.min_level <= bench_.machine().level, SXT_NOT_APPLICABLE, "it needs device level ", table.min_level,
          ", this one is ", bench_.machine().level);
  require(!query_.has(SXT_QUERY_DETERMINISTIC) || kernel_.has(SXT_KERNEL_DETERMINISTIC), SXT_NOT_APPLICABLE,
          "its bits may differ from run to run");
  require(!query_.has(SXT_QUERY_CAPTURABLE) || kernel_.has(SXT_KERNEL_CAPTURABLE), SXT_NOT_APPLICABLE,
          "it may not run inside a captured graph");
}

void Fitted::check_applicable(const sxt_features &features) {
  if (!kernel_.table.applicable) return;
  char reason[message_capacity + message_guard];
  std::memset(reason, 0x5A, sizeof reason);
  reason[0] = '\0';
  sxt_message message{reason, message_capacity};
  const sxt_status status = kernel_.table.applicable(query_.get(), &features, &bench_.machine(), &message);
  for (std::uint64_t i = message_capacity; i < sizeof reason; ++i)
    if (reason[i] != 0x5A) breach(kernel_, "applicable writes beyond the capacity of its message");
  if (std::memchr(reason, 0, message_capacity) == nullptr) breach(kernel_, "applicable does not terminate its reason");
  if (status == SXT_OK) return;
  if (status != SXT_NOT_APPLICABLE) breach(kernel_, "applicable returns ", status_name(status));
  if (reason[0] == '\0') breach(kernel_, "applicable declines without a reason");
  fail(SXT_NOT_APPLICABLE, reason);
}

void Fitted::fill_slot(std::uint64_t slot, const std::string &storage, int depth) {
  const sxt_slot &wanted = kernel_.table.slots[slot];
  std::string reasons;
  for (std::int32_t i = 0; wanted.alternatives[i]; ++i) {
    Slot filled;
    filled.alternative = i;
    try {
      if (!fill_alternative(slot, wanted.alternatives[i], storage, depth, filled)) continue;
    } catch (const Error &problem) {
      if (problem.status() != SXT_NOT_APPLICABLE) throw;
      reasons += text("; ", wanted.alternatives[i], ": ", problem.what());
      continue;
    }
    slots_.push_back(std::move(filled));
    return;
  }
  require(wanted.min_count == 0, SXT_NOT_APPLICABLE, "slot '", wanted.role, "' cannot be filled here", reasons);
  slots_.emplace_back();
}

// False: the kernel wants fewer instances of it than the slot must have.
bool Fitted::fill_alternative(std::uint64_t slot, const char *kinds, const std::string &storage, int depth, Slot &out) {
  const sxt_slot &wanted = kernel_.table.slots[slot];
  std::vector<std::string> names;
  std::istringstream list(kinds);
  for (std::string name; std::getline(list, name, '+');) names.push_back(name);
  out.kinds_per_instance = static_cast<std::uint32_t>(names.size());
  std::uint64_t instances = 0;
  for (; instances < wanted.max_count; ++instances) {
    for (const std::string &name : names) {
      Query query;
      const sxt_status status =
          kernel_.table.slot_query(query_.get(), slot, instances, intern(name), query.buffer(), Query::capacity);
      if (status == SXT_NOT_APPLICABLE) return instances >= wanted.min_count && instances > 0;
      if (status != SXT_OK) breach(kernel_, "slot_query returns ", status_name(status), " for '", name, "'");
      query.adopt(kernel_.name());
      if (name != query.kind()) breach(kernel_, "slot_query writes a query of '", query.kind(), "' for '", name, "'");
      out.parts.push_back(fit_part(query, wanted.required_flags, storage, depth));
    }
  }
  return instances >= wanted.min_count;
}

// The kind's reference where it applies, else the first kernel by name that does.
std::unique_ptr<Fitted> Fitted::fit_part(const Query &query, std::uint32_t flags, const std::string &storage,
                                         int depth) {
  Query asked = query;
  asked.get()->flags |= query_.get()->flags & (SXT_QUERY_DETERMINISTIC | SXT_QUERY_CAPTURABLE);
  const char *device = bench_.device().machine().device;
  std::vector<const Kernel *> kernels = trusted_first(bench_.scope().kernels(query.kind(), device));
  std::stable_partition(kernels.begin(), kernels.end(), [](const Kernel *k) { return k->has(SXT_KERNEL_REFERENCE); });
  std::string reasons;
  for (const Kernel *kernel : kernels) {
    if ((kernel->table.flags & flags) != flags || kernel->verdict == Verdict::quarantined) continue;
    const char *const *reads = kernel->table.storages;
    const bool about = asked.about_matrix(), any = !reads || !*reads;
    while (about && reads && *reads && storage != *reads) ++reads;
    if (about && !any && !*reads) continue;  // it does not read the storage under consideration
    try {
      const bool takes_storage = about && (!any || kernel->table.n_slots > 0);
      return std::make_unique<Fitted>(bench_, *kernel, asked, takes_storage ? storage : "", depth + 1);
    } catch (const Error &problem) {
      if (problem.status() != SXT_NOT_APPLICABLE) throw;
      reasons += text("; ", kernel->name(), ": ", problem.what());
    }
  }
  fail(SXT_NOT_APPLICABLE, "no kernel of kind '", query.kind(), "' serves", storage.empty() ? "" : " in ", storage,
       reasons);
}

void Fitted::ask_candidates(const sxt_features &features) {
  if (!kernel_.table.candidates) {  // chosen only by force or where no other applies, with the machine's threads
    candidates_.resize(1);
    candidates_[0].launch[0] = bench_.threads();
    return;
  }
  const auto ask = [&](std::vector<sxt_candidate> &out) {
    out.assign(candidate_capacity, sxt_candidate{});
    std::uint64_t count = 0;
    const sxt_status status = kernel_.table.candidates(query_.get(), &features, &bench_.machine(), filled_.data(),
                                                       out.data(), candidate_capacity, &count);
    require(status != SXT_NOT_APPLICABLE, SXT_NOT_APPLICABLE, "its model gives no candidate for this query");
    if (status != SXT_OK) breach(kernel_, "candidates returns ", status_name(status));
    if (count == 0) breach(kernel_, "it applies but states no candidate");
    out.resize(std::min(count, candidate_capacity));
  };
  std::vector<sxt_candidate> again;
  ask(candidates_);
  ask(again);
  const bool same = again.size() == candidates_.size() &&
                    std::memcmp(again.data(), candidates_.data(), again.size() * sizeof again[0]) == 0;
  if (!same) breach(kernel_, "candidates answers the same question twice in different ways");
  for (std::size_t i = 0; i < candidates_.size(); ++i) check_numbers(kernel_, i, candidates_[i]);
}

// The slots as the kernel sees them, over parts without sessions.
std::vector<sxt_filled> Fitted::filled(std::vector<std::vector<const sxt_bound *>> &bounds) const {
  std::vector<sxt_filled> all;
  bounds.resize(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot &slot = slots_[i];
    sxt_filled out = empty_slot(kernel_.table.slots[i]);
    for (const auto &part : slot.parts) {
      bounds[i].push_back(&part->bound());
      out.run_s += part->bound().run_s;
      out.setup_s += part->candidates()[0].setup_s;
      out.scratch_bytes = std::max(out.scratch_bytes, part->bound().scratch_bytes);
    }
    out.alternative = slot.alternative;
    out.kinds_per_instance = slot.kinds_per_instance;
    out.instances =
        slot.kinds_per_instance ? static_cast<std::uint32_t>(slot.parts.size()) / slot.kinds_per_instance : 0;
    out.parts = bounds[i].data();
    all.push_back(out);
  }
  return all;
}

void Fitted::prepare_parts() {
  for (Slot &slot : slots_)
    for (auto &part : slot.parts)
      if (!part->state_) part->prepare(0);
}

void Fitted::prepare(std::size_t candidate) {
  prepare_parts();
  release();
  bound_.scratch_bytes = candidates_[candidate].scratch_bytes;
  if (!kernel_.table.prepare) return;
  Lending lending(bench_.device(), 0, bench_.threads(), 0);
  lending.call().check(
      kernel_.table.prepare(&problem_, &candidates_[candidate], filled_.data(), &lending.exec(), &state_),
      kernel_.name(), "prepare");
  bound_.state = state_;
  lending.exec().host->synchronize(lending.exec().host, &lending.exec());
}

void Fitted::release() noexcept {
  const Device::Current current(bench_.device());
  if (state_ && kernel_.table.release) kernel_.table.release(state_);
  bound_.state = state_ = nullptr;
}

void Fitted::refresh() {
  for (Slot &slot : slots_)
    for (auto &part : slot.parts) part->refresh();
  if (!kernel_.table.refresh) return;
  Lending lending(bench_.device(), 0, bench_.threads(), 0);
  lending.call().check(kernel_.table.refresh(state_, &problem_, &lending.exec()), kernel_.name(), "refresh");
  if (lending.call().allocations) breach(kernel_, "refresh allocates memory");
  lending.exec().host->synchronize(lending.exec().host, &lending.exec());
}

Opened::Opened(const Fitted &fitted) : fitted_(fitted), bound_(fitted.bound()) {
  filled_ = fitted.filled(bounds_);
  for (std::size_t i = 0; i < fitted.slots_.size(); ++i) {
    for (std::size_t part = 0; part < fitted.slots_[i].parts.size(); ++part) {
      parts_.push_back(std::make_unique<Opened>(*fitted.slots_[i].parts[part]));
      bounds_[i][part] = &parts_.back()->bound();
    }
  }
  if (!fitted.kernel_.table.open) return;
  Lending lending(fitted.bench_.device(), 0, fitted.bench_.threads(), 0);
  lending.call().check(fitted.kernel_.table.open(fitted.state_, filled_.data(), &lending.exec(), &bound_.session),
                       fitted.kernel_.name(), "open");
}

Opened::~Opened() {
  const Device::Current current(fitted_.bench_.device());
  if (bound_.session && fitted_.kernel_.table.close) fitted_.kernel_.table.close(bound_.session);
}

}  // namespace sextant::conformance
