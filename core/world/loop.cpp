// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/loop.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/types.hpp"
#include "core/operations/operations.hpp"
#include "core/pcg/clock.hpp"
#include "core/world/pcg.hpp"
#include "core/world/runner.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace sextant {

namespace {

constexpr double usual_loop_iterations = 1000;
constexpr std::int64_t nothing_judged = -1;
constexpr std::int64_t kept_squares = 4 * WorldLoop::long_block;

// Numbers of one member on its device; what one kernel writes begins on a line of its own.
struct Numbers {
  alignas(256) sxt_rendezvous_control control;
  alignas(256) double alpha[2];
  double beta[2];
  alignas(256) double dots[2 * SXT_RENDEZVOUS_SUMS];
};

// Host memory that devices write.
struct Told {
  sxt_rendezvous_report report;
  double squares[kept_squares];
};

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

void clear(const DeviceBuffer &buffer, Device &device) {
  const std::vector<char> zeros(static_cast<std::size_t>(buffer.bytes()));
  device.copy(buffer.data(), zeros.data(), buffer.bytes());
}

bool capturable(const ChoicePtr &choice) { return choice->kernel->has(SXT_KERNEL_CAPTURABLE); }

}  // namespace

// rooms: packets of all members, a flag for each, and the member's own numbers.
struct WorldLoop::Member {
  DeviceBuffer room, told;
  std::uint64_t *packets = nullptr, *flags = nullptr;
  Numbers *numbers = nullptr;
  std::vector<std::uint64_t *> awaited, raised;  // flags here of those that give, and of this one at its receivers
  std::vector<void *> rooms;                     // of the others, behind plan
  sxt_exchange_plan plan{};
  std::unique_ptr<Runner> rendezvous, dots, update;
  std::array<void *, 2> graphs{};  // long, brief
};

// ---- whether, and with what

// Of the members' devices.
static std::string why_devices_do_not(WorldMatrix &matrix) {
  World &world = matrix.world();
  if (world.ranks() > 1) return "other ranks are met by messages";
  if (world.own() < 2) return "there is one member";
  if (world.own() > SXT_RENDEZVOUS_MAX) return text("at most ", SXT_RENDEZVOUS_MAX, " members meet on their devices");
  for (std::size_t i = 0; i < world.own(); ++i) {
    const Device &device = world.context(i).device();
    if (!device.captures()) return text("member ", i, " has no device that captures work");
    if (std::strcmp(device.machine().device, world.context(0).device_name())) return "members are on unlike devices";
    if (matrix.rows_of(i) == 0) return text("member ", i, " has no rows");
    for (std::size_t j = 0; j < i; ++j)
      if (!matrix.halo().are_apart(i, j))
        return text("members ", j, " and ", i, " share a device, where one could not wait for the other");
  }
  return "";
}

std::string WorldLoop::why_not(const WorldPcg &pcg) {
  if (pcg.settings_.engine == by_host) return "as options->engine says";
  WorldMatrix &matrix = pcg.system();
  // Both drive the same recurrence, by kernels that may sum in different orders.
  if (pcg.settings_.engine.empty() && matrix.world().context(0).deterministic())
    return "so that bits do not depend on how members are grouped into ranks";
  if (std::string why = why_devices_do_not(matrix); !why.empty()) return why;
  for (std::size_t i = 0; i < matrix.world().own(); ++i) {
    const WorldMatrix::Block &block = matrix.block(i);
    const bool whole =
        capturable(pcg.parts_[i].product->prepared().shared_choice()) &&
        (block.boundary->csr().nnz == 0 || capturable(block.boundary_product->choice(SXT_NO_TRANSPOSE))) &&
        (!pcg.parts_[i].preconditioner || capturable(pcg.parts_[i].preconditioner->prepared().shared_choice()));
    if (!whole) return text("a kernel of member ", i, " cannot be captured");
    const Halo::Neighbours near = matrix.halo().neighbours(i);
    if (!near.receivers.empty() && !near.route) return text("values of member ", i, " go through the host");
  }
  return "";
}

std::unique_ptr<WorldLoop> WorldLoop::make(WorldPcg &pcg, std::string &why_not_said) {
  why_not_said = why_not(pcg);
  const bool asked = pcg.settings_.engine == on_devices;
  require(!asked || why_not_said.empty(), SXT_E_NOT_SUPPORTED, "options->engine is ", on_devices, ", but ",
          why_not_said);
  if (!why_not_said.empty()) return nullptr;
  try {
    std::unique_ptr<WorldLoop> made(new WorldLoop(pcg));
    made->make_rooms();
    for (std::size_t i = 0; i < made->members_.size(); ++i) made->make_runners(i);
    for (std::size_t i = 0; i < made->members_.size(); ++i) made->warm_up(i);
    return made;
  } catch (const Error &error) {
    if (asked || error.status() != SXT_E_NO_KERNEL) throw;
    why_not_said = error.what();  // such as devices that do not reach each other's memory
    return nullptr;
  }
}

WorldLoop::WorldLoop(WorldPcg &pcg) : pcg_(pcg), members_(pcg.system().world().own()) {}

WorldLoop::~WorldLoop() { drop_graphs(); }

void WorldLoop::make_rooms() {
  World &world = pcg_.system().world();
  const std::uint64_t count = members_.size(), words = SXT_RENDEZVOUS_WORDS(count);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member &member = members_[i];
    Device &device = world.context(i).device();
    const std::uint64_t shared = rounded((words + count) * sizeof(std::uint64_t));
    member.room = DeviceBuffer(device, shared + sizeof(Numbers));
    member.told = DeviceBuffer(device, sizeof(Told), SXT_SPACE_PINNED);
    member.packets = member.room.as<std::uint64_t>();
    member.flags = member.packets + words;
    member.numbers = reinterpret_cast<Numbers *>(member.room.as<char>() + shared);
    packets_.push_back(member.packets);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Halo::Neighbours near = pcg_.system().halo().neighbours(i);
    for (const std::size_t from : near.givers) members_[i].awaited.push_back(members_[i].flags + from);
    for (const std::size_t to : near.receivers) members_[i].raised.push_back(members_[to].flags + i);
    for (std::size_t j = 0; j < members_.size(); ++j)
      if (j != i) members_[i].rooms.push_back(members_[j].room.data());
    for (std::size_t l = 0; l < near.receivers.size(); ++l) members_[i].rooms.push_back(near.route->links()[l].to);
    members_[i].plan = {{sizeof(sxt_exchange_plan), SXT_KIND_EXCHANGE_PLAN},
                        static_cast<std::int64_t>(members_[i].rooms.size()),
                        members_[i].rooms.data()};
  }
}

void WorldLoop::make_runners(std::size_t i) {
  Context &context = pcg_.system().world().context(i);
  const sxt_value_type type = pcg_.system().value_type();
  const std::int64_t n = pcg_.system().rows_of(i);
  const auto part = [&](const char *kind, std::uint64_t size) {
    return sxt_query{{size, kind}, usual_loop_iterations, SXT_QUERY_CAPTURABLE, type};
  };
  sxt_rendezvous_query rendezvous{};
  rendezvous.q = part(SXT_KIND_RENDEZVOUS, sizeof rendezvous);
  rendezvous.members = static_cast<std::int32_t>(members_.size());
  rendezvous.preconditioned = pcg_.preconditioned();
  rendezvous.n = pcg_.system().halo().sent(i);
  members_[i].rendezvous = make_runner(context, rendezvous.q, "world/rendezvous", nullptr, &members_[i].plan.h);
  sxt_multidot_query dots{};
  dots.q = part(SXT_KIND_MULTIDOT, sizeof dots);
  dots.n = n;
  dots.n_dots = pcg_.preconditioned() ? 3 : 2;
  dots.distinct = pcg_.preconditioned() ? 3 : 2;
  members_[i].dots = make_runner(context, dots.q, "world/dots");
  sxt_vector_group_query update{};
  update.q = part(SXT_KIND_VECTOR_GROUP, sizeof update);
  update.n = n;
  update.group = SXT_GROUP_CHRONOPOULOS_GEAR;
  members_[i].update = make_runner(context, update.q, "world/update");
}

std::vector<ChoicePtr> WorldLoop::choices(std::size_t member) const {
  std::vector<ChoicePtr> out;
  for (const std::unique_ptr<Runner> *runner :
       {&members_[member].rendezvous, &members_[member].dots, &members_[member].update})
    out.push_back((*runner)->prepared().shared_choice());
  return out;
}

// ---- one iteration of a member, in this thread's stream on its device

sxt_rendezvous_args WorldLoop::rendezvous_args(std::size_t i, std::int32_t step) const {
  const Member &member = members_[i];
  sxt_rendezvous_args args{};
  args.h = {sizeof args, SXT_KIND_RENDEZVOUS};
  args.step = step;
  args.members = static_cast<std::int32_t>(members_.size());
  args.own = static_cast<std::int32_t>(i);
  args.preconditioned = pcg_.preconditioned();
  args.patience = pcg_.system().world().comm().time_limit();
  args.control = &member.numbers->control;
  return args;
}

void *WorldLoop::preconditioned(std::size_t i) const {
  const WorldPcg::Part &part = pcg_.parts_[i];
  return pcg_.preconditioned() ? part.u.data() : part.r.data();
}

void WorldLoop::enqueue_preconditioner(std::size_t i) {
  const WorldPcg::Part &part = pcg_.parts_[i];
  if (!part.preconditioner) return;
  sxt_preconditioner_args args{};
  args.h = {sizeof args, SXT_KIND_PRECONDITIONER};
  args.n = pcg_.system().rows_of(i);
  args.r = part.r.data();
  args.z = part.u.data();
  part.preconditioner->run(&args.h);
}

void WorldLoop::enqueue_dots(std::size_t i) {
  const WorldPcg::Part &part = pcg_.parts_[i];
  const void *const r = part.r.data(), *const w = part.w.data(), *const u = preconditioned(i);
  const void *const left[] = {u, r, r}, *const right[] = {w, r, u};
  sxt_multidot_args args{};
  args.h = {sizeof args, SXT_KIND_MULTIDOT};
  args.n = pcg_.system().rows_of(i);
  args.n_dots = pcg_.preconditioned() ? 3 : 2;
  args.u = left;
  args.v = right;
  args.result = members_[i].numbers->dots;
  members_[i].dots->run(&args.h);
}

void WorldLoop::enqueue_step(std::size_t i) {
  const Member &member = members_[i];
  sxt_rendezvous_args args = rendezvous_args(i, SXT_RENDEZVOUS_STEP);
  args.dots = member.numbers->dots;
  args.packets = packets_.data();
  args.alpha = member.numbers->alpha;
  args.beta = member.numbers->beta;
  args.report = &member.told.as<Told>()->report;
  args.squares = member.told.as<Told>()->squares;
  args.room = kept_squares;
  member.rendezvous->run(&args.h);
}

void WorldLoop::enqueue_update(std::size_t i, void *x) {
  const WorldPcg::Part &part = pcg_.parts_[i];
  sxt_vector_group_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR_GROUP};
  args.n = pcg_.system().rows_of(i);
  args.group = SXT_GROUP_CHRONOPOULOS_GEAR;
  args.scalars[0] = {members_[i].numbers->alpha, 1, 0};
  args.scalars[1] = {members_[i].numbers->beta, 1, 0};
  void *const u = preconditioned(i);
  void *const vectors[] = {x, part.r.data(), part.p.data(), part.s.data(), u, part.w.data()};
  std::copy(std::begin(vectors), std::end(vectors), args.vectors);
  members_[i].update->run(&args.h);
}

// u = M r, halo of u, w = A u, sums with the others, p, s, x and r.
void WorldLoop::enqueue_iteration(std::size_t i, void *x) {
  WorldPcg::Part &part = pcg_.parts_[i];
  const Member &member = members_[i];
  const void *const u = preconditioned(i);
  enqueue_preconditioner(i);
  if (const Route *route = pcg_.system().halo().neighbours(i).route) {
    sxt_rendezvous_args args = rendezvous_args(i, SXT_RENDEZVOUS_GIVE);
    args.count = static_cast<std::int32_t>(route->links().size());
    args.n = route->count();
    args.x = u;
    args.index = route->index();
    args.links = route->links().data();
    args.flags = member.raised.data();
    member.rendezvous->run(&args.h);
  }
  pcg_.multiply_own(i, u, part.w.data());
  if (!member.awaited.empty()) {
    sxt_rendezvous_args args = rendezvous_args(i, SXT_RENDEZVOUS_AWAIT);
    args.count = static_cast<std::int32_t>(member.awaited.size());
    args.flags = member.awaited.data();
    member.rendezvous->run(&args.h);
    pcg_.system().add_boundary(i, nullptr, part.w.data());
  }
  enqueue_dots(i);
  enqueue_step(i);
  enqueue_update(i, x);
}

// ---- captures

// Every part once, on zeros: what a first run makes cannot be made while work is captured.
void WorldLoop::warm_up(std::size_t i) {
  WorldPcg::Part &part = pcg_.parts_[i];
  Context &context = pcg_.system().world().context(i);
  static constexpr double zero[2] = {0, 0};
  for (const DeviceBuffer *buffer : {&part.r, &part.p, &part.s, &part.w, &part.u, &part.residual})
    if (buffer->bytes() > 0)
      Operations::of(context).vector({.operation = SXT_VECTOR_FILL,
                                      .type = pcg_.system().value_type(),
                                      .n = pcg_.system().rows_of(i),
                                      .alpha = zero,
                                      .y = buffer->data()});
  clear(members_[i].room, context.device());
  enqueue_preconditioner(i);
  pcg_.multiply_own(i, part.r.data(), part.w.data());
  if (!members_[i].awaited.empty()) pcg_.system().add_boundary(i, nullptr, part.w.data());
  enqueue_dots(i);
  enqueue_update(i, part.residual.data());
  sxt_rendezvous_args args = rendezvous_args(i, SXT_RENDEZVOUS_BEGIN);  // the one step that waits for nothing
  members_[i].rendezvous->run(&args.h);
}

void WorldLoop::capture(std::size_t i, void *x, std::int64_t iterations, void **graph) {
  Device &device = pcg_.system().world().context(i).device();
  const sxt_device_ops &ops = device.ops();
  const CaptureStream side(device);
  sxt_status status = ops.capture_begin(device.handle(), side.get());
  require(status == SXT_OK, status, "could not begin to capture iterations of member ", i);
  std::exception_ptr failure;
  const auto use = std::make_shared<StreamUse>();
  try {
    const Device::StreamScope scope(device, side.get(), use);
    for (std::int64_t k = 0; k < iterations; ++k) enqueue_iteration(i, x);
  } catch (...) {
    failure = std::current_exception();
  }
  status = ops.capture_end(device.handle(), side.get(), graph);
  use->end();
  if (failure) std::rethrow_exception(failure);
  require(status == SXT_OK, status, "could not capture iterations of member ", i);
}

void WorldLoop::drop_graphs() noexcept {
  for (std::size_t i = 0; i < members_.size(); ++i)
    for (void *&graph : members_[i].graphs) {
      const Device &device = pcg_.system().world().context(i).device();
      if (graph) device.ops().graph_destroy(device.handle(), graph);
      graph = nullptr;
    }
  x_.clear();
}

void WorldLoop::start(const std::vector<void *> &x, const Lanes &lanes) {
  for (std::size_t i = 0; i < members_.size(); ++i) lanes.wait(i);
  for (std::size_t i = 0; i < members_.size(); ++i) {  // epochs begin anew, whatever the last solve ended with
    clear(members_[i].room, pcg_.system().world().context(i).device());
  }
  if (x == x_) return;
  drop_graphs();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    capture(i, x[i], long_block, &members_[i].graphs[0]);
    capture(i, x[i], brief_block, &members_[i].graphs[1]);
  }
  x_ = x;
}

// ---- blocks

WorldLoop::Outcome WorldLoop::run(const Block &block, const Lanes &lanes) {
  World &world = pcg_.system().world();
  const Clock clock;
  for (std::size_t i = 0; i < members_.size(); ++i) {  // nothing waits between these launches
    sxt_rendezvous_args args = rendezvous_args(i, SXT_RENDEZVOUS_BEGIN);
    args.tolerance = block.tolerance;
    args.last = block.last;
    args.restart = block.restart;
    const auto scope = lanes.enter(i);
    sxt_rendezvous_report &told = members_[i].told.as<Told>()->report;
    told.k = nothing_judged;
    told.ended = SXT_RENDEZVOUS_RUNNING;
    members_[i].rendezvous->run(&args.h);
    const Device &device = world.context(i).device();
    const sxt_status status =
        device.ops().graph_launch(device.handle(), lanes.stream(i), members_[i].graphs[block.brief ? 1 : 0]);
    require(status == SXT_OK, status, "could not launch iterations of member ", i);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) lanes.wait(i);
  seconds_ += clock.seconds();
  const sxt_rendezvous_report &first = members_[0].told.as<Told>()->report;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const sxt_rendezvous_report &report = members_[i].told.as<Told>()->report;
    require(report.k != nothing_judged, SXT_E_DEVICE, "the device of member ", i, " ran none of its iterations");
    require(report.ended != SXT_RENDEZVOUS_ALONE, SXT_E_DEVICE, "member ", i, " waited ", world.comm().time_limit(),
            " s in vain for another member's device in iteration ", report.k);
    require(report.k == first.k && report.ended == first.ended, SXT_E_INTERNAL, "member ", i, " is at iteration ",
            report.k, ", member 0 at ", first.k);
  }
  return {first.k, first.ended, block.brief ? brief_block : long_block};
}

double WorldLoop::squared(std::int64_t k) const noexcept {
  return members_[0].told.as<Told>()->squares[k % kept_squares];
}

void WorldLoop::clear_times() noexcept {
  seconds_ = 0;
  for (const Member &member : members_) member.told.as<Told>()->report.waited = 0;
}

double WorldLoop::waited(std::size_t member) const noexcept {
  return static_cast<double>(members_[member].told.as<Told>()->report.waited) * 1e-9;
}

}  // namespace sextant
