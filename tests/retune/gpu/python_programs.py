#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Element-wise operations of CuPy or PyTorch, compiled at run time where they can be; prints a hash of every result.

Usage: python_programs.py cupy|torch [ROUNDS]. With CUPY_COMPILE_WITH_PTX=1 CuPy's modules hold PTX.
"""
import hashlib
import sys
import time


def show(name, array):
    print(name, hashlib.sha256(array.tobytes()).hexdigest()[:16], flush=True)


def with_cupy(rounds):
    import cupy

    rng = cupy.random.RandomState(3)
    for dtype in ("float32", "float64"):
        x, y = (rng.uniform(0.1, 3, 1 << 20).astype(dtype) for _ in range(2))
        unary = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "arctan", "floor", "ceil", "rint", "square", "absolute", "negative",
                 "cbrt", "expm1", "log1p", "reciprocal", "sign", "isfinite", "signbit", "deg2rad")  # fmt: skip
        binary = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "hypot", "arctan2", "fmod", "less", "equal",
                  "copysign", "logaddexp", "floor_divide", "remainder")  # fmt: skip
        for name in unary:
            show(f"cupy.{name}.{dtype}", cupy.asnumpy(getattr(cupy, name)(x)))
        for name in binary:
            show(f"cupy.{name}.{dtype}", cupy.asnumpy(getattr(cupy, name)(x, y)))
        show(f"cupy.where.{dtype}", cupy.asnumpy(cupy.where(x > y, x, y)))
        show(f"cupy.clip.{dtype}", cupy.asnumpy(cupy.clip(x, 0.5, 2)))
        show(f"cupy.astype.{dtype}", cupy.asnumpy(x.astype("int32")))
        show(f"cupy.take.{dtype}", cupy.asnumpy(cupy.take(x, cupy.arange(1 << 20)[::-1])))
        fused = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y) + 1", "squared_difference")
        show(f"cupy.own.{dtype}", cupy.asnumpy(fused(x, y)))
        show(f"cupy.sum.{dtype}", cupy.asnumpy(cupy.floor(x).sum()))
    raw = cupy.RawKernel(r"""extern "C" __global__ void raw(int n, const float *x, float *z) {
        int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n) z[i] = x[i] * 2; }""", "raw")
    x = rng.uniform(0, 1, 1 << 24).astype("float32")
    z = cupy.zeros_like(x)
    begin = time.perf_counter()
    for _ in range(rounds):
        raw(((1 << 24) // 32,), (32,), (1 << 24, x, z))
        cupy.add(x, z, out=z)
    cupy.cuda.Device().synchronize()
    print(f"seconds {time.perf_counter() - begin:.6f}", file=sys.stderr)
    show("cupy.raw", cupy.asnumpy(z))


def with_torch(rounds):
    import torch

    generator = torch.Generator(device="cuda").manual_seed(3)
    for dtype in (torch.float32, torch.float64):
        x, y = (torch.rand(1 << 20, device="cuda", dtype=dtype, generator=generator) + 0.1 for _ in range(2))
        for name in ("sqrt", "exp", "log", "sin", "tanh", "erf", "floor", "sigmoid", "abs", "neg", "rsqrt", "lgamma"):
            show(f"torch.{name}.{dtype}", getattr(torch, name)(x).cpu().numpy())
        for name in ("add", "sub", "mul", "div", "pow", "maximum", "hypot", "atan2", "fmod", "lt"):
            show(f"torch.{name}.{dtype}", getattr(torch, name)(x, y).cpu().numpy())
        for name in ("bessel_j0", "bessel_y0", "modified_bessel_i0", "airy_ai"):  # compiled at run time
            show(f"torch.special.{name}.{dtype}", getattr(torch.special, name)(x).cpu().numpy())
        own = torch.cuda.jiterator._create_jit_fn("template <typename T> T own(T x, T y) { return x * y + x; }")
        show(f"torch.jiterator.{dtype}", own(x, y).cpu().numpy())
    x = torch.rand(1 << 24, device="cuda", generator=generator)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(rounds):
        x = torch.sigmoid(x * 1.5 - 0.5)
    torch.cuda.synchronize()
    print(f"seconds {time.perf_counter() - begin:.6f}", file=sys.stderr)
    show("torch.loop", x.cpu().numpy())


if __name__ == "__main__":
    {"cupy": with_cupy, "torch": with_torch}[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 50)
