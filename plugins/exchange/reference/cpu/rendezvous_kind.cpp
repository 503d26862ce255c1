// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.rendezvous/1: cases of one member, who meets itself, for every step and every way in which one may end. What
// several members do together is tested by worlds.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "exchange_reference.hpp"
#include "sextant/sdk/cases.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

namespace {

constexpr std::uint64_t types = 4, situations = 15;
constexpr std::int64_t given = 300, room = 8;

struct Case {
  Array x, to, dots, alpha, beta;
  std::vector<std::int64_t> index;
  std::vector<sxt_exchange_link> links;
  std::vector<std::uint64_t> packets, flags;
  std::vector<std::uint64_t *> packet_places, flag_places;
  std::vector<double> squares;
  std::vector<sxt_rendezvous_control> control;
  std::vector<sxt_rendezvous_report> report;
  sxt_rendezvous_query query{};
  sxt_rendezvous_args args{};
  Moved moved;
  char description[100];
};

struct Situation {
  const char *name;
  std::int32_t step;
  double delta, squared, gamma;
};

Situation situation(std::uint64_t i) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  switch (i) {
    case 0: return {"a first step", SXT_RENDEZVOUS_STEP, 3, 2, 1.5};
    case 1: return {"a later step", SXT_RENDEZVOUS_STEP, 3, 2, 1.5};
    case 2: return {"a step whose curvature cancels", SXT_RENDEZVOUS_STEP, 1.5, 2, 1.5};
    case 3: return {"the tolerance is met", SXT_RENDEZVOUS_STEP, 3, 1e-6, 1.5};
    case 4: return {"the last iterate", SXT_RENDEZVOUS_STEP, 3, 2, 1.5};
    case 5: return {"A is indefinite", SXT_RENDEZVOUS_STEP, -3, 2, 1.5};
    case 6: return {"M is indefinite", SXT_RENDEZVOUS_STEP, 3, 2, -1.5};
    case 7: return {"NaN in r'r", SXT_RENDEZVOUS_STEP, 3, nan, 1.5};
    case 8: return {"NaN in r'A r", SXT_RENDEZVOUS_STEP, nan, 2, 1.5};
    case 9: return {"a step after the end", SXT_RENDEZVOUS_STEP, 3, 2, 1.5};
    case 10: return {"a beginning", SXT_RENDEZVOUS_BEGIN, 0, 0, 0};
    case 11: return {"a beginning after an end", SXT_RENDEZVOUS_BEGIN, 0, 0, 0};
    case 12: return {"values given", SXT_RENDEZVOUS_GIVE, 0, 0, 0};
    case 14: return {"a beginning after a breakdown", SXT_RENDEZVOUS_BEGIN, 0, 0, 0};
    default: return {"flags awaited that are there", SXT_RENDEZVOUS_AWAIT, 0, 0, 0};
  }
}

void fill_memory(Case &c, sxt_value_type type, Random &random) {
  c.x = Array(type, 2 * given, random);
  c.to = Array(type, given);
  c.to.poison(0, given);
  c.dots = Array(type, SXT_RENDEZVOUS_SUMS);
  c.alpha = c.beta = Array(type, 1);
  c.alpha.poison(0, 1), c.beta.poison(0, 1);
  for (std::int64_t i = 0; i < given; ++i) c.index.push_back(random.below(2 * given));
  c.links = {{0, 100, c.to.data()}, {100, 200, static_cast<char *>(c.to.data()) + 100 * value_bytes(type)}};
  c.packets.assign(SXT_RENDEZVOUS_WORDS(1), 0);
  c.flags.assign(2, 0);
  c.packet_places = {c.packets.data()};
  c.flag_places = {&c.flags[0], &c.flags[1]};
  c.squares.assign(room, -1);
  c.control.resize(1);
  c.report.assign(1, {-1, -1, 0, 0});
}

void set_control(Case &c, std::uint64_t i) {
  sxt_rendezvous_control &control = c.control[0];
  control.epoch = 6;
  control.tolerance_squared = 1e-4;
  control.k = 11;
  control.last = i == 4 ? 11 : 400;
  control.gamma = 0.5;
  control.alpha = 3;
  control.restart = i == 0;
  control.ended = i == 9 || i == 11 ? SXT_RENDEZVOUS_MET : i == 14 ? SXT_RENDEZVOUS_BREAKDOWN : SXT_RENDEZVOUS_RUNNING;
  if (i == 13) c.flags = {7, 9};
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    const auto type = static_cast<sxt_value_type>(1 + i % types);
    const std::uint64_t which = i / types % situations;
    const bool preconditioned = i / types / situations == 0 || which == 6;
    const Situation asked = situation(which);
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    fill_memory(*c, type, random);
    set_control(*c, which);
    c->dots.set(0, asked.delta), c->dots.set(1, asked.squared), c->dots.set(2, asked.gamma);
    c->query.q = {head<sxt_rendezvous_query>(SXT_KIND_RENDEZVOUS), 1, 0, type};
    c->query.members = 1;
    c->query.preconditioned = preconditioned;
    c->query.n = given;
    sxt_rendezvous_args &a = c->args;
    a.h = head<sxt_rendezvous_args>(SXT_KIND_RENDEZVOUS);
    a.step = asked.step;
    a.members = 1;
    a.preconditioned = preconditioned;
    a.patience = 20;
    a.control = c->control.data();
    a.tolerance = 0.125;
    a.last = 77;
    a.count = 2;
    a.n = given;
    a.x = c->x.data();
    a.index = c->index.data();
    a.links = c->links.data();
    a.flags = c->flag_places.data();
    a.dots = c->dots.data();
    a.packets = c->packet_places.data();
    a.alpha = c->alpha.data(), a.beta = c->beta.data();
    a.report = c->report.data();
    a.squares = c->squares.data();
    a.room = room;
    std::snprintf(c->description, sizeof c->description, "%s, %s%s", asked.name, value_name(type),
                  preconditioned ? ", preconditioned" : "");
    *out = {sizeof(sxt_case), c->description, &c->query.q, nullptr, nullptr, &a.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

void compare_control(const sxt_rendezvous_control &got, const sxt_rendezvous_control &want, Verdict &verdict) {
  if (got.epoch != want.epoch || got.k != want.k || got.last != want.last) verdict.fail("the iterate is another");
  if (got.ended != want.ended || (got.restart != 0) != (want.restart != 0)) verdict.fail("it ended otherwise");
  if (got.ticket != 0) verdict.fail("the ticket is not zero again");
  verdict.check("gamma", 0, got.gamma, want.gamma, 1e-14), verdict.check("alpha", 0, got.alpha, want.alpha, 1e-14);
  verdict.check("the tolerance", 0, got.tolerance_squared, want.tolerance_squared, 0);
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    const double bound = 8 * epsilon(want.alpha.type());
    verdict.check("alpha", 0, got.alpha.at(0), want.alpha.at(0), bound);
    verdict.check("beta", 0, got.beta.at(0), want.beta.at(0), 4 * bound);
    for (std::int64_t i = 0; i < given; ++i) verdict.check("a given value", i, got.to.at(i), want.to.at(i), 0);
    for (std::int64_t i = 0; i < room; ++i) verdict.check("r'r", i, got.squares[i], want.squares[i], 0);
    compare_control(got.control[0], want.control[0], verdict);
    if (got.report[0].k != want.report[0].k || got.report[0].ended != want.report[0].ended)
      verdict.fail("it reports otherwise");
    if (got.flags != want.flags) verdict.fail("flags are other ones");
    if (got.packets != want.packets) verdict.fail("packets are other ones");
    const bool intact = got.to.guard_intact() && got.alpha.guard_intact() && got.beta.guard_intact();
    if (!intact) verdict.fail("the kernel wrote beside what it was given");
    return SXT_OK;
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return move_owner<Case>(moved, exec, to_device, [](Case &c, Move &move) {
    move.array(c.x).array(c.to).array(c.dots).array(c.alpha).array(c.beta).array(c.index);
    move.array(c.packets).array(c.flags).array(c.squares).array(c.control).array(c.report);
    sxt_rendezvous_args &a = c.args;
    move.point(a.x).point(a.index).point(a.dots).point(a.alpha).point(a.beta).point(a.control);
    move.point(a.squares).point(a.report);
    for (sxt_exchange_link &link : c.links) move.point(link.to);
    for (std::uint64_t *&place : c.packet_places) move.point(place);
    for (std::uint64_t *&place : c.flag_places) move.point(place);
  });
}

}  // namespace

namespace sextant::exchange_reference {

const sxt_kind rendezvous_kind =
    kind_of_cases<Case>(SXT_KIND_RENDEZVOUS, "members of a world meet on their devices",
                        {&rendezvous_kernel, 2 * types *situations, make_case, compare, move_case});

}  // namespace sextant::exchange_reference
