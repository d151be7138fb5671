#!/usr/bin/env bash
# xla_headers.sh PYTHON FOLDER: puts the XLA FFI headers of jaxlib 0.10 into FOLDER, from its wheel; nothing is installed.
# The oldest release's headers serve every newer jax; those of the jaxlib that is installed may be too new for an older one.
set -uo pipefail
python=$1 folder=$2
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
if "$python" -m pip --disable-pip-version-check download -qq --no-deps --only-binary :all: -d "$wheels" "jaxlib>=0.10,<0.11" &&
  "$python" -c '
import glob, sys, zipfile
wheel, = glob.glob(sys.argv[1] + "/jaxlib-*.whl")
with zipfile.ZipFile(wheel) as files:
    files.extractall(sys.argv[1], [n for n in files.namelist() if n.startswith("jaxlib/include/xla/ffi/")])
' "$wheels" && [ -e "$wheels/jaxlib/include/xla/ffi/api/ffi.h" ]; then
  rm -rf "$folder" && mkdir -p "$(dirname "$folder")" && mv "$wheels/jaxlib/include" "$folder"
else
  echo "skipping: the headers of jaxlib 0.10 cannot be downloaded, so the core is built without ae.xla unless jaxlib is installed" >&2
  rm -rf "$folder"
fi
