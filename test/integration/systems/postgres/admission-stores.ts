import { createFlowStore } from '../../../../systems/postgres/accounts/flow-store.ts';
import { createAdmission } from '../../../../systems/postgres/admission/admission.ts';
import { createRunConfigStore } from '../../../../systems/postgres/admission/run-config-store.ts';
import type { Pool } from '../../../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';

/** Admission, with the stores that verify it. */
export function admissionStores(pool: Pool) {
  const runs = createRunStore(pool, testSealer);
  return {
    admission: createAdmission(pool, testSealer),
    runs,
    flows: createFlowStore(pool, testSealer),
    configs: createRunConfigStore(pool, testSealer),

    /** The row counts of everything that admission writes for a project. */
    async writtenFor(projectId: string): Promise<unknown> {
      const { rows } = await pool.query(
        `select (select count(*) from runs where project_id = $1) as runs,
                (select count(*) from idempotency_keys where project_id = $1) as keys,
                (select coalesce(sum(admitted), 0)::int from monthly_runs
                 where project_id = $1) as month,
                (select count(*) from run_configs c join runs r on r.id = c.run_id
                 where r.project_id = $1) as configs`,
        [projectId],
      );
      return rows[0];
    },

    async end(runId: string): Promise<void> {
      await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    },
  };
}
