-- A time as in the bodies of responses and webhooks: in UTC, with milliseconds.
create or replace function iso_timestamp(at timestamptz) returns text language sql stable as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
