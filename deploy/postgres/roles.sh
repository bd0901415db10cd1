#!/bin/sh
# Runs once, when the database is created: the service and Temporal each own only their databases.
set -eu
psql -v ON_ERROR_STOP=1 -U postgres -d postgres \
  -v flowrun="$(cat /secrets/flowrun)" -v temporal="$(cat /secrets/temporal)" <<'SQL'
create role flowrun login password :'flowrun';
create role temporal login password :'temporal';
create database flowrun owner flowrun;
create database temporal owner temporal;
create database temporal_visibility owner temporal;
SQL
