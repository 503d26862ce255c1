// SPDX-License-Identifier: BSD-3-Clause
// ordering.rcm.cuda: reverse Cuthill-McKee by searches on the device, from the matrix's CSR there. Patterns with many
// levels or many components are slow on a device and are ordered on the host, by the CPU kernel's code.
#include <algorithm>
#include <limits>

#include "plugins/ordering/shared/rcm.hpp"
#include "search.cuh"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::ordering_rcm_cuda {

namespace {

using namespace plugin;
using namespace plugin::ordering;
using cuda::DeviceArray;
using plugin::rcm::Rcm;
using plugin::rcm::Work;

constexpr int most_searches = 4;    // in a component
constexpr int most_components = 8;  // on the device

struct State {
  const sxt_csr *a = nullptr;
  unsigned blocks = 1;
};
struct Session {
  DeviceArray mark, parent, queue, children, of_block, control;
  Memory host;  // for the part that the host orders
};

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

// One component after the other.
template <class O>
class Orderer {
 public:
  Orderer(const State &state, const Session &session, sxt_ordering_args &args, const sxt_exec *exec)
      : state_(state), session_(session), args_(args), exec_(exec) {
    const auto n = static_cast<std::int32_t>(args.n);
    search_ = {static_cast<const O *>(state.a->row_ptr),
               static_cast<const std::int32_t *>(state.a->col),
               n,
               static_cast<std::int32_t>(std::min<std::int64_t>(2 * args.most_width, n)),
               session.mark.as<std::int32_t>(),
               session.parent.as<std::int32_t>(),
               session.queue.as<std::int32_t>(),
               session.children.as<std::int32_t>(),
               session.of_block.as<std::int32_t>(),
               session.control.as<Control>()};
    cuda::fill_bytes(exec, session.mark.data(), 0, session.mark.bytes(), "clear marks");
  }

  // How many rows are in `queue`, components one after the other; fewer than all where the host continues.
  std::int64_t run() {
    std::int64_t done = 0;
    for (int component = 0, start = 0; component < most_components && done < args_.n; ++component) {
      const std::int64_t rows = order_component(start, done);
      if (rows <= 0) break;
      if (done + rows < args_.n) start = unmet(start, done, rows);
      done += rows;
      if (start < 0) break;
    }
    return done;
  }
  bool too_wide() const { return too_wide_; }

 private:
  // 0: not for a device.
  std::int64_t order_component(std::int32_t start, std::int64_t done) {
    Control before = launch(search_levels<O>, "a search", start, done), found = before;
    const std::int32_t rows = before.rows;
    too_wide_ = args_.most_width > 0 && before.width > 2 * args_.most_width;
    for (int search = 2; search <= most_searches; ++search) {
      if (found.gave_up || found.rows != rows || rows <= 0) return 0;
      const auto rim = static_cast<std::int32_t>(before.rim & 0xffffffffu);
      const bool in_order = search > 2;
      found = launch(in_order ? search_in_order<O> : search_levels<O>, "a search", rim, done);
      if (in_order && found.levels <= before.levels) break;
      before = found;
    }
    if (found.gave_up || found.rows != rows) return 0;
    args_.width = std::max<std::int64_t>(args_.width, found.width);
    args_.levels += found.levels;
    too_wide_ = args_.most_width > 0 && args_.width > args_.most_width;
    return too_wide_ ? 0 : rows;
  }

  using Kernel = void (*)(Search<O>, std::int32_t, std::int32_t);
  Control launch(Kernel kernel, const char *what, std::int32_t start, std::int64_t done) {
    Control control{};
    control.rim = control.unmet = std::numeric_limits<unsigned long long>::max();
    cuda::copy(exec_, session_.control.data(), &control, sizeof control, "the start of a search");
    cuda::fill_bytes(exec_, session_.parent.data(), unseen_byte, session_.parent.bytes(), "clear parents");
    Search<O> search = search_;
    search.queue += done;
    std::int32_t number = ++number_;
    void *arguments[] = {&search, &start, &number};
    cuda::need(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), dim3(state_.blocks), dim3(threads),
                                           arguments, 0, cuda::stream_of(*exec_)),
               what);
    cuda::copy(exec_, &control, session_.control.data(), sizeof control, "the result of a search");
    cuda::wait(exec_);
    return control;
  }

  // The first row of the component after this one of that many rows; negative: there is none.
  std::int32_t unmet(std::int32_t from, std::int64_t done, std::int64_t rows) {
    Search<O> component = search_;
    component.queue += done;
    const auto some = static_cast<unsigned>(cuda::divide_up<std::int64_t>(rows, threads));
    finish_component<<<some, threads, 0, cuda::stream_of(*exec_)>>>(component, static_cast<std::int32_t>(rows));
    cuda::need_launch("the end of a component");
    const auto blocks = cuda::divide_up<std::int64_t>(args_.n - from, threads);
    find_unmet<<<static_cast<unsigned>(blocks), threads, 0, cuda::stream_of(*exec_)>>>(search_, from);
    cuda::need_launch("a search for the next component");
    Control control{};
    cuda::copy(exec_, &control, session_.control.data(), sizeof control, "the next component");
    cuda::wait(exec_);
    return static_cast<std::int32_t>(control.unmet);
  }

  const State &state_;
  const Session &session_;
  sxt_ordering_args &args_;
  const sxt_exec *exec_;
  Search<O> search_{};
  std::int32_t number_ = 0;
  bool too_wide_ = false;
};

// Brings the device's part to the host, where the rest is ordered, and reverses the whole order.
template <class I, class O>
bool finish_on_host(const Session &session, const Pattern<I, O> &pattern, std::int64_t done, sxt_ordering_args &args,
                    I *perm, const sxt_exec *exec) {
  Work<std::int32_t> work(session.host.data(), pattern.n);
  cuda::copy(exec, work.later, session.queue.data(), static_cast<std::uint64_t>(done) * sizeof(std::int32_t),
             "an order");
  cuda::wait(exec);
  if (done == pattern.n) {
    std::reverse_copy(work.later, work.later + done, perm);
    return true;
  }
  Rcm<I, O, std::int32_t> rest(pattern, work);
  rest.take(work.later, done, perm);
  return rest.run(args, perm, done);
}

sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &session = *static_cast<const Session *>(opened);
  sxt_ordering_args &args = writable(head);
  return cuda::guarded(exec, [&] {
    return with_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
      if (args.n != state.a->s.rows)
        return error(exec, SXT_E_DIMENSION, "a pattern of %lld rows, the matrix has %lld", (long long)args.n,
                     (long long)state.a->s.rows);
      std::int64_t done = 0;
      bool good = true;
      const auto search = [&](auto orderer) { done = orderer.run(), good = !orderer.too_wide(); };
      if (state.a->s.offset_type == SXT_I32)
        search(Orderer<std::int32_t>(state, session, args, exec));
      else
        search(Orderer<std::int64_t>(state, session, args, exec));
      if (good && finish_on_host(session, pattern, done, args, perm, exec)) return SXT_OK;
      error(exec, SXT_NOT_APPLICABLE, "a level holds more than %lld of %lld rows", (long long)args.most_width,
            (long long)args.n);
      return SXT_NOT_APPLICABLE;
    });
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.a = &as<sxt_csr>(problem->a);
    if (state.a->s.index_type != SXT_I32) return error(exec, SXT_E_NOT_SUPPORTED, "columns must be of 32 bits");
    int device = 0, units = 1;
    cuda::need(cudaGetDevice(&device), "query the device");
    cuda::need(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "count multiprocessors");
    state.blocks = static_cast<unsigned>(units);
    using I32 = std::int32_t;
    using I64 = std::int64_t;
    for (const sxt_status each : {cuda::load(exec, search_levels<I32>), cuda::load(exec, search_levels<I64>),
                                  cuda::load(exec, search_in_order<I32>), cuda::load(exec, search_in_order<I64>),
                                  cuda::load(exec, finish_component<I32>), cuda::load(exec, finish_component<I64>),
                                  cuda::load(exec, find_unmet<I32>), cuda::load(exec, find_unmet<I64>)})
      if (each != SXT_OK) return each;
    return SXT_OK;
  });
}

sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const State *>(opaque);
  return cuda::build<Session>(exec, out, [&](Session &session) -> sxt_status {
    const std::int64_t n = state.a->s.rows;
    const std::uint64_t rows = static_cast<std::uint64_t>(n + 1) * sizeof(std::int32_t);
    for (DeviceArray *each : {&session.mark, &session.parent, &session.queue, &session.children})
      *each = DeviceArray(exec, rows, "searches through a pattern");
    session.of_block = DeviceArray(exec, state.blocks * sizeof(std::int32_t), "sums of blocks");
    session.control = DeviceArray(exec, sizeof(Control), "the state of a search");
    session.host = Memory(exec, SXT_SPACE_HOST, Work<std::int32_t>::bytes(n));
    return SXT_OK;
  });
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_ordering_query>(query);
  if (q.m.rows >= unseen) return refuse(reason, "%lld rows are more than its searches number", (long long)q.m.rows);
  return offers(q, "rcm", reason);
}

// The number of levels of a pattern is only estimated: that of a cube with as many rows, from corner to corner.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  constexpr double level_s = 2e-5, row_s = 1e-8, search_s = 1e-4;  // of all searches
  const auto &q = as<sxt_ordering_query>(query).m;
  const double n = static_cast<double>(q.rows), nnz = static_cast<double>(q.nnz);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = machine->units;
  candidate.launch[1] = threads;
  candidate.run_s = search_s + 3 * std::cbrt(n) * level_s + 6 * nnz / std::max(1.0, machine->sector_rate) + row_s * n;
  candidate.setup_s = 1e-4 + n * 9e-10;
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_ORDERING, "ordering.rcm.cuda", "cuda",
                            "reverse Cuthill-McKee, a level at a time by the whole device", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  set_calls<State>(k, {applicable, candidates, prepare});
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace
}  // namespace sextant::ordering_rcm_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::ordering_rcm_cuda::kernel>("ordering-rcm-cuda", out);
}
