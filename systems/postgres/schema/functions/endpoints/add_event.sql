-- Adds an event of a project, in the transaction of the change that it reports: a row for each
-- endpoint that subscribes to it. Nothing is sent to an endpoint without a URL. Some events of a
-- session are also sent to its callback URL. The body has the fields that all events of a run have,
-- then those of p_fields, which is not empty. p_run_id is null if no run has caused the event.
-- Returns the number of rows.
-- The body is joined as text, because jsonb rejects some texts that clients and agents may send.
create or replace function add_event(
  p_project_id text, p_event text, p_fields json, p_run_id uuid default null
) returns integer language plpgsql volatile as $$
declare
  run runs;
  content text;
  added integer;
begin
  select * into run from runs r where r.id = p_run_id;
  content := concat_ws(',',
    '{"projectId":' || to_json(p_project_id),
    '"runId":' || to_json(run.id),
    '"flowId":' || to_json(run.flow_id),
    '"labels":' || run.labels,
    '"sessionId":' || to_json(run.session_id),
    '"occurredAt":' || to_json(iso_timestamp(db_clock())),
    substr(p_fields::text, 2)
  );

  insert into webhook_events (endpoint_id, project_id, run_id, request_id, event, body, state)
    select target.id, p_project_id, p_run_id, run.request_id, p_event, content, target.state
    from (
      select e.id, case when e.url is null then 'held' else 'pending' end as state
      from webhook_endpoints e
      where e.project_id = p_project_id and e.removed_at is null and p_event = any(e.event_types)
      union all
      select null, 'pending'
      where p_event in ('session.idle', 'interaction.asked')
        and run.session_id is not null and run.callback_url is not null
    ) target;
  get diagnostics added = row_count;
  if added > 0 then
    insert into stored_bytes_changes (project_id, kind, bytes)
      values (p_project_id, 'messages', added * octet_length(content));
  end if;
  return added;
end
$$;
