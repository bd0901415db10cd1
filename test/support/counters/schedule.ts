// Calls that recur by time. They belong to no run and no turn, although some happen during one.

import { limits } from '../../../core/limits.ts';

/** Of the service, with and without sessions. These are the beginnings of names. */
const ofService: Readonly<Record<string, readonly string[]>> = {
  api: [
    'insert into key_usage',
    'delete from key_usage',
    'with unlocked as ( select id from api_keys',
    // Marks of started and signalled workflows, in batches.
    'with unlocked as ( select id from runs',
    'with unsignalled as ( select id from session_messages',
    'select … from temporal_identity',
    'insert into temporal_identity',
  ],
  worker: [
    'with lease as (', // the heartbeat
    'renew_leases', // of all sandboxes of a host
    'select … from host_rpc_requests',
    'delete from host_rpc_requests',
    'select … from temporal_identity',
    'insert into temporal_identity',
    // At the end of the first sweep over all active runs.
    'update temporal_identity set missing_workflows = null',
    'select db_clock() as now', // of the host's health
    'select … from projects where id = $1', // the project's model, read again after some seconds
    // Jobs with a loop apart, and jobs that are due less often than a pass is made.
    ...[
      ...['closed_workflows', 'hosts', 'schedules', 'retention', 'blobs', 'packing'],
      'stored_bytes',
    ].map((job) => `insert into reconciler_jobs as j (name, leader, free_at) values ('${job}'`),
    'select … from run_logs where unpacked_since',
    'update reconciler_jobs set leader = null',
    'select fold_stored_bytes',
    // Of lost hosts: from 30 s after the start of a worker.
    'select … from runs r join run_logs l on l.run_id = r.id left join hosts h',
  ],
  docker: ['GET /version', 'GET /info', 'GET /images/…/json'],
};

export const isOfService = (system: string, name: string): boolean =>
  (ofService[system] ?? []).some((beginning) => name.startsWith(beginning));

/** A call to the engine. */
export interface SandboxTimer {
  name: string;
  everyMs: number;
}

const inspection = 'GET /containers/…/json';

/** Of each sandbox of a paused session. */
export const sandboxTimers: readonly SandboxTimer[] = [
  { name: inspection, everyMs: limits.sandbox.pausedPollMs },
];

/**
 * A sandbox is inspected once a second, and more often when its exit was announced. How often that
 * is in a run depends on time.
 */
export const isInspection = (call: { kind: string; name: string }): boolean =>
  call.kind === 'docker' && call.name === inspection;
