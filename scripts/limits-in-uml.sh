#!/bin/sh
# Runs the tests of resourceLimits on a kernel of their own: User Mode Linux (Debian package user-mode-linux), an ordinary process
# that needs no privileges. Its cgroup v2 has every controller, whatever this machine's has. The host's files are read-only there.
#
#   scripts/limits-in-uml.sh [vitest arguments]
set -eu

if [ "$$" != 1 ]; then
  command -v linux.uml >/dev/null || { echo "linux.uml is not installed (Debian: user-mode-linux)" >&2; exit 2; }
  cd "$(dirname "$0")/.."
  verdict=$(mktemp -d)
  linux.uml root=/dev/root rootfstype=hostfs rootflags=/ ro mem=1G quiet loglevel=1 con=null con0=null,fd:1 \
    init="$PWD/scripts/limits-in-uml.sh" PROJECT="$PWD" VERDICT="$verdict" ARGUMENTS="$*" NODE="$(command -v node)" </dev/null
  code=$(cat "$verdict/exit-code" 2>/dev/null || echo 1)
  rm -r "$verdict"
  exit "$code"
fi

# From here on inside, as process 1.
export CI=1 TERM=dumb PATH="$(dirname "$NODE"):/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo "+cpu +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up 2>/dev/null || true
mkdir /tmp/verdict
mount -t hostfs -o "$VERDICT" none /tmp/verdict
cd "$PROJECT"
code=0
node node_modules/vitest/vitest.mjs run --configLoader runner --no-cache --testTimeout=120000 --hookTimeout=60000 ${ARGUMENTS:-test/execution/limits} || code=$?
echo "$code" >/tmp/verdict/exit-code
sync
poweroff -f -d
