// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/sets.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/cholesky/factor.hpp"
#include "core/cholesky/sets_slices.hpp"
#include "core/choose/make_choice.hpp"
#include "core/device/stage.hpp"

namespace sextant::cholesky {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Sets::Sets(std::shared_ptr<Analysis> analysis, std::int64_t count)
    : analysis_(std::move(analysis)), count_(count), structure_(*analysis_), comparison_(*analysis_) {
  const Settings &settings = analysis_->settings();
  require(!analysis_->single(), SXT_E_NOT_SUPPORTED,
          "the analysis is for factors in single precision; sets are factored in the matrix's own: leave "
          "options->factor_precision at SXT_PRECISION_WORKING");
  require(settings.schur_rows.empty(), SXT_E_NOT_SUPPORTED,
          "the analysis leaves rows to a Schur complement; sets are factored whole");
  require(settings.pivot_policy == SXT_PIVOT_FAIL || settings.pivot_value != 0, SXT_E_NOT_SUPPORTED,
          "the analysis has a pivot_policy without a pivot_value, which then follows from the entries of one matrix; "
          "for sets give options->pivot_value");
  const std::int64_t each = value_bytes(analysis_->value_type()), values = structure_.view().values;
  require(values == 0 || count <= INT64_MAX / 64 / std::max(values, n_values()), SXT_E_OVERFLOW, count, " factors of ",
          values, " numbers do not fit the address space");
  choose();
  std::uint64_t host = 0;
  const std::uint64_t there = bytes(&host);
  analysis_->check_memory(text(count, " factors of ", values * each, " bytes each").c_str(),
                          analysis_->context().device().on_host() ? host : there);
  take_memory();
}

void Sets::choose() {
  Context &context = analysis_->context();
  const bool record = analysis_->settings().recorded;
  LeftOut left_out = analysis_->others(count_, true);
  for (const auto &[kernel, why] : left_out)
    if (!kernel->plugin->own) strangers_.emplace(kernel, why);
  prepared_ = make_choice(
      context, left_out,
      [&](const LeftOut &out) {
        return analysis_->choose({SXT_CHOLESKY_FACTOR, 0, count_}, out, record);
      },
      [&](ChoicePtr choice) {
        return std::make_unique<Prepared>(context, std::move(choice), nullptr, &structure_.view().h);
      });
  factor_choice_ = prepared_->shared_choice();
  const registry::Kernel &maker = *factor_choice_->kernel;
  require(maker.plugin->own, SXT_E_NOT_SUPPORTED, maker.name(),
          " is a third party's scheduler: sets are not judged one by one, so that the library's own alone factor them; "
          "leave options->scheduler NULL");
  const std::int64_t columns = columns_class(std::min(analysis_->settings().expected_rhs, Analysis::most_columns));
  solve_choice_ = analysis_->choose({SXT_CHOLESKY_SOLVE, columns, count_, factor_choice_}, strangers_, record);
}

void Sets::take_memory() {
  Device &device = analysis_->context().device();
  const auto each = static_cast<std::uint64_t>(value_bytes(analysis_->value_type()));
  const auto size = static_cast<std::size_t>(count_);
  outcome_.status.assign(size, SXT_E_STATE);
  outcome_.failed_row.assign(size, -1), failed_column_.assign(size, -1);
  outcome_.failed_pivot.assign(size, 0), outcome_.changed.assign(size, 0);
  const auto values = static_cast<std::uint64_t>(structure_.view().values);
  factors_ = buffer_for(device, static_cast<std::uint64_t>(count_) * values * each, "the memory of all factors");
  if (!device.on_host()) {
    const std::uint64_t set = static_cast<std::uint64_t>(n_values()) * each;
    values_ = buffer_for(device, set * static_cast<std::uint64_t>(sets_in(most_staged, set, count_)),
                         "a copy of some sets of values");
  }
  session_ = prepared_->open();
  solver(1);
}

// Bytes of all that the object takes in the memory of a device; on the host.
std::uint64_t Sets::bytes(std::uint64_t *host) const {
  const Context &context = analysis_->context();
  const sxt_symbolic &symbolic = structure_.view();
  const auto each = static_cast<std::uint64_t>(value_bytes(analysis_->value_type()));
  const auto count = static_cast<std::uint64_t>(count_);
  const std::uint64_t factors = count * static_cast<std::uint64_t>(symbolic.values) * each;
  std::uint64_t device = 0;
  *host = analysis_->structure_bytes() + structure_.bytes() + comparison_.bytes() +
          count * (sizeof(sxt_status) + 4 * sizeof(std::int64_t));
  for (const ChoicePtr &choice : {factor_choice_, solve_choice_}) {
    const auto [its_host, its_device] = session_bytes(*choice, symbolic, context.machine());
    *host += its_host, device += its_device;
  }
  if (context.device().on_host()) {
    *host += factors + device;
    return 0;
  }
  const std::uint64_t set = static_cast<std::uint64_t>(n_values()) * each;
  return device + factors + set * static_cast<std::uint64_t>(sets_in(most_staged, set, count_));
}

std::int64_t Sets::run_end(std::int64_t set, std::int64_t end) const {
  const bool factored = has_factor(set);
  while (set < end && has_factor(set) == factored) ++set;
  return set;
}

void *Sets::factor_of(std::int64_t set) const {
  const std::int64_t each = value_bytes(analysis_->value_type());
  return factors_.as<char>() + static_cast<std::uint64_t>(set * structure_.view().values * each);
}

sxt_cholesky_args Sets::args(std::int32_t phase, std::int64_t set, std::int64_t count) const {
  sxt_cholesky_args out{};
  out.h = {sizeof out, SXT_KIND_CHOLESKY};
  out.phase = phase;
  out.factors = analysis_->settings().factorization;
  out.value_type = out.value_type_a = analysis_->value_type();
  out.n_sets = count;
  out.factor = factor_of(set);
  out.stride_factor = structure_.view().values;
  return out;
}

Runner &Sets::solver(std::int64_t n_rhs) const {
  const std::int64_t columns = columns_class(n_rhs);
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Runner> &held = solvers_[columns];
  if (!held)
    held = std::make_unique<Runner>(
        analysis_->context(),
        analysis_->choose({SXT_CHOLESKY_SOLVE, columns, count_, factor_choice_}, strangers_, false), nullptr,
        &structure_.view().h);
  return *held;
}

// Notes the sets whose values are not Hermitian, and what is wrong with the first of them.
void Sets::compare(const SetsFactorCall &call) {
  std::mutex lock;
  comparison_.run(call.values, call.stride, call.count, [&](std::int64_t k, const std::string &sentence) {
    const std::lock_guard hold(lock);
    outcome_.status[static_cast<std::size_t>(call.first + k)] = SXT_E_NOT_SYMMETRIC;
    if (first_unequal_ >= 0 && first_unequal_ < call.first + k) return;
    first_sentence_ = sentence;
    first_unequal_ = call.first + k;
  });
}

sxt_status Sets::factor(const SetsFactorCall &call) {
  if (call.count == 0) return SXT_OK;
  Device &device = analysis_->context().device();
  const auto each = static_cast<std::uint64_t>(value_bytes(analysis_->value_type()));
  const bool staged = !in_place(device, call.values, each, "values") && n_values() > 0;
  facts_.clear();
  first_unequal_ = -1;
  for (std::int64_t set = call.first; set < call.first + call.count; ++set) {
    const auto s = static_cast<std::size_t>(set);
    outcome_.status[s] = SXT_E_STATE, outcome_.failed_row[s] = -1;
    outcome_.failed_pivot[s] = 0, outcome_.changed[s] = 0;
  }
  const Clock::time_point start = Clock::now();
  if (comparison_.is_needed() && (device.on_host() || staged)) compare(call);
  const std::int64_t most =
      staged ? static_cast<std::int64_t>(values_.bytes() / (each * static_cast<std::uint64_t>(n_values()))) : count_;
  const Slices slices(call.watch, call.first, call.count, most, factor_choice_->run_s / static_cast<double>(count_));
  const sxt_status status =
      slices.run([&](std::int64_t first, std::int64_t count) { return factor_slice(call, first, count, staged); });
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  if (status != SXT_OK) {
    std::fill_n(outcome_.status.begin() + call.first, call.count, sxt_status{SXT_E_STATE});
    return status;
  }
  judge(call.first, call.count);
  tell_failures(call);
  return SXT_OK;
}

sxt_status Sets::factor_slice(const SetsFactorCall &call, std::int64_t first, std::int64_t count, bool staged) {
  const Settings &settings = analysis_->settings();
  Device &device = analysis_->context().device();
  const std::int64_t each = value_bytes(analysis_->value_type()), set = n_values();
  const char *const values =
      static_cast<const char *>(call.values) + static_cast<std::uint64_t>((first - call.first) * call.stride * each);
  sxt_cholesky_args out = args(SXT_CHOLESKY_FACTOR, first, count);
  out.values = values, out.stride_values = call.stride;
  if (staged) {
    const bool whole = call.stride == set;
    const std::int64_t pieces = whole ? 1 : count, size = (whole ? count * set : set) * each;
    for (std::int64_t k = 0; k < pieces; ++k)
      device.copy(values_.as<char>() + k * set * each, values + k * call.stride * each,
                  static_cast<std::uint64_t>(size));
    out.values = values_.data(), out.stride_values = set;
  }
  out.pivot_policy = settings.pivot_policy;
  out.pivot_tolerance = settings.pivot_tolerance;
  out.pivot_value = settings.pivot_value;
  out.failed_column = failed_column_.data() + first;
  out.failed_pivot = outcome_.failed_pivot.data() + first;
  out.changed = outcome_.changed.data() + first;
  return session_->ask(&out.h, call.watch.cancel);
}

// What the scheduler told, as statuses and the caller's rows.
void Sets::judge(std::int64_t first, std::int64_t count) {
  const sxt_symbolic &symbolic = structure_.view();
  for (std::int64_t set = first; set < first + count; ++set) {
    const auto s = static_cast<std::size_t>(set);
    double &pivot = outcome_.failed_pivot[s];
    if (outcome_.status[s] == SXT_E_NOT_SYMMETRIC) {
      pivot = 0, outcome_.changed[s] = 0;
      continue;
    }
    const std::int64_t column = failed_column_[s];
    if (column < 0) {
      outcome_.status[s] = SXT_OK;
      continue;
    }
    outcome_.status[s] = std::isfinite(pivot) ? SXT_E_NOT_POSITIVE_DEFINITE : SXT_E_NOT_FINITE;
    outcome_.failed_row[s] = symbolic.perm[column];
    outcome_.changed[s] = 0;
    if (!std::isfinite(pivot)) pivot = std::numeric_limits<double>::quiet_NaN();
  }
}

// Throws where sets of the call have no factor, with what is wrong with the first.
void Sets::tell_failures(const SetsFactorCall &call) const {
  const auto begin = outcome_.status.begin() + call.first, end = begin + call.count;
  const auto worst = std::find_if(begin, end, [](sxt_status status) { return status != SXT_OK; });
  if (worst == end) return;
  const std::int64_t failed = call.count - std::count(begin, end, sxt_status{SXT_OK});
  const auto s = static_cast<std::size_t>(worst - outcome_.status.begin());
  std::string why;
  if (*worst == SXT_E_NOT_SYMMETRIC)
    why = first_sentence_;
  else if (*worst == SXT_E_NOT_FINITE)
    why = text("the pivot of row ", outcome_.failed_row[s],
               " (counting from 0) is not a number: its values hold a NaN or infinity, or left the range of ",
               value_name(analysis_->value_type()));
  else
    why = text("the pivot of row ", outcome_.failed_row[s], " (counting from 0) is ", outcome_.failed_pivot[s]);
  throw Error(*worst, text(failed, " of ", call.count, " sets have no factor; the first of them, set ", s,
                           " (sets count from 0): ", why));
}

sxt_cholesky_sets_info Sets::info() const {
  sxt_cholesky_sets_info info{};
  info.struct_size = sizeof info;
  info.count = count_;
  info.nnz = n_values();
  info.factored = std::count(outcome_.status.begin(), outcome_.status.end(), sxt_status{SXT_OK});
  info.factor_bytes =
      static_cast<std::uint64_t>(count_ * structure_.view().values * value_bytes(analysis_->value_type()));
  info.device_bytes = bytes(&info.host_bytes);
  info.factor_seconds = seconds_;
  info.predicted_factor_seconds = factor_choice_->run_s;
  info.predicted_solve_seconds = solve_choice_->run_s;
  return info;
}

Explanation Sets::explain() const {
  const sxt_cholesky_sets_info about = info();
  const Context &context = analysis_->context();
  const auto text_of = [](std::uint64_t count) { return bytes_text(static_cast<double>(count)); };
  Explanation out = analysis_->explain();
  out.title = "sparse Cholesky, sets of one pattern";
  out.choices = {factor_choice_, solve_choice_};
  for (auto &[name, value] : out.facts)
    if (name == "memory")
      value = text(text_of(about.host_bytes), " on the host, ", text_of(about.device_bytes), " on the device; ",
                   text_of(about.factor_bytes), " of it are factors");
  const double threads = factor_choice_->candidate.units;
  const std::string where = context.device().on_host()
                                ? text("on ", std::max(1.0, threads), threads > 1 ? " threads" : " thread")
                                : std::string("on the device");
  out.facts.insert(
      out.facts.begin() + 1,
      {"sets", text(count_, ", in one call of ", factor_choice_->kernel->name(), " ", where, ": ",
                    seconds_text(about.predicted_factor_seconds / static_cast<double>(count_)), " a factorisation")});
  return out;
}

}  // namespace sextant::cholesky
