// A host that is declared lost starts its sandbox late, while the run moves to another host.

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createAdmission } from '../../../../../systems/postgres/admission/admission.ts';
import { createRunConfigStore } from '../../../../../systems/postgres/admission/run-config-store.ts';
import { createHostStore } from '../../../../../systems/postgres/hosts/host-store.ts';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { testSealer } from '../../../../support/database.ts';
import { stackEnv } from '../../../../support/stack-env.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow, type SupervisorFixture } from '../supervisor-fixture.ts';

const database = useDatabase();
beforeEach(() => database.pool.query('delete from hosts'));

const hosts = () => createHostStore(database.pool);
const claim = ({ runId, generation }: SandboxRef) =>
  createAdmission(database.pool, testSealer).claimSlot(runId, generation);

/** Moves the run to another host, whose process starts it. */
async function moveAndStart(fixture: SupervisorFixture, ref: SandboxRef) {
  const other = { hostId: `other-${fixture.hostId}`, name: 'other', capacity: 10 };
  await hosts().renew(other);
  await hosts().markStopped(fixture.hostId);
  expect(await claim(ref)).toMatchObject({ hostId: other.hostId, generation: 2 });
  const dataDir = await mkdtemp(join(stackEnv.dataDir, 'v-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const supervisor = fixture.process({ hostId: other.hostId, dataDir });
  const moved = { ...ref, generation: 2 };
  expect(await supervisor.start(moved)).toBe('started');
  return { supervisor, moved };
}

const generations = async ({ sandboxes }: SupervisorFixture): Promise<number[]> =>
  (await sandboxes.list()).map(({ generation }) => generation);

/** The starts of an agent in the run's log. */
const inits = async (fixture: SupervisorFixture, ref: SandboxRef): Promise<number> =>
  (await fixture.log(ref)).filter(({ event, data }) => event === 'system' && /"init"/.test(data))
    .length;

test('runs the agent once if the run moves before the late sandbox is acknowledged', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const configs = createRunConfigStore(database.pool, testSealer);
  const [fetched, hasMoved] = [createDeferred<true>(), createDeferred<true>()];
  const late = fixture.process({
    configs: {
      read: configs.read,
      acknowledge: async (of) => {
        fetched.resolve(true);
        await hasMoved.promise;
        return configs.acknowledge(of);
      },
    },
    // It publishes the start only after the move, as if it had been suspended.
    runs: {
      ...fixture.runs,
      markStarted: async (...of) => {
        await hasMoved.promise;
        return fixture.runs.markStarted(...of);
      },
    },
  });
  const ref = await fixture.run([{ say: 'once' }], {}, { runner: null });
  const started = late.start(ref);
  await fetched.promise;
  const { supervisor, moved } = await moveAndStart(fixture, ref);
  hasMoved.resolve(true);
  expect(await started).toBe('superseded');
  expect(await follow(supervisor, moved)).toMatchObject({ cause: 'completed', exitCode: 0 });
  expect(await inits(fixture, moved)).toBe(1);
  expect(late.live()).toEqual([]);
  expect(await fixture.find(moved)).toMatchObject({ endCause: 'completed', generation: 2 });
});

test('does not start a sandbox that was superseded before', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const ref = await fixture.run([{ say: 'once' }], {}, { runner: null });
  const { supervisor, moved } = await moveAndStart(fixture, ref);
  const late = fixture.process();
  expect(await late.start(ref)).toBe('superseded');
  expect(await follow(supervisor, moved)).toMatchObject({ cause: 'completed' });
  expect(await generations(fixture)).toEqual([2]);
});

test('removes a sandbox of an earlier generation from its own host before the next one starts', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const ref = await fixture.run([{ say: 'once' }], {}, { runner: null });
  const isOver = createDeferred<true>();
  const first = fixture.process({
    // Its entry program waits for the configuration.
    configs: { read: () => isOver.promise.then(() => null), acknowledge: async () => false },
    runs: { ...fixture.runs, markStarted: async () => !(await isOver.promise) },
  });
  const started = first.start(ref);
  const states = async () => (await fixture.sandboxes.list()).map(({ state }) => state);
  await expect.poll(states, { timeout: 30_000 }).toEqual(['running']);
  await hosts().markStopped(fixture.hostId);
  expect(await claim(ref)).toBeNull();
  await hosts().renew({ hostId: fixture.hostId, name: 'test', capacity: 10 });
  await createAdmission(database.pool, testSealer).assignWaiting();
  expect(await claim(ref)).toMatchObject({ hostId: fixture.hostId, generation: 2 });
  const second = fixture.process();
  const moved = { ...ref, generation: 2 };
  expect(await second.start(moved)).toBe('started');
  expect(await follow(second, moved)).toMatchObject({ cause: 'completed' });
  expect(await generations(fixture)).toEqual([2]);
  isOver.resolve(true);
  expect(await started).toBe('superseded');
});
