import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { ensureTemporalRuntime } from '../../support/temporal-runtime.ts';
import { testBundle } from '../../support/test-bundle.ts';

it('isolates the memory of each workflow from the others on the same worker', async () => {
  ensureTemporalRuntime();
  const address = stackEnv.temporalAddress;
  const [connection, native] = await Promise.all([
    Connection.connect({ address }),
    NativeConnection.connect({ address }),
  ]);
  const fixture = join(repository, 'test/fixtures/counting-workflow/index.ts');
  const taskQueue = `isolation-${randomUUID()}`;
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: await testBundle(fixture),
  });
  const { workflow } = new Client({ connection });
  const counts = await worker.runUntil(
    Promise.all(
      Array.from({ length: 5 }, () =>
        workflow.execute('countingWorkflow', { taskQueue, workflowId: randomUUID() }),
      ),
    ),
  );
  expect(counts).toEqual([1, 1, 1, 1, 1]);
  await Promise.all([connection.close(), native.close()]);
});
