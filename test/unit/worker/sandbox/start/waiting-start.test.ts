// A start that waits for another one, whose permit does not end in these tests.

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import type { SupervisorDeps } from '../../../../../worker/sandbox/deps.ts';
import { createSupervisor } from '../../../../../worker/sandbox/supervisor.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** The first start stays at its folders, until it fails there. */
async function oneWaits() {
  const dataDir = await mkdtemp(join(tmpdir(), 'waiting-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const [first, second] = [randomUUID(), randomUUID()];
  const causes = new Map<string, string>();
  const plans: string[] = [];
  const failFirst = createDeferred<Error>();
  let assigned = 0;
  const deps = {
    ...{ hostId: 'host-1', dataDir, logger: pino({ enabled: false }), now: () => new Date() },
    ...{ cpus: 1, cpuPressure: () => null, onPermitGranted: () => undefined },
    notifications: { subscribeBestEffort: () => () => undefined },
    onSandboxStart: () => undefined,
    sandboxes: { watchExits: () => ({ close: () => undefined }), find: async () => null },
    runs: {
      sandboxPlan: async (runId: string) => {
        plans.push(runId);
        const run = { runId, generation: 1, projectId: 'p', endedAt: null, startedAt: null };
        return { run: { ...run, endCause: causes.get(runId) ?? null }, session: null };
      },
    },
    projectQuotas: {
      assign: async () => {
        assigned += 1;
        throw assigned === 1 ? await failFirst.promise : new Error('the second one started');
      },
    },
  };
  // the only members that these starts use
  const supervisor = createSupervisor(deps as unknown as SupervisorDeps);
  const start = (runId: string): Promise<unknown> =>
    supervisor
      .start({ runId, generation: 1 })
      .catch(({ cause }: Error) => (cause instanceof Error ? cause.message : cause));
  const starts = [start(first)];
  while (plans.length < 1) await new Promise(setImmediate);
  starts.push(start(second));
  while (supervisor.countWaitingStarts() < 1) await new Promise(setImmediate);
  const ref = { runId: second, generation: 1 };
  return { supervisor, starts, ref, causes, failFirst };
}

test('is cancelled at once if its run is stopped', async () => {
  const { supervisor, starts, ref, causes, failFirst } = await oneWaits();
  causes.set(ref.runId, 'stopped_by_api');
  await supervisor.stop(ref, 20_000);
  expect(await starts[1]).toBe('cancelled');
  failFirst.resolve(new Error('no folders'));
  expect(await starts[0]).toBe('no folders');
});

test('begins when the other one fails', async () => {
  const { supervisor, starts, failFirst } = await oneWaits();
  failFirst.resolve(new Error('no folders'));
  expect(await Promise.all(starts)).toEqual(['no folders', 'the second one started']);
  expect(supervisor.countWaitingStarts()).toBe(0);
});

test('begins no more if its run has ended meanwhile', async () => {
  const { starts, ref, causes, failFirst } = await oneWaits();
  causes.set(ref.runId, 'deleted_by_api');
  failFirst.resolve(new Error('no folders'));
  expect(await Promise.all(starts)).toEqual(['no folders', 'cancelled']);
});

test('ends at the shutdown of the worker', async () => {
  const { supervisor, starts, failFirst } = await oneWaits();
  const closed = supervisor.close();
  expect(await starts[1]).toBe('this process is shutting down');
  failFirst.resolve(new Error('no folders'));
  await closed;
});
