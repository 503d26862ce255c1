// SPDX-License-Identifier: BSD-3-Clause
// Where the points of a model come from: for each kind of kernel, the problems on which its kernels are measured.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/model/fit.hpp"
#include "input/handle.hpp"
#include "report/output.hpp"

namespace tool {

struct ModelPoint {
  std::string name;                  // "stencil-2d-100x100", "axpy, n = 1000"
  std::string shape;                 // generator or file of a matrix, or the operation
  std::int64_t size = 0, count = 1;  // rows, length or order; systems of a set
  std::int64_t columns = 0;          // of a matrix
  sextant::Sample sample;            // terms and working set; seconds once it is measured
  std::vector<double> analytic;
  double before_s = 0;                                           // predicted by the models in use
  double compared_s = std::numeric_limits<double>::quiet_NaN();  // and by another profile, where one was named
  std::uint32_t version = 0, model_class = 0;
  std::vector<std::string> terms;
  std::string vector_type, matrix_type;
  bool measured = false;
  double noise = 0, spent_s = 0;  // spent: on making and measuring it
};

struct ModelSet {
  std::string generate;   // names of generators with commas; "" for all that there are
  std::string matrices;   // a Matrix Market file or a folder with some, in the place of generated ones
  std::string operation;  // "axpy", "factor": of kinds that have several; "": those with most points
  bool full = false;      // larger problems, and more sizes
  sxt_value_type type = SXT_F64;
};

// A problem that was made: what a kernel is asked there, and operands to run it on.
class Trial {
 public:
  virtual ~Trial() = default;
  // The library's explanation of this kernel here, with its plan; null and the reason where it does not apply. Nothing
  // is built. Throws where the device failed or memory is short, as time() does.
  virtual Json explain(const std::string &kernel, std::string &reason) = 0;
  // Measures runs for about that long. Returns why it could not, "" where it was measured.
  virtual std::string time(const std::string &kernel, double budget_s, double &seconds, double &noise) = 0;
};

class PointSource {
 public:
  virtual ~PointSource() = default;
  // What --operation may name, the usual one first; none where the kind has one operation alone.
  virtual std::vector<std::string> operations() const { return {}; }
  // Whether points are matrices, which --generate and --matrices choose.
  virtual bool of_matrices() const { return false; }
  // The points of a set with their shapes and sizes; nothing is made yet. Throws for names that are not known.
  virtual std::vector<ModelPoint> places(const ModelSet &set) const = 0;
  // Makes one, and fills in its name, rows and entries.
  virtual std::unique_ptr<Trial> make(sxt_context *context, const ModelSet &set, ModelPoint &point) const = 0;
};

// Null for kinds whose models are not built point by point.
const PointSource *source_of(const std::string &kind);
// Kinds that have one, products first.
const std::vector<std::string> &modelled_kinds();

// A trial that is one call of sxt_kernel_select.
class SelectionTrial : public Trial {
 public:
  explicit SelectionTrial(sxt_context *context) : context_(context) {}
  Json explain(const std::string &kernel, std::string &reason) override;
  std::string time(const std::string &kernel, double budget_s, double &seconds, double &noise) override;

 protected:
  virtual sxt_query &query() = 0;
  virtual sxt_matrix *matrix() { return nullptr; }
  virtual sxt_head *operands() = 0;
  // Asked before the measurement; returns why this kernel's runs would not be those that are meant.
  virtual std::string trial_run(sxt_selection *, sxt_head *) { return ""; }
  sxt_context *context() const { return context_; }

 private:
  sxt_context *context_;
};

// One number of a value type, as kernels take it.
class Number {
 public:
  Number(sxt_value_type type, double value);
  sxt_scalar scalar() const { return {bytes_, 0, 0}; }
  const void *data() const { return bytes_; }

 private:
  alignas(16) unsigned char bytes_[16] = {};
};

// Vectors of the context's device, all of one value.
Vector filled(sxt_context *context, std::int64_t n, sxt_value_type type, double value);
// Memory of the device for numbers of 4 bytes, with these in it.
Vector words(sxt_context *context, const std::vector<std::int32_t> &values);

// The kinds' sources.
std::unique_ptr<PointSource> product_source(const std::string &kind);
std::unique_ptr<PointSource> vector_source(const std::string &kind);
std::unique_ptr<PointSource> solver_source(const std::string &kind);
std::unique_ptr<PointSource> cholesky_source();
std::unique_ptr<PointSource> hermitian_source(const std::string &kind);

}  // namespace tool
