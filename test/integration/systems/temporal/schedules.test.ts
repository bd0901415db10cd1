import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fakeRun } from '../../../support/fake-run.ts';
import { useTemporal } from './use-temporal.ts';

const { fixture, temporal } = useTemporal();

const scheduleOf = (flowId: string) => fixture.client.schedule.getHandle(`flow/${flowId}`);

describe('a flow’s schedule', { timeout: 120_000 }, () => {
  it('is created, changed and removed, and each can be repeated', async () => {
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

  it('uses the same run id for every attempt of a tick', async () => {
    const flowId = randomUUID();
    const ticks: { flowId: string; runId: string }[] = [];
    const fake = fakeRun({
      triggerScheduledRun: async (tick) => {
        ticks.push(tick);
        if (ticks.length === 1) throw new Error('the database is unreachable');
        return { outcome: 'admitted' };
      },
    });
    fixture.serve(flowId, fake.activities);
    await temporal.ensureSchedule(flowId, { cron: '0 0 1 1 *', timezone: 'UTC' });
    await scheduleOf(flowId).trigger();
    await expect.poll(() => ticks, { timeout: 30_000 }).toHaveLength(2);
    expect(ticks[1]).toEqual({ flowId, runId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(ticks[1]).toEqual(ticks[0]);
    await temporal.removeSchedule(flowId);
  });
});
