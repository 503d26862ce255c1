// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.exchange/1: cases over the number of links, types and sizes around block borders, to memory of the device
// and of the host. Values must arrive whole, in order, and nothing beside them may be written.
#include <cstdint>
#include <memory>
#include <vector>

#include "exchange_reference.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

const std::int64_t sizes[] = {1025, 1, 31, 256, 257, 4099, 40000};
constexpr std::uint64_t types = 4, links_tried = 5, rounds = 2;

struct Case {
  Array x, packed;
  std::vector<Array> to;
  std::vector<std::int64_t> index;
  std::vector<sxt_exchange_link> links;
  sxt_exchange_query query{};
  sxt_exchange_args args{};
  Moved moved;
  char description[120];
};

struct Question {
  sxt_value_type type;
  std::int64_t n;
  std::int32_t links, reach;
};

// Unequal shares, of one value at least.
void make_links(Case &c, const Question &asked) {
  std::int64_t begin = 0;
  for (std::int32_t l = 0; l < asked.links; ++l) {
    const std::int64_t left = asked.n - begin, others = asked.links - l - 1;
    const std::int64_t count = others == 0 ? left : 1 + (left - 1 - others) / 3;
    c.to.emplace_back(asked.type, count);
    c.links.push_back({begin, count, nullptr});
    begin += count;
  }
  for (std::size_t l = 0; l < c.links.size(); ++l) {  // arrays have their places now
    c.to[l].poison(0, c.links[l].count);
    c.links[l].to = c.to[l].data();
  }
}

sxt_status make(Question asked, Random random, sxt_case *out) {
  return guard(nullptr, [&] {
    if (asked.n < asked.links) asked.links = static_cast<std::int32_t>(asked.n);
    auto c = std::make_unique<Case>();
    const std::int64_t length = 2 * asked.n + 3;
    c->x = Array(asked.type, length, random);
    c->packed = Array(asked.type, asked.n);
    c->packed.poison(0, asked.n);
    for (std::int64_t i = 0; i < asked.n; ++i) c->index.push_back(random.below(length));
    make_links(*c, asked);
    c->query.q = {head<sxt_exchange_query>(SXT_KIND_EXCHANGE), 1, 0, asked.type};
    c->query.n = asked.n;
    c->query.links = asked.links;
    c->query.reach = asked.reach;
    c->args = {head<sxt_exchange_args>(SXT_KIND_EXCHANGE),
               asked.n,
               c->x.data(),
               c->index.data(),
               c->packed.data(),
               c->links.data(),
               asked.links,
               0};
    std::snprintf(c->description, sizeof c->description, "%lld values of %s to %d receivers in memory of the %s",
                  (long long)asked.n, value_name(asked.type), asked.links,
                  asked.reach == SXT_REACH_HOST ? "host" : "device");
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  Question asked{};
  asked.type = static_cast<sxt_value_type>(1 + i % types);
  asked.links = std::int32_t{1} << (i / types % links_tried);  // 1 to 16
  asked.reach = i / (types * links_tried) % 2 ? SXT_REACH_HOST : SXT_REACH_PROCESS;
  asked.n = sizes[(i + i / types) % std::size(sizes)];
  return make(asked, Random(seed, i), out);
}

sxt_status make_case_like(const sxt_host *, std::uint64_t seed, std::uint64_t i, const sxt_query *like, sxt_case *out) {
  if (i >= std::size(sizes)) return SXT_NOT_APPLICABLE;
  const auto &query = as<sxt_exchange_query>(like);
  return make({query.q.value_type, sizes[i], query.links, query.reach}, Random(seed, i), out);
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    for (std::size_t l = 0; l < want.to.size(); ++l) {
      for (std::int64_t i = 0; i < want.to[l].size(); ++i)
        verdict.check("a received value", i, got.to[l].at(i), want.to[l].at(i), 0);
      if (!got.to[l].guard_intact()) verdict.fail("the kernel wrote beyond what a receiver is given");
    }
    for (std::int64_t i = 0; i < want.x.size(); ++i) verdict.check("x", i, got.x.at(i), want.x.at(i), 0);
    if (!got.packed.guard_intact()) verdict.fail("the kernel wrote beyond the room for packed values");
    return SXT_OK;
  });
}

// Links stay on the host, and so does host memory that they point to.
sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    move.array(c.x).array(c.packed).array(c.index);
    move.point(c.args.x).point(c.args.packed).point(c.args.index);
    if (c.query.reach == SXT_REACH_HOST) return;
    for (std::size_t l = 0; l < c.to.size(); ++l) move.array(c.to[l]).point(c.links[l].to);
  });
}

}  // namespace

namespace sextant::exchange_reference {

const sxt_kind_alike kind =
    kind_alike_of_cases<Case>(SXT_KIND_EXCHANGE, "values that one member of a world gives to others",
                              {&kernel, 2 * types *links_tried *rounds, make_case, compare, move_case}, make_case_like);

}  // namespace sextant::exchange_reference
