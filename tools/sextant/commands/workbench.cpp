// SPDX-License-Identifier: BSD-3-Clause
// sextant workbench: serves the page to a browser on this machine, until Ctrl-C.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "input/numbers.hpp"
#include "model/points.hpp"
#include "report/output.hpp"
#include "report/write_file.hpp"
#include "workbench/folder.hpp"
#include "workbench/page.hpp"
#include "workbench/server.hpp"

namespace tool {
namespace {

struct WorkbenchOptions {
  ContextOptions context;
  ServerOptions server;
  std::string folder;
  bool read_only = false, no_open = false;
};

// A page that leads to the address: on a command line every user of the machine could read its token.
std::string leading_page(const Folder &folder, const std::string &address) {
  const std::string path = (std::filesystem::path(folder.path()) / "workbench.html").string();
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail(exit_bad_input, "{}: {}", path, std::strerror(errno));
  close(file);
  write_text(path, fmt::format("<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" "
                               "content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0;url={0}\">\n"
                               "<title>Sextant workbench</title>\n<a href=\"{0}\">The workbench</a>\n",
                               address));
  return path;
}

// The desktop's own command, which may not be there; the address was printed in any case. signals: those that the
// browser is to block.
void open_browser(const std::string &page, const sigset_t &signals) {
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      std::signal(SIGPIPE, SIG_DFL);
      sigprocmask(SIG_SETMASK, &signals, nullptr);
      setsid();  // Ctrl-C here is not meant for the browser
      execlp("xdg-open", "xdg-open", page.c_str(), static_cast<char *>(nullptr));
      _exit(127);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

bool has_desktop() { return std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY"); }

// Kernels whose models are built point by point. Plugins are loaded here, as this asks the registry and no device.
std::vector<ModelledKernel> kernels_to_choose(ContextOptions options) {
  options.device = "cpu";
  options.profile.clear();
  options.log_level = "silent";
  const Context context = open_context(options, true);
  return modelled_kernels();
}

int workbench(const WorkbenchOptions &options) {
  // Before any thread starts, so that all leave these signals to the wait below.
  sigset_t ending, before;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  std::signal(SIGPIPE, SIG_IGN);
  const Folder folder(options.folder), own("");
  const std::string token = random_letters(128);
  Session session(
      {folder.path(), context_line(options.context), options.read_only, kernels_to_choose(options.context)});
  const Server server(session, options.server, token);
  const std::string fragment = "/#token=" + token;
  if (options.server.socket.empty()) {
    const std::string address = fmt::format("http://127.0.0.1:{}{}", server.port(), fragment);
    print("{}\n", address);
    finish_stdout();
    if (!options.no_open && has_desktop()) open_browser(leading_page(own, address), before);
  } else {
    print("{}\nssh -L 8000:{} HOST, then http://localhost:8000{}\n", options.server.socket, options.server.socket,
          fragment);
    finish_stdout();
  }
  message("serving; Ctrl-C ends it");
  int signal = 0;
  sigwait(&ending, &signal);
  message("ending");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return exit_done;
}

constexpr const char *workbench_footer = R"(Examples:
  sextant workbench                             prints the address, and opens a browser where there is a desktop
  sextant workbench --port 8080 --no-open       then on your own machine: ssh -L 8080:localhost:8080 HOST
  sextant workbench --socket /run/user/1000/sextant.sock --read-only

It answers this machine alone, and only requests that carry the token in the address. Ctrl-C ends it.)";

}  // namespace

void add_workbench(CLI::App &parent, Action &action) {
  auto options = std::make_shared<WorkbenchOptions>();
  CLI::App *app = parent.add_subcommand("workbench", "Serve a page that measures, fits, explains and generates");
  auto *port = app->add_option("--port", options->server.port, "Of 127.0.0.1; 0: a free one")
                   ->capture_default_str()
                   ->check(number_within(0, 65535));
  app->add_option("--socket", options->server.socket, "A Unix socket in the place of a port")
      ->type_name("PATH")
      ->excludes(port);
  app->add_option("--folder", options->folder, "Keep uploads, programs and results here; default: a temporary one")
      ->type_name("DIR");
  app->add_flag("--read-only", options->read_only, "Show the results of --folder, and start nothing");
  app->add_flag("--no-open", options->no_open, "Do not open a browser");
  add_context_options(*app, options->context);
  app->footer(workbench_footer);
  app->callback([options, &action] { action = [options] { return workbench(*options); }; });
}

}  // namespace tool
