/* SPDX-License-Identifier: BSD-3-Clause */
/* Which line of a power grid is loaded most when one other line is out? The DC load flow B theta = p has one pattern
 * for every outage, so that all of them are sets of values on one analysis: factored in one call, solved in another. A
 * line that alone feeds a bus cuts it off: its set has no factor, and the others do. outages [SIDE] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sextant/sextant.h"

static void need(sxt_status status) {
  if (status == SXT_OK) return;
  fprintf(stderr, "%s: %s\n", sxt_status_name(status), sxt_last_error(NULL));
  exit(1);
}

static void *room(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) exit(1);
  return memory;
}

/* A line between two buses: its susceptance, and where it stands among the entries. */
typedef struct {
  int from, to;
  double susceptance;
  int places[2], diagonals[2];
} Line;

static int buses, lines, entries;
static Line *line;
static int *row_ptr, *col;
static double *base; /* the values of the whole grid */

/* side x side buses in a mesh, and one more at the end of a line of its own. Bus 0 is the reference: its angle is 0. */
static void make_grid(int side) {
  buses = side * side + 1;
  line = room((size_t)(2 * buses), sizeof *line);
  for (int i = 0; i + 1 < buses; ++i) {
    if (i % side + 1 < side) line[lines++] = (Line){.from = i, .to = i + 1, .susceptance = 1 + 0.1 * (i % 7)};
    if (i + side + 1 < buses) line[lines++] = (Line){.from = i, .to = i + side, .susceptance = 1 + 0.1 * (i % 5)};
  }
  line[lines++] = (Line){.from = buses - 2, .to = buses - 1, .susceptance = 2};
}

/* The matrix by rows: of the entries of a row, those before the diagonal, it, and those behind it. */
static void make_matrix(void) {
  row_ptr = room((size_t)buses + 1, sizeof *row_ptr);
  col = room((size_t)(buses + 2 * lines), sizeof *col);
  base = room((size_t)(buses + 2 * lines), sizeof *base);
  for (int i = 0; i < buses; ++i) {
    row_ptr[i] = entries;
    for (int j = 0; j < buses; ++j) {
      int found = -1;
      for (int k = 0; k < lines && found < 0; ++k)
        if ((line[k].from == i && line[k].to == j) || (line[k].from == j && line[k].to == i)) found = k;
      if (found >= 0) line[found].places[line[found].to == j] = entries, base[entries] = -line[found].susceptance;
      if (i == j)
        for (int k = 0; k < lines; ++k) {
          if (line[k].from == i) line[k].diagonals[0] = entries, base[entries] += line[k].susceptance;
          if (line[k].to == i) line[k].diagonals[1] = entries, base[entries] += line[k].susceptance;
        }
      if (found >= 0 || i == j) col[entries++] = j;
    }
  }
  row_ptr[buses] = entries;
  base[0] += 1e3; /* holds the reference at 0 */
}

/* The largest |power at a bus - what its lines carry away| of an outage, of the largest power. */
static double imbalance(const double *power, const double *angle, int out) {
  double worst = 0;
  for (int i = 1; i < buses; ++i) {
    double rest = power[i];
    for (int k = 0; k < lines; ++k) {
      const double flow = k == out ? 0 : line[k].susceptance * (angle[line[k].from] - angle[line[k].to]);
      if (line[k].from == i) rest -= flow;
      if (line[k].to == i) rest += flow;
    }
    worst = fmax(worst, fabs(rest));
  }
  return worst;
}

int main(int argc, char **argv) {
  make_grid(argc > 1 ? atoi(argv[1]) : 10);
  make_matrix();
  const int64_t outages = lines;
  double *values = room((size_t)(outages * entries), sizeof *values);
  double *angle = room((size_t)(outages * buses), sizeof *angle), *power = room((size_t)buses, sizeof *power);
  for (int i = 1; i < buses; ++i) power[i] = i % 3 == 0 ? 1 : -0.5;
  for (int out = 0; out < lines; ++out) { /* set `out`: the grid without this line */
    double *own = values + (int64_t)out * entries;
    for (int k = 0; k < entries; ++k) own[k] = base[k];
    for (int end = 0; end < 2; ++end) {
      own[line[out].places[end]] = 0;
      own[line[out].diagonals[end]] -= line[out].susceptance;
    }
    for (int i = 0; i < buses; ++i) angle[(int64_t)out * buses + i] = power[i];
  }

  sxt_context *context = NULL;
  sxt_matrix *grid = NULL;
  sxt_analysis *analysis = NULL;
  sxt_cholesky_sets *sets = NULL;
  need(sxt_context_create(NULL, &context));
  need(sxt_matrix_from_csr(context, buses, buses, row_ptr, col, base, NULL, &grid));
  need(sxt_analysis_create(grid, NULL, &analysis));
  need(sxt_cholesky_sets_create(analysis, outages, &sets));
  const sxt_status status = sxt_cholesky_sets_factor(sets, 0, outages, entries, values, entries, NULL);
  if (status != SXT_E_NOT_POSITIVE_DEFINITE) need(status); /* an outage may cut buses off */
  need(sxt_cholesky_sets_solve(sets, 0, outages, buses, 1, angle, buses, buses, angle, buses, buses, NULL));

  sxt_status *outcome = room((size_t)outages, sizeof *outcome);
  sxt_cholesky_sets_outcomes told;
  sxt_cholesky_sets_outcomes_init(&told, sizeof told);
  told.status = outcome;
  need(sxt_cholesky_sets_get_outcomes(sets, 0, outages, &told));

  double most = 0, wrong = 0;
  int worst_line = 0, worst_outage = 0, islands = 0;
  for (int out = 0; out < lines; ++out) {
    if (outcome[out] != SXT_OK) {
      ++islands;
      continue;
    }
    const double *own = angle + (int64_t)out * buses;
    wrong = fmax(wrong, imbalance(power, own, out));
    for (int k = 0; k < lines; ++k) {
      const double flow = k == out ? 0 : fabs(line[k].susceptance * (own[line[k].from] - own[line[k].to]));
      if (flow > most) most = flow, worst_line = k, worst_outage = out;
    }
  }
  printf("%d buses, %d outages, %d of them cut a bus off; most is %.3f on line %d-%d without line %d-%d\n", buses,
         lines, islands, most, line[worst_line].from, line[worst_line].to, line[worst_outage].from,
         line[worst_outage].to);

  sxt_cholesky_sets_destroy(sets);
  sxt_analysis_destroy(analysis);
  sxt_matrix_destroy(grid);
  sxt_context_destroy(context);
  free(line), free(row_ptr), free(col), free(base), free(values), free(angle), free(power), free(outcome);
  return islands == 1 && wrong < 1e-9 ? 0 : 1;
}
