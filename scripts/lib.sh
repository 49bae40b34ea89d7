# Shared by the scripts in this folder, which source it; they all run from the root of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m%s\033[0m\n' "== $*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# packages GROUP: the names that scripts/packages.txt lists for it.
packages() { awk -v group="$1" '$1 == group { print $2 }' scripts/packages.txt; }

# missing_packages GROUP: those of them that are not installed.
missing_packages() {
  local package
  for package in $(packages "$1"); do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

# setup GROUP: installs what the group lacks; does nothing, and asks nobody, when all of it is there.
setup() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "note: no apt-get here; going on with what is installed (scripts/packages.txt lists what is needed)" >&2
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$1")
  [[ ${#missing[@]} -gt 0 ]] || return 0

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || die "packages are missing, and there is neither root nor sudo to install them." \
      "Ask an administrator for: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# configure PRESET: shows only what lockstep itself has to say, such as whether it found a CUDA toolkit.
configure() { cmake --preset "$1" | sed -n 's/^-- lockstep: /   /p'; }

# as_root_environment: what Open MPI wants to see before it runs anything as root; one assignment per line, for env.
as_root_environment() {
  [[ $(id -u) -eq 0 ]] && mpirun --version 2>/dev/null | grep -q 'Open MPI' || return 0
  echo "note: you are root, where Open MPI refuses to run by default; for this command alone setting" \
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" >&2
  printf '%s\n' OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}
