// SPDX-License-Identifier: BSD-3-Clause
#include "lock_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "session.hpp"

namespace graph {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

namespace {

std::int32_t multiprocessors() {
  int device = 0, units = 0;
  cuda::need(cudaGetDevice(&device), "ask for the device");
  cuda::need(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "count multiprocessors");
  return units;
}

// Of one block of vectors.
std::uint64_t block_bytes(std::int64_t n, sxt_value_type type, std::int32_t columns) {
  return vector_bytes(n * width_for(columns), type);
}
constexpr std::uint64_t partials_place = (sizeof(ColumnStates) + 255) / 256 * 256,
                        squares_place = most_columns * sizeof(Report);

}  // namespace

std::uint64_t columns_bytes(std::int64_t n, sxt_value_type type, std::int32_t columns, bool preconditioned) {
  return (preconditioned ? 6 : 4) * block_bytes(n, type, columns);
}

ColumnsSession::ColumnsSession(const ColumnsState &state, const sxt_filled *slots, const sxt_exec &exec)
    : vectors_(&exec, columns_bytes(state.n, state.type, state.columns, state.preconditioned),
               "the vectors of several right-hand sides"),
      ops_(&device_ops(exec)),
      device_(exec.device),
      side_(exec) {
  work_.type = state.type;
  work_.width = width_for(state.columns);
  work_.n = state.n;
  follow(state.a);
  shape_kernels(work_, state.a.s.nnz, multiprocessors());
  work_.room = 2 * state.block + 2;
  scalars_ = cuda::DeviceArray(&exec, partials_place + partial_bytes(work_), "the scalars of right-hand sides");
  const auto history = static_cast<std::uint64_t>(most_columns * work_.room) * sizeof(double);
  pinned_ = cuda::DeviceArray(&exec, squares_place + history, "residual norms", cuda::Life::state, SXT_SPACE_PINNED);
  void **const blocks[] = {&work_.x, &work_.r, &work_.p, &work_.q, &work_.z, &work_.t};
  for (std::uint64_t i = 0; i < (state.preconditioned ? 6u : 4u); ++i)
    *blocks[i] = vectors_.as<char>() + i * block_bytes(state.n, state.type, state.columns);
  if (state.preconditioned) {
    m_ = *slots[0].parts[0];
    scratch_ = cuda::DeviceArray(&exec, static_cast<std::uint64_t>(work_.width) * m_.scratch_bytes,
                                 "a preconditioner of several columns");
  }
  work_.states = scalars_.as<ColumnStates>();
  work_.partials = reinterpret_cast<double *>(scalars_.as<char>() + partials_place);
  work_.reports = pinned_.as<Report>();
  work_.squared_residuals = reinterpret_cast<double *>(pinned_.as<char>() + squares_place);
  residuals.reserve(static_cast<std::size_t>(work_.room));
  squares.reserve(static_cast<std::size_t>(work_.room));
  load_column_kernels(work_, exec);
  cuda::fill_bytes(&exec, vectors_.data(), 0, vectors_.bytes(), "clear the vectors");
  cuda::fill_bytes(&exec, scalars_.data(), 0, scalars_.bytes(), "clear the scalars");
  std::memset(pinned_.data(), 0, pinned_.bytes());
}

void ColumnsSession::follow(const sxt_csr &a) {
  if (work_.row_ptr == a.row_ptr && work_.col == a.col && work_.values == a.values) return;
  drop();
  work_.row_ptr = static_cast<const std::int32_t *>(a.row_ptr);
  work_.col = static_cast<const std::int32_t *>(a.col);
  work_.values = a.values;
}

void ColumnsSession::drop() noexcept {
  for (void *&graph : graphs_)
    if (graph) ops_->graph_destroy(device_, graph), graph = nullptr;
}

void ColumnsSession::precondition(const void *r, const sxt_exec &exec) const {
  sxt_preconditioner_columns_args args{};
  args.one.h = plugin::head<sxt_preconditioner_columns_args>(SXT_KIND_PRECONDITIONER);
  args.one.n = work_.n;
  args.one.r = r;
  args.one.z = work_.t;
  args.n_rhs = work_.width;
  sxt_exec its = exec;
  its.scratch = scratch_.data();
  its.scratch_bytes = scratch_.bytes();
  if (const sxt_status status = plugin::run(m_, args.one.h, its); status != SXT_OK)
    throw cuda::Failure(status, "%s failed on several columns", m_.kernel);
}

int ColumnsSession::evaluate(bool fresh, const sxt_exec &exec) const {
  evaluate_columns(work_, fresh, exec);
  if (!m_.run) return 1;
  precondition(work_.q, exec);
  judge_columns(work_, fresh, exec);
  return 3;
}

int ColumnsSession::begin(const sxt_exec &exec) const {
  if (m_.run) precondition(work_.r, exec);
  begin_columns(work_, exec);
  return m_.run ? 2 : 1;
}

std::int64_t ColumnsSession::enqueue(std::int64_t iterations, const sxt_exec &exec) const {
  std::int64_t calls = 0;
  for (std::int64_t i = 0; i < iterations; ++i) {
    step_columns(work_, exec);
    calls += 1 + evaluate(false, exec);
  }
  return calls;
}

void ColumnsSession::launch(std::int64_t iterations, bool is_long, const sxt_exec &exec) {
  void *&graph = graphs_[is_long];
  if (!graph && !capture_refused_) {
    graph = capture(exec, side_.stream(), [&](const sxt_exec &capturing) { enqueue(iterations, capturing); });
    capture_refused_ = !graph;
  }
  if (!graph) {
    launches += enqueue(iterations, exec);
    return;
  }
  ++launches;
  if (const sxt_status status = ops_->graph_launch(exec.device, exec.stream, graph))
    throw cuda::Failure(status, "a captured block of %lld iterations could not be launched", (long long)iterations);
}

LockStep::LockStep(const ColumnsState &state, ColumnsSession &session, const sxt_pcg_columns_args &args,
                   const sxt_exec &exec)
    : state_(state), session_(session), exec_(exec), active_(args.n_rhs) {
  session.follow(state.a);
  session.launches = 0;
  for (std::int32_t j = 0; j < args.n_rhs; ++j) {
    Column &column = columns_[static_cast<std::size_t>(j)];
    column.all = this;
    column.active = true;
    column.number = j;
    column.args = &args.columns[j];
    column.conversation.emplace(*column.args, exec, column, session.residuals);
  }
}

void LockStep::run() {
  enter();
  while (active_ > 0) {
    if (request()) {
      const std::int64_t iterations = wanted();
      for (Column &column : columns_)
        if (column.active) column.args->products += iterations;
      session_.launch(iterations, iterations == state_.block, exec_);
    }
    if (const sxt_status status = exec_.host->synchronize(exec_.host, &exec_))
      throw cuda::Failure(status, "a block of iterations failed on the device");
    take();
  }
}

// x and r = b - A x of all columns.
void LockStep::enter() {
  ColumnSources sources{};
  for (Column &column : columns_) {
    if (!column.active) continue;
    column.conversation->begin();
    sources.b[column.number] = column.args->b;
    sources.x[column.number] = column.args->x_is_zero ? nullptr : column.args->x;
  }
  enter_columns(session_.work(), sources, exec_);
  ++session_.launches;
  for (Column &column : columns_)
    if (column.active && !column.args->x_is_zero) residual(column);
}

void LockStep::residual(Column &column) {
  column_residual(session_.work(), column.number, column.args->b, exec_);
  ++session_.launches;
  ++column.args->products;
}

// Copies the iterate to its caller: rows of x hold all columns.
const void *LockStep::solution(Column &column) {
  leave_column(session_.work(), column.number, column.args->x, exec_);
  ++session_.launches;
  return column.args->x;
}

void LockStep::finish(Column &column) {
  solution(column);
  column.args->launches = static_cast<std::int32_t>(session_.launches);
  column.active = false;
  --active_;
}

// Sends the block's request for each column to the device, and evaluates where numbers are missing. Returns whether any
// column has iterations to do.
bool LockStep::request() {
  ColumnRequests requests{};
  bool any_standing = false, any_restart = false, any = false;
  for (Column &column : columns_) {
    if (!column.active) continue;
    const pcg::Block &block = column.block = column.conversation->next();
    const sxt_pcg_args &args = *column.args;
    // Where only the block's length ends it, its last evaluation need not stop.
    const bool due =
        block.last >= args.max_iterations || (args.replace_every > 0 && block.last % args.replace_every == 0);
    requests.of[column.number] = {block.first,
                                  due ? block.last : block.last + 1,
                                  block.tolerance * block.tolerance,
                                  block.replaced_from,
                                  block.test_first,
                                  block.restart,
                                  column.standing,
                                  0};
    requests.asked[column.number] = 1;
    any = any || block.last > block.first;
    any_standing = any_standing || column.standing;
    any_restart = any_restart || (column.standing && block.restart);
    column.args->products += column.standing;
  }
  configure_columns(session_.work(), requests, exec_);
  ++session_.launches;
  // With M, M r of a replaced residual has to be computed, too.
  if (any_restart || (any_standing && state_.preconditioned)) session_.launches += session_.begin(exec_);
  if (any_standing) session_.launches += session_.evaluate(true, exec_);
  return any;
}

// A long block, or a short one where convergence or the limit is so near for all columns that most of a long one would
// be idle.
std::int64_t LockStep::wanted() const {
  std::int64_t most = 1;
  for (const Column &column : columns_)
    if (column.active) most = std::max(most, iterations_left(column.block, column.rate, column.last_squared));
  return most <= 2 * short_block(state_.block) ? short_block(state_.block) : state_.block;
}

// The results of the block, column by column; some end with it.
void LockStep::take() {
  const ColumnWork &work = session_.work();
  for (Column &column : columns_) {
    if (!column.active) continue;
    ++column.args->reductions;
    column.args->launches = static_cast<std::int32_t>(session_.launches);
    const Report report = work.reports[column.number];
    column.standing = report.ended != Ended::running;
    session_.squares.clear();
    for (std::int64_t k = column.block.first; k <= report.iterate; ++k)
      session_.squares.push_back(work.squared_residuals[column.number * work.room + k % work.room]);
    if (session_.squares.empty()) session_.squares.push_back(0);  // the conversation finds that no work was done
    column.last_squared = session_.squares.back();
    const auto steps = static_cast<double>(report.iterate - column.block.first);
    column.rate = steps > 0 ? std::log(session_.squares.front() / column.last_squared) / steps : 0;
    column.conversation->take({report.ended, report.iterate, session_.squares.data()});
  }
}

}  // namespace graph
