import type { Service } from '../../test/support/service.ts';

interface LogLine {
  time: string;
  msg: string;
  runId?: string;
  afterMs?: number;
  requestedAt?: string;
  index?: number;
}

/** Times of a run's steps in the service's log. */
export function logTimestamps({ api, worker }: Service, runId: string) {
  const lines = [...linesOf(api.log(), runId), ...linesOf(worker.log(), runId)];
  const admitted = find(lines, 'run_admitted');
  const at = (event: string): number => Date.parse(find(lines, event).time);
  return {
    received: Date.parse(admitted.time) - (admitted.afterMs ?? Number.NaN),
    admitted: at('run_admitted'),
    workflowStarted: at('workflow_started'),
    preparing: Date.parse(find(lines, 'sandbox_attached').requestedAt ?? ''),
    ready: at('sandbox_attached'),
    created: at('sandbox_created'),
    started: at('sandbox_started'),
    configFetched: at('config_fetched'),
    configAcknowledged: at('config_acknowledged'),
    messageHandedOut: at('message_delivered'),
  };
}

export function linesOf(log: string, runId: string): LogLine[] {
  return log
    .split('\n')
    .filter((line) => line.includes(runId))
    .map((line) => JSON.parse(line) as LogLine); // lines of the service's log that have a run id
}

/** If an event occurs several times, the first one counts. */
function find(lines: LogLine[], event: string): LogLine {
  const found = lines.find(({ msg }) => msg === event);
  if (found === undefined) throw new Error(`the log has no ${event}`);
  return found;
}
