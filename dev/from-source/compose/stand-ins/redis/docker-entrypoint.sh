#!/bin/sh
# What the official image does with the settings that the compose file uses.
set -eu
chown redis: .
exec setpriv --reuid redis --regid redis --init-groups "$@" --protected-mode no
