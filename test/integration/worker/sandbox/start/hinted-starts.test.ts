// A hint, the notification of a placed run, starts its sandbox before the activity of its workflow
// does. Every order of the hint, the activity, a stop and a restart starts at most one sandbox.

import { beforeEach, expect, test } from 'vitest';
import { startChannel, startSubject } from '../../../../../core/hosts/host-rpc.ts';
import { createDeferred } from '../../../../../lib/async/deferred.ts';
import { createAdmission } from '../../../../../systems/postgres/admission/admission.ts';
import { createHostStore } from '../../../../../systems/postgres/hosts/host-store.ts';
import type { SupervisorDeps } from '../../../../../worker/sandbox/deps.ts';
import type { Supervisor } from '../../../../../worker/sandbox/supervisor.ts';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { testSealer } from '../../../../support/database.ts';
import { linesOf } from '../../../../support/log-lines.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow, type SupervisorFixture } from '../supervisor-fixture.ts';

const database = useDatabase();
beforeEach(() => database.pool.query('delete from hosts'));

const patiently = { timeout: 30_000 };

interface HintedHost {
  fixture: SupervisorFixture;
  supervisor: Supervisor;
  /** Resolves when the host has followed or ignored the hint. */
  hint(ref: SandboxRef): Promise<void>;
}

/** A process of the fixture's host, or of the given one. */
function hintedProcess(
  fixture: SupervisorFixture,
  given: Partial<SupervisorDeps> = {},
): HintedHost {
  const { hostId = fixture.hostId } = given;
  let onHint: (runId: string) => void = () => undefined;
  const supervisor = fixture.process({
    notifications: {
      subscribeBestEffort(name, onNotified) {
        if (name === startChannel(hostId)) onHint = onNotified;
        return () => {
          onHint = () => undefined;
        };
      },
    },
    ...given,
  });
  const hint = async (ref: SandboxRef): Promise<void> => {
    onHint(startSubject(ref));
    // Waits for the work on the run, and finds nothing to stop.
    await supervisor.interrupt({ ...ref, generation: 99 }, null);
  };
  return { fixture, supervisor, hint };
}

async function startHost(given: Partial<SupervisorDeps> = {}): Promise<HintedHost> {
  return hintedProcess(await createSupervisorFixture(database.pool), given);
}

/** The starts of sandboxes, by what has requested them. */
const starts = ({ logged }: SupervisorFixture): unknown[] =>
  linesOf(logged.join('')).flatMap(({ msg, startedBy }) =>
    msg === 'sandbox_started' ? [startedBy] : [],
  );

const containers = async ({ sandboxes }: SupervisorFixture) => (await sandboxes.list()).length;

async function expectOneRun({ fixture, supervisor }: HintedHost, ref: SandboxRef): Promise<void> {
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'completed', exitCode: 0 });
  const inits = (await fixture.log(ref)).filter(
    ({ event, data }) => event === 'system' && /"init"/.test(data),
  );
  expect(inits).toHaveLength(1);
  expect(await containers(fixture)).toBe(1);
}

const recordStop = ({ fixture }: HintedHost, { runId }: SandboxRef) =>
  fixture.runs.recordCause({ runId, cause: 'stopped_by_api', detail: null });

test('starts the sandbox, which the activity then finds', async () => {
  const outcomes: string[] = [];
  const host = await startHost({ onSandboxStart: (outcome) => void outcomes.push(outcome) });
  const ref = await host.fixture.run([{ say: 'once' }]);
  await host.hint(ref);
  expect(host.supervisor.live()).toEqual([ref]);
  expect(await host.supervisor.start(ref)).toBe('started');
  await host.hint(ref);
  await expectOneRun(host, ref);
  expect(starts(host.fixture)).toEqual(['hint']);
  expect(outcomes).toEqual(['started']);
});

test.each(['hint', 'activity'])(
  'starts one sandbox if both come at once, the %s first',
  async (first) => {
    const host = await startHost();
    const ref = await host.fixture.run([{ say: 'once' }]);
    const hinted = first === 'hint' ? host.hint(ref) : null;
    const started = host.supervisor.start(ref);
    await Promise.all([hinted ?? host.hint(ref), host.hint(ref)]);
    expect(await started).toBe('started');
    await expectOneRun(host, ref);
    expect(starts(host.fixture)).toEqual([first]);
  },
);

test('ignores a hint after the end of the run', async () => {
  const host = await startHost();
  const ref = await host.fixture.run([{ say: 'once' }]);
  await host.supervisor.start(ref);
  await expectOneRun(host, ref);
  await host.fixture.runs.endRun({ ...ref, cause: 'completed', detail: null, exitCode: 0 });
  await host.supervisor.remove(ref, { keepFolders: false });
  await host.hint(ref);
  expect(await containers(host.fixture)).toBe(0);
  expect(starts(host.fixture)).toEqual(['activity']);
});

test('ignores hints while it may not act on them, and once it closes', async () => {
  let isAllowed = false;
  const host = await startHost({ mayActOnHints: () => isAllowed });
  const ref = await host.fixture.run([{ say: 'once' }]);
  await host.hint(ref);
  isAllowed = true;
  const late = hintedProcess(host.fixture);
  const closed = late.supervisor.close();
  await late.hint(ref);
  await closed;
  expect(await containers(host.fixture)).toBe(0);
  expect(await host.supervisor.start(ref)).toBe('started');
  await expectOneRun(host, ref);
});

test('starts only the runs that Postgres has placed on this host', async () => {
  const host = await startHost();
  const other = hintedProcess(host.fixture, { hostId: `other-${host.fixture.hostId}` });
  const ref = await host.fixture.run([{ say: 'once' }]);
  await Promise.all([other.hint(ref), host.hint(ref)]);
  expect(other.supervisor.live()).toEqual([]);
  await expectOneRun(host, ref);
});

test('ignores a hint for a run that has moved to another host', async () => {
  const host = await startHost();
  const hosts = createHostStore(database.pool);
  const ref = await host.fixture.run([{ say: 'once' }], {}, { runner: null });
  const other = { hostId: `other-${host.fixture.hostId}`, name: 'other', capacity: 10 };
  await hosts.renew(other);
  await hosts.markStopped(host.fixture.hostId);
  const { claimSlot } = createAdmission(database.pool, testSealer);
  expect(await claimSlot(ref.runId, 1)).toMatchObject({ hostId: other.hostId, generation: 2 });
  await host.hint(ref);
  expect(await containers(host.fixture)).toBe(0);
});

test('starts nothing if the run was stopped before the hint', async () => {
  const host = await startHost();
  const ref = await host.fixture.run([{ say: 'never' }]);
  await recordStop(host, ref);
  await host.hint(ref);
  expect(await containers(host.fixture)).toBe(0);
  expect(await host.supervisor.start(ref)).toBe('cancelled');
});

test('kills a sandbox whose run is stopped while the hint starts it', async () => {
  const [marking, isStopped] = [createDeferred<true>(), createDeferred<true>()];
  const fixture = await createSupervisorFixture(database.pool);
  const host = hintedProcess(fixture, {
    runs: {
      ...fixture.runs,
      async markStarted(...of) {
        marking.resolve(true);
        await isStopped.promise;
        return fixture.runs.markStarted(...of);
      },
    },
  });
  const ref = await fixture.run([{ hang: true }]);
  const hinted = host.hint(ref);
  await marking.promise;
  await recordStop(host, ref);
  const stopped = host.supervisor.stop(ref, 0);
  isStopped.resolve(true);
  await Promise.all([hinted, stopped]);
  const states = async () => (await fixture.sandboxes.list()).map(({ state }) => state);
  await expect.poll(states, patiently).toEqual(['exited']);
  expect(await follow(host.supervisor, ref)).toMatchObject({ cause: 'stopped_by_api' });
  expect(host.supervisor.live()).toEqual([]);
});

test('stops a sandbox that no activity has found yet', async () => {
  const host = await startHost();
  const ref = await host.fixture.run([{ hang: true }]);
  await host.hint(ref);
  await recordStop(host, ref);
  await host.supervisor.stop(ref, 0);
  expect(await follow(host.supervisor, ref)).toMatchObject({ cause: 'stopped_by_api' });
  expect(host.supervisor.live()).toEqual([]);
});

test('waits for other starts, and leaves the queue when its run is stopped', async () => {
  const host = await startHost({ cpus: 1 });
  const first = await host.fixture.run([{ waitForFile: 'go-on' }]);
  const second = await host.fixture.run([{ say: 'never' }]);
  const started = host.supervisor.start(first);
  // The permit ends after a few seconds, so this does not wait for the agent.
  await expect.poll(() => host.fixture.logged.join('')).toContain('sandbox_attached');
  const hinted = host.hint(second);
  await expect.poll(host.supervisor.countWaitingStarts, patiently).toBe(1);
  await recordStop(host, second);
  await host.supervisor.stop(second, 0);
  await Promise.all([hinted, started]);
  expect(host.supervisor.live()).toEqual([first]);
  expect(await containers(host.fixture)).toBe(1);
});

test('leaves a start that fails to the activity', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  let failures = 0;
  const outcomes: string[] = [];
  const host = hintedProcess(fixture, {
    onSandboxStart: (outcome) => void outcomes.push(outcome),
    sandboxes: {
      ...fixture.sandboxes,
      async start(containerId) {
        if (failures++ === 0) throw new Error('the engine failed');
        await fixture.sandboxes.start(containerId);
      },
    },
  });
  const ref = await fixture.run([{ say: 'once' }]);
  await host.hint(ref);
  expect(host.supervisor.live()).toEqual([]);
  expect(await host.supervisor.start(ref)).toBe('started');
  await expectOneRun(host, ref);
  expect(outcomes).toEqual(['started']);
  await expect.poll(() => fixture.logged.join('')).toContain('start_hint_failed');
});

test('lets the next process adopt a sandbox that only a hint has started', async () => {
  const host = await startHost();
  const ref = await host.fixture.run([{ waitForFile: '/workspace/go-on' }, { say: 'once' }]);
  await host.hint(ref);
  await host.supervisor.close();
  const next = hintedProcess(host.fixture);
  await next.hint(ref);
  expect(next.supervisor.live()).toEqual([]);
  expect(await next.supervisor.start(ref)).toBe('started');
  await host.fixture.touch(ref, 'go-on');
  await expectOneRun(next, ref);
});
