#!/bin/sh
# What the vendor's image does with the settings that the compose file uses.
set -eu
TEMPORAL_BROADCAST_ADDRESS=$(getent hosts "$(hostname)" | cut -d ' ' -f 1)
export TEMPORAL_BROADCAST_ADDRESS
exec temporal-server start
