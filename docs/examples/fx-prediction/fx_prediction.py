# SPDX-License-Identifier: BSD-3-Clause
"""Prediction-error filters in f-x space: random noise taken out of a seismic section. Linear events are, at one frequency, sums of
complex exponentials along the traces, and a short filter predicts each trace from those before and after it; noise cannot be
predicted. Each window of traces and each frequency asks for one filter, the solution of a small Hermitian system, and all of them are
solved in one call. The section is made with a known answer."""

import numpy

import sextant

TRACES, SAMPLES, WINDOW, STEP, ORDER = 48, 128, 24, 8, 4
EVENTS = [(30, 0.6, 1.0), (95, -0.9, 0.8), (60, 0.1, 0.9)]  # time at the first trace, slope in samples a trace, amplitude


def ricker(t):
    a = (numpy.pi * t / 12) ** 2
    return (1 - 2 * a) * numpy.exp(-a)


def neighbours(trace):
    """For each trace of a window that has ORDER before it: those, nearest first. Shape (..., predictions, ORDER)."""
    count = trace.shape[-1]
    return numpy.stack([trace[..., ORDER - k : count - k] for k in range(1, ORDER + 1)], axis=-1)


def quality(clean, section):
    """Signal over error in decibels."""
    return 10 * numpy.log10((clean**2).sum() / ((section - clean) ** 2).sum())


x, t = numpy.arange(TRACES)[:, None], numpy.arange(SAMPLES)
clean = sum(size * ricker(t - start - slope * x) for start, slope, size in EVENTS)
noisy = clean + 0.25 * numpy.random.default_rng(20261121).standard_normal(clean.shape)

spectrum = numpy.fft.rfft(noisy, axis=1)
starts = range(0, TRACES - WINDOW + 1, STEP)
windows = numpy.stack([spectrum[w : w + WINDOW].T for w in starts])  # window, frequency, trace
both = [windows, windows[..., ::-1].conj()]  # predicted forward, and from behind
matrices = [neighbours(each) for each in both]
R = sum(m.conj().swapaxes(-1, -2) @ m for m in matrices).reshape(-1, ORDER, ORDER)
g = sum((m.conj() * each[..., ORDER:, None]).sum(axis=-2) for m, each in zip(matrices, both)).reshape(-1, ORDER)

# The stabiliser is 1 % of the mean diagonal: "prewhitening", as usual.
filters = sextant.solve_hermitian(R, g, shifts=[0.01], shift_relative=True, want="residual")
assert (filters.info == 0).all() and filters.residual.max() < 1e-12

result, weight = numpy.zeros_like(spectrum), numpy.zeros(TRACES)
for i, w in enumerate(starts):
    by_frequency = filters.x.reshape(len(starts), -1, ORDER, 1)[i]
    result[w + ORDER : w + WINDOW] += (matrices[0][i] @ by_frequency)[..., 0].T
    result[w : w + WINDOW - ORDER] += (matrices[1][i] @ by_frequency)[..., 0].conj().T[::-1]
    weight[w + ORDER : w + WINDOW] += 1
    weight[w : w + WINDOW - ORDER] += 1
filtered = numpy.fft.irfft(result / weight[:, None], SAMPLES, axis=1)

before, after = quality(clean, noisy), quality(clean, filtered)
print(f"{len(R)} systems of order {ORDER}; signal to noise: {before:.1f} dB before, {after:.1f} dB after")
assert after > before + 4, "the noise is still there"
