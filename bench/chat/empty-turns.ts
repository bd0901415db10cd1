import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTemporal } from '../../systems/temporal/connect.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { testBundle } from '../../test/support/test-bundle.ts';
import { startChild } from '../support/child.ts';
import type { EmptyAnswer, EmptySetting } from './empty-worker.ts';
import { machineMs } from './machine-clock.ts';

/**
 * The lower limit of message delivery by signal: the time from a signal to the body of an empty
 * activity.
 */
interface EmptyTurns {
  pass(): Promise<number>;
  close(): Promise<void>;
}

const settleMs = 300;

export async function openEmptyTurns(): Promise<EmptyTurns> {
  const name = `empty-${randomUUID().slice(0, 8)}`;
  const workflowsPath = new URL('./empty-workflow.ts', import.meta.url).pathname;
  const setting: EmptySetting = {
    temporalAddress: stackEnv.temporalAddress,
    codePath: (await testBundle(workflowsPath)).codePath,
    workflowQueue: `${name}/run`,
    activityQueue: `${name}/host`,
  };
  const program = new URL('./empty-worker.ts', import.meta.url);
  const worker = startChild<never, EmptyAnswer>(program, setting);
  await worker.answer();
  const { client, close } = connectTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
  });
  const workflow = await client.workflow.start('emptyTurns', {
    workflowId: name,
    taskQueue: setting.workflowQueue,
    args: [{ activityQueue: setting.activityQueue }],
  });
  return {
    async pass() {
      const startedAt = machineMs();
      const passed = worker.answer();
      await workflow.signal('message');
      const { atMs } = await passed;
      await sleep(settleMs);
      return atMs - startedAt;
    },
    async close() {
      await workflow.terminate('measured');
      await close();
      await worker.stop();
    },
  };
}
