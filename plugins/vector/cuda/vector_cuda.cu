// SPDX-License-Identifier: BSD-3-Clause
// vector.stream.cuda: every operation as one pass over tiles, in which a thread takes groups of 16 bytes, several in
// flight, a block's width apart; blocks stride over the tiles, or there is one for each. An element only meets itself:
// operands may be the same array, and bits depend on nothing else.
#include <complex>
#include <cstdint>
#include <iterator>

#include "elements.cuh"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace sextant::vector_cuda {
namespace {

// `flight` groups are loaded before the first is used.
template <class T, int width, int flight>
__global__ void element_wise(std::int32_t operation, std::int64_t n, cuda::Scalar<T> alpha_at, cuda::Scalar<T> beta_at,
                             Operands operands) {
  using Numbers = Group<T, width>;
  using Reals = Group<Real<T>, width>;
  const T alpha = alpha_at(), beta = beta_at();
  const auto *x = static_cast<const Numbers *>(operands.x), *y = static_cast<const Numbers *>(operands.y);
  const auto *real = static_cast<const Reals *>(operands.real);
  auto *out = static_cast<Numbers *>(operands.out);
  // Neighbouring groups of one block lie in one stretch of memory: reads and writes disturb each other least so.
  const std::int64_t groups = n / width, stride = blockDim.x, tile = flight * stride;
  for (std::int64_t g = blockIdx.x * tile + threadIdx.x; g < groups; g += gridDim.x * tile) {
    Numbers a[flight]{}, b[flight]{};
    Reals r[flight]{};
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      if (g + f * stride >= groups) continue;
      if (x) a[f] = x[g + f * stride];
      if (y) b[f] = y[g + f * stride];
      if (real) r[f] = real[g + f * stride];
    }
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      if (g + f * stride >= groups) continue;
      Numbers c;
#pragma unroll
      for (int k = 0; k < width; ++k) c.v[k] = result(operation, alpha, beta, a[f].v[k], r[f].v[k], b[f].v[k]);
      out[g + f * stride] = c;
    }
  }
  // Fewer elements than a group are left: one thread each.
  const std::int64_t i = groups * width + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (width == 1 || i >= n) return;
  const T last_x = x ? static_cast<const T *>(operands.x)[i] : T{};
  const T last_y = y ? static_cast<const T *>(operands.y)[i] : T{};
  const Real<T> last_real = real ? static_cast<const Real<T> *>(operands.real)[i] : Real<T>{};
  static_cast<T *>(operands.out)[i] = result(operation, alpha, beta, last_x, last_real, last_y);
}

template <class T, class Index>
__global__ void move_indexed(bool gather, std::int64_t n, const T *x, T *y, const Index *index) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (gather)
      y[i] = x[index[i]];
    else
      y[index[i]] = x[i];  // the kind promises distinct indices
  }
}

// ---- host side

struct State {
  sxt_value_type type;
  std::int64_t blocks, threads, flight;
};

constexpr std::int64_t group_bytes = 16, most_blocks = (std::int64_t{1} << 31) - 1;

bool indexed(std::int32_t operation) { return operation == SXT_VECTOR_GATHER || operation == SXT_VECTOR_SCATTER; }
bool real_x(std::int32_t operation) {
  return operation == SXT_VECTOR_REAL_MULTIPLY || operation == SXT_VECTOR_REAL_DIVIDE;
}

// Which arrays of the call an operation reads and writes.
Operands operands_of(const sxt_vector_args &args) {
  const std::int32_t operation = args.operation;
  const bool to_z = operation == SXT_VECTOR_WAXPBY || operation == SXT_VECTOR_MULTIPLY || real_x(operation);
  const bool reads_x = operation != SXT_VECTOR_FILL && operation != SXT_VECTOR_SCALE && !real_x(operation);
  const bool reads_y = operation != SXT_VECTOR_COPY && operation != SXT_VECTOR_FILL;
  return {reads_x ? args.x : nullptr, reads_y ? args.y : nullptr, real_x(operation) ? args.x : nullptr,
          to_z ? args.z : args.y};
}

bool aligned(const Operands &operands) {
  const auto bits = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p); };
  return (bits(operands.x) | bits(operands.y) | bits(operands.real) | bits(operands.out)) % group_bytes == 0;
}

template <class T, int width, int flight>
void launch(const State &state, const sxt_vector_args &args, const Operands &operands, cudaStream_t stream) {
  const std::int64_t work = cuda::divide_up<std::int64_t>(args.n, width * flight);
  const unsigned blocks = cuda::blocks_for(work, state.threads, state.blocks);
  element_wise<T, width, flight><<<blocks, static_cast<unsigned>(state.threads), 0, stream>>>(
      args.operation, args.n, cuda::scalar_of(args.alpha, number<T>(1)), cuda::scalar_of(args.beta, number<T>(1)),
      operands);
}

template <class T>
void launch_indexed(const State &state, const sxt_vector_args &args, cudaStream_t stream) {
  const unsigned blocks = cuda::blocks_for(args.n, state.threads, state.blocks * state.flight);
  const auto threads = static_cast<unsigned>(state.threads);
  const bool gather = args.operation == SXT_VECTOR_GATHER;
  const auto *x = static_cast<const T *>(args.x);
  auto *y = static_cast<T *>(args.y);
  if (args.index_type == SXT_I32)
    move_indexed<<<blocks, threads, 0, stream>>>(gather, args.n, x, y, static_cast<const std::int32_t *>(args.index));
  else
    move_indexed<<<blocks, threads, 0, stream>>>(gather, args.n, x, y, static_cast<const std::int64_t *>(args.index));
}

template <class T>
void enqueue(const State &state, const sxt_vector_args &args, cudaStream_t stream) {
  if (indexed(args.operation)) return launch_indexed<T>(state, args, stream);
  constexpr int width = group_bytes / sizeof(T);
  const Operands operands = operands_of(args);
  if (!aligned(operands))
    launch<T, 1, 4>(state, args, operands, stream);
  else if (state.flight == 1)
    launch<T, width, 1>(state, args, operands, stream);
  else
    launch<T, width, 4>(state, args, operands, stream);
}

// The device's form of a value type.
template <class F>
sxt_status with_form(sxt_value_type type, F &&f) {
  switch (type) {
    case SXT_F32: return f(Tag<float>{});
    case SXT_F64: return f(Tag<double>{});
    case SXT_C64: return f(Tag<Complex<float>>{});
    case SXT_C128: return f(Tag<Complex<double>>{});
    default: return SXT_E_TYPE;
  }
}

// Elements read and written for each element, from the kind's table; operations with a real x read half of a complex.
double bytes_moved(const sxt_vector_query &q) {
  const double element = static_cast<double>(value_bytes(q.q.value_type));
  const bool complex = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128;
  double moved = 3;
  switch (q.operation) {
#define SXT_X(suffix, value, name, formula, reads, writes) \
  case value: moved = reads + writes; break;
    SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
    default: break;
  }
  if (indexed(q.operation)) return element + static_cast<double>(index_bytes(q.index_type));
  return element * (moved - (real_x(q.operation) && complex ? 0.5 : 0));
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (q.operation >= SXT_VECTOR_COPY && q.operation <= SXT_VECTOR_REAL_DIVIDE) return SXT_OK;
  return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_VECTOR_COPY, SXT_VECTOR_REAL_DIVIDE);
}

// Groups of 16 bytes that a thread takes at once, in blocks that take one tile each or in as many as the device holds.
struct Configuration {
  std::int64_t threads, flight;
  bool one_tile;
};
constexpr Configuration configurations[] = {{128, 1, true},  {256, 1, true},  {256, 4, true}, {512, 4, true},
                                            {256, 1, false}, {256, 4, false}, {512, 1, false}};
constexpr auto configuration_count = static_cast<std::uint32_t>(std::size(configurations));

// What a configuration takes over the best of its kind, as measured on one machine with 132 multiprocessors: the choice
// before a calibration. Operands beyond the last cache: one tile a block, of one group a thread where one stream is
// read, of four where two are. Within it: as many blocks as the device holds.
double lost(const Configuration &c, std::uint32_t traffic, bool beyond_cache) {
  if (!beyond_cache) return c.flight > 1 ? 1.1 : c.one_tile || c.threads != 256 ? 1.02 : 1;
  const bool one_read = traffic <= 2;
  if (!c.one_tile || c.flight != (one_read ? 1 : 4)) return 1.05;
  return c.threads == (one_read ? 128 : 256) ? 1 : 1.02;
}

// Operations that read and write alike are fitted together: a memory serves each mixture at a speed of its own.
std::uint32_t traffic_class(std::int32_t operation) {
  switch (operation) {
    case SXT_VECTOR_FILL: return 0;
    case SXT_VECTOR_COPY: return 1;
    case SXT_VECTOR_SCALE: return 2;
    case SXT_VECTOR_AXPY:
    case SXT_VECTOR_AXPBY: return 3;
    case SXT_VECTOR_GATHER: return 4;
    case SXT_VECTOR_SCATTER: return 5;
    default: return 6;
  }
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  cuda::CudaCost cost;
  cost.stream_bytes = n * bytes_moved(q);
  cost.working_set = cost.stream_bytes + (indexed(q.operation) ? n * element : 0);
  if (indexed(q.operation)) {
    // Indices may jump anywhere: a sector each, and a miss for what the last cache does not hold.
    const double vector_bytes = n * element, cache = static_cast<double>(machine->cache_bytes);
    cost.sectors = n * (element > 32 ? element / 32 : 1);
    cost.gathers = vector_bytes > cache ? n * (1 - cache / vector_bytes) : 0;
  }
  cost.flops = n * (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128 ? 8 : 2);
  CandidateList list(out, capacity, count);
  const std::uint32_t traffic = traffic_class(q.operation);
  std::uint32_t model_class = configuration_count * traffic;
  const bool beyond_cache = cost.working_set > static_cast<double>(machine->cache_bytes);
  const double bytes = cost.stream_bytes;
  for (const Configuration &c : configurations) {
    const std::int64_t width = group_bytes / static_cast<std::int64_t>(value_bytes(q.q.value_type)) * c.flight;
    const std::int64_t blocks = cuda::blocks_for(cuda::divide_up<std::int64_t>(q.n, width), c.threads,
                                                 c.one_tile ? most_blocks : cuda::resident_blocks(*machine, c.threads));
    cost.stream_bytes = bytes * lost(c, traffic, beyond_cache);
    sxt_candidate &candidate = cuda::fill(list.add(), *machine, blocks, c.threads, width, cost);
    candidate.model_class = model_class++;
    candidate.state_bytes = sizeof(State);
  }
  return SXT_OK;
}

// Registers a thread as the compiler reports them for the variant that needs most.
sxt_status launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  return cuda::plain_launch_config(*candidate, 80, out), SXT_OK;
}

// Everything a run of this type may launch.
template <class T>
sxt_status load_code(const sxt_exec *exec) {
  constexpr int width = group_bytes / sizeof(T);
  sxt_status status = cuda::load(exec, element_wise<T, 1, 4>);
  if (status == SXT_OK) status = cuda::load(exec, element_wise<T, width, 1>);
  if (status == SXT_OK) status = cuda::load(exec, element_wise<T, width, 4>);
  if (status == SXT_OK) status = cuda::load(exec, move_indexed<T, std::int32_t>);
  return status == SXT_OK ? cuda::load(exec, move_indexed<T, std::int64_t>) : status;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const sxt_value_type type = problem->query->value_type;
    const sxt_status loaded = with_form(type, [&](auto tag) { return load_code<typename decltype(tag)::type>(exec); });
    if (loaded != SXT_OK) return loaded;
    const std::int64_t width = group_bytes / static_cast<std::int64_t>(value_bytes(type));
    if (!candidate || candidate->launch[0] < 1) return give(new State{type, 1024, 256, 1}, state);
    return give(new State{type, candidate->launch[0], candidate->launch[1], candidate->launch[2] / width}, state);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_vector_args>(head);
  if (args.operation < SXT_VECTOR_COPY || args.operation > SXT_VECTOR_REAL_DIVIDE)
    return error(exec, SXT_E_NOT_SUPPORTED, "vector operation %d is unknown", args.operation);
  if (args.n <= 0) return SXT_OK;
  return with_form(state.type, [&](auto tag) {
    enqueue<typename decltype(tag)::type>(state, args, cuda::stream_of(*exec));
    return cuda::launched(exec, "a vector operation");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR, "vector.stream.cuda", "cuda",
                            "one pass, groups of 16 bytes, a stride over the grid", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.version = 2;
  k.term_names = cuda::cuda_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  k.launch_config = launch_config;
  k.prepare = prepare;
  k.release = destroy<State>;
  return k;
}();

}  // namespace
}  // namespace sextant::vector_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&sextant::vector_cuda::kernel};
  static const sxt_plugin plugin = describe("vector-cuda", kernels);
  return *out = &plugin, SXT_OK;
}
