import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { runQueue } from '../../../../core/temporal/task-queues.ts';
import { createWorker, type WorkerOptions } from '../../../../worker/temporal/workers.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { ensureTemporalRuntime } from '../../../support/temporal-runtime.ts';
import { testBundle } from '../../../support/test-bundle.ts';

test('Temporal never stores the error message of a library', async () => {
  ensureTemporalRuntime();
  const address = stackEnv.temporalAddress;
  const instance = `t${randomUUID().slice(0, 8)}`;
  const lines: string[] = [];
  const fail = async (): Promise<never> => {
    throw new TypeError('connection to postgres://user:canary@host failed');
  };
  // Every queue needs an activity; one of them runs.
  const options = {
    ...{ instance, hostId: 'host-1', capacity: 1, namespace: 'default', connection: { address } },
    beforePolling: async () => undefined,
    workflowBundle: await testBundle(),
    activities: {
      run: { triggerScheduledRun: fail, deliverWebhook: fail },
      host: { startSandbox: fail, followRun: fail, runTurn: fail },
    },
    logger: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
    runLogContext: async (runId: string) => ({ runId, requestId: 'q-1' }),
  };
  const worker = await createWorker(options as unknown as WorkerOptions);
  const connection = await Connection.connect({ address });
  onTestFinished(async () => {
    worker.stop();
    await worker.stopped;
    await connection.close();
  });
  const flowId = randomUUID();
  const tick = await new Client({ connection }).workflow.start('scheduledTriggerWorkflow', {
    workflowId: `schedule/${flowId}`,
    taskQueue: runQueue(instance),
    args: [{ flowId, instance }],
  });
  onTestFinished(async () => void (await tick.terminate()));
  const lastFailure = async () =>
    (await tick.describe()).raw.pendingActivities?.[0]?.lastFailure ?? null;
  await expect.poll(lastFailure, { timeout: 10_000 }).not.toBeNull();
  const failure = JSON.stringify(await lastFailure());
  expect(failure).toContain('triggerScheduledRun failed');
  expect(failure).not.toContain('canary');
  expect(lines.join('\n')).toContain('canary');
});
