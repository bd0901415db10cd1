#!/bin/sh
# Handles the settings of the compose file as the vendor's image does.
set -eu
TEMPORAL_BROADCAST_ADDRESS=$(getent hosts "$(hostname)" | cut -d ' ' -f 1)
export TEMPORAL_BROADCAST_ADDRESS
exec temporal-server start
