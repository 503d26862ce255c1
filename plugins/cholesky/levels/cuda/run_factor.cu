// SPDX-License-Identifier: BSD-3-Clause
// The factorisation: recorded once, level after level. Small fronts, panels and the products that the next panels wait
// for, and all other products stand in lanes of their own; every level waits for the one before it.
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "large_kernels.cuh"
#include "product_kernels.cuh"
#include "sextant/sdk/cancel.hpp"
#include "small_kernels.cuh"
#include "state.hpp"

namespace sextant_cholesky_levels {
namespace {

using namespace sextant::plugin;
using sextant_cholesky::blocks_of, sextant_cholesky::HalfOf, sextant_cholesky::scatter_values;
using sextant_cholesky::set_of, sextant_cholesky::Told;

template <class T>
__global__ void place_call(Call<T> call, Call<T> *to) {
  *to = call;
}

template <class T>
__global__ void clear_numbers(T *l, std::int64_t stride, std::int64_t count) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (k < count) l[blockIdx.y * stride + k] = T{};
}

template <class T>
class Recorder {
 public:
  // chains: a level of small fronts alone may begin while the one before it ends.
  Recorder(const State &state, FactorSession &session, Recorded &lanes, bool chains)
      : state_(state), plan_(*state.plan), session_(session), lanes_(lanes), chains_(chains) {
    v_ = {state.fronts.as<const Front>(),
          state.place.as<const std::int32_t>(),
          state.children.as<const Child>(),
          session.call.as<const Call<T>>(),
          {session.updates[0].as<T>(), session.updates[1].as<T>()},
          {plan_.update_values[0], plan_.update_values[1]}};
  }

  void level(const Level &level) {
    const bool large = level.assemble.count > 0;
    const auto groups =
        std::count_if(level.small.begin(), level.small.end(), [](const Group &g) { return g.count > 0; });
    const bool alone = groups == 1 && !large;
    follows_ = follows_ && alone;  // a launch of the same lane and nothing else
    bool forked[2] = {};
    for (int c = 0; c < small_classes; ++c) {
      if (level.small[c].count == 0) continue;
      const Recorded::Lane lane = alone   ? Recorded::main
                                  : c < 2 ? Recorded::small
                                  : large ? Recorded::medium
                                          : Recorded::main;
      if (lane != Recorded::main && !std::exchange(forked[c / 2], true)) lanes_.order(Recorded::main, lane);
      small_fronts(level.small[c], c, lanes_.lane(lane));
    }
    if (large) large_fronts(level);
    if (forked[0]) lanes_.order(Recorded::small, Recorded::main);
    if (forked[1]) lanes_.order(Recorded::medium, Recorded::main);
    follows_ = chains_ && alone;
  }

 private:
  void small_fronts(const Group &group, int of_class, cudaStream_t stream) {
    const auto launch = [&](auto tag) {
      constexpr int of = decltype(tag)::value;
      cudaLaunchAttribute overlap{};
      overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      overlap.val.programmaticStreamSerializationAllowed = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = blocks(group), config.blockDim = dim3(small_threads(of));
      config.dynamicSmemBytes = static_cast<std::size_t>(small_bytes(plan_.widths)[of] + small_margin);
      config.stream = stream, config.attrs = &overlap, config.numAttrs = follows_ ? 1 : 0;
      cuda::need(cudaLaunchKernelEx(&config, factor_small_fronts<T, small_threads(of)>, v_,
                                    state_.small.as<const Front>() + group.first),
                 "launch small fronts");
    };
    switch (of_class) {
      case 0: return launch(std::integral_constant<int, 0>{});
      case 1: return launch(std::integral_constant<int, 1>{});
      case 2: return launch(std::integral_constant<int, 2>{});
      default: return launch(std::integral_constant<int, 3>{});
    }
  }

  void large_fronts(const Level &level) {
    const cudaStream_t stream = lanes_.lane(Recorded::main);
    assemble_fronts<T><<<blocks(level.assemble), assemble_threads, assemble_shared<T>(), stream>>>(
        v_, jobs(level.assemble), level.assemble.count);
    cuda::need_launch("the assembly of fronts");
    bool forked = false;
    for (const BlockColumn &column : level.columns) {
      for (const Step &step : column.steps) {
        panels(step.panels);
        products(step.inner, Recorded::main);
      }
      const bool aside = column.near.count > 0 && column.far.count > 0;
      if (aside) lanes_.order(Recorded::main, Recorded::far);
      if (forked) lanes_.order(Recorded::far, Recorded::main);  // the products before these reach the same columns
      forked = aside;
      products(column.near, Recorded::main);
      products(column.far, aside ? Recorded::far : Recorded::main);
    }
    if (forked) lanes_.order(Recorded::far, Recorded::main);
  }

  void panels(const Group &group) {
    if (group.count == 0) return;
    factor_panels<T><<<blocks(group), panel_threads, panel_shared<T>(), lanes_.lane(Recorded::main)>>>(
        v_, jobs(group), group.count, session_.tickets.template as<unsigned>(), plan_.most_large);
    cuda::need_launch("panels");
  }

  void products(const Group &group, Recorded::Lane lane) {
    if (group.count == 0) return;
    if (state_.factors == SXT_FACTORS_LDLH)
      products<true>(group, lanes_.lane(lane));
    else
      products<false>(group, lanes_.lane(lane));
    cuda::need_launch("products");
  }
  template <bool weighted>
  void products(const Group &group, cudaStream_t stream) {
    if constexpr (std::is_same_v<T, double>) return products<weighted, Products::f64>(group, stream);
    if constexpr (std::is_same_v<T, float>) {
      if (plan_.widths.products == 1) return products<weighted, Products::one>(group, stream);
      if (plan_.widths.products == 3) return products<weighted, Products::three>(group, stream);
    }
    if constexpr (!std::is_same_v<T, double>)
      subtract_products<T, weighted><<<blocks(group), product_threads, 0, stream>>>(v_, jobs(group), group.count);
  }
  template <bool weighted, Products by>
  void products(const Group &group, cudaStream_t stream) {
    if (group.tile == wide_tile)
      subtract_products_mma<T, by, wide_tile, 64, 32, weighted>
          <<<blocks(group), 256, mma_shared<T>(wide_tile), stream>>>(v_, jobs(group), group.count);
    else
      subtract_products_mma<T, by, tile, 32, 32, weighted>
          <<<blocks(group), 128, mma_shared<T>(tile), stream>>>(v_, jobs(group), group.count);
  }

  dim3 blocks(const Group &group) const { return {group.blocks, static_cast<unsigned>(state_.room.sets)}; }
  const Job *jobs(const Group &group) const { return state_.jobs.as<const Job>() + group.first; }

  const State &state_;
  const Plan &plan_;
  FactorSession &session_;
  Recorded &lanes_;
  const bool chains_;
  bool follows_ = false;  // the last launch was one of small fronts, after which the next may be chained
  Numbers<T> v_;
};

// A's values where they go, zeros elsewhere, then the captured launches. Throws Failure.
template <class T>
class Factorisation {
 public:
  Factorisation(const State &state, FactorSession &session, const sxt_cholesky_args &args, const sxt_exec &exec)
      : state_(state), s_(state.plan->s), session_(session), args_(args), exec_(exec), stream_(cuda::stream_of(exec)) {}

  // Sets first .. first + count - 1, at most as many as the session has room for.
  void enqueue(std::int64_t first, std::int64_t count) {
    T *const l = set_of<T>(args_.factor, args_.stride_factor, first);
    Call<T> call{l,
                 args_.stride_factor,
                 sextant_cholesky::pivot_rule(args_),
                 nullptr,
                 s_.n,
                 session_.verdicts.template as<Verdict>(),
                 count};
    static_assert(sizeof call <= call_bytes);
    if (args_.pivot_policy != SXT_PIVOT_POLICY_FAIL) {
      call.marks = session_.marks.template as<std::uint8_t>();
      cuda::fill_bytes(&exec_, call.marks, 0, static_cast<std::uint64_t>(count * s_.n), "clear marks");
    }
    if (std::exchange(session_.cut_short, false))
      cuda::fill_bytes(&exec_, session_.tickets.data(), 0, session_.tickets.bytes(), "clear counters");
    cuda::fill_bytes(&exec_, call.verdict, 0xff, static_cast<std::uint64_t>(count) * sizeof(Verdict), "clear verdicts");
    place_call<<<1, 1, 0, stream_>>>(call, session_.call.template as<Call<T>>());
    cuda::need_launch("the start of a factorisation");
    clear(l, count);
    if (args_.value_type != args_.value_type_a)
      scatter<typename HalfOf<T>::type>(first, call);
    else
      scatter<T>(first, call);
    if (!session_.recorded.empty()) session_.recorded.replay(stream_);
  }

  // Where the record of the call has their number.
  std::int64_t *sets() const { return &session_.call.template as<Call<T>>()->sets; }

 private:
  void clear(T *l, std::int64_t count) {
    if (count == 1 || args_.stride_factor == s_.values)
      return cuda::fill_bytes(&exec_, l, 0, static_cast<std::uint64_t>(count * s_.values) * sizeof(T), "clear factors");
    const dim3 blocks(blocks_of(s_.values, 1024), static_cast<unsigned>(count));
    clear_numbers<<<blocks, 1024, 0, stream_>>>(l, args_.stride_factor, s_.values);
    cuda::need_launch("the clearing of factors");
  }
  template <class A>
  void scatter(std::int64_t first, const Call<T> &call) {
    if (s_.n_entries == 0) return;
    constexpr int threads = 256;
    const dim3 blocks(blocks_of(s_.n_entries, threads), static_cast<unsigned>(call.sets));
    scatter_values<<<blocks, threads, 0, stream_>>>(state_.tables, state_.entry_from.as<const std::int64_t>(),
                                                    state_.entry_to.as<const std::int64_t>(), s_.n_entries,
                                                    s_.n_straight, set_of<A>(args_.values, args_.stride_values, first),
                                                    args_.stride_values, call.l, call.stride_l, call.verdict);
    cuda::need_launch("the values of a factor");
  }

  const State &state_;
  const sxt_symbolic &s_;
  FactorSession &session_;
  const sxt_cholesky_args &args_;
  const sxt_exec &exec_;
  const cudaStream_t stream_;
};

template <class T>
sxt_status factor_sets(const State &state, FactorSession &session, const sxt_cholesky_args &args,
                       const sxt_exec *exec) {
  Factorisation<T> factorisation(state, session, args, *exec);
  const Told told{session.verdicts.as<const Verdict>(), session.marks.as<const std::uint8_t>(),
                  session.told.as<std::uint64_t>(), session.changed.data()};
  for (std::int64_t first = 0; first < args.n_sets; first += state.room.sets) {
    const std::int64_t count = std::min(state.room.sets, args.n_sets - first);
    if (is_cancelled(exec->cancel)) return cuda::wait(exec), SXT_NOT_CONVERGED;
    factorisation.enqueue(first, count);
    if (exec->cancel && !session.watch.ends(exec, factorisation.sets()))
      return session.cut_short = true, SXT_NOT_CONVERGED;
    sextant_cholesky::tell_outcomes<T>(state.plan->s, args, exec, first, count, told);
  }
  return SXT_OK;
}

}  // namespace

sxt_status load_factor(const sxt_exec *exec, sxt_value_type type, const Widths &widths) {
  return cuda::with_number(type, [&](auto tag) -> sxt_status {
    using T = typename decltype(tag)::type;
    sxt_status status = SXT_OK;
    const auto load = [&](auto *kernel, std::size_t shared) {
      if (status == SXT_OK) status = cuda::load_with_shared(exec, kernel, shared);
    };
    auto bytes = small_bytes(widths);
    for (std::int64_t &each : bytes) each += small_margin;
    load(scatter_values<T, T>, 0), load(scatter_values<T, typename HalfOf<T>::type>, 0), load(place_call<T>, 0);
    load(clear_numbers<T>, 0);
    load(factor_small_fronts<T, small_threads(0)>, static_cast<std::size_t>(bytes[0]));
    load(factor_small_fronts<T, small_threads(1)>, static_cast<std::size_t>(bytes[1]));
    load(factor_small_fronts<T, small_threads(2)>, static_cast<std::size_t>(bytes[2]));
    load(factor_small_fronts<T, small_threads(3)>, static_cast<std::size_t>(bytes[3]));
    load(assemble_fronts<T>, assemble_shared<T>()), load(factor_panels<T>, panel_shared<T>());
    const auto load_products = [&](auto by) {
      constexpr Products products = decltype(by)::value;
      load(subtract_products_mma<T, products, wide_tile, 64, 32, false>, mma_shared<T>(wide_tile));
      load(subtract_products_mma<T, products, wide_tile, 64, 32, true>, mma_shared<T>(wide_tile));
      load(subtract_products_mma<T, products, tile, 32, 32, false>, mma_shared<T>(tile));
      load(subtract_products_mma<T, products, tile, 32, 32, true>, mma_shared<T>(tile));
    };
    if constexpr (std::is_same_v<T, double>) {
      load_products(std::integral_constant<Products, Products::f64>{});
    } else {
      load(subtract_products<T, false>, 0), load(subtract_products<T, true>, 0);
    }
    if constexpr (std::is_same_v<T, float>) {
      if (widths.products == 1) load_products(std::integral_constant<Products, Products::one>{});
      if (widths.products == 3) load_products(std::integral_constant<Products, Products::three>{});
    }
    return status;
  });
}

namespace {

// Whether the kernels' code, as this device has it, waits where a launch may begin early.
template <class T>
bool chains() {
  cudaFuncAttributes attributes{};
  cuda::need(cudaFuncGetAttributes(&attributes, factor_small_fronts<T, small_threads(0)>), "look at a kernel");
  return attributes.ptxVersion >= chains_from && attributes.binaryVersion >= chains_from;
}

template <class T>
void record(const State &state, FactorSession &session, bool chains) {
  session.recorded.record([&](Recorded &lanes) {
    Recorder<T> recorder(state, session, lanes, chains);
    for (const Level &level : state.plan->levels) recorder.level(level);
  });
}

}  // namespace

void record_factor(const State &state, FactorSession &session) {
  if (state.plan->levels.empty()) return;
  cuda::with_number(state.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (chains<T>()) {
      try {
        return record<T>(state, session, true), SXT_OK;
      } catch (const cuda::Failure &) {  // an older driver records no such order
        cudaGetLastError();
      }
    }
    return record<T>(state, session, false), SXT_OK;
  });
}

sxt_status run_factor(const State &state, FactorSession &session, const sxt_cholesky_args &args, const sxt_exec *exec) {
  return sextant_cholesky::run_to_the_end(
      args, exec, [&](auto tag) { return factor_sets<typename decltype(tag)::type>(state, session, args, exec); });
}

}  // namespace sextant_cholesky_levels
