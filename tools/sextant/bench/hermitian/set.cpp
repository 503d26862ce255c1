// SPDX-License-Identifier: BSD-3-Clause
// Sets for sextant bench hermitian: one system made on the host, spread over the set by the steps of the library.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <random>

#include "bench/hermitian/hermitian.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/hermitian_step.h"

namespace tool {
namespace {

const std::map<std::string, std::int32_t> type_names{
    {"f32", SXT_F32}, {"f64", SXT_F64}, {"c64", SXT_C64}, {"c128", SXT_C128}};
const std::map<std::string, std::int32_t> phase_names{
    {"factor", SXT_HERMITIAN_FACTOR}, {"solve", SXT_HERMITIAN_SOLVE}, {"factor-solve", SXT_HERMITIAN_FACTOR_SOLVE}};
const std::map<std::string, std::int32_t> definiteness_names{
    {"definite", SXT_DEFINITE}, {"indefinite", SXT_INDEFINITE}, {"try", SXT_TRY_DEFINITE}};
const std::map<std::string, std::int32_t> shortcut_names{{"toeplitz", SXT_SHORTCUT_TOEPLITZ},
                                                         {"mixed", SXT_SHORTCUT_MIXED},
                                                         {"always", SXT_SHORTCUT_ALWAYS},
                                                         {"butterfly", SXT_SHORTCUT_BUTTERFLY}};

using Complex = std::complex<double>;

// One system, column-major. Its condition number is small, and where it is not definite pivots are searched in most
// columns.
std::vector<Complex> one_system(std::int64_t n, const std::string &structure, bool definite, bool complex) {
  // Numbers from a table whose length is prime to every stride: large systems are made in no time.
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> table(4093);
  for (double &value : table) value = uniform(random);
  std::size_t next = 0;
  const auto number = [&] { return table[next++ % table.size()]; };
  std::vector<Complex> a(static_cast<std::size_t>(n * n));
  std::vector<double> falling(static_cast<std::size_t>(n), 1);
  for (std::size_t k = 1; k < falling.size(); ++k) falling[k] = 0.7 * falling[k - 1];
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      const std::int64_t k = i - j;
      const Complex v = structure == "toeplitz" ? std::polar(falling[k], complex ? 0.4 * static_cast<double>(k) : 0.0)
                                                : Complex(number(), complex && k > 0 ? number() : 0);
      a[i + j * n] = v;
      a[j + i * n] = std::conj(v);
      if (i == j && definite && structure != "toeplitz") a[i + j * n] += static_cast<double>(n);
    }
  return a;
}

// Numbers in the type that the set has.
std::vector<double> in_type(const std::vector<Complex> &values, sxt_value_type type) {
  std::vector<double> memory(values.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == SXT_F32) reinterpret_cast<float *>(memory.data())[i] = static_cast<float>(values[i].real());
    if (type == SXT_F64) memory[i] = values[i].real();
    if (type == SXT_C64) reinterpret_cast<std::complex<float> *>(memory.data())[i] = std::complex<float>(values[i]);
    if (type == SXT_C128) reinterpret_cast<Complex *>(memory.data())[i] = values[i];
  }
  return memory;
}

}  // namespace

std::int64_t hermitian_value_bytes(sxt_value_type type) { return type == SXT_F32 ? 4 : type == SXT_C128 ? 16 : 8; }
bool is_complex(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128; }
sxt_value_type type_named(const std::string &name) { return static_cast<sxt_value_type>(type_names.at(name)); }
sxt_definiteness definiteness_named(const std::string &name) { return definiteness_names.at(name); }
std::int32_t phase_named(const std::string &name) { return phase_names.at(name); }
std::int32_t shortcut_bits(const std::vector<std::string> &names) {
  std::int32_t bits = 0;
  for (const std::string &name : names) bits |= shortcut_names.at(name);
  return bits;
}
std::vector<std::string> hermitian_names(const std::string &what) {
  const auto &map = what == "type"       ? type_names
                    : what == "phase"    ? phase_names
                    : what == "shortcut" ? shortcut_names
                                         : definiteness_names;
  std::vector<std::string> names;
  for (const auto &[name, value] : map) names.push_back(name);
  return names;
}

double HermitianCase::flops(bool complex, std::int64_t n_rhs) const {
  double cubes = 0, squares = 0;
  const auto add = [&](double order, double times) {
    cubes += times * order * order * order, squares += times * order * order;
  };
  if (orders.empty()) add(static_cast<double>(n), static_cast<double>(batch));
  for (const std::int32_t order : orders) add(order, 1);
  double count = 0;
  if (phase != "solve") count += cubes / 3;
  if (phase != "factor") count += 2 * squares * static_cast<double>(n_rhs);
  return (complex ? 4 : 1) * count;
}

sxt_hermitian_options hermitian_description(const HermitianBenchOptions &options, const HermitianCase &problem) {
  sxt_hermitian_options description;
  sxt_hermitian_options_init(&description, sizeof description);
  description.value_type = type_named(options.type);
  description.definiteness = definiteness_named(problem.definiteness);
  description.triangle = options.triangle == "lower" ? SXT_LOWER : SXT_UPPER;
  description.batch = problem.batch;
  description.n = problem.n;
  description.orders = problem.orders.empty() ? nullptr : problem.orders.data();
  description.n_rhs = options.n_rhs;
  description.may_spoil = 1;  // else cuSOLVER could not take part
  description.expected_runs = usual_runs;
  return description;
}

HermitianBenchSet::HermitianBenchSet(sxt_context *context, const HermitianBenchOptions &options,
                                     const HermitianCase &problem)
    : context_(context),
      type_(type_named(options.type)),
      n_(problem.n),
      batch_(problem.batch),
      n_rhs_(options.n_rhs),
      original_(made(n_ * n_ * batch_, type_)),
      matrices_(made(n_ * n_ * batch_, type_)),
      rhs_(made(n_ * n_rhs_ * batch_, type_)),
      solution_(made(n_ * n_rhs_ * batch_, type_)),
      residual_(made(batch_, SXT_F64)),
      info_(made(batch_, SXT_F32)),
      pivots_(made(n_ * batch_, SXT_F32)) {
  const Vector system = made(n_ * n_, type_), rhs = made(n_ * n_rhs_, type_);
  const auto numbers =
      in_type(one_system(n_, options.structure, problem.definiteness == "definite", is_complex(type_)), type_);
  check(sxt_vector_write(system.get(), numbers.data()), context_);
  std::vector<Complex> right(static_cast<std::size_t>(n_ * n_rhs_));
  for (std::size_t i = 0; i < right.size(); ++i)
    right[i] = {1 + 0.5 * std::sin(static_cast<double>(i)), is_complex(type_) ? -0.5 : 0};
  check(sxt_vector_write(rhs.get(), in_type(right, type_).data()), context_);
  // Both triangles, because other libraries' kernels may read either.
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) spread(system, n_, triangle, original_);
  spread(rhs, n_rhs_, 0, rhs_);
}

Vector HermitianBenchSet::made(std::int64_t n, sxt_value_type type) const {
  sxt_vector *vector = nullptr;
  check(sxt_vector_create(context_, std::max<std::int64_t>(1, n), type, &vector), context_);
  return Vector(vector);
}

// Copies one system, or with triangle 0 its right-hand sides, to every system of a set: a set of stride 0 is one
// system.
void HermitianBenchSet::spread(const Vector &one, std::int64_t columns, std::int32_t triangle,
                               const Vector &over) const {
  sxt_hermitian_step_query query{};
  query.q.h = {sizeof query, SXT_KIND_HERMITIAN_STEP};
  query.q.expected_runs = 1;
  query.q.value_type = type_;
  query.batch = batch_;
  query.n_max = n_;
  query.n_rhs = n_rhs_;
  query.sum_n1 = static_cast<double>(n_ * batch_);
  query.sum_n2 = query.sum_n1 * static_cast<double>(n_);
  sxt_selection *selection = nullptr;
  check(sxt_kernel_select(context_, &query.q, nullptr, &selection), context_);
  const Selection owner(selection);
  sxt_hermitian_step_args args{};
  args.h = {sizeof args, SXT_KIND_HERMITIAN_STEP};
  args.step = triangle ? SXT_HERMITIAN_COPY : SXT_HERMITIAN_COPY_RHS;
  args.value_type = type_;
  args.triangle = triangle ? static_cast<sxt_triangle>(triangle) : SXT_LOWER;
  args.batch = batch_;
  args.n_max = n_;
  args.n_rhs = n_rhs_;
  sxt_hermitian_block &from = triangle ? args.a : args.b;
  from.data = sxt_vector_data(one.get());
  from.ld = args.c.ld = n_;
  args.c.data = sxt_vector_data(over.get());
  args.c.stride = n_ * columns;
  check(sxt_kernel_run(selection, &args.h), context_);
  check(sxt_context_synchronize(context_), context_);
}

void HermitianBenchSet::restore() const {
  check(sxt_copy(original_.get(), matrices_.get()), context_);
  restore_rhs();
}

void HermitianBenchSet::restore_rhs() const {
  check(sxt_copy(rhs_.get(), solution_.get()), context_);
  const float zero = 0;
  check(sxt_fill(&zero, info_.get()), context_);
}

sxt_hermitian_set HermitianBenchSet::plain() const {
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a = sxt_vector_data(matrices_.get());
  set.b = sxt_vector_data(solution_.get());
  set.info = static_cast<std::int32_t *>(sxt_vector_data(info_.get()));
  set.pivots = static_cast<std::int32_t *>(sxt_vector_data(pivots_.get()));
  return set;
}

sxt_hermitian_query HermitianBenchSet::query(const HermitianCase &problem, std::int32_t phase) const {
  sxt_hermitian_query q{};
  q.q.h = {sizeof q, SXT_KIND_HERMITIAN};
  q.q.expected_runs = usual_runs;
  q.q.value_type = type_;
  q.batch = batch_, q.n_max = q.n_min = n_, q.n_rhs = n_rhs_;
  q.sum_n1 = static_cast<double>(n_ * batch_);
  q.sum_n2 = q.sum_n1 * static_cast<double>(n_);
  q.sum_n3 = q.sum_n2 * static_cast<double>(n_);
  q.phase = phase;
  q.definiteness = definiteness_named(problem.definiteness);
  q.triangle = SXT_LOWER;
  q.may_spoil = q.solution_only = 1;
  return q;
}

sxt_hermitian_args HermitianBenchSet::args(const HermitianCase &problem) const {
  const sxt_hermitian_set set = plain();
  sxt_hermitian_args args{};
  args.h = {sizeof args, SXT_KIND_HERMITIAN};
  args.phase = phase_named(problem.phase);
  args.definiteness = definiteness_named(problem.definiteness);
  args.value_type = type_, args.triangle = SXT_LOWER;
  args.batch = batch_, args.n_max = n_, args.n_rhs = n_rhs_;
  args.a = set.a, args.lda = n_, args.stride_a = n_ * n_;
  args.b = set.b, args.ldb = n_, args.stride_b = n_ * n_rhs_;
  args.info = set.info;
  args.pivots = set.pivots, args.stride_pivots = n_;
  return args;
}

sxt_hermitian_set HermitianBenchSet::checked() {
  const double none = 1;
  check(sxt_fill(&none, residual_.get()), context_);
  sxt_hermitian_set set = plain();
  set.factor = set.a;
  set.a = sxt_vector_data(original_.get());
  set.x = set.b;
  set.b = sxt_vector_data(rhs_.get());
  set.residual = static_cast<double *>(sxt_vector_data(residual_.get()));
  return set;
}

double HermitianBenchSet::worst_error() const {
  double worst = 0;
  check(sxt_amax(residual_.get(), &worst), context_);
  return worst;
}

std::int64_t HermitianBenchSet::bytes() const { return (n_ + n_rhs_) * n_ * batch_ * hermitian_value_bytes(type_); }

bool HermitianTimed::others() const {
  for (const char *library : {".lapack.", ".cusolver.", ".cusolver_streams.", ".cublas."})
    if (name.find(library) != std::string::npos) return true;
  return false;
}

}  // namespace tool
