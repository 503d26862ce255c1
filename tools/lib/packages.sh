# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The packages Sextant needs on Debian and Ubuntu: which are missing, and how they are installed.

# To build the library and the command, and to run every test. Debian 12 and Ubuntu 24.04 use the same names.
required_packages=(g++ make cmake ninja-build pkgconf zlib1g-dev libtomlplusplus-dev nlohmann-json3-dev
  libcli11-dev libfmt-dev libgtest-dev libgmock-dev libopenblas0 python3
  libmicrohttpd-dev libjs-chart.js)
fortran_packages=(gfortran)
# What the continuous integration adds: the Fortran module, the checks of the shell scripts, of the C ABI and of the
# headers' comments, what the Python package's tests need, and what builds the site of documents. METIS is compared with, and Eigen's matrices are handed over, where they
# are there. The workbench's page is tested in a browser where there is one.
developer_packages=(gfortran doxygen patch shellcheck abigail-tools libmetis5 libeigen3-dev python3-cffi python3-numpy python3-scipy python3-pytest
  python3-sphinx python3-myst-parser furo)
# pip, and the certificates it needs, to fetch the CUDA toolkit.
wheel_packages=(python3-pip ca-certificates)

# os_field NAME: one field of os-release. QUICKSTART_OS_RELEASE lets the tests play another distribution.
os_field() {
  local file=${QUICKSTART_OS_RELEASE:-/etc/os-release}
  sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" "$file" 2>/dev/null || true
}

# True where the package names above are known to be right.
supported_distribution() {
  local version
  version=$(os_field VERSION_ID)
  version=${version%%.*}
  case $(os_field ID) in
    debian) ((${version:-0} >= 12)) ;;
    ubuntu) ((${version:-0} >= 24)) ;;
    *) false ;;
  esac
}

# missing_packages NAME...: those that are not installed, one a line.
missing_packages() {
  local package status
  for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=''
    [[ $status == installed ]] || printf '%s\n' "$package"
  done
}

# The prefix that gives a command root's rights: nothing, or sudo.
root_prefix() {
  if [[ $(id -u) == 0 ]]; then
    root=()
  elif command -v sudo >/dev/null; then
    root=(sudo)
  else
    fail "packages are missing and this is neither root nor a user with sudo; as root: apt-get install $*"
  fi
}

# install_packages NAME...: installs the missing ones after saying which; with dry_run=yes it only says.
install_packages() {
  local -a missing root
  mapfile -t missing < <(missing_packages "$@")
  if [[ ${#missing[@]} == 0 ]]; then
    say "Nothing to install: all $# packages are there."
    return
  fi
  say "To be installed with apt-get (${#missing[@]} of $# packages are missing):"
  say "  ${missing[*]}"
  [[ ${dry_run:-no} == no ]] || return 0
  root_prefix "${missing[@]}"
  # Waits for another running apt; recommended packages would triple the download.
  local -a apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || fail 'apt-get update failed: is there a network connection? See its messages above.'
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
    fail 'apt-get install failed: see its messages above. Remove the cause, then run the same command again.'
}

# ensure_packages NAME...: as install_packages, refusing systems whose package names are not known.
ensure_packages() {
  if ! supported_distribution; then
    local name
    name=$(os_field PRETTY_NAME)
    fail "this is ${name:-an unknown system}; packages are installed on Debian 12 and Ubuntu 24.04 (or later) only." \
      "Install what these provide there: $*; then run this command again with --skip-packages."
  fi
  install_packages "$@"
}
