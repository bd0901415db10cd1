// How runs end: on their own, by a watchdog of the host, or by a loss.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Sandboxes } from '../../../../../systems/docker/sandboxes.ts';
import type { SupervisorDeps } from '../../../../../worker/sandbox/deps.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow } from '../supervisor-fixture.ts';

const database = useDatabase();

const miB = 1024 ** 2;
/** Ended by SIGTERM, or on a slow machine by SIGKILL. */
const forced: unknown = expect.toSatisfy((code) => code === 143 || code === 137);
const times = { stallTimeoutMs: 60_000, afterResultGraceMs: 1_000, leaseMs: 15_000 };
/** For agents that exit on their own, even on a busy machine. */
const patient = { ...times, afterResultGraceMs: 30_000 };

test.each([
  ['exits on its own', [{ exit: 3 }], { cause: 'exited', exitCode: 3 }],
  ['exits after its result', [{ exitAfterResult: 1 }], { cause: 'exited', exitCode: 1 }],
  ['is done without a result', [{ noResult: true }], { cause: 'no_result', exitCode: 0 }],
  ['says its result twice', [{ doubleResult: true }], { cause: 'completed', exitCode: 0 }],
  ['kills its own process', [{ selfKill: 'SIGKILL' }], { cause: 'exited', exitCode: 137 }],
  [
    'has used its turns up',
    [{ result: { subtype: 'error_max_turns', is_error: true } }],
    { cause: 'max_turns_exceeded' },
  ],
  [
    'has spent its budget',
    [{ result: { subtype: 'error_max_budget_usd', is_error: true } }],
    { cause: 'budget_exceeded' },
  ],
  [
    'cuts its output short',
    [{ lines: 500 }, { sleepMs: 500 }, { truncateSpool: true }, { hang: true }],
    { cause: 'output_tampered' },
  ],
])('an agent that %s', (_what, steps, end) => expectEnd(steps, end, patient));

test.each([
  [
    'stays after its result',
    [{ hangAfterResult: true }],
    { cause: 'hung_after_result', exitCode: forced },
  ],
  [
    'stays after a failure',
    [{ hangAfterResult: true }, { fail: 'no' }],
    { cause: 'hung_after_result', exitCode: forced },
  ],
  [
    'keeps running after it has spent its budget',
    [{ hangAfterResult: true }, { result: { subtype: 'error_max_budget_usd', is_error: true } }],
    { cause: 'budget_exceeded', exitCode: forced },
  ],
  [
    'stays without a result',
    [{ noResult: true }, { hangAfterResult: true }],
    { cause: 'no_result', exitCode: forced },
  ],
  [
    'stays and hears nothing',
    [{ deaf: true }, { trapTerm: true }],
    { cause: 'hung_after_result', exitCode: 137 },
  ],
])('an agent that %s', (_what, steps, end) => expectEnd(steps, end, times));

async function expectEnd(
  steps: object[],
  end: { cause: string },
  within: SupervisorDeps['times'],
): Promise<void> {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process({ times: within });
  const ref = await fixture.run(steps);
  await supervisor.start(ref);
  expect(await follow(supervisor, ref)).toMatchObject(end);
  expect((await fixture.find(ref)).endCause).toBe(end.cause);
  expect((await fixture.sandboxes.list()).map(({ state }) => state)).toEqual(['exited']);
}

test('an agent that exits while the engine is unavailable counts as exited', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  let isAway = false;
  const inspect: Sandboxes['inspect'] = (containerId) =>
    isAway ? Promise.reject(new Error('away')) : fixture.sandboxes.inspect(containerId);
  const sandboxes = { ...fixture.sandboxes, inspect };
  const supervisor = fixture.process({ sandboxes, times });
  const ref = await fixture.run([{ waitForFile: '/workspace/go' }, { say: 'done' }]);
  await supervisor.start(ref);
  isAway = true;
  await fixture.touch(ref, 'go');
  const states = async () => (await fixture.sandboxes.list()).map(({ state }) => state);
  await expect.poll(states).toEqual(['exited']);
  await sleep(2 * times.afterResultGraceMs);
  isAway = false;
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'completed', exitCode: 0 });
});

test('ends an agent that stalls in the middle of its turn', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process({ times: { ...times, stallTimeoutMs: 8_000 } });
  const ref = await fixture.run([{ say: 'one moment' }, { hang: true }]);
  await supervisor.start(ref);
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'stalled' });
  expect(JSON.stringify(await fixture.log(ref))).toContain('one moment');
});

test('an agent that exits while the engine is busy has not stalled', async () => {
  const stallTimeoutMs = 8_000;
  const fixture = await createSupervisorFixture(database.pool);
  let answers = Promise.resolve();
  const inspect: Sandboxes['inspect'] = async (containerId) => {
    await answers;
    return fixture.sandboxes.inspect(containerId);
  };
  const sandboxes = { ...fixture.sandboxes, inspect };
  const supervisor = fixture.process({ sandboxes, times: { ...times, stallTimeoutMs } });
  const ref = await fixture.run([{ waitForFile: '/workspace/go' }, { exit: 3 }]);
  await supervisor.start(ref);
  answers = sleep(stallTimeoutMs + 6_000);
  await fixture.touch(ref, 'go');
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'exited', exitCode: 3 });
});

test('output over its limit ends the run', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process({ bounds: { spoolBytes: miB } });
  const ref = await fixture.run([{ lines: 1_000_000 }]);
  await supervisor.start(ref);
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'disk_full' });
});

test('a working directory over its limit ends the run', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process({ bounds: { workspaceBytes: 20 * miB } });
  const ref = await fixture.run([{ fill: { path: 'big', mb: 30 } }, { hang: true }]);
  await supervisor.start(ref);
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'disk_full' });
});

test('ends a run out of memory as such, but not for a killed child process', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const small = { resources: { memoryBytes: 200 * miB, cpus: 1 } };
  const own = await fixture.run([{ oom: true }], {}, small);
  const child = await fixture.run([{ oom: 'child' }], {}, small);
  for (const ref of [own, child]) await supervisor.start(ref);
  expect(await follow(supervisor, own)).toMatchObject({ cause: 'out_of_memory', exitCode: 137 });
  expect(await follow(supervisor, child)).toMatchObject({ cause: 'completed', exitCode: 0 });
});

test('keeps the cause that was recorded first, with the exit code of the container', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const ref = await fixture.run([{ waitForFile: '/workspace/go' }, { exit: 3 }]);
  await supervisor.start(ref);
  await fixture.runs.recordCause({ runId: ref.runId, cause: 'timed_out', detail: null });
  await supervisor.stop(ref, 0);
  const end = await follow(supervisor, ref);
  expect(end).toMatchObject({ cause: 'timed_out', detail: null });
  expect(end.exitCode).toEqual(forced);
});

test('reads the output of a vanished container to its last line, and counts it as lost', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const ref = await fixture.run([{ lines: 5_000 }, { hang: true }]);
  await supervisor.start(ref);
  const lines = async () => (await fixture.log(ref)).filter(({ event }) => event === 'assistant');
  await expect.poll(async () => (await lines()).length).toBe(5_000);
  const [container] = await fixture.sandboxes.list();
  await fixture.sandboxes.remove(container?.containerId ?? '');
  expect(await follow(supervisor, ref)).toMatchObject({
    cause: 'max_reconnects_exceeded',
    exitCode: null,
  });
});

test('reads output written without a reader before a lost run ends', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const first = fixture.process();
  const ref = await fixture.run([
    { say: 'before' },
    { waitForFile: '/workspace/go' },
    { say: 'after' },
  ]);
  await first.start(ref);
  await expect.poll(async () => JSON.stringify(await fixture.log(ref))).toContain('before');
  await first.close();
  const [container] = await fixture.sandboxes.list();
  const id = container?.containerId ?? '';
  await fixture.touch(ref, 'go');
  const { spoolFile } = foldersOf(fixture.dataDir, ref);
  await expect.poll(() => readFileSync(spoolFile, 'utf8')).toContain('"type":"result"');
  await fixture.sandboxes.remove(id);

  const second = fixture.process();
  await second.adoptExisting();
  expect(second.live()).toEqual([]);
  expect(await follow(second, ref)).toMatchObject({ cause: 'max_reconnects_exceeded' });
  expect(JSON.stringify(await fixture.log(ref))).toContain('after');
});

test('a sandbox that was never started cannot be followed', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const ref = await fixture.run([]);
  await expect(follow(fixture.process(), ref)).rejects.toThrow('never started');
});
