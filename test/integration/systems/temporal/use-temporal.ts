import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { Run } from '../../../../core/runs/run.ts';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { admittedRun } from '../../../support/admitted-run.ts';
import type { FakeRun } from '../../../support/fake-run.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { createWorkflowFixture, type WorkflowFixture } from '../../../support/workflow-fixture.ts';

interface TemporalSetup {
  fixture: WorkflowFixture;
  temporal: Temporal;
  /** An admitted run whose workflow uses these activities. */
  newRun(fake: FakeRun, fields?: Partial<Run>): Run;
}

/** Starts workers for the tests of a file, with a client of the same instance. */
export function useTemporal(): TemporalSetup {
  // Empty until `beforeAll`, so that they can be constants. No test runs before that.
  const fixture = {} as WorkflowFixture;
  const temporal = {} as Temporal;
  beforeAll(async () => {
    Object.assign(fixture, await createWorkflowFixture());
    const client = createTemporal({
      namespace: 'default',
      connection: { address: stackEnv.temporalAddress },
      instance: fixture.instance,
      publicUrl: 'https://runs.example',
      timeouts: { noCapacityMs: 60_000 },
    });
    Object.assign(temporal, client);
  }, 120_000);
  afterAll(async () => {
    await temporal.close();
    await fixture.close();
  });
  return {
    fixture,
    temporal,
    newRun: (fake, fields = {}) => {
      const runId = randomUUID();
      fixture.serve(runId, fake.activities);
      return admittedRun({ runId, hostId: fixture.hostId, ...fields });
    },
  };
}
