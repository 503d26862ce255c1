// SPDX-License-Identifier: BSD-3-Clause
// partition.contiguous, partition.rcm, partition.one: consecutive rows for consecutive members, in the caller's order,
// in that of reverse Cuthill-McKee, which core makes, or all for the fastest member.
#include "rows.hpp"

#include "sextant/sdk/describe.hpp"

namespace sextant::partition_rows {

namespace {

using namespace plugin;
using namespace plugin::partition;

sxt_status run_contiguous(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_partition_args>(head);
  if (const char *wrong = wrong_with(args)) return error(exec, SXT_E_ARGUMENT, "%s", wrong);
  std::iota(args.order, args.order + args.n, std::int64_t{0});
  cut(args);
  return SXT_OK;
}

sxt_status run_along(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_partition_args>(head);
  if (const char *wrong = wrong_with(args)) return error(exec, SXT_E_ARGUMENT, "%s", wrong);
  if (args.n > 0 && !args.along) return error(exec, SXT_E_ARGUMENT, "along is NULL: the order that ops ask for");
  std::copy(args.along, args.along + args.n, args.order);
  cut(args);
  return SXT_OK;
}

sxt_status run_one(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_partition_args>(head);
  if (const char *wrong = wrong_with(args)) return error(exec, SXT_E_ARGUMENT, "%s", wrong);
  std::iota(args.order, args.order + args.n, std::int64_t{0});
  const auto fastest = std::max_element(args.rate, args.rate + args.members) - args.rate;
  for (std::int32_t m = 0; m <= args.members; ++m) args.begin[m] = m > fastest ? args.n : 0;
  return SXT_OK;
}

sxt_status for_contiguous(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return offers(as<sxt_partition_query>(query), "contiguous", false, reason);
}
sxt_status for_rcm(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return offers(as<sxt_partition_query>(query), "rcm", true, reason);
}
sxt_status for_one(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return offers(as<sxt_partition_query>(query), "one", true, reason);
}

// Of the slowest member: columns as far as the band reaches, on two sides.
double banded(const sxt_partition_query &q, double bandwidth) {
  const double n = static_cast<double>(q.m.rows), others = n - n / std::max(1, q.members);
  return std::isnan(bandwidth) ? others : std::min(others, 2 * bandwidth);
}

sxt_status price(double setup_s, double run_s, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = 1;
  candidate.units = 1;
  candidate.setup_s = setup_s;
  candidate.run_s = run_s;
  return SXT_OK;
}

sxt_status price_contiguous(const sxt_query *query, const sxt_features *features, const sxt_machine *,
                            const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_partition_query>(query);
  const double bandwidth = features && features->count > 0 ? features->values[0] : std::nan("");
  return price(division_seconds(q), halo_seconds(q, banded(q, bandwidth)), out, capacity, count);
}

// The search goes over the pattern a few times.
sxt_status price_rcm(const sxt_query *query, const sxt_features *features, const sxt_machine *, const sxt_filled *,
                     sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_partition_query>(query);
  constexpr double search_entry_s = 1e-8, wider = 1.5;  // levels of a search beside the most compact parts
  const double bandwidth = features && features->count > 0 ? features->values[0] : std::nan("");
  const double values =
      std::min(banded(q, bandwidth), wider * std::cbrt(std::pow(static_cast<double>(q.m.rows), 2)) * 2);
  return price(division_seconds(q) + search_entry_s * static_cast<double>(q.m.nnz), halo_seconds(q, values), out,
               capacity, count);
}

sxt_status price_one(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                     sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_partition_query>(query);
  const double bytes = static_cast<double>(q.m.nnz) * 12 + static_cast<double>(q.m.rows) * 20;
  const double slower = q.most_rate > 0 && q.rate > 0 ? bytes / q.most_rate - bytes / q.rate : 0;
  return price(division_seconds(q), std::max(0.0, slower), out, capacity, count);
}

constexpr const char *band[] = {"bandwidth", nullptr};
const sxt_partition_ops along_rcm = {sizeof(sxt_partition_ops), "rcm"};

sxt_kernel table(const char *name, const char *device, const char *description, decltype(&run_one) run,
                 decltype(&for_one) applicable, decltype(&price_one) candidates) {
  sxt_kernel k = new_kernel(SXT_KIND_PARTITION, name, device, description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}
sxt_kernel with_band(sxt_kernel k) {
  k.features = band;
  return k;
}
sxt_kernel along(sxt_kernel k) {
  k.ops = &along_rcm;
  return with_band(k);
}

constexpr const char *by_rows = "consecutive rows, each member's share of the memory traffic";
constexpr const char *by_rcm = "the same in the order of reverse Cuthill-McKee";
constexpr const char *for_fastest = "all rows for the fastest member";

const sxt_kernel contiguous_gpu = with_band(
    table("partition.contiguous-on-host.cuda", "cuda", by_rows, run_contiguous, for_contiguous, price_contiguous));
const sxt_kernel rcm = along(table("partition.rcm.cpu", "cpu", by_rcm, run_along, for_rcm, price_rcm));
const sxt_kernel rcm_gpu = along(table("partition.rcm-on-host.cuda", "cuda", by_rcm, run_along, for_rcm, price_rcm));
const sxt_kernel one = table("partition.one.cpu", "cpu", for_fastest, run_one, for_one, price_one);
const sxt_kernel one_gpu = table("partition.one-on-host.cuda", "cuda", for_fastest, run_one, for_one, price_one);

}  // namespace

const sxt_kernel contiguous = [] {
  sxt_kernel k =
      with_band(table("partition.contiguous.cpu", "cpu", by_rows, run_contiguous, for_contiguous, price_contiguous));
  k.flags |= SXT_KERNEL_REFERENCE;
  return k;
}();

}  // namespace sextant::partition_rows

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::partition_rows;
  return sextant::plugin::offer<&contiguous, &contiguous_gpu, &rcm, &rcm_gpu, &one, &one_gpu, &kind>("partition-rows",
                                                                                                     out);
}
