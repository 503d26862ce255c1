// SPDX-License-Identifier: BSD-3-Clause
#include "core/hermitian/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "core/base/aligned.hpp"
#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/choose/placement.hpp"

namespace sextant {
namespace {

constexpr int most_pieces_in_flight = 3;  // one coming, one worked on, one going
constexpr std::uint64_t least_piece = std::uint64_t{32} << 20;

// Of a set of so many bytes that need not be worked on in smaller ones.
std::uint64_t usual_piece(std::uint64_t all) { return std::max(least_piece, all / (3 * most_pieces_in_flight)); }

// A host array that comes back, and its place on the device.
struct Carried {
  void *host;
  void *device;
  std::uint64_t bytes;
};

// The device's side of one piece.
class Piece {
 public:
  Piece(Device &device, void *stream, std::uint64_t bytes) : device_(device), stream_(stream), memory_(device, bytes) {}

  void *take(std::uint64_t bytes) {
    void *piece = memory_.as<char>() + used_;
    used_ += aligned_bytes(bytes);
    return piece;
  }
  // A place for an array that the caller gave; NULL for one that was not given.
  template <class T>
  T *place(T *host, std::int64_t entries, bool up, bool down) {
    if (!host) return nullptr;
    const std::uint64_t bytes = static_cast<std::uint64_t>(entries) * sizeof(T);
    void *there = take(bytes);
    if (up) copy(there, host, bytes);
    if (down) back_.push_back({const_cast<std::remove_const_t<T> *>(host), there, bytes});
    return static_cast<T *>(there);
  }
  void copy(void *to, const void *from, std::uint64_t bytes) {
    if (bytes == 0) return;
    const sxt_status status = device_.ops().copy(device_.handle(), stream_, to, from, bytes);
    require(status == SXT_OK, SXT_E_DEVICE, "could not copy ", bytes, " bytes of a set: ", status_sentence(status));
  }
  void later(void *host, void *device, std::uint64_t bytes) { back_.push_back({host, device, bytes}); }
  void bring_back() {
    for (const Carried &each : back_) copy(each.host, each.device, each.bytes);
  }
  std::vector<std::vector<void *>> &lists() { return lists_; }

 private:
  Device &device_;
  void *stream_;
  DeviceBuffer memory_;
  std::uint64_t used_ = 0;
  std::vector<Carried> back_;
  std::vector<std::vector<void *>> lists_;  // pointer arrays on their way up
};

// How a block of host memory lies: values of system s, from its first to its last.
struct Layout {
  const HermitianSettings &settings;
  const sxt_hermitian_block &block;
  std::int64_t cols;  // 0: as many as rows

  std::int64_t columns(std::int64_t n) const { return cols ? cols : n; }
  std::int64_t leading(std::int64_t s) const { return block.ld_each ? block.ld_each[s] : block.ld; }
  // Of system s of the block, whose order is n. Of one whose leading dimension is short, and which is left alone, one.
  std::int64_t values(std::int64_t s, std::int64_t n) const {
    if (n == 0 || columns(n) == 0) return 0;
    return leading(s) < n ? 1 : leading(s) * (columns(n) - 1) + n;
  }
  // A set with little between its systems goes as one: the first ones of the block, which are those from `first` on.
  std::int64_t span(std::int64_t first, std::int64_t systems) const {
    std::int64_t most = 0;
    for (std::int64_t s = 0; s < systems; ++s)
      most = std::max(most, s * block.stride + values(s, settings.order(first + s)));
    return most;
  }
};

std::uint64_t bytes_of_block(const HermitianSettings &settings, const sxt_hermitian_block &block, std::int64_t cols,
                             std::int64_t first, std::int64_t systems) {
  if (!block.data && !block.array) return 0;
  const Layout layout{settings, block, cols};
  const auto value = static_cast<std::uint64_t>(value_bytes(settings.type)),
             count = static_cast<std::uint64_t>(systems);
  const std::uint64_t leading = block.ld_each ? aligned_bytes(count * sizeof(std::int64_t)) : 0;
  if (!block.array) return leading + aligned_bytes(static_cast<std::uint64_t>(layout.span(first, systems)) * value);
  std::uint64_t sum = leading + aligned_bytes(count * sizeof(void *));
  for (std::int64_t s = 0; s < systems; ++s)
    sum += aligned_bytes(static_cast<std::uint64_t>(layout.values(s, settings.order(first + s))) * value);
  return sum;
}

// Whether there is memory that programs of the host could work on: numbers of a type are aligned to their size.
bool could_hold(const void *memory, sxt_value_type type) { return memory && is_aligned(memory, value_alignment(type)); }

// Takes a block to the device; `down`: where it goes afterwards.
sxt_hermitian_block carry(const HermitianSettings &settings, Piece &piece, const sxt_hermitian_block &from,
                          const sxt_hermitian_block *down, std::int64_t cols, std::int64_t first,
                          std::int64_t systems) {
  sxt_hermitian_block there = from;
  if (!from.data && !from.array) return there;
  const Layout layout{settings, from, cols};
  const auto value = static_cast<std::uint64_t>(value_bytes(settings.type));
  const auto one = [&](const void *host, void *back, std::int64_t values) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(values) * value;
    void *device = piece.take(bytes);
    piece.copy(device, host, bytes);
    if (back) piece.later(back, device, bytes);
    return device;
  };
  there.ld_each = piece.place(from.ld_each, systems, true, false);
  if (from.data) {
    there.data = one(from.data, down ? down->data : nullptr, layout.span(first, systems));
    return there;
  }
  std::vector<void *> &list = piece.lists().emplace_back();
  for (std::int64_t s = 0; s < systems; ++s) {
    const std::int64_t n = settings.order(first + s), ld = layout.leading(s);
    void *host = from.array[s], *back = down ? down->array[s] : nullptr;
    const bool there_at_all = could_hold(host, settings.type) && (!down || could_hold(back, settings.type));
    // Others keep a NULL or short dimension, and are told so.
    const bool usable = there_at_all && ld >= n;
    list.push_back(usable ? one(host, back, layout.values(s, n)) : there_at_all ? piece.take(value) : nullptr);
  }
  there.array = piece.place(list.data(), systems, true, false);
  return there;
}

}  // namespace

HermitianTransfer::HermitianTransfer(HermitianBatch &batch, std::int32_t phase, const HermitianArrays &host)
    : batch_(batch),
      settings_(batch.settings()),
      device_(batch.context().device()),
      phase_(phase),
      host_(host),
      both_matrices_(phase == SXT_HERMITIAN_SOLVE && host.copies_factor &&
                     (host.residual || settings_.refine_steps > 0)) {}

std::uint64_t HermitianTransfer::bytes_of(Span span) const {
  const auto [first, systems] = span;
  const HermitianArrays part = host_.from(first, value_bytes(settings_.type));
  std::uint64_t sum = bytes_of_block(settings_, part.factor, 0, first, systems);
  if (both_matrices_) sum += bytes_of_block(settings_, part.a, 0, first, systems);
  sum += bytes_of_block(settings_, part.b, part.n_rhs, first, systems);
  const auto count = static_cast<std::uint64_t>(systems);
  sum += 3 * aligned_bytes(count) + aligned_bytes(4 * count) + aligned_bytes(12 * count) + 3 * aligned_bytes(8 * count);
  return sum + aligned_bytes(4 * count * static_cast<std::uint64_t>(part.stride_pivots)) +
         aligned_bytes(8 * count * static_cast<std::uint64_t>(part.stride_scale));
}

// Work memory of one system on the device.
std::uint64_t HermitianTransfer::work_of_one() const {
  HermitianArrays there = host_;
  there.copies_factor = both_matrices_;
  there.copies_solution = false;
  return HermitianNeeds(settings_, batch_.kernels_, phase_, there).bytes(settings_, there, 1);
}

// Pieces small enough that several are in flight, and that they and their work memory fit the device or the limit, of
// which each lane gets an equal part. Fewer are in flight where there are no more, or where the largest system asks for
// that.
void HermitianTransfer::plan() {
  const bool alike = settings_.orders.empty() && !settings_.leading_vary;
  std::uint64_t largest = 1;
  for (std::int64_t s = 0; s < (alike ? 1 : settings_.batch); ++s) largest = std::max(largest, bytes_of({s, 1}));
  const std::uint64_t all = bytes_of({0, settings_.batch}), limit = settings_.workspace_limit,
                      most = device_.machine().memory_bytes / 4, one = largest + work_of_one();
  require(limit == 0 || one <= limit, SXT_E_MEMORY, "one system at a time needs ", one,
          " bytes on the device, and workspace_limit is ", limit);
  piece_bytes_ = usual_piece(all);
  std::uint64_t lanes = std::min<std::uint64_t>(most_pieces_in_flight, (all + piece_bytes_ - 1) / piece_bytes_);
  if (limit > 0) lanes = most_pieces_in_flight;
  while (lanes > 1 && (most / lanes < largest || (limit > 0 && limit / lanes < one))) --lanes;
  piece_bytes_ = std::min(piece_bytes_, most / lanes);
  if (limit > 0) {
    const double share = static_cast<double>(largest) / static_cast<double>(one);
    const auto piece = static_cast<std::uint64_t>(share * static_cast<double>(limit / lanes));
    piece_bytes_ = std::min(piece_bytes_, std::max(largest, piece));
    work_bytes_ = limit / lanes - piece_bytes_;
  }
  lanes_ = static_cast<int>(std::min(lanes, (all + piece_bytes_ - 1) / std::max<std::uint64_t>(1, piece_bytes_)));
  const double part = static_cast<double>(piece_bytes_) / static_cast<double>(std::max<std::uint64_t>(1, all));
  most_systems_ = 1 + static_cast<std::int64_t>(std::min(1.0, 2 * part) * static_cast<double>(settings_.batch));
}

// Of copies and work the longer takes its time, and the other as long as one piece of it does.
double HermitianTransfer::predicted_seconds(const HermitianSettings &settings, const sxt_machine &device,
                                            std::int32_t phase, double work_s) {
  const auto value = static_cast<double>(value_bytes(settings.type)), count = static_cast<double>(settings.batch);
  const double matrices = settings.sum_n2 * value,
               rhs = solves(phase) ? settings.sum_n1 * static_cast<double>(settings.n_rhs) * value : 0,
               pivots = settings.definiteness == SXT_DEFINITE ? 0 : settings.sum_n1 * sizeof(std::int32_t);
  // A solve leaves the factors and their pivots where they are; infos go both ways.
  const double back = factors(phase) ? 2 : 1;
  const double bytes = back * (matrices + pivots) + 2 * rhs + 2 * count * sizeof(std::int32_t);
  const auto all = static_cast<std::uint64_t>(std::min(matrices + rhs, 9e18));
  const double pieces = std::ceil(std::max(1.0, (matrices + rhs) / static_cast<double>(usual_piece(all))));
  const double blocks = (settings.pointer_array ? count : pieces) * (back + (solves(phase) ? 2 : 0));
  const double ways_s = ways_seconds(device, bytes, blocks + pieces * (2 + (pivots > 0 ? back : 0)));
  return std::max(ways_s, work_s) + std::min(ways_s, work_s) / pieces;
}

HermitianTransfer::Span HermitianTransfer::next() {
  const std::lock_guard lock(mutex_);
  Span span{next_, std::min(most_systems_, settings_.batch - next_)};
  for (std::uint64_t bytes = 0; span.systems > 1 && (bytes = bytes_of(span)) > piece_bytes_;) {
    const double fits = static_cast<double>(piece_bytes_) / static_cast<double>(bytes);
    const auto fewer = static_cast<std::int64_t>(fits * static_cast<double>(span.systems));
    span.systems = std::clamp<std::int64_t>(fewer, 1, span.systems - 1);
  }
  next_ += span.systems;
  return span;
}

void HermitianTransfer::run(void *callers_stream) {
  device_.wait(callers_stream);  // earlier work may still write what is read here
  plan();
  std::vector<std::thread> others;
  others.reserve(most_pieces_in_flight);
  try {
    for (int i = 1; i < lanes_; ++i) others.emplace_back([this] { work_in_turn(); });
  } catch (const std::exception &) {  // no more threads are available: fewer pieces in flight
  }
  work_in_turn();
  for (std::thread &other : others) other.join();
  if (problem_) std::rethrow_exception(problem_);
}

void HermitianTransfer::work_in_turn() noexcept {
  try {
    const Device::Current current(device_);
    // Not the caller's stream: each piece in flight has one of its own.
    const Device::StreamScope none(device_, nullptr);
    HermitianBatch::Lent lent(batch_, nullptr);
    const Device::StreamScope scope(device_, lent.lane().stream(), lent.lane().use());
    for (Span span = next(); span.systems > 0; span = next()) pass_or_halves(span, lent.lane());
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!problem_) problem_ = std::current_exception();
    next_ = settings_.batch;  // no thread begins another
  }
}

// Nothing of a piece that finds no memory has come back to the host: its halves may begin anew.
void HermitianTransfer::pass_or_halves(Span span, HermitianLane &lane) {
  try {
    return pass(span, lane);
  } catch (const Error &problem) {
    lane.wait_quietly();  // copies from the caller's arrays
    if (!out_of_memory(problem) || span.systems == 1) throw;
  } catch (...) {
    lane.wait_quietly();
    throw;
  }
  const std::int64_t half = span.systems / 2;
  pass_or_halves({span.first, half}, lane);
  pass_or_halves({span.first + half, span.systems - half}, lane);
}

void HermitianTransfer::pass(Span span, HermitianLane &lane) {
  const auto [first, systems] = span;
  const HermitianArrays part = host_.from(first, value_bytes(settings_.type));
  Piece piece(device_, lane.stream(), bytes_of(span));
  HermitianArrays there = part;
  const bool factoring = factors(phase_), solving = solves(phase_);
  // What is factored comes from a and goes to factor; a solve reads factor.
  there.factor =
      carry(settings_, piece, factoring ? part.a : part.factor, factoring ? &part.factor : nullptr, 0, first, systems);
  there.a = both_matrices_ ? carry(settings_, piece, part.a, nullptr, 0, first, systems) : there.factor;
  there.copies_factor = both_matrices_;
  there.copies_solution = false;
  if (solving) there.b = there.x = carry(settings_, piece, part.b, &part.x, part.n_rhs, first, systems);
  there.active = piece.place(part.active, systems, true, false);
  // What is not written for systems that take no part must come back as it was.
  there.active_out = piece.place(part.active_out, systems, true, true);
  there.shortcut = piece.place(part.shortcut, systems, true, true);
  there.info = piece.place(part.info, systems, true, true);
  there.pivots = piece.place(part.pivots, systems * part.stride_pivots, true, factoring);
  there.scale = piece.place(part.scale, systems * part.stride_scale, true, factoring);
  there.residual = piece.place(part.residual, systems, true, true);
  there.rcond = piece.place(part.rcond, systems, true, true);
  there.shift = piece.place(part.shift, systems, true, factoring);
  there.inertia = piece.place(part.inertia, 3 * systems, true, true);
  batch_.work(phase_, there, systems, lane, work_bytes_);
  piece.bring_back();
  lane.wait();  // before the memory goes
}

}  // namespace sextant
