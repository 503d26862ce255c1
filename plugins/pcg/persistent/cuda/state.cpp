// SPDX-License-Identifier: BSD-3-Clause
// Building a state: the pattern comes to the host, is shared out and packed, and goes back; values never leave the
// device.
#include "state.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sextant/sdk/cuda/dense.hpp"

namespace persistent {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;
using cuda::Failure;

// CSR's pattern on the host.
struct HostPattern {
  Filled<std::int32_t> row_ptr, col;
  Pattern view() const { return {static_cast<std::int32_t>(row_ptr.size()) - 1, row_ptr.data(), col.data()}; }
};

HostPattern fetch_pattern(const sxt_csr &a, const sxt_exec *exec) {
  const auto rows = static_cast<std::size_t>(a.s.rows), nnz = static_cast<std::size_t>(a.s.nnz);
  if (a.s.index_type != SXT_I32)
    throw Failure(SXT_E_NOT_SUPPORTED, "columns are stored as 64-bit numbers; the engine reads 32-bit ones");
  HostPattern out{Filled<std::int32_t>(rows + 1), Filled<std::int32_t>(nnz)};
  cuda::copy(exec, out.col.data(), a.col, nnz * sizeof(std::int32_t), "the columns of A");
  if (a.s.offset_type == SXT_I32) {
    cuda::fetch(exec, out.row_ptr.data(), static_cast<const std::int32_t *>(a.row_ptr), rows + 1, "the rows of A");
  } else {  // a system that fits the multiprocessors has fewer entries than 2^31
    const Filled<std::int64_t> wide(rows + 1);
    cuda::fetch(exec, wide.data(), static_cast<const std::int64_t *>(a.row_ptr), rows + 1, "the rows of A");
    std::transform(wide.data(), wide.data() + wide.size(), out.row_ptr.data(),
                   [](std::int64_t offset) { return static_cast<std::int32_t>(offset); });
  }
  return out;
}

template <class Values>
DeviceArray upload(const Values &values, const sxt_exec *exec, const char *what) {
  constexpr std::uint64_t size = sizeof *values.data();
  DeviceArray out(exec, std::max<std::uint64_t>(1, values.size()) * size, what);
  cuda::copy(exec, out.data(), values.data(), values.size() * size, what);
  return out;
}

std::int64_t size_of(sxt_value_type type) { return static_cast<std::int64_t>(plugin::value_bytes(type)); }

// The largest shared memory of a block, as the device reports it.
std::int64_t shared_limit() {
  int device = 0, bytes = 0;
  cuda::need(cudaGetDevice(&device), "ask which device is current");
  cuda::need(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask the device for its shared memory");
  // A kilobyte of a block belongs to the system, half of one to the kernel.
  return bytes - 1024;
}

// The needs of the largest block: exact once the rows are shared out and laid out, a lower bound before.
struct Sizes {
  std::int64_t rows, pairs, halo;
};

class Room {
 public:
  explicit Room(const State &state) : state_(state), limit_(shared_limit()) {}

  std::uint64_t bytes(const Sizes &sizes) const {
    return shared_bytes(size_of(state_.vectors), size_of(state_.stored), sizes.pairs, sizes.rows, sizes.halo,
                        state_.clustered);
  }
  // Throws where these sizes do not fit a block. least: sizes are lower bounds.
  void check(const Sizes &sizes, bool least) const {
    const std::int64_t most = std::int64_t{most_threads} * (state_.clustered ? cluster_passes : most_passes);
    if (sizes.rows > most)
      throw Failure(SXT_E_NOT_SUPPORTED, "a block of the %s would have %lld rows, %lld fit its registers",
                    state_.clustered ? "cluster" : "grid", (long long)sizes.rows, (long long)most);
    if (static_cast<std::int64_t>(bytes(sizes)) > limit_)
      throw Failure(SXT_E_NOT_SUPPORTED,
                    "a block would need %s%llu bytes of shared memory (%lld pairs of entries, %lld rows, %lld rows of "
                    "others), it may have %lld",
                    least ? "at least " : "", (unsigned long long)bytes(sizes), (long long)sizes.pairs,
                    (long long)sizes.rows, (long long)sizes.halo, (long long)limit_);
    if (sizes.rows + sizes.halo > most_places)
      throw Failure(SXT_E_NOT_SUPPORTED, "a block sees %lld rows, 16-bit columns reach %lld",
                    (long long)(sizes.rows + sizes.halo), (long long)most_places);
  }
  // The most halo rows that fit beside these, which themselves fit.
  std::int64_t most_halo(const Sizes &sizes) const {
    const std::int64_t none = static_cast<std::int64_t>(bytes({sizes.rows, sizes.pairs, 0})),
                       one = static_cast<std::int64_t>(bytes({sizes.rows, sizes.pairs, 1})) - none;
    return std::min(most_places - sizes.rows, (limit_ - none) / one);
  }

 private:
  static constexpr std::int64_t most_places = 0xffff;
  const State &state_;
  std::int64_t limit_;
};

// Whether the device has room for the cluster at once.
void check_cluster(const State &state) {
  cuda::need(cudaFuncSetAttribute(state.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
             "allow a cluster of more than eight blocks");
  LaunchShape shape(state, nullptr);
  int clusters = 0;
  cuda::need(cudaOccupancyMaxActiveClusters(&clusters, state.kernel, &shape.config), "ask how many clusters fit");
  if (clusters < 1)
    throw Failure(SXT_E_NOT_SUPPORTED,
                  "the device has no room for a cluster of %d blocks with %llu bytes of shared memory",
                  state.matrix.parts, (unsigned long long)state.shared);
}

void upload_all(State &state, const Packed &packed, const sxt_exec *exec) {
  state.part = upload(packed.parts, exec, "the parts of A");
  state.columns = upload(packed.columns, exec, "the columns of A");
  state.slices = upload(packed.slices, exec, "the slices of A");
  state.row_of = upload(packed.row_of, exec, "the order of the rows");
  state.packet_of = upload(packed.packet_of, exec, "the packets of the rows");
  state.halo_row = upload(packed.halo_row, exec, "the rows that blocks share");
  state.halo_packet = upload(packed.halo_packet, exec, "the packets of shared rows");
  state.entry_of = upload(packed.entry_of, exec, "the places of A's values");
  state.diagonal_entry = upload(packed.diagonal_entry, exec, "the places of the diagonal");
  const auto stored = static_cast<std::uint64_t>(size_of(state.stored));
  state.values = DeviceArray(exec, std::max<std::uint64_t>(2, packed.entry_of.size()) * stored, "the values of A");
  state.diagonal = DeviceArray(exec, std::max<std::uint64_t>(1, packed.diagonal_entry.size()) * stored, "the diagonal");
  state.uniform = DeviceArray(exec, sizeof(Uniform), "the common value of A");
  const std::int32_t *const entries = packed.entry_of.data(), *const end = entries + packed.entry_of.size();
  const std::int32_t *const first = std::find_if(entries, end, [](std::int32_t entry) { return entry >= 0; });
  state.places = end - entries;
  state.first_entry = first == end ? -1 : first - entries;

  Matrix &m = state.matrix;
  m.part = state.part.as<Part>();
  m.values = state.values.data();
  m.uniform = state.uniform.as<Uniform>();
  m.columns = state.columns.as<std::uint32_t>();
  m.diagonal = state.diagonal.data();
  m.slices = state.slices.as<std::int32_t>();
  m.row_of = state.row_of.as<std::int32_t>();
  m.packet_of = state.packet_of.as<std::int32_t>();
  m.halo_row = state.halo_row.as<std::int32_t>();
  m.halo_packet = state.halo_packet.as<std::int32_t>();
}

}  // namespace

void fill(State &state, const sxt_pcg_query &query, const sxt_csr &a, std::int32_t parts, bool clustered,
          std::int64_t longest, bool in_turns, const sxt_exec *exec) {
  state.vectors = query.m.q.value_type;
  state.stored = a.s.value_type;
  state.n = a.s.rows;
  state.nnz = a.s.nnz;
  state.longest = longest;
  state.clustered = clustered;
  if (state.n == 0) return;  // nothing will be launched
  // A system that cannot fit is refused before the pattern is copied, then before it is packed.
  const Room room(state);
  const std::int64_t off_diagonal = std::max<std::int64_t>(0, state.nnz - state.n);
  Sizes sizes{(state.n + parts - 1) / parts, (off_diagonal / parts + 1) / 2, 0};
  room.check(sizes, true);
  const HostPattern pattern = fetch_pattern(a, exec);
  const int threads = state.nnz < worth_threads ? 1 : std::max(1, exec->threads);
  const Partition partition = best_parts(pattern.view(), parts, threads, room.most_halo(sizes));
  sizes.halo = partition.halo.most;
  if (partition.part_of.empty()) room.check(sizes, true);
  Packed packed = lay_out(pattern.view(), partition);
  sizes = {packed.most_rows, packed.most_pairs, packed.most_halo};
  room.check(sizes, false);
  pack_entries(pattern.view(), in_turns ? banks_of(size_of(state.vectors)) : 1, packed, threads);
  state.shape = packed.shape;
  state.shared = room.bytes(sizes);

  Matrix &m = state.matrix;
  m.parts = partition.parts();
  m.packets = packed.packets;
  m.threads = packed.shape.threads;
  m.warps = packed.shape.threads / warp_lanes;
  m.group = packed.shape.group;
  m.most_pairs = packed.most_pairs;
  m.most_rows = packed.most_rows;
  m.most_halo = packed.most_halo;
  upload_all(state, packed, exec);
  state.kernel = kernel_for(state.vectors, state.stored, packed.shape.passes, clustered);
  if (const sxt_status status = cuda::load_with_shared(exec, state.kernel, state.shared))
    throw Failure(status, "a block cannot have %llu bytes of shared memory", (unsigned long long)state.shared);
  if (clustered) check_cluster(state);
  set_values(state, a, exec);
  cuda::wait(exec);  // copies from the host's own vectors
}

void set_values(State &state, const sxt_csr &a, const sxt_exec *exec) {
  if (a.s.nnz != state.nnz || a.s.rows != state.n)
    throw Failure(SXT_E_DIMENSION,
                  "the matrix has %lld rows and %lld entries, the engine was prepared for %lld and %lld",
                  (long long)a.s.rows, (long long)a.s.nnz, (long long)state.n, (long long)state.nnz);
  if (state.n > 0) place_values(state, a, exec);
}

Session::Session(const State &state, const sxt_exec &exec) {
  const auto n = static_cast<std::uint64_t>(state.n), bytes = static_cast<std::uint64_t>(size_of(state.vectors));
  const auto parts = static_cast<std::uint64_t>(state.matrix.parts),
             packets = static_cast<std::uint64_t>(state.matrix.packets);
  r = DeviceArray(&exec, n * bytes, "r");
  p = DeviceArray(&exec, n * bytes, "p");
  halo_packets = DeviceArray(&exec, 32 * std::max<std::uint64_t>(1, packets), "packets between blocks");
  sum_packets = DeviceArray(&exec, 32 * sum_copies * sums * parts, "packets of sums");
  const auto longest = static_cast<std::uint64_t>(state.longest) + 1;
  squared_residuals = DeviceArray(&exec, 8 * longest, "residual norms", cuda::Life::state, SXT_SPACE_PINNED);
  report = DeviceArray(&exec, sizeof(Report), "a launch's report", cuda::Life::state, SXT_SPACE_PINNED);
  residuals.reserve(longest);
  std::memset(report.data(), 0, report.bytes());
  work = {r.data(),           p.data(), halo_packets.data(), sum_packets.data(), squared_residuals.as<double>(),
          report.as<Report>()};
}

}  // namespace persistent
