#!/bin/sh
# Handles the settings of the compose file as the official image does.
set -eu
as() { setpriv --reuid postgres --regid postgres --init-groups "$@"; }
mkdir -p /var/run/postgresql "$PGDATA"
chown postgres: /var/run/postgresql "$PGDATA"
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  as initdb --username postgres --pwfile "$POSTGRES_PASSWORD_FILE" \
    --auth-local trust --auth-host scram-sha-256
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  as pg_ctl -w -o '-c listen_addresses=' start
  for script in /docker-entrypoint-initdb.d/*.sh; do as sh "$script"; done
  as pg_ctl -w -m fast stop
fi
exec setpriv --reuid postgres --regid postgres --init-groups "$@" -c listen_addresses='*'
