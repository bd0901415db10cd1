// More runs than slots: runs wait without any work until they are notified, and start in order.

import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { eventsOf } from '../support/workflow-events.ts';
import { workflowIdOf } from '../support/workflow-of.ts';

const waitForRelease = script([{ say: 'working' }, { waitForFile: 'go-on' }]);
let service: Service;
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  service = await startService({ env: { HOST_CAPACITY: '1' } });
  const projects = createProjectStore(service.database.pool, createSealer(service.encryptionKey));
  await projects.update(service.projectId, { maxConcurrentRuns: 1_000 });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await connection?.close();
});

async function trigger(say: string): Promise<string> {
  return (await service.trigger({ prompt: script([{ say }]) })).runId;
}

async function occupySlot(): Promise<string> {
  const { runId } = await service.trigger({ prompt: waitForRelease });
  await untilWorking(service, { runId });
  return runId;
}

async function heartbeats(): Promise<number> {
  const { rows } = await service.database.pool.query<{ sent: number }>(
    'select sum(heartbeats)::int as sent from hosts',
  );
  return rows[0]?.sent ?? 0;
}

describe('runs that find the only slot occupied', { timeout: 240_000 }, () => {
  it('start in the order of their admission, while new runs keep coming', async () => {
    const first = await occupySlot();
    const runIds = [await trigger('run 1')];
    releaseAgent(service, first);
    while (runIds.length < 5) {
      runIds.push(await trigger(`run ${runIds.length + 1}`));
      await service.untilEnded(runIds[runIds.length - 2] ?? '');
    }
    const ended = await Promise.all(runIds.map((runId) => service.untilEnded(runId)));
    for (const { exitCode } of ended) expect(exitCode).toBe(0);
    const startedAt = ended.map((run) => Date.parse(String(run.startedAt)));
    expect(startedAt).toEqual([...startedAt].sort((one, other) => one - other));
  });

  it('wait without any event in their workflows, and the longest-waiting starts next', async () => {
    const first = await occupySlot();
    const runIds = [await trigger('next')];
    while (runIds.length < 100) runIds.push(await trigger('later'));
    const workflowIds = await Promise.all(runIds.map((runId) => workflowIdOf(service, runId)));
    await expect
      .poll(() => eventsOf(connection, workflowIds), { timeout: 60_000 })
      .not.toContain(null);
    const before = await eventsOf(connection, workflowIds);
    const sent = await heartbeats();
    await expect.poll(heartbeats, { timeout: 60_000 }).toBeGreaterThan(sent + 1);
    expect(await eventsOf(connection, workflowIds)).toEqual(before);
    for (const runId of runIds.slice(1)) await service.call('DELETE', `/runs/${runId}`);
    releaseAgent(service, first);
    expect(await service.untilEnded(runIds[0] ?? '')).toMatchObject({ exitCode: 0 });
  });

  it('start after the worker was killed while its only run ended', async () => {
    const first = await occupySlot();
    const next = await trigger('next');
    await service.worker.kill('SIGKILL');
    releaseAgent(service, first);
    await service.worker.start();
    expect(await service.untilEnded(first)).toMatchObject({ exitCode: 0 });
    expect(await service.untilEnded(next)).toMatchObject({ exitCode: 0 });
  });
});
