// SPDX-License-Identifier: BSD-3-Clause
// A machine profile: what calibration measured. Machine numbers that replace analytic ones, and a fitted model for each
// (kernel, kernel version, types, model class), so that a new plugin or a new version invalidates only itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/log.hpp"
#include "core/model/fit.hpp"
#include "sextant/plugin/plugin.h"

namespace sextant {

struct ModelKey {
  std::string kernel;
  std::uint32_t version = 0;
  sxt_value_type vector_type = 0, matrix_type = 0;  // matrix_type 0: no matrix is read
  std::uint32_t model_class = 0;
  auto operator<=>(const ModelKey &) const = default;
};

struct Profile {
  std::string path;                       // "" for none
  std::string device, name, fingerprint;  // of the machine it was made on; "" when it does not say
  std::int32_t units = 0;                 // that the machine numbers speak of; 0: it does not say
  std::map<std::string, double> machine;  // names of sxt_machine's numbers
  std::map<ModelKey, FittedModel> models;
  struct Correction {  // made by hand: one factor on the analytic estimate of a kernel
    double factor = 1;
    double rel_error = 0.15;
  };
  std::map<std::string, Correction> kernels;

  // Measured numbers over analytic ones; those of another kind of device change nothing.
  void apply(sxt_machine &machine_numbers) const;
  // Takes over what the other knows: its machine numbers and its models win. What is not finite is left out.
  void merge(const Profile &newer);
  // Takes models that this one lacks, or has from fewer than half as many samples. Set-ups that were measured stay.
  void keep_better_sampled(const Profile &older);
};

inline constexpr std::int64_t profile_format = 1;

// Names of the numbers a [machine] table may hold, and their place in sxt_machine.
struct MachineField {
  const char *name;
  std::size_t offset;
};
const std::vector<MachineField> &machine_fields();
// Further numbers of that table: the last cache's size as measured, and how quiet the machine was
// (core/calibrate/noise.hpp).
const std::vector<const char *> &further_numbers();

// Reads a profile, plain or compressed by gzip; throws SXT_E_FILE_READ or SXT_E_FILE_FORMAT with "path:line: what".
Profile read_profile(const std::string &path);
// The same, once a process as long as the file stays as it is: models of thousands of kernels take a while to read.
std::shared_ptr<const Profile> shared_profile(const std::string &path);
// Whether a file is a profile of a later format: whole, but not to be understood here.
bool is_later_profile(const std::string &path);
// The profile as TOML.
std::string profile_text(const Profile &profile);
// Under a lock that other processes respect: reads what is there, merges this profile into it, replaces the file
// atomically, and returns the whole. A damaged file there is kept beside it as "<path>.damaged", or with a number
// behind, and the log says so. A name that ends in .gz gets a compressed file. SXT_E_FILE_WRITE; SXT_E_FILE_READ and,
// for a later format, SXT_E_FILE_FORMAT: the file stays as it is.
Profile update_profile(const std::string &path, const Profile &newer, const LogSink &log = {});

// "<machine key>.toml": letters, digits, dots and dashes only.
std::string profile_file_name(const std::string &fingerprint);
// $SEXTANT_PROFILE, else <XDG data home>/sextant/profiles/<machine key>.toml; "" when there is no home.
std::string default_profile_path(const std::string &fingerprint);
// A profile that ships with the library for this machine; "" when there is none.
std::string shipped_profile_path(const std::string &fingerprint);

}  // namespace sextant
