// SPDX-License-Identifier: BSD-3-Clause
// spmv_dots.dia.cuda and spmv_dots.dia-symmetric.cuda: y = alpha A x + beta y and up to four inner products with the
// new y in one launch, the kernels of plugins/formats/cuda/dia_kernels.hpp. The inner products read x and y from the
// cache, after the product has used them. Deterministic: blocks add their rows in order, the block that ends last adds
// the blocks in order.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "plugins/formats/cuda/dia.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_dots_dia_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

struct Session {
  DeviceArray places, word;  // of blocks' sums or packets, of the counter or the epoch
  bool packets;
};

template <bool symmetric>
sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  const sxt_matrix_query &m = q.m.m;
  if (m.rows != m.cols) return refuse(reason, "%lld rows, %lld columns", (long long)m.rows, (long long)m.cols);
  if (q.m.op != SXT_NO_TRANSPOSE) return refuse(reason, "a transpose is not offered together with inner products");
  if (q.m.n_rhs > 1) return refuse(reason, "%d right-hand sides, the kind takes one", q.m.n_rhs);
  if (q.n_dots < 0 || q.n_dots > dia_most_dots)
    return refuse(reason, "%d pairs; at most %d are taken", q.n_dots, dia_most_dots);
  const double diagonals = dia_diagonals(m, found);
  if (diagonals > dia_most_terms)
    return refuse(reason, "%.0f diagonals; one launch takes %d", diagonals, dia_most_terms);
  return dia_refusal(m, found, symmetric, reason);
}

template <bool symmetric>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  const double diagonals = dia_diagonals(q.m.m, found), rows = static_cast<double>(q.m.m.rows);
  CandidateList list(out, capacity, count);
  // As many blocks as are resident at once, which take tiles of rows one after the other: each block adds to the cost
  // of the exchange.
  const auto add = [&](std::int64_t threads, std::int64_t blocks_a_unit, std::int64_t planes) {
    const std::int64_t tiles = divide_up(q.m.m.rows, threads * std::max<std::int64_t>(1, planes));
    const std::int64_t resident = blocks_a_unit * std::max(1, machine->units);
    const std::int64_t blocks = planes > 0 ? resident : std::clamp<std::int64_t>(tiles, 1, resident);
    SpmvCost cost;
    // The vectors beside x and y come from memory; the query does not state how many there are.
    cost.extra_bytes = q.n_dots >= 3 ? rows * static_cast<double>(value_bytes(q.m.m.q.value_type)) : 0;
    const double meet = static_cast<double>(std::min(blocks, std::max<std::int64_t>(1, tiles)));
    cost.atomics = may_start_early(*machine) ? 0 : meet;
    sxt_candidate &candidate =
        fill_dia_launch(list.add(), q.m, *machine, diagonals, symmetric, blocks, threads, planes, cost);
    // Three and more read a further vector: other coefficients.
    constexpr std::uint32_t classes_of_products = 64;
    if (q.n_dots >= 3) candidate.model_class += classes_of_products;
    // Beside the product's: the block's sums, the transfer to the block that adds them, and its reads.
    candidate.terms[spmv_chain_term] += 2 + meet * sums_at_once / static_cast<double>(threads);
    candidate.state_bytes = sizeof(DiaState) + static_cast<std::uint64_t>(blocks) * sums_packets_a_block;
  };
  add(512, 1, 0), add(512, 2, 0), add(256, 4, 0);
  if (symmetric && std::ceil(diagonals) == 7)
    for (std::int64_t planes : {2, 8, 16}) add(512, 1, planes), add(256, 2, planes);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_dia>(problem->a);
    if (!candidate || candidate->launch[0] <= 0)
      return error(exec, SXT_E_ARGUMENT, "inner products on the device need a candidate with its grid");
    if (const std::int64_t terms = dia_term_count(a, SXT_NO_TRANSPOSE); terms > dia_most_terms)
      return error(exec, SXT_NOT_APPLICABLE, "%lld diagonals; one launch takes %d", (long long)terms, dia_most_terms);
    return give(new DiaState(dia_state_of(*problem, candidate)), out);
  });
}

// Each caller has its own memory for the exchange: with packets where the device's code has them, on the same devices
// as early starts.
sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const DiaState *>(opaque);
  bool packets = false;
  const sxt_status loaded = with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    packets = state.launch.early && code_starts_early(reinterpret_cast<const void *>(dia_some_kernel<V, M, Dots<V>>()));
    return load_dia<V, M, Dots<V>>(exec);
  });
  if (loaded != SXT_OK) return loaded;
  return build<Session>(exec, out, [&](Session &session) {
    session.packets = packets;
    const std::uint64_t each = packets ? sums_packets_a_block : sums_bytes_a_block;
    session.places = DeviceArray(exec, static_cast<std::uint64_t>(state.launch.blocks) * each, "partial sums");
    session.word = DeviceArray(exec, sizeof(Word), "a counter");
    fill_bytes(exec, session.places.data(), 0, session.places.bytes(), "clear partial sums");
    fill_bytes(exec, session.word.data(), 0, session.word.bytes(), "clear a counter");
    return SXT_OK;
  });
}

SumsExchange exchange_of(const Session &session) {
  if (session.packets) return {nullptr, nullptr, session.places.as<ulonglong2>(), session.word.as<Word>()};
  return {session.places.data(), session.word.as<unsigned>(), nullptr, nullptr};
}

sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const DiaState *>(opaque);
  const auto &session = *static_cast<const Session *>(opened);
  const auto &args = as<sxt_spmv_dots_args>(head);
  return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
    using V = typename decltype(v)::type;
    const Product<V> p = product_of<V>(args.m);
    Dots<V> dots{};
    dots.count = args.n_dots;
    for (std::int32_t k = 0; k < args.n_dots; ++k) {
      dots.u[k] = static_cast<const V *>(args.u[k]);
      dots.v[k] = static_cast<const V *>(args.v[k]);
    }
    dots.exchange = exchange_of(session);
    dots.dots = static_cast<V *>(args.dots);
    return run_dia<V, typename decltype(m)::type>(exec, state.launch, *state.a, SXT_NO_TRANSPOSE,
                                                  DiaVectors<V>{p.x, p.y, 0, 0, p.alpha, p.beta}, dots);
  });
}

template <bool symmetric>
sxt_kernel make_kernel(const char *name, const char *description) {
  sxt_kernel k = new_dia_kernel<symmetric>(SXT_KIND_SPMV_DOTS, name, description, run);
  k.version = 2;
  k.applicable = applicable<symmetric>;
  k.candidates = candidates<symmetric>;
  k.prepare = prepare;
  k.open = open;
  k.close = destroy<Session>;
  return k;
}

const sxt_kernel plain = make_kernel<false>("spmv_dots.dia.cuda", "by diagonals, inner products in the same pass");
const sxt_kernel symmetric =
    make_kernel<true>("spmv_dots.dia-symmetric.cuda", "by upper diagonals used twice, inner products in the same pass");

}  // namespace
}  // namespace sextant::spmv_dots_dia_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_dots_dia_cuda;
  return sextant::plugin::offer<&plain, &symmetric>("spmv-dots-dia-cuda", out);
}
