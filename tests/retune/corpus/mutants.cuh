// SPDX-License-Identifier: BSD-3-Clause
// What makes a kernel notice its block size, its grid, its warps, or the order of threads: each a change of a value v that
// an otherwise harmless kernel would have written at index i.
#pragma once
#include <cassert>
#include <cstdio>

#define ARGUMENTS T v, I i, I n, const T *x, T *z
#define MUTANT(name, ...)                                \
  struct name {                                          \
    template <typename T, typename I>                    \
    static __device__ __forceinline__ T at(ARGUMENTS) {  \
      __VA_ARGS__;                                       \
    }                                                    \
  };
// A register that inline PTX fills.
#define SPECIAL(name, text)                              \
  MUTANT(name, unsigned r; asm volatile(text : "=r"(r)); return v + T(r))

template <typename T>
__device__ __noinline__ T with_argument(T v, unsigned k) { return v + T(k * k); }
template <typename T>
__device__ __noinline__ T with_shuffle(T v) { return v + __shfl_xor_sync(~0u, v, 1); }
template <typename T>
__device__ __noinline__ T recursive(T v, int depth) { return depth <= 0 ? v : T(2) * recursive(v + T(1), depth - 1) - v; }
template <typename T>
__device__ __noinline__ T twice(T v) { return v + v; }
template <typename T>
__device__ __noinline__ T thrice(T v) { return v + v + v; }

// Numbers of the shape as values.
MUTANT(BlockSizeAsValue, return v + T(blockDim.x))
MUTANT(ThreadAlone, return v + T(threadIdx.x))
MUTANT(BlockAlone, return v + T(blockIdx.x))
MUTANT(GridAsValue, return v * T(gridDim.x))
MUTANT(ThreadAsAddress, return v + x[threadIdx.x])
MUTANT(BlockAsAddress, z[n + blockIdx.x] = v; return v)
MUTANT(FirstThread, if (threadIdx.x == 0) v += T(1); return v)
MUTANT(LastBlock, if (blockIdx.x + 1 == gridDim.x) v += T(1); return v)
MUTANT(LaneOfThread, return v + T(threadIdx.x & 31))
MUTANT(WarpOfThread, return v + T(threadIdx.x >> 5))
MUTANT(QuotientOfIndex, return v + T(i / I(blockDim.x)))
MUTANT(RemainderOfIndex, return v + T(i % I(blockDim.x)))
MUTANT(IndexLessThread, return v + T(i - I(threadIdx.x)))
MUTANT(Partner, return v + x[I(blockIdx.x) * I(blockDim.x) + I(threadIdx.x ^ 1u)])
MUTANT(Transposed, return v + x[(I(threadIdx.x) * I(gridDim.x) + I(blockIdx.x)) % n])
MUTANT(BlocksBackwards, return v + x[(I(gridDim.x - 1 - blockIdx.x) * I(blockDim.x) + I(threadIdx.x)) % n])
MUTANT(BakedBlock, return v + x[(I(blockIdx.x) * 256 + I(threadIdx.x)) % n])
MUTANT(BlockOfTwo, return v + x[(I(blockIdx.x) * I(blockDim.x) * 2 + I(threadIdx.x)) % n])
MUTANT(BlockAndOne, return v + x[(I(blockIdx.x) * I(blockDim.x + 1) + I(threadIdx.x)) % n])
MUTANT(NextBlock, return v + x[(I(blockIdx.x + 1) * I(blockDim.x) + I(threadIdx.x)) % n - I(threadIdx.x) % 2])
MUTANT(StrideOfBlock, for (I k = i; k < n; k += I(blockDim.x)) v += x[k]; return v)
MUTANT(StrideOfGrid, for (I k = i; k < n; k += I(gridDim.x)) v += x[k]; return v)
MUTANT(LoopOverBlocks, for (unsigned k = 0; k < gridDim.x; ++k) v += x[k % n]; return v)
MUTANT(LeastBlock, return v + T(min(blockDim.x, 96u)))
MUTANT(SelectThread, return v + x[v > T(1) ? I(threadIdx.x) : i])
MUTANT(ShortIndex, return v + T(static_cast<unsigned short>(blockIdx.x * 3 + threadIdx.x)))
MUTANT(LocalThread, T kept[4]; kept[i & 3] = T(threadIdx.x); kept[(i + 1) & 3] = v; return kept[n & 3])
MUTANT(ThreadAsArgument, return with_argument(v, threadIdx.x))
MUTANT(SecondDimension, return v + T(threadIdx.y + blockIdx.y * blockDim.y))
MUTANT(Plane, return v + x[(I(blockIdx.y) * I(blockDim.y) + I(threadIdx.y)) * n + i])
// Warps.
MUTANT(Shuffle, return v + __shfl_down_sync(~0u, v, 1))
MUTANT(ShuffleInCall, return with_shuffle(v))
MUTANT(WarpSum, for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k); return v)
MUTANT(Ballot, return v + T(__ballot_sync(~0u, v > T(2))))
MUTANT(Any, return __any_sync(~0u, v > T(5)) ? v : -v)
MUTANT(Match, return v + T(__match_any_sync(~0u, static_cast<int>(v))))
MUTANT(Active, return v + T(__popc(__activemask())))
MUTANT(WarpBarrier, z[i] = v; __syncwarp(); return v + z[i ^ 1])
SPECIAL(Lane, "mov.u32 %0, %%laneid;")
SPECIAL(Warp, "mov.u32 %0, %%warpid;")
SPECIAL(LanesBelow, "mov.u32 %0, %%lanemask_lt;")
SPECIAL(Multiprocessor, "mov.u32 %0, %%smid;")
SPECIAL(ActiveByHand, "activemask.b32 %0;")
SPECIAL(ThreadByHand, "mov.u32 %0, %%tid.x;")
SPECIAL(BlockByHand, "{ .reg .u32 a; mov.u32 a, %%ntid.x; add.u32 %0, a, 1; }")
SPECIAL(DimensionByHand, "mov.u32 %0, %%nctaid.y;")
// Blocks.
MUTANT(Barrier, z[i] = v; __syncthreads(); return v + z[i / 2])
MUTANT(BlockSum, __shared__ T part[1024]; part[threadIdx.x] = v; __syncthreads();
       for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
         if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
         __syncthreads();
       } return part[0])
MUTANT(SharedWithoutBarrier, __shared__ volatile T part[1024]; part[i & 1023] = v; return part[(i + 1) & 1023])
MUTANT(DynamicShared, extern __shared__ char bytes[]; bytes[i & 31] = static_cast<char>(v); return v + T(bytes[1]))
MUTANT(SharedAtomic, __shared__ int count; atomicAdd(&count, 1); return v + T(count))
MUTANT(BlockVote, return v + T(__syncthreads_count(v > T(2))))
SPECIAL(DynamicBytes, "mov.u32 %0, %%dynamic_smem_size;")
// Order of threads.
MUTANT(Ticket, return v + T(atomicAdd(reinterpret_cast<int *>(z) + n, 1)))
MUTANT(Exchange, atomicExch(reinterpret_cast<int *>(z) + n, static_cast<int>(i)); return v)
MUTANT(CompareAndSwap, atomicCAS(reinterpret_cast<int *>(z) + n, 0, static_cast<int>(i)); return v)
MUTANT(Lock, int *lock = reinterpret_cast<int *>(z) + n; while (atomicCAS(lock, 0, 1) != 0) {} z[0] += v; atomicExch(lock, 0);
       return v)
MUTANT(CountUp, atomicInc(reinterpret_cast<unsigned *>(z) + n, 7); return v)
MUTANT(BlockScope, atomicAdd_block(reinterpret_cast<int *>(z) + n, 1); return v)
MUTANT(Fence, z[i] = v; __threadfence(); return v + z[(i + 1) % n])
MUTANT(Volatile, const volatile T *seen = z; return v + seen[(i + 1) % n])
MUTANT(Spin, volatile int *flag = reinterpret_cast<volatile int *>(z) + n; if (i == 0) *flag = 1; while (*flag == 0) {} return v)
MUTANT(Acquire, int r; asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(r) : "l"(z + n)); return v + T(r))
// Time, other code, the end of the program.
SPECIAL(Clock, "mov.u32 %0, %%clock;")
MUTANT(Timer, return v + T(clock64() & 1))
MUTANT(Sleep, __nanosleep(20); return v)
MUTANT(Print, if (v > T(100)) printf("%d\n", static_cast<int>(i)); return v)
MUTANT(Assert, assert(v < T(100)); return v)
MUTANT(Allocate, T *kept = static_cast<T *>(malloc(sizeof(T))); if (!kept) return v; *kept = v; T got = *kept; free(kept);
       return got)
MUTANT(Indirect, T (*const calls[2])(T) = {twice<T>, thrice<T>}; return calls[static_cast<int>(v) & 1](v))
MUTANT(Recursion, return recursive(v, static_cast<int>(i) & 7))
MUTANT(Trap, if (v > T(1000)) __trap(); return v)
MUTANT(Space, int r; asm("{ .reg .pred q; isspacep.shared q, %1; selp.s32 %0, 1, 0, q; }" : "=r"(r) : "l"(z + i)); return v + T(r))
MUTANT(CopyAsync, asm volatile("cp.async.wait_all;"); return v)
#undef SPECIAL
#undef MUTANT

#define MUTANTS(D) \
  D(BlockSizeAsValue) D(ThreadAlone) D(BlockAlone) D(GridAsValue) D(ThreadAsAddress) D(BlockAsAddress) D(FirstThread) \
  D(LastBlock) D(LaneOfThread) D(WarpOfThread) D(QuotientOfIndex) D(RemainderOfIndex) D(IndexLessThread) D(Partner) \
  D(Transposed) D(BlocksBackwards) D(BakedBlock) D(BlockOfTwo) D(BlockAndOne) D(NextBlock) D(StrideOfBlock) D(StrideOfGrid) \
  D(LoopOverBlocks) D(LeastBlock) D(SelectThread) D(ShortIndex) D(LocalThread) D(ThreadAsArgument) D(SecondDimension) \
  D(Plane) D(Shuffle) D(ShuffleInCall) D(WarpSum) D(Ballot) D(Any) D(Match) D(Active) D(WarpBarrier) D(Lane) D(Warp) \
  D(LanesBelow) D(Multiprocessor) D(ActiveByHand) D(ThreadByHand) D(BlockByHand) D(DimensionByHand) D(Barrier) D(BlockSum) \
  D(SharedWithoutBarrier) D(DynamicShared) D(SharedAtomic) D(BlockVote) D(DynamicBytes) D(Ticket) D(Exchange) \
  D(CompareAndSwap) D(Lock) D(CountUp) D(BlockScope) D(Fence) D(Volatile) D(Spin) D(Acquire) D(Clock) D(Timer) D(Sleep) \
  D(Print) D(Assert) D(Allocate) D(Indirect) D(Recursion) D(Trap) D(Space) D(CopyAsync)
