-- The trigger of tables whose rows are only added. It also stops the owner of the table, unless the
-- owner removes the trigger first.
create or replace function reject_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % cannot be changed or deleted', tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;
