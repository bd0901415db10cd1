import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { HostHealth } from '../../../../core/hosts/host-health.ts';
import type { RuntimeSetting } from '../../../../core/sandbox/sandbox-runtime.ts';
import { openDocker } from '../../../../systems/docker/open-docker.ts';
import { createHostHealthMonitor } from '../../../../worker/host/health.ts';
import { startFakeEngine } from '../../../support/fake-engine.ts';
import { stackEnv } from '../../../support/stack-env.ts';

const retention = { runMs: 1, sessionFilesMs: 2, webhookAttemptsMs: 3 };
interface Given {
  dockerHost?: string;
  sandboxImage?: string;
  sandboxRuntime?: RuntimeSetting;
  clockAheadMs?: () => Promise<number>;
}

/** The first report of a host with these dependencies, and its log so far. */
async function firstLook(given: Given): Promise<{ report: HostHealth; log: string }> {
  const { dockerHost = stackEnv.dockerHost, sandboxImage = stackEnv.sandboxImage } = given;
  const { sandboxRuntime = 'runc' } = given;
  let log = '';
  const logger = pino({}, { write: (line) => void (log += line) });
  const healthMonitor = createHostHealthMonitor({
    config: {
      instance: 'report',
      dataDir: '/tmp',
      sandboxImage,
      sandboxRuntime,
      retention,
      postgresConnections: 12,
      diskReserve: { bytes: 5, inodes: 6 },
    },
    docker: openDocker({ dockerHost, instance: 'report', runtime: sandboxRuntime }),
    projectQuotas: { state: async () => 'enforced' },
    clockAheadMs: given.clockAheadMs ?? (async () => 0),
    logger,
  });
  expect(healthMonitor.last()).toBeNull();
  const stop = new AbortController();
  const running = healthMonitor.run(stop.signal);
  while (healthMonitor.last() === null) await sleep(20);
  stop.abort();
  await running;
  return { report: healthMonitor.last() ?? expect.unreachable(), log };
}

const firstReport = async (given: Given) => (await firstLook(given)).report;

test('a healthy host reports it', async () => {
  expect(await firstReport({ clockAheadMs: async () => 1_234 })).toEqual({
    instance: 'report',
    retention,
    postgresConnections: 12,
    engineVersion: expect.stringMatching(/^\d+\./),
    engineProblem: null,
    image: stackEnv.sandboxImage,
    imagePresent: true,
    runtimeSetting: 'runc',
    runtime: 'runc',
    runtimeFault: null,
    runtimeProblem: null,
    diskFreeBytes: expect.any(Number),
    diskTotalBytes: expect.any(Number),
    diskReserveBytes: 5,
    diskFreeInodes: expect.any(Number),
    diskReserveInodes: 6,
    projectQuotas: 'enforced',
    clockAheadMs: 1_234,
  });
});

test('reports a missing image', async () => {
  const report = await firstReport({ sandboxImage: 'nobody/has-it:1' });
  expect(report).toMatchObject({ image: 'nobody/has-it:1', imagePresent: false });
});

test('reports the other facts without the engine or Postgres', async () => {
  const report = await firstReport({
    dockerHost: 'unix:///nowhere/docker.sock',
    clockAheadMs: () => Promise.reject(new Error('away')),
  });
  expect(report).toMatchObject({
    engineVersion: null,
    engineProblem: expect.stringContaining('/nowhere/docker.sock'),
    imagePresent: null,
    clockAheadMs: null,
  });
  expect(report.diskFreeBytes).toBeGreaterThan(0);
});

test.each([
  [['runc', 'runsc'], 'runsc'],
  [['runc'], 'runc'],
] as const)('where there are %j it says once that sandboxes run on %s', async (names, runtime) => {
  const entry = { path: 'x', runtimeArgs: ['--host-uds=open'] };
  const Runtimes = Object.fromEntries(names.map((name) => [name, entry]));
  const fake = await startFakeEngine(() => ({ Version: '28.1.0', ApiVersion: '1.49', Runtimes }));
  const given = { dockerHost: fake.dockerHost, sandboxRuntime: 'auto' } as const;
  const { report, log } = await firstLook(given);
  expect(report).toMatchObject({ runtimeSetting: 'auto', runtime, runtimeProblem: null });
  expect(log.split('\n').filter((line) => line.includes('"sandbox_runtime"'))).toEqual([
    expect.stringContaining(`"runtime":"${runtime}","setting":"auto"`),
  ]);
  fake.close();
});

test('reports gVisor that is configured and not installed, with advice', async () => {
  const fake = await startFakeEngine(() => ({ Version: '28.1.0', Runtimes: { runc: {} } }));
  const given = { dockerHost: fake.dockerHost, sandboxRuntime: 'runsc' } as const;
  const { report, log } = await firstLook(given);
  expect(report).toMatchObject({
    engineVersion: '28.1.0',
    engineProblem: null,
    imagePresent: true,
    runtime: null,
    runtimeFault: 'runtime_missing',
    runtimeProblem: expect.stringContaining('does not have the runtime runsc, only runc'),
  });
  expect(log).toMatch(/"level":50.*npm run setup:gvisor.*"msg":"runtime_missing"/);
  fake.close();
});

test('reports gVisor that cannot run sandboxes, with advice, and uses no other runtime instead', async () => {
  const Runtimes = { runc: {}, runsc: { path: 'runsc' } };
  const fake = await startFakeEngine(() => ({ Version: '28.1.0', ApiVersion: '1.49', Runtimes }));
  const given = { dockerHost: fake.dockerHost, sandboxRuntime: 'auto' } as const;
  const { report, log } = await firstLook(given);
  expect(report).toMatchObject({
    runtime: null,
    runtimeFault: 'runtime_unusable',
    runtimeProblem: expect.stringContaining('lists the runtime runsc without --host-uds=open'),
  });
  expect(log).toMatch(/"level":50.*--host-uds=open.*reload it.*"msg":"runtime_unusable"/);
  fake.close();
});
