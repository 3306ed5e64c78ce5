#!/bin/sh
# Installs Icarus Verilog where that needs no question (root and apt-get); else says what will be skipped.
command -v iverilog >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing Icarus Verilog for the cross-checks"
    { apt-get install -y -q iverilog || { apt-get update -q && apt-get install -y -q iverilog; }; } >/dev/null 2>&1 && exit 0
fi
echo "Icarus Verilog is not here: its cross-checks will be skipped (install with: sudo apt-get install -y iverilog)"
exit 0
