#!/bin/sh
# Says which prerequisites are missing, and the command that installs them. Quiet when all are there.
python="${PYTHON:-python3}"
missing=""
packages=""
# On macOS a framework build has its library elsewhere; the simulator's own error will say so if there is none.
shared='
import ctypes, os, sys, sysconfig
name, folder = map(sysconfig.get_config_var, ("INSTSONAME", "LIBDIR"))
path = os.path.join(folder, name)
sys.platform == "darwin" or ctypes.CDLL(path if os.path.exists(path) else name)
'

need() { # what is missing, the Debian package that brings it
    missing="$missing  - $1
"
    packages="$packages $2"
}

if ! command -v "$python" >/dev/null 2>&1; then
    need "Python 3.11 or newer ($python not found)" "python3 python3-venv python3-dev"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    need "Python 3.11 or newer ($python is $("$python" -V 2>&1 | cut -d' ' -f2); name another with PYTHON=)" "python3.11 python3.11-venv"
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    need "Python's venv module" "python3-venv"
elif ! "$python" -c "$shared" 2>/dev/null; then
    need "Python's shared library (the simulator embeds $python)" "libpython3-dev"
fi
command -v "${CXX:-c++}" >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || need "a C++ compiler" "g++"

[ -z "$missing" ] && exit 0
printf 'axiloom: missing on this machine:\n%s' "$missing"
if command -v apt-get >/dev/null 2>&1; then
    echo "install with: sudo apt-get install -y$packages"
elif command -v dnf >/dev/null 2>&1; then
    echo "install with: sudo dnf install -y python3 gcc-c++"
elif command -v brew >/dev/null 2>&1; then
    echo "install with: brew install python && xcode-select --install"
fi
exit 1
