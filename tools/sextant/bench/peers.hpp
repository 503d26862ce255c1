// SPDX-License-Identifier: BSD-3-Clause
// Finds and opens the peers of `bench --peers`: other libraries behind tools/peers/peer.h, loaded at run time.
#pragma once

#include <string>
#include <vector>

#include "../peers/peer.h"
#include "report/output.hpp"

namespace tool {

struct PeerOptions {
  std::string names;               // "all", or names separated by commas; empty: no peers
  std::vector<std::string> paths;  // folders to search, and peer objects (files) to load
  bool tune = false;
};

struct PeerSet {
  std::vector<const sxt_peer *> ready;
  Json missing = Json::array();  // of {name, reason}: where it was searched and the errors
  Json described() const;        // of {name, version, threads, library}
};

// Opens the peers asked for, each set to this many threads. A missing one is reported on stderr. An unknown name is a
// usage error.
PeerSet open_peers(const PeerOptions &options, int threads);

}  // namespace tool
