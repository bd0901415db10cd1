import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { fakeRun } from '../../../support/fake-run.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { createWorkflowWorld, type WorkflowWorld } from '../../../support/workflow-world.ts';

let world: WorkflowWorld;
let temporal: Temporal;
beforeAll(async () => {
  world = await createWorkflowWorld();
  const { instance } = world;
  const connection = { address: stackEnv.temporalAddress };
  temporal = createTemporal({ instance, namespace: 'default', connection });
}, 120_000);
afterAll(async () => {
  await temporal.close();
  await world.close();
});

const scheduleOf = (flowId: string) => world.client.schedule.getHandle(`flow/${flowId}`);

describe('a flow’s schedule', { timeout: 120_000 }, () => {
  it('is made, changed and taken away, however often it is asked for', async () => {
    const flowId = randomUUID();
    const nextOf = async () => (await scheduleOf(flowId).describe()).info.nextActionTimes[0];
    const berlin = { cron: '30 9 * * MON', timezone: 'Europe/Berlin' };
    for (let count = 0; count < 2; count += 1) await temporal.ensureSchedule(flowId, berlin);
    const next = await nextOf();
    expect([next?.getUTCDay(), next?.getUTCMinutes()]).toEqual([1, 30]);
    expect([7, 8]).toContain(next?.getUTCHours());

    await temporal.ensureSchedule(flowId, { cron: '0 12 1 2 *', timezone: 'UTC' });
    expect((await nextOf())?.toISOString()).toMatch(/^\d{4}-02-01T12:00:00/);
    for (let count = 0; count < 2; count += 1) await temporal.removeSchedule(flowId);
    await expect(scheduleOf(flowId).describe()).rejects.toThrow();
  });

  it('starts one run at its moment, under an id that stays through every attempt', async () => {
    const flowId = randomUUID();
    const asked: { flowId: string; runId: string }[] = [];
    const fake = fakeRun({
      triggerScheduledRun: async (moment) => {
        asked.push(moment);
        if (asked.length === 1) throw new Error('the database is away');
        return { outcome: 'admitted' };
      },
    });
    world.serve(flowId, fake.activities);
    await temporal.ensureSchedule(flowId, { cron: '0 0 1 1 *', timezone: 'UTC' });
    await scheduleOf(flowId).trigger();
    await expect.poll(() => asked, { timeout: 30_000 }).toHaveLength(2);
    expect(asked[1]).toEqual({ flowId, runId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(asked[1]).toEqual(asked[0]);
    await temporal.removeSchedule(flowId);
  });
});
