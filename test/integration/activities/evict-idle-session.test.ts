import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { createIdleEvictor } from '../../../activities/evict-idle-session.ts';
import { setupFreshScenario } from '../systems/postgres/setup-scenario.ts';

const { scenario } = setupFreshScenario();
let idle: Awaited<ReturnType<typeof scenario.session>> | null;
let at = 0;
let signalled: string[] = [];
let isAway = false;

beforeEach(async () => {
  idle = await scenario.session();
  signalled = [];
  isAway = false;
});

const createEvictor = () =>
  createIdleEvictor({
    admission: { findEvictableOnHosts: async () => idle },
    temporal: {
      signalSleep: async (workflowId) => {
        if (isAway) throw new Error('away');
        signalled.push(workflowId);
      },
    },
    now: () => new Date(at),
    logger: pino({ enabled: false }),
  });

test('signals an idle session once, and again after the retry delay', async () => {
  const evict = createEvictor();
  for (const ms of [0, 5_000, 9_999]) {
    at = ms;
    await evict('waits');
  }
  expect(signalled).toEqual([idle?.workflowId]);
  at = 10_000;
  await evict('waits');
  expect(signalled).toHaveLength(2);
  idle = await scenario.session();
  await evict('waits');
  expect(signalled[2]).toBe(idle.workflowId);
});

test('signals again at the next call if the signal failed', async () => {
  const evict = createEvictor();
  isAway = true;
  await expect(evict('waits')).rejects.toThrow('away');
  isAway = false;
  await evict('waits');
  expect(signalled).toHaveLength(1);
});

test('signals nothing if no session is idle', async () => {
  idle = null;
  await createEvictor()('waits');
  expect(signalled).toEqual([]);
});
