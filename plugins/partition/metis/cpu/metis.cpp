// SPDX-License-Identifier: BSD-3-Clause
// partition.metis.cpu, and the same for contexts of a GPU.
#include <dlfcn.h>

#include <limits>
#include <mutex>
#include <string>

#include "plugins/partition/shared/partition.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::partition_metis {

namespace {

using namespace plugin;
using namespace plugin::partition;

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

// One caller at a time: what METIS draws has one state.
class Metis {
 public:
  static Metis &instance() {
    static Metis library;
    return library;
  }
  const char *why_not() const { return why_.empty() ? nullptr : why_.c_str(); }
  bool divide(std::int32_t n, std::int32_t *start, std::int32_t *neighbour, std::int32_t *weight, std::int32_t parts,
              float *shares, std::int32_t *part) {
    std::int32_t constraints = 1, cut = 0;
    const std::lock_guard lock(busy_);
    if (seed_) seed_(-1);
    return divide_(&n, &constraints, start, neighbour, weight, nullptr, nullptr, &parts, shares, nullptr, nullptr, &cut,
                   part) == 1;
  }

 private:
  Metis() {
    constexpr const char *name = "libmetis.so.5";
#ifdef __GLIBC__
    void *const handle = ::dlmopen(LM_ID_NEWLM, name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char *reason = ::dlerror();
      why_ = std::string(reason ? reason : "it could not be opened") + "; the package is libmetis5";
      return;
    }
    divide_ = reinterpret_cast<Divide *>(::dlsym(handle, "METIS_PartGraphKway"));
    seed_ = reinterpret_cast<Seed *>(::dlsym(handle, "libmetis__InitRandom"));
    if (!divide_) why_ = std::string(name) + " has no function METIS_PartGraphKway";
    // Builds for 64-bit indices have the same names: the width shows in how far 40 options reach.
    constexpr std::size_t options = 40;
    std::int32_t written[2 * options];
    std::fill_n(written, 2 * options, 77);
    if (auto *set = reinterpret_cast<int (*)(void *)>(::dlsym(handle, "METIS_SetDefaultOptions"))) set(written);
    if (written[0] == 77 || written[options] != 77)
      why_ = std::string(name) + " was built for other than 32-bit indices";
#else
    why_ = std::string(name) + " is not opened: the C library has no dlmopen";
#endif
  }
  using Divide = int(std::int32_t *n, std::int32_t *constraints, std::int32_t *start, std::int32_t *neighbour,
                     std::int32_t *weight, std::int32_t *size, std::int32_t *edge_weight, std::int32_t *parts,
                     float *shares, float *imbalance, std::int32_t *options, std::int32_t *cut, std::int32_t *part);
  using Seed = void(std::int32_t);
  Divide *divide_ = nullptr;
  Seed *seed_ = nullptr;
  std::string why_;
  std::mutex busy_;
};

struct Graph {
  std::vector<std::int32_t> start{0}, neighbour, weight;
};

// Edges that stand in both of their rows, without loops; weights are work in entries.
Graph graph_of(const sxt_partition_args &a) {
  Graph out;
  std::vector<std::int64_t> cursor(static_cast<std::size_t>(a.n));
  for (std::int64_t i = 0; i < a.n; ++i) cursor[static_cast<std::size_t>(i)] = number(a.row_ptr, a.offset_type, i);
  std::vector<std::vector<std::int32_t>> later(static_cast<std::size_t>(a.n));  // mirrored edges to greater rows
  const double unit = std::max(1.0, a.entry_bytes);
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t k = number(a.row_ptr, a.offset_type, i); k < number(a.row_ptr, a.offset_type, i + 1); ++k) {
      const std::int64_t j = number(a.col, a.index_type, k);
      if (j <= i) continue;
      std::int64_t &at = cursor[static_cast<std::size_t>(j)];  // rows i come in order, and so do columns of row j
      const std::int64_t end = number(a.row_ptr, a.offset_type, j + 1);
      while (at < end && number(a.col, a.index_type, at) < i) ++at;
      if (at >= end || number(a.col, a.index_type, at) != i) continue;
      later[static_cast<std::size_t>(i)].push_back(static_cast<std::int32_t>(j));
      later[static_cast<std::size_t>(j)].push_back(static_cast<std::int32_t>(i));
    }
    out.weight.push_back(static_cast<std::int32_t>(std::clamp(work_of(a, i) / unit, 1.0, 1e6)));
  }
  for (const std::vector<std::int32_t> &each : later) {
    out.neighbour.insert(out.neighbour.end(), each.begin(), each.end());
    out.start.push_back(static_cast<std::int32_t>(out.neighbour.size()));
  }
  return out;
}

// Rows of each part one after the other, in their order.
void gather_parts(const sxt_partition_args &a, const std::vector<std::int32_t> &part) {
  std::fill(a.begin, a.begin + a.members + 1, std::int64_t{0});
  for (const std::int32_t p : part) ++a.begin[p + 1];
  for (std::int32_t m = 0; m < a.members; ++m) a.begin[m + 1] += a.begin[m];
  std::vector<std::int64_t> next(a.begin, a.begin + a.members);
  for (std::size_t row = 0; row < part.size(); ++row)
    a.order[next[static_cast<std::size_t>(part[row])]++] = static_cast<std::int64_t>(row);
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_partition_args>(head);
  return guard(exec, [&]() -> sxt_status {
    if (const char *wrong = wrong_with(args)) return error(exec, SXT_E_ARGUMENT, "%s", wrong);
    if (args.n > most) return error(exec, SXT_E_NOT_SUPPORTED, "%lld rows: METIS counts in 32 bits", (long long)args.n);
    std::vector<std::int32_t> part(static_cast<std::size_t>(args.n), 0);
    if (args.members > 1 && args.n > args.members) {
      Graph graph = graph_of(args);
      double rates = 0;
      for (std::int32_t m = 0; m < args.members; ++m) rates += args.rate[m];
      std::vector<float> shares;
      for (std::int32_t m = 0; m < args.members; ++m) shares.push_back(static_cast<float>(args.rate[m] / rates));
      // Without an edge there is nothing that METIS computes for.
      if (graph.neighbour.empty()) {
        std::iota(args.order, args.order + args.n, std::int64_t{0});
        cut(args);
        return SXT_OK;
      }
      if (!Metis::instance().divide(static_cast<std::int32_t>(args.n), graph.start.data(), graph.neighbour.data(),
                                    graph.weight.data(), args.members, shares.data(), part.data()))
        return error(exec, SXT_E_INTERNAL, "METIS refused a graph of %lld rows", (long long)args.n);
    }
    gather_parts(args, part);
    return SXT_OK;
  });
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_partition_query>(query);
  if (const sxt_status status = offers(q, "metis", true, reason); status != SXT_OK) return status;
  if (q.m.nnz > most) return refuse(reason, "%lld entries: METIS counts in 32 bits", (long long)q.m.nnz);
  const char *why = Metis::instance().why_not();
  return why ? refuse(reason, "%s", why) : SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  constexpr double entry_s = 1e-6;
  const auto &q = as<sxt_partition_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = 1;
  candidate.units = 1;
  candidate.setup_s = entry_s * static_cast<double>(q.m.nnz + q.m.rows);
  candidate.run_s = halo_seconds(q, compact_halo(q));
  return SXT_OK;
}

sxt_kernel table(const char *name, const char *device, const char *description) {
  sxt_kernel k = new_kernel(SXT_KIND_PARTITION, name, device, description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_BASELINE;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}
const sxt_kernel on_cpu = table("partition.metis.cpu", "cpu", "METIS's k-way partition, one thread");
const sxt_kernel for_gpu =
    table("partition.metis-on-host.cuda", "cuda", "METIS's k-way partition on the host of a GPU, one thread");

}  // namespace
}  // namespace sextant::partition_metis

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::partition_metis::on_cpu, &sextant::partition_metis::for_gpu>(
      "partition-metis", out);
}
