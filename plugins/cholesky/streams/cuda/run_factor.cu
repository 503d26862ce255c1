// SPDX-License-Identifier: BSD-3-Clause
// The factorisation: one thread of the host issues the tasks of the assembly tree, first in, first out, to the streams
// in turn. A task that writes a block column, or reads one, waits for the task that wrote it last: writers of one block
// column stand in the order in which they were issued, whatever the number of streams, and so do the sums.
#include <cuda_runtime.h>

#include <algorithm>

#include "dense_calls.hpp"
#include "factor_kernels.cuh"
#include "sextant/sdk/cancel.hpp"
#include "state.hpp"

namespace sextant_cholesky_streams {
namespace {

using namespace sextant::plugin;
using sextant_cholesky::Told, sextant_cholesky::set_of, sextant_cholesky::blocks_of, sextant_cholesky::HalfOf,
    sextant_cholesky::scatter_values;
using sextant_dense::device::factor_panel, sextant_dense::device::Panel, sextant_dense::device::panel_width;

template <class T>
std::size_t tile_shared(std::int64_t width) {
  return sizeof(T) * 2 * tile_ld * static_cast<std::size_t>(width);
}

// One set of values.
template <class T>
struct Call {
  const void *values;
  bool half;
  T *l;
  Verdict *verdict;
  std::uint8_t *marks;  // NULL: no pivot may be changed
};

template <class T>
class Factorisation {
 public:
  Factorisation(const State &state, FactorSession &session, const sxt_cholesky_args &args, const sxt_exec &exec,
                const Call<T> &call)
      : state_(state),
        plan_(*state.plan),
        s_(plan_.s),
        session_(session),
        lanes_(session.lanes),
        args_(args),
        exec_(exec),
        call_(call),
        rule_(sextant_cholesky::pivot_rule(args)) {}

  // Enqueues all of it; false where it was cancelled. Throws Failure.
  bool enqueue() {
    const cudaStream_t stream = cuda::stream_of(exec_);
    begin(stream);
    leaf_subtrees(stream);
    lanes_.fork(stream);
    try {
      std::fill(session_.last.begin(), session_.last.end(), Mark{});
      for (const std::int32_t p : plan_.fifo) {
        if (is_cancelled(exec_.cancel)) return cuda::need(lanes_.join(stream), "join streams"), false;
        if (!plan_.is_factored(p)) continue;
        if (plan_.is_narrow(p))
          narrow(p);
        else
          block_columns(p), ancestors(p);
      }
    } catch (...) {
      lanes_.join(stream);
      throw;
    }
    cuda::need(lanes_.join(stream), "join streams");
    return true;
  }

 private:
  bool definite() const { return rule_.definite; }
  Block<T> front(std::int64_t p) const { return {call_.l + s_.value_ptr[p], plan_.rows(p)}; }
  Judge how() const { return {rule_, call_.marks, call_.verdict}; }
  T *buffer(int lane) const { return session_.buffers.template as<T>() + lane * plan_.buffer_values; }
  DenseCalls<T> dense(int lane) const {
    sxt_exec exec = exec_;
    exec.stream = lanes_.stream(lane);
    return DenseCalls<T>(*session_.dense[static_cast<std::size_t>(lane)], state_.type, !definite(), exec);
  }

  // A's values where they go, zeros elsewhere.
  void begin(cudaStream_t stream) {
    cuda::fill_bytes(&exec_, call_.l, 0, static_cast<std::uint64_t>(s_.values) * sizeof(T), "clear the factor");
    cuda::fill_bytes(&exec_, call_.verdict, 0xff, sizeof(Verdict), "clear a verdict");
    if (call_.marks) cuda::fill_bytes(&exec_, call_.marks, 0, static_cast<std::uint64_t>(s_.n), "clear marks");
    if (s_.n_entries == 0) return;
    if (call_.half)
      scatter(stream, static_cast<const typename HalfOf<T>::type *>(call_.values));
    else
      scatter(stream, static_cast<const T *>(call_.values));
  }
  template <class A>
  void scatter(cudaStream_t stream, const A *values) {
    constexpr int threads = 256;
    scatter_values<<<blocks_of(s_.n_entries, threads), threads, 0, stream>>>(
        state_.tables, state_.entry_from.as<const std::int64_t>(), state_.entry_to.as<const std::int64_t>(),
        s_.n_entries, s_.n_straight, values, 0, call_.l, 0, call_.verdict);
    cuda::need_launch("the values of a factor");
  }

  void leaf_subtrees(cudaStream_t stream) {
    if (plan_.subtrees.empty()) return;
    T *const updates = session_.updates.template as<T>();
    const auto *trees = state_.subtrees.as<const Subtree>();
    cuda::fill_bytes(&exec_, updates, 0, static_cast<std::uint64_t>(plan_.update_values) * sizeof(T),
                     "clear contributions");
    factor_subtrees<<<static_cast<unsigned>(plan_.subtrees.size()), subtree_threads,
                      static_cast<std::size_t>(plan_.limits.panel) * sizeof(T), stream>>>(state_.tables, trees, call_.l,
                                                                                          updates, how());
    cuda::need_launch("leaf subtrees");
    if (plan_.columns.empty()) return;
    const Contributions given{state_.contributed.as<const std::int32_t>(), state_.column_at.as<const std::int64_t>(),
                              state_.from_tree.as<const std::int32_t>(), state_.from_row.as<const std::int32_t>()};
    assemble_columns<<<static_cast<unsigned>(plan_.columns.size()), assemble_threads, 0, stream>>>(
        state_.tables, given, trees, updates, call_.l);
    cuda::need_launch("the contributions of subtrees");
  }

  // potrf of `width` columns, and trsm of the rows below them.
  void panel(int lane, Block<T> a, std::int64_t rows, std::int64_t width, std::int64_t first_column) {
    const Panel<T> p{a.data,
                     a.ld,
                     rows,
                     static_cast<int>(width),
                     rule_,
                     call_.marks ? call_.marks + first_column : nullptr,
                     &call_.verdict->failed,
                     first_column,
                     nullptr,
                     0,
                     session_.tickets.template as<unsigned>() + lane};
    factor_panel<<<sextant_dense::device::panel_blocks(rows, p.width), sextant_dense::device::panel_threads,
                   sextant_dense::device::panel_shared<T>(rows, p.width), lanes_.stream(lane)>>>(p);
    cuda::need_launch("a panel");
  }

  // Two launches: potrf with trsm; all that it takes off its ancestors.
  void narrow(std::int64_t p) {
    const int lane = lanes_.next();
    Mark &own = session_.last[static_cast<std::size_t>(plan_.blocks_begin(p))];
    lanes_.wait(lane, own);
    panel(lane, front(p), plan_.rows(p), plan_.width(p), s_.super_ptr[p]);
    plan_.targets(p, session_.targets);
    for (const Target &t : session_.targets) lanes_.wait(lane, session_.last[static_cast<std::size_t>(t.block)]);
    const std::int64_t tiles = (plan_.below(p) + tile - 1) / tile;
    if (tiles > 0) {
      update_by_tiles<<<static_cast<unsigned>(tiles * (tiles + 1) / 2), tile_threads, tile_shared<T>(plan_.width(p)),
                        lanes_.stream(lane)>>>(state_.tables, static_cast<int>(p), call_.l, definite());
      cuda::need_launch("a narrow supernode's update");
    }
    own = lanes_.done(lane);
    for (const Target &t : session_.targets) session_.last[static_cast<std::size_t>(t.block)] = own;
  }

  // The block columns of one supernode, right-looking.
  void block_columns(std::int64_t p) {
    const Block<T> whole = front(p);
    const std::int64_t begin = plan_.blocks_begin(p), end = plan_.blocks_begin(p + 1);
    for (std::int64_t b = begin; b < end; ++b) {
      const std::int64_t c = s_.block_ptr[b] - s_.super_ptr[p], width = plan_.block_width(b);
      factor_block_column(whole.at(c, c), plan_.rows(p) - c, width, b);
      for (std::int64_t d = b + 1; d < end; ++d) {
        const std::int64_t at = s_.block_ptr[d] - s_.super_ptr[p], columns = plan_.block_width(d);
        const int lane = lanes_.next();
        lanes_.wait(lane, session_.last[static_cast<std::size_t>(b)]);
        lanes_.wait(lane, session_.last[static_cast<std::size_t>(d)]);
        DenseCalls<T> calls = dense(lane);
        calls.syrk(whole.at(at, c), whole.at(at, at), columns, width, whole.at(c, c));
        calls.gemm(whole.at(at + columns, c), whole.at(at, c), whole.at(at + columns, at), plan_.rows(p) - at - columns,
                   columns, width, whole.at(c, c));
        session_.last[static_cast<std::size_t>(d)] = lanes_.done(lane);
      }
    }
  }

  void factor_block_column(Block<T> a, std::int64_t rows, std::int64_t width, std::int64_t b) {
    const int lane = lanes_.next();
    Mark &own = session_.last[static_cast<std::size_t>(b)];
    lanes_.wait(lane, own);
    DenseCalls<T> calls = dense(lane);
    const bool at_once = plan_.mapping == Mapping::joined && width <= panel_width;
    for (std::int64_t j = 0; j < width; j += panel_width) {
      const std::int64_t columns = std::min<std::int64_t>(panel_width, width - j), rest = width - j - columns;
      panel(lane, a.at(j, j), at_once ? rows : width - j, columns, s_.block_ptr[b] + j);
      calls.syrk(a.at(j + columns, j), a.at(j + columns, j + columns), rest, columns, a.at(j, j));
    }
    own = lanes_.done(lane);
    if (at_once || rows == width) return;
    const int next = lanes_.next();
    lanes_.wait(next, own);
    dense(next).trsm(a, a.at(width, 0), rows - width, width);
    own = lanes_.done(next);
  }

  // For each block column that rows of p belong to: the product in the stream's buffer, then modify.
  void ancestors(std::int64_t p) {
    plan_.targets(p, session_.targets);
    const Mark ready = session_.last[static_cast<std::size_t>(plan_.blocks_begin(p + 1) - 1)];
    for (const Target &t : session_.targets) {
      const int lane = lanes_.next();
      lanes_.wait(lane, ready);
      const std::int64_t step = Plan::product_columns(plan_.rows(p) - t.begin);
      for (std::int64_t begin = t.begin; begin < t.end; begin += step)
        one_product(p, t, begin, std::min<std::int64_t>(step, t.end - begin), lane);
      session_.last[static_cast<std::size_t>(t.block)] = lanes_.done(lane);
    }
  }

  void one_product(std::int64_t p, const Target &t, std::int64_t begin, std::int64_t columns, int lane) {
    constexpr std::int64_t few = 256;  // the part above the diagonal costs less than another launch
    const Block<T> a = front(p);
    const std::int64_t count = plan_.rows(p) - begin, width = plan_.width(p);
    const Block<T> product{buffer(lane), count};
    cuda::need(
        cudaMemsetAsync(product.data, 0, static_cast<std::size_t>(count * columns) * sizeof(T), lanes_.stream(lane)),
        "clear a product");
    DenseCalls<T> calls = dense(lane);
    if (plan_.mapping == Mapping::joined && columns <= few) {
      calls.gemm(a.at(begin, 0), a.at(begin, 0), product, count, columns, width, a);
    } else {
      calls.syrk(a.at(begin, 0), product, columns, width, a);
      calls.gemm(a.at(begin + columns, 0), a.at(begin, 0), product.at(columns, 0), count - columns, columns, width, a);
    }
    lanes_.wait(lane, session_.last[static_cast<std::size_t>(t.block)]);
    const dim3 blocks(blocks_of(count, modify_threads), blocks_of(columns, modify_columns));
    modify<<<blocks, modify_threads, 0, lanes_.stream(lane)>>>(
        state_.tables, static_cast<int>(p), plan_.super_of[s_.block_ptr[t.block]], static_cast<int>(begin),
        static_cast<int>(columns), product.data, count, call_.l);
    cuda::need_launch("modify");
  }

  const State &state_;
  const Plan &plan_;
  const sxt_symbolic &s_;
  FactorSession &session_;
  Lanes &lanes_;
  const sxt_cholesky_args &args_;
  const sxt_exec &exec_;
  const Call<T> call_;
  const PivotRule rule_;
};

template <class T>
sxt_status factor_sets(const State &state, FactorSession &session, const sxt_cholesky_args &args,
                       const sxt_exec *exec) {
  const bool half = args.value_type != args.value_type_a;
  const std::int64_t value = static_cast<std::int64_t>(half ? sizeof(T) / 2 : sizeof(T));
  const Told told{session.verdicts.as<const Verdict>(), session.marks.as<const std::uint8_t>(), session.told.data(),
                  session.changed.data()};
  for (std::int64_t first = 0; first < args.n_sets; first += state.sets) {
    const std::int64_t count = std::min(state.sets, args.n_sets - first);
    for (std::int64_t place = 0; place < count; ++place) {
      const std::int64_t set = first + place;
      Call<T> call{};
      call.values = static_cast<const char *>(args.values) + set * args.stride_values * value;
      call.half = half;
      call.l = set_of<T>(args.factor, args.stride_factor, set);
      call.verdict = session.verdicts.as<Verdict>() + place;
      if (args.pivot_policy != SXT_PIVOT_POLICY_FAIL)
        call.marks = session.marks.as<std::uint8_t>() + place * state.plan->s.n;
      if (!Factorisation<T>(state, session, args, *exec, call).enqueue()) return cuda::wait(exec), SXT_NOT_CONVERGED;
    }
    sextant_cholesky::tell_outcomes<T>(state.plan->s, args, exec, first, count, told);
  }
  return SXT_OK;
}

}  // namespace

sxt_status load_factor(const sxt_exec *exec, sxt_value_type type, const Limits &limits) {
  return cuda::with_number(type, [&](auto tag) -> sxt_status {
    using T = typename decltype(tag)::type;
    sxt_status status = cuda::load(exec, scatter_values<T, T>);
    if (status == SXT_OK) status = cuda::load(exec, scatter_values<T, typename HalfOf<T>::type>);
    if (status == SXT_OK) status = cuda::load(exec, assemble_columns<T>);
    if (status == SXT_OK) status = cuda::load(exec, modify<T>);
    const auto panel = static_cast<std::size_t>(limits.panel);
    if (status == SXT_OK) status = cuda::load_with_shared(exec, factor_subtrees<T>, panel * sizeof(T));
    if (status == SXT_OK)
      status = cuda::load_with_shared(exec, update_by_tiles<T>, tile_shared<T>(limits.narrow_width));
    if (status == SXT_OK)
      status = cuda::load_with_shared(exec, factor_panel<T>,
                                      sextant_dense::device::panel_shared<T>(panel_width + 1, panel_width));
    return status;
  });
}

sxt_status run_factor(const State &state, FactorSession &session, const sxt_cholesky_args &args, const sxt_exec *exec) {
  return sextant_cholesky::run_to_the_end(
      args, exec, [&](auto tag) { return factor_sets<typename decltype(tag)::type>(state, session, args, exec); });
}

}  // namespace sextant_cholesky_streams
