import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { fakeRun } from '../../../support/fake-run.ts';
import { useTemporal } from './use-temporal.ts';

const { fixture, temporal } = useTemporal();

const patiently = { timeout: 30_000 };
const inUtc = { timezone: 'UTC', isPaused: false };
const scheduleOf = (flowId: string) => fixture.client.schedule.getHandle(`flow/${flowId}`);

describe('a flow’s schedule', { timeout: 120_000 }, () => {
  it('is created, changed and removed, and each can be repeated', async () => {
    const flowId = randomUUID();
    const nextOf = async () => (await scheduleOf(flowId).describe()).info.nextActionTimes[0];
    const berlin = { cron: '30 9 * * MON', timezone: 'Europe/Berlin', isPaused: false };
    for (let count = 0; count < 2; count += 1) await temporal.ensureSchedule(flowId, berlin);
    const next = await nextOf();
    expect([next?.getUTCDay(), next?.getUTCMinutes()]).toEqual([1, 30]);
    expect([7, 8]).toContain(next?.getUTCHours());

    await temporal.ensureSchedule(flowId, { ...inUtc, cron: '0 12 1 2 *' });
    expect((await nextOf())?.toISOString()).toMatch(/^\d{4}-02-01T12:00:00/);
    for (let count = 0; count < 2; count += 1) await temporal.removeSchedule(flowId);
    await expect(scheduleOf(flowId).describe()).rejects.toThrow();
  });

  it('uses the same run id for every attempt of a tick', async () => {
    const flowId = randomUUID();
    const ticks: { flowId: string; runId: string; scheduledAt: string }[] = [];
    const fake = fakeRun({
      triggerScheduledRun: async (tick) => {
        ticks.push(tick);
        if (ticks.length === 1) throw new Error('the database is unreachable');
        return { outcome: 'admitted' };
      },
    });
    fixture.serve(flowId, fake.activities);
    await temporal.ensureSchedule(flowId, { ...inUtc, cron: '0 0 1 1 *' });
    await scheduleOf(flowId).trigger();
    await expect.poll(() => ticks, { timeout: 30_000 }).toHaveLength(2);
    const { recentActions } = (await scheduleOf(flowId).describe()).info;
    const scheduledAt = recentActions[0]?.scheduledAt.toISOString().replace(/\.\d+/, '.000');
    const runId = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(ticks[1]).toEqual({ flowId, runId, scheduledAt });
    expect(ticks[1]).toEqual(ticks[0]);
    await temporal.removeSchedule(flowId);
  });

  it('reports a start whose attempts have failed', async () => {
    const flowId = randomUUID();
    const missed: string[] = [];
    const fake = fakeRun({
      triggerScheduledRun: () => Promise.reject(ApplicationFailure.nonRetryable('never')),
      missScheduledRun: async ({ runId }) => void missed.push(runId),
    });
    fixture.serve(flowId, fake.activities);
    await temporal.ensureSchedule(flowId, { ...inUtc, cron: '0 0 1 1 *' });
    await scheduleOf(flowId).trigger();
    await expect.poll(() => missed, patiently).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    await temporal.removeSchedule(flowId);
  });

  it('is paused and resumed', async () => {
    const flowId = randomUUID();
    const daily = { ...inUtc, cron: '0 12 * * *' };
    const isPaused = async () => (await scheduleOf(flowId).describe()).state.paused;
    await temporal.ensureSchedule(flowId, { ...daily, isPaused: true });
    expect(await isPaused()).toBe(true);
    await temporal.ensureSchedule(flowId, daily);
    expect(await isPaused()).toBe(false);
    await temporal.ensureSchedule(flowId, { ...daily, isPaused: true });
    expect(await isPaused()).toBe(true);
    await temporal.removeSchedule(flowId);
  });

  it('has its next starts, its waiting starts, and the number of skipped starts', async () => {
    const flowId = randomUUID();
    expect(await temporal.readScheduleTimes(flowId)).toBeNull();
    let decide: () => void = () => {};
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    const triggerScheduledRun = () => decided.then(() => ({ outcome: 'admitted' as const }));
    fixture.serve(flowId, fakeRun({ triggerScheduledRun }).activities);
    await temporal.ensureSchedule(flowId, { ...inUtc, cron: '0 0 1 1 *' });
    const times = await temporal.readScheduleTimes(flowId);
    expect(times).toMatchObject({ waiting: [], skippedStarts: 0 });
    expect(times?.next[0]?.toISOString()).toMatch(/-01-01T00:00:00/);
    await scheduleOf(flowId).trigger('SKIP');
    const read = () => temporal.readScheduleTimes(flowId);
    await expect.poll(read, patiently).toMatchObject({ waiting: [expect.any(Date)] });
    await scheduleOf(flowId).trigger('SKIP');
    await expect.poll(read, patiently).toMatchObject({ skippedStarts: 1 });
    expect(await temporal.ensureSchedule(flowId, { ...inUtc, cron: '0 0 1 1 *' })).toBe(1);
    decide();
    await expect.poll(read, patiently).toMatchObject({ waiting: [], skippedStarts: 1 });
    await temporal.removeSchedule(flowId);
  });
});
