#!/bin/sh
# The first process of an isolated machine: processes, mounts and network are in namespaces that end
# with this process. machine.ts calls it with the engine's settings and a command.
set -eu
settings=$1
shift
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/lock
until grep -q tap0 /proc/net/route; do sleep 0.1; done
echo 'nameserver 10.0.2.3' > /run/resolv.conf
mount --bind /run/resolv.conf "$(readlink -f /etc/resolv.conf)"
dockerd --config-file "$settings" > "${settings%.json}.log" 2>&1 &
engine=$!
status=0
"$@" || status=$?
kill "$engine"
wait "$engine" || true
exit "$status"
