-- The only clock for windows, leases and expiries. It has the precision that clients see, so that
-- comparisons agree with the timestamps shown.
create or replace function db_clock() returns timestamptz language sql volatile as $$
  select date_trunc('milliseconds', clock_timestamp())
$$;
