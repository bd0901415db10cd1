#!/bin/sh
# Handles the settings of the compose file as the official image does.
set -eu
chown redis: .
exec setpriv --reuid redis --regid redis --init-groups "$@" --protected-mode no
