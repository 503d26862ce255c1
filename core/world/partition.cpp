// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/partition.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/types.hpp"
#include "core/world/blocks.hpp"
#include "core/world/runner.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/ordering.h"
#include "sextant/plugin/kinds/partition.h"

namespace sextant {

namespace {

// That a division is for.
constexpr double usual_products = 1000;
// A value of another member's x: 8 bytes across a link of some 10 GB/s, and its place in a list.
constexpr double value_s = 1e-9;

template <class Q>
void set_method(Q &query, const std::string &method) {
  std::strncpy(query.method, method.c_str(), sizeof query.method - 1);
}

// The order that a kernel wants its rows cut along.
std::vector<std::int64_t> order_by(const char *method, Matrix &whole) {
  sxt_ordering_query query{};
  query.m = whole.query_part(SXT_KIND_ORDERING, sizeof query, 1);
  set_method(query, method);
  const CsrArrays &csr = whole.csr();
  Buffer perm(static_cast<std::uint64_t>(csr.rows * index_bytes(csr.index_type)),
              whole.context().device().host_memory());
  sxt_ordering_args args{};
  args.h = {sizeof args, SXT_KIND_ORDERING};
  args.n = csr.rows;
  args.index_type = csr.index_type;
  args.offset_type = csr.offset_type;
  args.row_ptr = csr.row_ptr.data();
  args.col = csr.col.data();
  args.perm = perm.data();
  make_runner(whole.context(), query.m.q, "world/order", &whole)->run(&args.h);
  std::vector<std::int64_t> out(static_cast<std::size_t>(csr.rows));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = index_at(perm.data(), csr.index_type, static_cast<std::int64_t>(k));
  return out;
}

void require_known(const Context &context, const std::string &method) {
  constexpr const char *known[] = {"contiguous", "rcm", "metis", "one"};
  if (method.empty() || std::find(std::begin(known), std::end(known), method) != std::end(known)) return;
  // A plugin may offer others: its kernels say so themselves.
  for (const registry::Kernel *kernel : context.scope().kernels(SXT_KIND_PARTITION, context.device_name()))
    if (!kernel->plugin->own) return;
  fail(SXT_E_UNKNOWN_NAME, unknown_name("partition", method, {"auto", "contiguous", "rcm", "metis", "one"}));
}

sxt_partition_query query_of(const World &world, Matrix &whole, const std::string &method) {
  sxt_partition_query query{};
  query.m = whole.query_part(SXT_KIND_PARTITION, sizeof query, usual_products);
  query.members = world.members();
  query.keeps_order = method.empty();
  query.value_s = value_s;
  query.most_rate = *std::max_element(world.rates().begin(), world.rates().end());
  query.rate = std::accumulate(world.rates().begin(), world.rates().end(), 0.0);
  set_method(query, method);
  return query;
}

// Of an answer by a kernel that may be anyone's.
void check(const Partition &found, std::int64_t rows) {
  const char *const name = found.choice->kernel->name();
  require(
      found.begin.front() == 0 && found.begin.back() == rows && std::is_sorted(found.begin.begin(), found.begin.end()),
      SXT_E_INTERNAL, name, " gives members rows that do not follow each other");
  std::vector<char> met(static_cast<std::size_t>(rows), 0);
  for (const std::int64_t row : found.order) {
    require(row >= 0 && row < rows && !met[static_cast<std::size_t>(row)], SXT_E_INTERNAL, name, " names row ", row,
            " twice, or outside of 0 to ", rows - 1);
    met[static_cast<std::size_t>(row)] = 1;
  }
}

}  // namespace

bool Partition::renumbers() const noexcept { return !std::is_sorted(order.begin(), order.end()); }

double entry_bytes(sxt_value_type type) noexcept { return static_cast<double>(value_bytes(type)) + 4; }
double row_bytes(sxt_value_type type) noexcept { return 2 * static_cast<double>(value_bytes(type)) + 4; }

Partition partition(const World &world, Matrix &whole, const std::string &method) {
  require_known(whole.context(), method);
  const sxt_partition_query query = query_of(world, whole, method);
  const std::unique_ptr<Runner> runner = make_runner(whole.context(), query.m.q, "world/partition", &whole);
  Partition out;
  out.choice = runner->prepared().shared_choice();
  const auto *ops = static_cast<const sxt_partition_ops *>(out.choice->kernel->table.ops);
  std::vector<std::int64_t> along;
  if (ops && SXT_HAS(ops, sxt_partition_ops, along) && ops->along) along = order_by(ops->along, whole);
  const CsrArrays &csr = whole.csr();
  out.order.resize(static_cast<std::size_t>(csr.rows));
  out.begin.resize(static_cast<std::size_t>(world.members()) + 1);
  sxt_partition_args args{};
  args.h = {sizeof args, SXT_KIND_PARTITION};
  args.n = csr.rows;
  args.index_type = csr.index_type;
  args.offset_type = csr.offset_type;
  args.row_ptr = csr.row_ptr.data();
  args.col = csr.col.data();
  args.along = along.empty() ? nullptr : along.data();
  args.members = world.members();
  args.rate = world.rates().data();
  args.entry_bytes = entry_bytes(csr.value_type);
  args.row_bytes = row_bytes(csr.value_type);
  args.order = out.order.data();
  args.begin = out.begin.data();
  runner->run(&args.h);
  check(out, csr.rows);
  return out;
}

}  // namespace sextant
