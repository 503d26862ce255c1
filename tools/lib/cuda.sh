# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The CUDA toolkit for a machine that has a driver but no nvcc: fetched as wheels into a local folder, arranged so that
# CMake takes it for an installed toolkit, and tried out before anything is built with it.

cuda_min_driver=580      # CUDA 13 needs this driver or a later one
cuda_gigabytes_needed=4  # while installing: the wheels (0.9 GB), their contents (1.3 GB), and a margin

# The nvcc of an installed toolkit, or nothing.
installed_nvcc() {
  if [[ -n ${CUDACXX:-} ]]; then
    command -v "$CUDACXX" || true
  else
    command -v nvcc || command -v "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" || true
  fi
}

# Where the driver's library is, or nothing. Only root has ldconfig in PATH.
driver_library() {
  PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null |
    awk '/libcuda\.so\.1 .*64/ && !seen {seen = 1; print $NF}' || true
}

# The major version of the NVIDIA driver, 0 where there is a driver of unknown version, nothing without a driver.
# QUICKSTART_DRIVER lets the tests play a machine with another driver, or with none.
driver_version() {
  local version=${QUICKSTART_DRIVER:-}
  if [[ -n $version ]]; then
    if [[ $version == none ]]; then return; fi
  elif [[ -r /proc/driver/nvidia/version ]]; then
    version=$(sed -nE '/NVRM/s/.* ([0-9]{3,})\.[0-9].*/\1/p' /proc/driver/nvidia/version)
  elif [[ -z $(driver_library) && ! -e /dev/nvidiactl ]]; then
    return
  fi
  printf '%s\n' "${version:-0}"
}

# check_driver yes|force NVCC: without a driver no toolkit is fetched, unless forced (to compile on a machine without a
# GPU); with a compiler that is there the plugins are built.
check_driver() {
  local version
  version=$(driver_version)
  if [[ -z $version ]]; then
    [[ $1 == force || -n $2 ]] ||
      fail 'no NVIDIA driver and no nvcc on this machine. --cuda=force fetches the toolkit and builds the CUDA plugins all the same.'
    say 'No NVIDIA driver: the CUDA plugins are compiled, and cannot run here.'
  elif ((version > 0 && version < cuda_min_driver)); then
    [[ $1 == force ]] || fail "the NVIDIA driver is version $version; CUDA 13 needs $cuda_min_driver or later."
    say "NVIDIA driver $version is older than $cuda_min_driver: what is compiled cannot run here."
  else
    say "NVIDIA driver found (version ${version/#0/unknown})."
  fi
}

# pip for python3, installed where it is missing and packages may be installed.
need_pip() {
  if python3 -m pip --version >/dev/null 2>&1; then return; fi
  [[ $packages == yes ]] || fail 'python3 has no pip, which fetches the CUDA toolkit: install it first.'
  ensure_packages "${wheel_packages[@]}"
}

# fetch_toolkit DIR: installs the wheels into DIR/wheels, once for each list of wheels.
fetch_toolkit() {
  local dir=$1 list=$root_dir/tools/lib/cuda-wheels.txt free
  if cmp -s "$list" "$dir/installed.txt"; then
    say "The toolkit is already in $dir."
    return
  fi
  mkdir -p "$dir/tmp"
  free=$(df --output=avail -BG "$dir" | tail -n 1 | tr -dc 0-9)
  ((free >= cuda_gigabytes_needed)) || fail "$dir has $free GB free; the toolkit needs $cuda_gigabytes_needed GB."
  say "Fetching the CUDA toolkit with pip into $dir (0.9 GB to download, 1.3 GB on disk):"
  grep -v '^#' "$list" | sed 's/^/  /'
  rm -rf "$dir/wheels"
  # pip unpacks in TMPDIR: kept beside the target, so that one disk's space counts and a small /tmp does not matter.
  TMPDIR=$dir/tmp python3 -m pip install --quiet --root-user-action=ignore --no-cache-dir --no-deps \
    --only-binary :all: --target "$dir/wheels" -r "$list" ||
    fail 'pip could not fetch the CUDA toolkit: see its messages above.'
  rm -rf "$dir/tmp"
  cp "$list" "$dir/installed.txt"
  say "Fetched: $(du -sh "$dir" | cut -f1) in $dir."
}

# arrange_toolkit DIR: DIR/toolkit becomes what an installed toolkit looks like. The wheels lack lib64 and the names
# without version that the linker looks for; the driver library, which no wheel holds, comes from the driver.
arrange_toolkit() {
  local dir=$1 top library plain driver
  top=$(find "$dir/wheels/nvidia" -maxdepth 1 -type d -name 'cu[0-9]*' | head -n 1)
  [[ -x $top/bin/nvcc ]] || fail "no nvcc among the wheels in $dir; remove that folder and run this command again."
  ln -sfn "${top#"$dir"/}" "$dir/toolkit"
  ln -sfn lib "$top/lib64"
  for library in "$top"/lib/lib*.so.[0-9]*; do
    plain=${library%%.so.*}.so
    [[ -e $plain ]] || ln -s "${library##*/}" "$plain"
  done
  driver=$(driver_library)
  mkdir -p "$top/lib/stubs"
  if [[ -n $driver ]]; then ln -sfn "$driver" "$top/lib/stubs/libcuda.so"; fi
}

# try_toolkit NVCC BUILD: a small kernel goes through CMake, compiler and linker, and runs where there is a GPU.
try_toolkit() {
  local nvcc=$1 build=$2 log=$2.log
  rm -rf "$build"
  mkdir -p "${log%/*}"
  if ! { cmake -S "$root_dir/tools/lib/cuda-check" -B "$build" "${cuda_options[@]}" &&
    cmake --build "$build"; } >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "a small CUDA program does not build with $nvcc; the end of $log is above."
  fi
  "$build/check" || fail "a small CUDA program builds with $nvcc and fails when it runs: see its messages above."
}

# prepare_cuda yes|force DIR: sets cuda_options for the configuration of Sextant.
prepare_cuda() {
  local nvcc
  nvcc=$(installed_nvcc)
  check_driver "$1" "$nvcc"
  if [[ -n $nvcc ]]; then
    say "CUDA compiler found: $nvcc; nothing to fetch."
  else
    need_pip
    fetch_toolkit "$2"
    arrange_toolkit "$2"
    nvcc=$2/toolkit/bin/nvcc
  fi
  cuda_options=("-DCMAKE_CUDA_COMPILER=$nvcc" "-DCUDAToolkit_ROOT=$(dirname "$(dirname "$nvcc")")")
  try_toolkit "$nvcc" "$2/check"
}
