import { expect, it } from 'vitest';
import { createDeferred } from '../../../../lib/async/deferred.ts';
import { createReconciler } from '../../../../worker/reconciler/reconciler.ts';
import { setupReconciler } from './setup-reconciler.ts';

const { database, scenario, fixture } = setupReconciler();

/** The reconciler of a further worker. Counts its descriptions of workflows. */
function workerOn(hostId: string) {
  const counted = { described: 0 };
  const describe: typeof fixture.deps.temporal.describe = (workflowId) => {
    counted.described += 1;
    return fixture.deps.temporal.describe(workflowId);
  };
  const temporal = { ...fixture.deps.temporal, describe };
  return { ...createReconciler({ ...fixture.deps, hostId, temporal }), temporal, counted };
}

const leasesExpire = () => database.pool.query('update reconciler_jobs set free_at = db_clock()');

it('describes each workflow once per period over all workers', async () => {
  for (let made = 0; made < 3; made += 1) await fixture.started(await scenario.run());
  const workers = Array.from({ length: 5 }, (_, n) => workerOn(`host-${n}`));
  for (let period = 0; period < 4; period += 1) for (const worker of workers) await worker.pass();
  expect(workers.map(({ counted }) => counted.described)).toEqual([3 * 4, 0, 0, 0, 0]);
});

it('is led by another worker when the leader has died, and by one at a time', async () => {
  await fixture.started(await scenario.run());
  const [dead, next] = [workerOn('host-dead'), workerOn('host-next')];
  await dead.pass();
  await next.pass();
  expect(next.counted.described).toBe(0);
  await leasesExpire();
  await next.pass();
  await dead.pass();
  expect([dead.counted.described, next.counted.described]).toEqual([1, 1]);
});

it('is led by another worker if the leader does not reach Temporal', async () => {
  await fixture.started(await scenario.run());
  const [cut, next] = [workerOn('host-cut'), workerOn('host-next')];
  cut.temporal.check = async () => {
    throw new Error('away');
  };
  await cut.pass();
  await next.pass();
  expect([cut.counted.described, next.counted.described]).toEqual([0, 1]);
});

it('is led by another worker as soon as the leader has stopped', async () => {
  await fixture.started(await scenario.run());
  const [stopped, next] = [workerOn('host-stopped'), workerOn('host-next')];
  const stopping = new AbortController();
  const running = stopped.run(stopping.signal);
  await expect.poll(() => stopped.counted.described).toBeGreaterThan(0);
  stopping.abort();
  await running;
  await next.pass();
  expect(next.counted.described).toBe(1);
});

it('syncs all schedules once per hour over all workers', async () => {
  let resyncs = 0;
  const { resyncAll } = fixture.deps.schedules;
  fixture.deps.schedules.resyncAll = async () => {
    resyncs += 1;
    await resyncAll();
  };
  const restart = async (hostId: string) => {
    await leasesExpireOf('runs');
    await workerOn(hostId).pass();
  };
  for (const hostId of ['host-a', 'host-b', 'host-a']) await restart(hostId);
  expect(resyncs).toBe(1);
  await leasesExpireOf('schedules');
  await restart('host-b');
  expect(resyncs).toBe(2);
});

const leasesExpireOf = (name: string) =>
  database.pool.query('update reconciler_jobs set free_at = db_clock() where name = $1', [name]);

/** A run that was started on a host, and a way to stop the heartbeat of this host. */
async function runOnHost() {
  await fixture.hosts.renew({ hostId: 'silent', name: 'silent', capacity: 4 });
  const run = await fixture.started(await scenario.run());
  await fixture.runs.markStarted(run.runId, 1, 'idle');
  return {
    async hostFallsSilent() {
      await database.pool.query(`update hosts set last_seen = last_seen - interval '2 minutes'`);
      for (let renewals = 0; renewals < 8; renewals += 1) {
        fixture.renewals.renewed();
        fixture.clock.now += 5_000;
      }
      fixture.renewals.renewed();
    },
    endedAt: async () => (await fixture.read(run)).endedAt,
  };
}

/** A call that lasts until it is ended. */
function createStall() {
  const [begun, finished] = [createDeferred<true>(), createDeferred<true>()];
  return {
    begun: begun.promise,
    async call() {
      begun.resolve(true);
      await finished.promise;
    },
    end: () => finished.resolve(true),
  };
}

it('finds a closed workflow while another step takes long', async () => {
  const run = await fixture.started(await scenario.run());
  const stall = createStall();
  fixture.deps.messages.unsignalled = async () => {
    await stall.call();
    return [];
  };
  const stopping = new AbortController();
  const running = fixture.reconciler.run(stopping.signal);
  await stall.begun;
  fixture.workflows.set(run.workflowId, 'closed');
  await expect.poll(async () => (await fixture.read(run)).endedAt).not.toBeNull();
  stopping.abort();
  stall.end();
  await running;
});

async function expectHostLostDuring(stall: ReturnType<typeof createStall>) {
  const { hostFallsSilent, endedAt } = await runOnHost();
  const stopping = new AbortController();
  const running = fixture.reconciler.run(stopping.signal);
  await stall.begun;
  await hostFallsSilent();
  await expect.poll(endedAt).not.toBeNull();
  stopping.abort();
  stall.end();
  await running;
}

it('declares a host lost while the retention deletes for long', async () => {
  const stall = createStall();
  fixture.deps.retention.expiredKeys = async () => {
    await stall.call();
    return 0;
  };
  await expectHostLostDuring(stall);
});

it('declares a host lost while Temporal describes no workflow', async () => {
  const stall = createStall();
  fixture.deps.temporal.describe = async () => {
    await stall.call();
    return 'running';
  };
  await expectHostLostDuring(stall);
});
