// Logs of runs: written like a worker does, or inserted as if the runs had ended two days ago.

import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { Scenario } from '../../../support/database-records.ts';
import { chat, output } from './use-frame-log.ts';

/** A worker stores what its agent has printed since the last time. */
const framesOfBatch = 4;

export async function writeLog(pool: Pool, runId: string, length: number): Promise<void> {
  const frames = createFrameStore(pool);
  const lease = await frames.takeLease(runId, 'host', 60_000);
  if (lease === null) throw new Error('the lease is taken');
  const { token, generation } = lease;
  for (let from = 0; from < length; from += framesOfBatch) {
    const batch = Array.from({ length: framesOfBatch }, (_, n) =>
      n % 2 === 0 ? output(`line ${from + n}`) : chat(from + n),
    );
    const position = { runId, token, generation, fromOffset: from, toOffset: from + framesOfBatch };
    const { outcome } = await frames.append({ ...position, frames: batch, facts: {} });
    if (outcome !== 'stored') throw new Error('the lease was lost');
  }
}

/** Not packed yet. */
export async function insertEndedLogs(
  pool: Pool,
  { flow, projectId }: Scenario,
  { runs, framesOfRun }: { runs: number; framesOfRun: number },
): Promise<void> {
  await pool.query(
    `with made as (
       insert into runs (
         id, flow_id, project_id, trigger_type, prompt, key_name, key_created_by,
         timeout_seconds, status, workflow_id, ended_at, end_cause
       )
       select gen_random_uuid(), $1, $2, 'api', '', 'ci', 'ana', 60, 'sleep',
              gen_random_uuid(), db_clock() - interval '2 days', 'completed'
       from generate_series(1, $3::integer)
       returning id, ended_at
     ), logs as (
       insert into run_logs (run_id, is_final, unpacked_since) select id, true, ended_at from made
     )
     insert into frames (run_id, seq, at, event, channel, data)
     select id, n, db_clock(), 'output', 'output', '{"data":"line ' || n || '"}'
     from made, generate_series(1, $4::integer) n`,
    [flow.flowId, projectId, runs, framesOfRun],
  );
}
