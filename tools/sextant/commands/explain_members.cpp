// SPDX-License-Identifier: BSD-3-Clause
// Members that are not there are priced by models alone: blocks of some of them are cut out of the matrix as a world
// cuts them, the library predicts their products and vector operations on this device, and messages follow from a
// latency and a rate. Three recurrences are compared, each without a preconditioner: the classical one (Hestenes and
// Stiefel 1952) with two sums an iteration, the one of worlds with one (Chronopoulos and Gear 1989), and the pipelined
// one (Ghysels and Vanroose 2014), whose one sum lies beside the product.
#include "commands/explain_members.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "input/numbers.hpp"
#include "report/table.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace tool {
namespace {

constexpr std::int64_t most_sampled = 5;  // members of one count that are cut out
constexpr double runs = 1000;             // iterations that a set-up is spread over
// Vectors read and written in an iteration by the updates of each recurrence; those of a world's have a kernel whose
// time is predicted, the others' follow from it.
constexpr double classical_passes = 9, world_passes = 9, pipelined_passes = 13;
// What a world's ranks give each other once an iteration, beside the sums: who ends, and why (core/world).
constexpr double frame_bytes = 248;

struct Network {
  double latency_s = 0, rate = 0;
};

bool read_network(const std::string &text, Network &network) {
  const std::size_t comma = text.find(',');
  return comma != std::string::npos && reads(text.substr(0, comma), network.latency_s) &&
         reads(text.substr(comma + 1), network.rate) && std::isfinite(network.latency_s) && network.latency_s >= 0 &&
         std::isfinite(network.rate) && network.rate > 0;
}

// The canonical CSR with its index types hidden.
struct Entries {
  Entries(sxt_context *context, const LoadedMatrix &matrix) : info(matrix.info) {
    check(sxt_matrix_get_csr(matrix.handle.get(), &ptr, &col, &values), context);
  }
  static std::int64_t at(const void *array, sxt_index_type type, std::int64_t k) {
    return type == SXT_I32 ? static_cast<const std::int32_t *>(array)[k] : static_cast<const std::int64_t *>(array)[k];
  }
  std::int64_t begin(std::int64_t row) const { return at(ptr, info.offset_type, row); }
  std::int64_t column(std::int64_t k) const { return at(col, info.index_type, k); }
  std::int64_t value_bytes() const { return info.value_type == SXT_F32 ? 4 : info.value_type == SXT_C128 ? 16 : 8; }
  // Bytes that a product reads in the rows before, by which a world divides them.
  double work(std::int64_t row) const {
    const auto value = static_cast<double>(value_bytes());
    return static_cast<double>(begin(row)) * (value + 4) + static_cast<double>(row) * (2 * value + 4);
  }
  std::int64_t row_with(double wanted) const {
    std::int64_t low = 0, high = info.rows;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (work(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  sxt_matrix_info info;
  const void *ptr = nullptr, *col = nullptr, *values = nullptr;
};

struct Block {
  std::vector<std::int64_t> ptr{0}, col;
  std::vector<std::int64_t> numbers;  // of columns of others, ascending
  std::vector<char> values;
};

// Rows first to last - 1: in columns that the member owns, or in those of others with the rows alone that have some.
Block cut(const Entries &a, std::int64_t first, std::int64_t last, bool own) {
  const auto is_own = [&](std::int64_t column) { return column >= first && column < last; };
  const auto each = static_cast<std::size_t>(a.value_bytes());
  Block out;
  for (std::int64_t k = a.begin(first); !own && k < a.begin(last); ++k)
    if (!is_own(a.column(k))) out.numbers.push_back(a.column(k));
  std::sort(out.numbers.begin(), out.numbers.end());
  out.numbers.erase(std::unique(out.numbers.begin(), out.numbers.end()), out.numbers.end());
  for (std::int64_t row = first; row < last; ++row) {
    for (std::int64_t k = a.begin(row); k < a.begin(row + 1); ++k) {
      const std::int64_t column = a.column(k);
      if (is_own(column) != own) continue;
      out.col.push_back(own ? column - first
                            : std::lower_bound(out.numbers.begin(), out.numbers.end(), column) - out.numbers.begin());
      const char *value = static_cast<const char *>(a.values) + static_cast<std::size_t>(k) * each;
      out.values.insert(out.values.end(), value, value + each);
    }
    const auto count = static_cast<std::int64_t>(out.col.size());
    if (own || count > out.ptr.back()) out.ptr.push_back(count);
  }
  return out;
}

double seconds_of_kernel(sxt_context *context, const sxt_query &query, sxt_matrix *matrix) {
  sxt_selection *made = nullptr;
  check(sxt_kernel_select(context, &query, matrix, &made), context);
  const Selection selection(made);
  double seconds = 0;
  check(sxt_selection_cost(made, nullptr, &seconds), context);
  return seconds;
}

double product_seconds(sxt_context *context, const Entries &a, const Block &block, std::int64_t cols) {
  const auto rows = static_cast<std::int64_t>(block.ptr.size()) - 1;
  if (rows == 0 || block.col.empty()) return 0;
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  options.value_type = a.info.value_type;
  options.index_type = options.offset_type = SXT_I64;
  sxt_matrix *made = nullptr;
  check(sxt_matrix_from_csr(context, rows, cols, block.ptr.data(), block.col.data(), block.values.data(), &options,
                            &made),
        context);
  const Matrix matrix(made);
  sxt_spmv_query query{};
  query.m.q = {{sizeof query, SXT_KIND_SPMV}, runs, SXT_QUERY_MATRIX | SXT_QUERY_PREDICT_ONLY, a.info.value_type};
  query.op = SXT_NO_TRANSPOSE;
  query.n_rhs = 1;
  return seconds_of_kernel(context, query.m.q, made);
}

double dots_seconds(sxt_context *context, sxt_value_type type, std::int64_t n, std::int32_t pairs) {
  sxt_multidot_query query{};
  query.q = {{sizeof query, SXT_KIND_MULTIDOT}, runs, SXT_QUERY_PREDICT_ONLY, type};
  query.n = n;
  query.n_dots = query.distinct = pairs;
  return seconds_of_kernel(context, query.q, nullptr);
}

double updates_seconds(sxt_context *context, sxt_value_type type, std::int64_t n) {
  sxt_vector_group_query query{};
  query.q = {{sizeof query, SXT_KIND_VECTOR_GROUP}, runs, SXT_QUERY_PREDICT_ONLY, type};
  query.n = n;
  query.group = SXT_GROUP_CHRONOPOULOS_GEAR;
  return seconds_of_kernel(context, query.q, nullptr);
}

// Of one member: seconds by the models, and what it fetches from others.
struct Share {
  std::int64_t rows = 0, halo = 0;
  double own_s = 0, boundary_s = 0, updates_s = 0, one_dot_s = 0, two_dots_s = 0;
  double alone_s() const { return own_s + boundary_s + updates_s + two_dots_s; }
};

Share share_of(sxt_context *context, const Entries &a, std::int64_t first, std::int64_t last) {
  Share out;
  out.rows = last - first;
  if (out.rows == 0) return out;
  const Block own = cut(a, first, last, true), others = cut(a, first, last, false);
  out.halo = static_cast<std::int64_t>(others.numbers.size());
  out.own_s = product_seconds(context, a, own, out.rows);
  out.boundary_s = product_seconds(context, a, others, out.halo);
  out.updates_s = updates_seconds(context, a.info.value_type, out.rows);
  out.one_dot_s = dots_seconds(context, a.info.value_type, out.rows, 1);
  out.two_dots_s = dots_seconds(context, a.info.value_type, out.rows, 2);
  return out;
}

// The slowest of some members, from the first to the last.
Share slowest_of(sxt_context *context, const Entries &a, std::int64_t members) {
  const double all = a.work(a.info.rows);
  const std::int64_t sampled = std::min(members, most_sampled);
  Share slowest;
  for (std::int64_t s = 0; s < sampled; ++s) {
    const std::int64_t m = sampled == 1 ? 0 : s * (members - 1) / (sampled - 1);
    const auto bound = [&](std::int64_t member) {
      return a.row_with(all * static_cast<double>(member) / static_cast<double>(members));
    };
    Share one = share_of(context, a, bound(m), m + 1 == members ? a.info.rows : bound(m + 1));
    if (one.alone_s() > slowest.alone_s()) slowest = one;
  }
  return slowest;
}

struct Price {
  std::int64_t members = 1;
  Share share;
  double halo_s = 0, sum_s = 0, frames_s = 0;
  double classical_s = 0, world_s = 0, pipelined_s = 0, built_s = 0;

  const char *soonest() const {
    if (members == 1 || (world_s <= classical_s && world_s <= pipelined_s)) return "chronopoulos-gear";
    return classical_s <= pipelined_s ? "classical" : "pipelined";
  }
  double least_s() const { return std::min({classical_s, world_s, pipelined_s}); }
};

// Halos go out before the product by own columns and are there after it; a sum takes a message and its latency for each
// doubling of the members.
Price price_of(sxt_context *context, const Entries &a, std::int64_t members, const Network &network) {
  Price out;
  out.members = members;
  out.share = slowest_of(context, a, members);
  const Share &share = out.share;
  if (members > 1) {
    const double doublings = std::bit_width(static_cast<std::uint64_t>(members - 1));
    const auto value = static_cast<double>(a.value_bytes());
    out.halo_s = share.halo > 0 ? network.latency_s + static_cast<double>(share.halo) * value / network.rate : 0;
    out.sum_s = doublings * (network.latency_s + 3 * sizeof(double) / network.rate);
    out.frames_s = doublings * network.latency_s + static_cast<double>(members) * frame_bytes / network.rate;
  }
  const double product_s = std::max(share.own_s, out.halo_s) + share.boundary_s;
  out.classical_s =
      product_s + share.updates_s * (classical_passes / world_passes) + 2 * share.one_dot_s + 2 * out.sum_s;
  out.world_s = product_s + share.updates_s + share.two_dots_s + out.sum_s;
  out.pipelined_s =
      std::max(product_s, out.sum_s) + share.updates_s * (pipelined_passes / world_passes) + share.two_dots_s;
  out.built_s = product_s + share.updates_s + share.two_dots_s + out.frames_s;
  return out;
}

Json json_of(const Price &price, double one_s) {
  return {{"members", price.members},         {"rows", price.share.rows},
          {"halo_values", price.share.halo},  {"product_s", price.share.own_s + price.share.boundary_s},
          {"halo_s", price.halo_s},           {"sum_s", price.sum_s},
          {"classical_s", price.classical_s}, {"chronopoulos_gear_s", price.world_s},
          {"pipelined_s", price.pipelined_s}, {"as_built_s", price.built_s},
          {"soonest", price.soonest()},       {"speed_up", one_s / price.least_s()}};
}

void print_prices(const std::vector<Price> &prices, const Network &network) {
  print(
      "\niterations of conjugate gradients on members like this device, by models alone; messages: {} + bytes / {} a "
      "second\n",
      seconds_text(network.latency_s), bytes_text(network.rate));
  Table table({{"members", true},
               {"rows", true},
               {"halo", true},
               {"product", true},
               {"halo time", true},
               {"a sum", true},
               {"classical", true},
               {"chronopoulos-gear", true},
               {"pipelined", true},
               {"as built", true},
               {"speed-up", true},
               {"soonest"}});
  const double one_s = prices.front().least_s();
  for (const Price &each : prices)
    table.add({count_text(each.members), count_text(each.share.rows), count_text(each.share.halo),
               seconds_text(each.share.own_s + each.share.boundary_s), seconds_text(each.halo_s),
               seconds_text(each.sum_s), seconds_text(each.classical_s), seconds_text(each.world_s),
               seconds_text(each.pipelined_s), seconds_text(each.built_s),
               fmt::format("{:.2f}", one_s / each.least_s()), each.soonest()});
  print_text(table.text(2));
  print(
      "  of the slowest of {} members that were cut out; as built: chronopoulos-gear with the gathers of this "
      "version\n",
      most_sampled);
}

}  // namespace

void check_members(const MembersOptions &options) {
  Network network;
  if (!read_network(options.network, network))
    fail(exit_usage, "--network: {} is not LATENCY,RATE, such as 2e-6,1e10: seconds from 0 on, bytes a second above 0",
         options.network);
}

int explain_members(sxt_context *context, const LoadedMatrix &matrix, const MembersOptions &options, bool json) {
  if (matrix.info.rows != matrix.info.cols)
    fail(exit_not_solved, "the matrix is {} x {}; members of a world divide square ones", matrix.info.rows,
         matrix.info.cols);
  for (const std::int64_t count : options.counts)
    if (count > matrix.info.rows)
      fail(exit_usage, "--members: {} members, but the matrix has {} rows", count, matrix.info.rows);
  Network network;
  read_network(options.network, network);
  const Entries entries(context, matrix);
  std::vector<Price> prices{price_of(context, entries, 1, network)};
  for (const std::int64_t count : options.counts)
    if (count > 1) prices.push_back(price_of(context, entries, count, network));
  if (!json) {
    print("matrix     {}: {}\n", matrix.path, describe(matrix));
    print("device     {}\n", described(context));
    print_prices(prices, network);
    return exit_done;
  }
  Json out;
  out["op"] = "pcg";
  out["device"] = described(context);
  out["matrix"] = matrix_json(matrix);
  out["network"] = {{"latency_s", network.latency_s}, {"bytes_per_second", network.rate}};
  for (const Price &each : prices) out["members"].push_back(json_of(each, prices.front().least_s()));
  print_json(out);
  return exit_done;
}

}  // namespace tool
