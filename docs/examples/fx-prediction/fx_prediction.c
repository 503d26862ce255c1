/* SPDX-License-Identifier: BSD-3-Clause */
/* Prediction-error filters in f-x space: random noise taken out of a seismic section. Linear events are, at one
 * frequency, sums of complex exponentials along the traces, and a short filter predicts each trace from those before
 * and after it; noise cannot be predicted. Each window of traces and each frequency asks for one filter, the solution
 * of a small Hermitian system, and all of them are solved in one call.
 *
 *   fx_prediction [section.svg]     makes a section with a known answer, filters it, draws noisy, filtered and true */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sextant/sextant.h"

enum { traces = 48, samples = 128, frequencies = samples / 2, window = 24, step = 8, order = 4 };
enum { windows = (traces - window) / step + 1, systems = windows * frequencies };

typedef double complex number;
static const double pi = 3.14159265358979323846;

/* Three events of one wavelet each: time at the first trace, slope in samples a trace, amplitude. */
static const double event[3][3] = {{30, 0.6, 1.0}, {95, -0.9, 0.8}, {60, 0.1, 0.9}};

static double ricker(double t) {
  const double a = pi * t / 12 * (pi * t / 12);
  return (1 - 2 * a) * exp(-a);
}

/* Equal numbers everywhere: a linear congruence (Knuth's MMIX constants), twelve of them for a Gaussian. */
static double noise(void) {
  static uint64_t state = 20261121;
  double sum = -6;
  for (int k = 0; k < 12; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    sum += (double)(state >> 11) / 9007199254740992.0;
  }
  return sum;
}

static void make_section(double (*clean)[samples], double (*noisy)[samples]) {
  for (int x = 0; x < traces; ++x)
    for (int t = 0; t < samples; ++t) {
      clean[x][t] = 0;
      for (int e = 0; e < 3; ++e) clean[x][t] += event[e][2] * ricker(t - event[e][0] - event[e][1] * x);
      noisy[x][t] = clean[x][t] + 0.25 * noise();
    }
}

/* The plain sum: sections are small. sign -1: to frequencies. */
static void transform(double (*section)[samples], number (*spectrum)[frequencies + 1]) {
  for (int x = 0; x < traces; ++x)
    for (int f = 0; f <= frequencies; ++f) {
      spectrum[x][f] = 0;
      for (int t = 0; t < samples; ++t) spectrum[x][f] += section[x][t] * cexp(-2 * pi * I * f * t / samples);
    }
}
static void transform_back(number (*spectrum)[frequencies + 1], double (*section)[samples]) {
  for (int x = 0; x < traces; ++x)
    for (int t = 0; t < samples; ++t) {
      double sum = creal(spectrum[x][0]) + creal(spectrum[x][frequencies]) * (t % 2 ? -1 : 1);
      for (int f = 1; f < frequencies; ++f) sum += 2 * creal(spectrum[x][f] * cexp(2 * pi * I * f * t / samples));
      section[x][t] = sum / samples;
    }
}

/* Traces before and after: trace j is predicted from j - order .. j - 1 and, conjugated, from j + order .. j + 1. */
static number neighbour(const number *trace, int j, int k, int backward) {
  return backward ? conj(trace[j + k]) : trace[j - k];
}

/* Normal equations of one window and frequency: R(k, l) = sum of conj(x_k) x_l over all predictions, lower triangle. */
static void normal_equations(const number *trace, number *r, number *g) {
  memset(r, 0, order * order * sizeof *r);
  memset(g, 0, order * sizeof *g);
  for (int backward = 0; backward < 2; ++backward)
    for (int j = backward ? 0 : order; j < (backward ? window - order : window); ++j) {
      const number target = backward ? conj(trace[j]) : trace[j];
      for (int l = 0; l < order; ++l) {
        g[l] += conj(neighbour(trace, j, l + 1, backward)) * target;
        for (int k = l; k < order; ++k)
          r[k + l * order] += conj(neighbour(trace, j, k + 1, backward)) * neighbour(trace, j, l + 1, backward);
      }
    }
}

/* Every trace of the window as the filter sees it, added to the sum of all windows. */
static void predict(const number *trace, const number *filter, number *sum, double *weight) {
  for (int j = 0; j < window; ++j)
    for (int backward = 0; backward < 2; ++backward) {
      if (backward ? j + order >= window : j < order) continue;
      number value = 0;
      for (int k = 0; k < order; ++k) value += filter[k] * neighbour(trace, j, k + 1, backward);
      sum[j] += backward ? conj(value) : value;
      weight[j] += 1;
    }
}

static void stop_if(sxt_status status, const sxt_context *context, const char *step) {
  if (status == SXT_OK) return;
  fprintf(stderr, "%s: %s\n", step, sxt_last_error(context));
  exit(1);
}

/* All filters at once; returns how many systems were not solved. */
static int solve(sxt_context *context, number *r, number *g, double *worst) {
  const double stabiliser = 0.01; /* of the mean diagonal: "prewhitening", as usual */
  static int32_t info[systems];
  static double residual[systems];
  sxt_hermitian *hermitian = NULL;
  sxt_hermitian_options options;
  sxt_hermitian_options_init(&options, sizeof options);
  options.value_type = SXT_C128;
  options.space = SXT_SPACE_HOST; /* a GPU is fed piece by piece */
  options.batch = systems;
  options.n = order;
  options.shifts = &stabiliser;
  options.n_shifts = options.shift_relative = 1;
  stop_if(sxt_hermitian_create(context, &options, &hermitian), context, "describing the systems");
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a = r;
  set.b = g; /* becomes the filters */
  set.info = info;
  set.residual = residual;
  stop_if(sxt_hermitian_factor_solve(hermitian, &set), context, "solving");
  sxt_hermitian_report report = {.struct_size = sizeof report};
  stop_if(sxt_hermitian_get_report(hermitian, &report), context, "reporting");
  int failed = 0;
  for (int s = 0; s < systems; ++s) {
    failed += info[s] != 0;
    if (info[s] == 0 && residual[s] > *worst) *worst = residual[s];
  }
  printf("%d systems of order %d by %s\n", systems, order, report.factor_kernel);
  sxt_hermitian_destroy(hermitian);
  return failed;
}

/* 10 log10 of signal over error, in decibels. */
static double quality(double (*clean)[samples], double (*section)[samples]) {
  double signal = 0, error = 0;
  for (int x = 0; x < traces; ++x)
    for (int t = 0; t < samples; ++t) {
      signal += clean[x][t] * clean[x][t];
      error += (section[x][t] - clean[x][t]) * (section[x][t] - clean[x][t]);
    }
  return 10 * log10(signal / error);
}

static void draw(const char *path, double (*section[3])[samples], const char *const *title) {
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "%s cannot be written\n", path);
    exit(1);
  }
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"330\" font-family=\"sans-serif\" "
          "font-size=\"13\">\n<rect width=\"900\" height=\"330\" fill=\"white\"/>\n");
  for (int panel = 0; panel < 3; ++panel) {
    fprintf(file, "<text x=\"%d\" y=\"20\">%s</text>\n<g fill=\"none\" stroke=\"#246\" stroke-width=\"0.7\">\n",
            20 + 300 * panel, title[panel]);
    for (int x = 0; x < traces; x += 2) { /* every other trace is enough to see */
      fprintf(file, "<polyline points=\"");
      for (int t = 0; t < samples; ++t)
        fprintf(file, "%.1f,%.0f ", 20 + 300 * panel + 5.5 * x + 6 * section[panel][x][t], 32 + 2.2 * t);
      fprintf(file, "\"/>\n");
    }
    fprintf(file, "</g>\n");
  }
  fprintf(file, "</svg>\n");
  fclose(file);
}

int main(int argc, char **argv) {
  static double clean[traces][samples], noisy[traces][samples], filtered[traces][samples], weight[traces];
  static number spectrum[traces][frequencies + 1], r[systems][order * order], g[systems][order];
  sxt_context *context = NULL;
  stop_if(sxt_context_create(NULL, &context), NULL, "opening a device");
  make_section(clean, noisy);
  transform(noisy, spectrum);

  /* One system a window and frequency; the highest frequency and none are left as they are. */
  number trace[window];
  for (int w = 0, s = 0; w < windows; ++w)
    for (int f = 0; f < frequencies; ++f, ++s) {
      for (int j = 0; j < window; ++j) trace[j] = spectrum[w * step + j][f];
      normal_equations(trace, r[s], g[s]);
    }
  double worst = 0;
  const int failed = solve(context, &r[0][0], &g[0][0], &worst);

  static number result[traces][frequencies + 1];
  for (int f = 0; f < frequencies; ++f) {
    number sum[traces] = {0};
    memset(weight, 0, sizeof weight);
    for (int w = 0; w < windows; ++w) {
      for (int j = 0; j < window; ++j) trace[j] = spectrum[w * step + j][f];
      predict(trace, g[w * frequencies + f], sum + w * step, weight + w * step);
    }
    for (int x = 0; x < traces; ++x) result[x][f] = weight[x] > 0 ? sum[x] / weight[x] : spectrum[x][f];
  }
  transform_back(result, filtered);

  const double before = quality(clean, noisy), after = quality(clean, filtered);
  printf("%d not solved, worst backward error %.1e\nsignal to noise: %.1f dB before, %.1f dB after\n", failed, worst,
         before, after);
  double(*sections[3])[samples] = {noisy, filtered, clean};
  const char *const titles[3] = {"with noise", "f-x prediction", "the true section"};
  if (argc > 1) draw(argv[1], sections, titles);
  sxt_context_destroy(context);
  return failed == 0 && after > before + 4 ? 0 : 1;
}
