// SPDX-License-Identifier: BSD-3-Clause
#include "core/model/fit_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace sextant {

// Every character of a profile counts: reading thousands of models is most of what a context takes to start.
std::string toml_number(double value, int digits_kept) {
  if (std::isinf(value)) return "inf";
  std::array<char, 32> digits{};
  char *const begin = digits.data(), *const limit = begin + digits.size();
  const auto end = digits_kept ? std::to_chars(begin, limit, value, std::chars_format::scientific, digits_kept - 1).ptr
                               : std::to_chars(begin, limit, value).ptr;
  std::string out(digits.data(), end);
  if (const std::size_t zero = out.find_first_of("+-", 1) + 1; zero && zero + 1 < out.size() && out[zero] == '0')
    out.erase(zero, 1);  // e-9, not e-09
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

std::string toml_string(std::string_view plain) {
  std::string out = "\"";
  for (const char c : plain) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

namespace {

// In strings of integers: as arrays of TOML they would take most of the time of reading a profile.
void neighbours_text(std::string &out, const Neighbours &neighbours) {
  if (neighbours.weights.empty()) return;
  out += "neighbour_floors = [";
  for (std::size_t j = 0; j < neighbours.floors.size(); ++j)
    out += (j ? "," : "") + toml_number(neighbours.floors[j], neighbours.floors[j] > 0 ? 6 : 0);
  out += "]\nneighbour_weights = \"";
  for (std::size_t s = 0; s < neighbours.weights.size(); ++s)
    out += (s ? " " : "") + std::to_string(std::lround(neighbours.weights[s] * Neighbours::weight_steps));
  out += "\"\nneighbour_places = \"";
  for (std::size_t k = 0; k < neighbours.places.size(); ++k)
    out += (k ? " " : "") + std::to_string(std::lround(neighbours.places[k]));
  out += "\"\n";
}

void add_fit(std::string &out, const FittedModel &model) {
  out += model.power == 1 ? "form = \"sum\"\n" : "form = \"soft-maximum\"\npower = " + toml_number(model.power) + "\n";
  if (!model.breakpoints.empty()) {
    out += "breakpoints = [";
    for (std::size_t b = 0; b < model.breakpoints.size(); ++b)
      out += (b ? "," : "") + toml_number(model.breakpoints[b]);
    out += "]\n";
  }
  std::string terms, coefficients;
  for (std::size_t j = 0; j < model.names.size(); ++j) {
    terms += (j ? "," : "") + toml_string(model.names[j]);
    coefficients += (j ? "," : "") + toml_string(model.names[j]) + " = [";
    for (std::size_t r = 0; r < model.coefficients.size(); ++r)
      coefficients += (r ? "," : "") + toml_number(model.coefficients[r][j]);
    coefficients += "]";
  }
  out += "terms = [" + terms + "]\ncoefficients = { " + coefficients + " }\n";
  if (!model.curve.added.empty()) {
    out += "curve_first = " + toml_number(model.curve.first) + "\ncurve = [";
    for (std::size_t k = 0; k < model.curve.added.size(); ++k)
      out += (k ? "," : "") + toml_number(model.curve.added[k], 4);
    out += "]\n";
  }
  neighbours_text(out, model.neighbours);
  out += "median_error = " + toml_number(model.median_error) + "\np90_error = " + toml_number(model.p90_error) +
         "\nscatter = " + toml_number(model.scatter) + "\n";
}

}  // namespace

std::string fit_toml(const FitLabel &label, const FittedModel &model) {
  std::string out = "\n[[models]]\nkernel = " + toml_string(label.kernel) +
                    "\nversion = " + std::to_string(label.version) +
                    "\nvector_type = " + toml_string(label.vector_type) + "\n";
  if (!label.matrix_type.empty()) out += "matrix_type = " + toml_string(label.matrix_type) + "\n";
  out += "model_class = " + std::to_string(label.model_class) + "\nsamples = " + std::to_string(model.samples) + "\n";
  if (model.samples) add_fit(out, model);
  if (model.setup_samples)
    out += "setup_factor = " + toml_number(model.setup_factor) +
           "\nsetup_samples = " + std::to_string(model.setup_samples) + "\n";
  return out;
}

}  // namespace sextant
