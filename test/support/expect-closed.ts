import { CancelledFailure, Client, Connection } from '@temporalio/client';
import { expect } from 'vitest';
import type { RunRecord } from './api-client.ts';
import { failureOf } from './end-of-workflow.ts';
import type { Service } from './service.ts';
import { stackEnv } from './stack-env.ts';
import { workflowIdOf } from './workflow-of.ts';

/** The workflow has closed, and shows the error of the run record. Returns the record. */
export async function expectClosed(service: Service, run: RunRecord): Promise<RunRecord> {
  const { runId, error } = run;
  const connection = await Connection.connect({ address: stackEnv.temporalAddress });
  try {
    const { workflow } = new Client({ connection });
    const failure = await failureOf(workflow.getHandle(await workflowIdOf(service, runId)));
    if (error === undefined) expect(failure).toBeUndefined();
    else if (error === 'stopped_by_api') expect(failure).toBeInstanceOf(CancelledFailure);
    else expect(failure?.message).toBe(`the run ended: ${error}`);
  } finally {
    await connection.close();
  }
  return run;
}
