// Reads the workflow id of a run from the database, because the API does not expose it.

import { readFileSync } from 'node:fs';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { createPool } from '../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../systems/postgres/runs/run-store.ts';
import type { ServiceEnv } from '../stack/service-env.ts';

export async function workflowIdOf(env: ServiceEnv, runId: string): Promise<string> {
  const pool = createPool(env.DATABASE_URL ?? '', { applicationName: 'demo', max: 1 });
  try {
    const key = Buffer.from(readFileSync(env.ENCRYPTION_KEY_FILE ?? '', 'utf8'), 'base64');
    const run = await createRunStore(pool, createSealer(key)).find(runId);
    if (run === null) throw new Error(`there is no run ${runId}`);
    return run.workflowId;
  } finally {
    await pool.end();
  }
}
