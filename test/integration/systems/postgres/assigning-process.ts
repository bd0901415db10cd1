// A process that assigns free slots, and claims and ends each run that it has assigned, until no
// run waits. `assigning-processes.test.ts` starts several. Writes a line of JSON.

import { once } from 'node:events';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createPool } from '../../../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';

const [url = ''] = process.argv.slice(2);
const pool = createPool(url, { applicationName: 'assigning' });
const admission = createAdmission(pool, testSealer);
const runs = createRunStore(pool, testSealer);

/** Hosts with too many runs, and runs that a later one of their project has overtaken. */
const violations = `
  select (select count(*) from hosts h where h.capacity <
           (select count(*) from runs r where r.host_id = h.id and occupies_slot(r)))
       + (select count(*) from runs w where is_waiting(w) and exists (
           select from runs r
           where r.project_id = w.project_id and r.created_at > w.created_at and not is_waiting(r)
         )) as found`;

async function hasWaiting(): Promise<boolean> {
  return ((await pool.query('select from runs r where is_waiting(r)')).rowCount ?? 0) > 0;
}

async function end(runId: string): Promise<void> {
  if ((await admission.claimSlot(runId, 0)) === null) throw new Error('the slot was taken away');
  await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
}

const assigned: string[] = [];
let found = 0;
process.stdout.write('ready\n');
await once(process.stdin, 'data');
while (await hasWaiting()) {
  const now = await admission.assignWaiting();
  found += (await pool.query<{ found: number }>(violations)).rows[0]?.found ?? 0;
  for (const { runId } of now) await end(runId);
  assigned.push(...now.map(({ runId }) => runId));
}
await pool.end();
process.stdout.write(`${JSON.stringify({ assigned, found })}\n`);
process.stdin.destroy();
