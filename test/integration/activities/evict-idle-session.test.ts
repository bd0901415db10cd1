import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { createIdleEvictor } from '../../../activities/evict-idle-session.ts';
import { useFreshScene } from '../systems/postgres/use-scene.ts';

const { scene } = useFreshScene();
let idle: Awaited<ReturnType<typeof scene.session>> | null;
let at = 0;
let told: string[] = [];
let isAway = false;

beforeEach(async () => {
  idle = await scene.session();
  told = [];
  isAway = false;
});

const makeWay = () =>
  createIdleEvictor({
    admission: { findEvictableSession: async () => idle },
    temporal: {
      signalSleep: async (workflowId) => {
        if (isAway) throw new Error('away');
        told.push(workflowId);
      },
    },
    now: () => new Date(at),
    logger: pino({ enabled: false }),
  });

test('a session is told once, and again when it goes on to be in the way', async () => {
  const make = makeWay();
  for (const ms of [0, 5_000, 9_999]) {
    at = ms;
    await make('waits');
  }
  expect(told).toEqual([idle?.workflowId]);
  at = 10_000;
  await make('waits');
  expect(told).toHaveLength(2);
  idle = await scene.session();
  await make('waits');
  expect(told[2]).toBe(idle.workflowId);
});

test('one that could not be told is told the next time', async () => {
  const make = makeWay();
  isAway = true;
  await expect(make('waits')).rejects.toThrow('away');
  isAway = false;
  await make('waits');
  expect(told).toHaveLength(1);
});

test('where nobody is idle nobody is told', async () => {
  idle = null;
  await makeWay()('waits');
  expect(told).toEqual([]);
});
