// SPDX-License-Identifier: BSD-3-Clause
// Peers are searched in the folders named by the user, then beside the command's build.
#include "bench/peers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "input/hints.hpp"
#include "names/names.hpp"
#include "report/error.hpp"

namespace tool {
namespace {

// A peer that the build knows: its name, and why its object was not built.
struct KnownPeer {
  const char *name, *not_built;
};
constexpr KnownPeer known_peers[] = {
#include "peer_list.inc"
    {nullptr, nullptr}};

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

struct Places {
  std::vector<std::string> folders, objects;
};

Places places(const PeerOptions &options) {
  Places found;
  for (const std::string &path : options.paths) {
    std::error_code ignored;
    (std::filesystem::is_directory(path, ignored) ? found.folders : found.objects).push_back(path);
  }
  const char *more = std::getenv("SEXTANT_PEER_PATH");
  for (std::string &folder : split(more ? more : "", ':')) found.folders.push_back(std::move(folder));
  return found;
}

// Where the build puts peer objects: ../lib/sextant/peers of the command's folder.
std::filesystem::path build_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / ".." / "lib" / "sextant" / "peers";
}

class Opener {
 public:
  Opener(Places places, int threads, PeerSet &set) : places_(std::move(places)), threads_(threads), set_(set) {
    for (const std::string &folder : places_.folders) folders_.push_back(folder.c_str());
    folders_.push_back(nullptr);
  }

  void open_object(const std::string &name, const std::string &path) {
    // Local, so that symbols of one peer never replace another's; never unloaded, because its threads may still run.
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char *why = dlerror();
      return miss(name, fmt::format("{} does not load: {}", path, why ? why : "no reason given"));
    }
    using Entry = const sxt_peer *(*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, SXT_PEER_ENTRY));
    const sxt_peer *peer = entry ? entry() : nullptr;
    if (!peer || peer->interface_version != SXT_PEER_INTERFACE) {
      return miss(name, fmt::format("{} is no peer of interface {}", path, SXT_PEER_INTERFACE));
    }
    sxt_peer_message message{};
    if (peer->open(folders_.data(), threads_, &message) != 0) return miss(peer->name, message.text);
    set_.ready.push_back(peer);
  }

  void open_known(const KnownPeer &known) {
    std::vector<std::filesystem::path> candidates;
    for (const std::string &folder : places_.folders) candidates.emplace_back(folder);
    candidates.push_back(build_folder());
    std::string looked;
    for (const std::filesystem::path &folder : candidates) {
      const std::filesystem::path object = folder / (std::string(known.name) + ".so");
      std::error_code ignored;
      if (std::filesystem::exists(object, ignored)) return open_object(known.name, object.string());
      looked += (looked.empty() ? "" : ", ") + object.lexically_normal().string();
    }
    miss(known.name, fmt::format("{}; looked for {}", *known.not_built ? known.not_built : "no peer object", looked));
  }

 private:
  void miss(const std::string &name, const std::string &reason) {
    message(fmt::format("peer {} is not measured: {}", name, reason));
    set_.missing.push_back({{"name", name}, {"reason", reason}});
  }
  Places places_;
  std::vector<const char *> folders_;
  int threads_;
  PeerSet &set_;
};

const KnownPeer &find_known(const std::string &name) {
  std::vector<std::string> names;
  for (const KnownPeer *known = known_peers; known->name; ++known) {
    if (name == known->name) return *known;
    names.emplace_back(known->name);
  }
  fail(exit_usage, "--peers: {}; --peer-path takes the file of any other", sextant::unknown_name("peer", name, names));
}

}  // namespace

Json PeerSet::described() const {
  Json list = Json::array();
  for (const sxt_peer *peer : ready) {
    list.push_back({{"name", peer->name},
                    {"version", peer->version()},
                    {"threads", peer->threads()},
                    {"library", peer->location ? Json(peer->location()) : Json()}});
  }
  return list;
}

PeerSet open_peers(const PeerOptions &options, int threads) {
  PeerSet set;
  if (options.names.empty()) return set;
  // Names first: a misspelling should not cost the start of the others.
  std::vector<const KnownPeer *> wanted;
  if (options.names == "all") {
    for (const KnownPeer *known = known_peers; known->name; ++known) wanted.push_back(known);
  } else if (options.names != "none") {
    for (const std::string &name : split(options.names, ',')) wanted.push_back(&find_known(name));
  }
  const Places where = places(options);
  Opener opener(where, threads, set);
  for (const KnownPeer *known : wanted) opener.open_known(*known);
  for (const std::string &object : where.objects)
    opener.open_object(std::filesystem::path(object).filename().string(), object);
  for (const sxt_peer *peer : set.ready) {
    if (peer->threads() == threads) continue;
    message(fmt::format("peer {} uses {} of {} threads", peer->name, peer->threads(), threads));
  }
  return set;
}

}  // namespace tool
