import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { HostReport } from '../../core/host-report.ts';
import { createEngine } from '../../systems/docker/engine.ts';
import { createHostReporter } from '../../worker/host-report.ts';
import { stackEnv } from '../support/stack-env.ts';

const kept = { runMs: 1, sessionFilesMs: 2, webhookAttemptsMs: 3 };
const logger = pino({ level: 'silent' });

interface Given {
  dockerHost?: string;
  sandboxImage?: string;
  clockAheadMs?: () => Promise<number>;
}

/** The first that a host with these says of itself. */
async function firstReport(given: Given): Promise<HostReport> {
  const { dockerHost = stackEnv.dockerHost, sandboxImage = stackEnv.sandboxImage } = given;
  const reporter = createHostReporter({
    config: { instance: 'report', dataDir: '/tmp', sandboxImage, kept },
    engine: createEngine({ dockerHost, instance: 'report' }),
    clockAheadMs: given.clockAheadMs ?? (async () => 0),
    logger,
  });
  expect(reporter.last()).toBeNull();
  const stop = new AbortController();
  const running = reporter.run(stop.signal);
  while (reporter.last() === null) await sleep(20);
  stop.abort();
  await running;
  return reporter.last() ?? expect.unreachable();
}

test('a host that has all it needs says so', async () => {
  expect(await firstReport({ clockAheadMs: async () => 1_234 })).toEqual({
    instance: 'report',
    kept,
    engineVersion: expect.stringMatching(/^\d+\./),
    engineTrouble: null,
    image: stackEnv.sandboxImage,
    imagePresent: true,
    diskFreeBytes: expect.any(Number),
    diskTotalBytes: expect.any(Number),
    clockAheadMs: 1_234,
  });
});

test('an image that the engine does not have is missing', async () => {
  const report = await firstReport({ sandboxImage: 'nobody/has-it:1' });
  expect(report).toMatchObject({ image: 'nobody/has-it:1', imagePresent: false });
});

test('without an engine, or without Postgres, the rest is said all the same', async () => {
  const report = await firstReport({
    dockerHost: 'unix:///nowhere/docker.sock',
    clockAheadMs: () => Promise.reject(new Error('away')),
  });
  expect(report).toMatchObject({
    engineVersion: null,
    engineTrouble: expect.stringContaining('/nowhere/docker.sock'),
    imagePresent: null,
    clockAheadMs: null,
  });
  expect(report.diskFreeBytes).toBeGreaterThan(0);
});
