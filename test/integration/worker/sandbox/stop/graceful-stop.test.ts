// Stopping a sandbox in every phase.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Supervisor } from '../../../../../worker/sandbox/supervisor.ts';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, follow, type SupervisorFixture } from '../supervisor-fixture.ts';

const database = useDatabase();

const retry = { timeout: 30_000 };

async function started(steps: object[]): Promise<[SupervisorFixture, Supervisor, SandboxRef]> {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const ref = await fixture.run(steps);
  await supervisor.start(ref);
  return [fixture, supervisor, ref];
}

const saying = (fixture: SupervisorFixture, ref: SandboxRef, text: string) =>
  expect.poll(async () => JSON.stringify(await fixture.log(ref)), retry).toContain(text);

const states = async (fixture: SupervisorFixture): Promise<string[]> =>
  (await fixture.sandboxes.list()).map(({ state }) => state);

test('a busy agent is interrupted, prints its result, and exits on its own', async () => {
  const [fixture, supervisor, ref] = await started([{ say: 'working' }, { shell: 'sleep 600' }]);
  await saying(fixture, ref, 'sleep 600');
  await fixture.runs.recordCause({ runId: ref.runId, cause: 'stopped_by_api', detail: null });
  const began = performance.now();
  await supervisor.stop(ref, 20_000);
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'stopped_by_api' });
  const log = await fixture.log(ref);
  expect(log.find(({ event }) => event === 'result')?.data).toContain('"is_error":true');
  expect((await fixture.find(ref)).numTurns).toBeGreaterThan(0);
});

test('kills an agent that ignores signals after the grace period, and not before', async () => {
  const [fixture, supervisor, ref] = await started([
    { deaf: true },
    { trapTerm: true },
    { say: 'deaf' },
    { hang: true },
  ]);
  await saying(fixture, ref, 'deaf');
  const began = performance.now();
  await Promise.all(Array.from({ length: 50 }, () => supervisor.stop(ref, 3_000)));
  const took = performance.now() - began;
  expect(took).toBeGreaterThan(3_000);
  expect(await states(fixture)).toEqual(['exited']);
  expect(await follow(supervisor, ref)).toMatchObject({ cause: 'exited', exitCode: 137 });
});

test('a second stop with a shorter grace period shortens the first', async () => {
  const [fixture, supervisor, ref] = await started([
    { deaf: true },
    { say: 'deaf' },
    { hang: true },
  ]);
  await saying(fixture, ref, 'deaf');
  const began = performance.now();
  const first = supervisor.stop(ref, 60_000);
  await sleep(200);
  await supervisor.stop(ref, 0);
  await first;
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(await states(fixture)).toEqual(['exited']);
});

test('stops racing with the start leave nothing running', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  for (const delayMs of [0, 20, 100, 400]) {
    const ref = await fixture.run([{ hang: true }]);
    const starting = supervisor.start(ref);
    await sleep(delayMs);
    await fixture.runs.markDeleted(ref.runId);
    await supervisor.stop(ref, 0);
    const outcome = await starting;
    if (outcome === 'started') {
      expect(await follow(supervisor, ref)).toMatchObject({ cause: 'deleted_by_api' });
    }
    expect((await states(fixture)).filter((state) => state !== 'exited')).toEqual([]);
    await supervisor.remove(ref, { keepFolders: false });
  }
  expect(await states(fixture)).toEqual([]);
}, 120_000);

test('a run that ended before its start creates no container', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process();
  const ref = await fixture.run([]);
  await fixture.runs.recordCause({ runId: ref.runId, cause: 'stopped_by_api', detail: null });
  await supervisor.stop(ref, 1_000);
  expect(await supervisor.start(ref)).toBe('cancelled');
  expect(await states(fixture)).toEqual([]);
});

test('a new process stops the sandbox of an earlier one', async () => {
  const [fixture, first, ref] = await started([{ say: 'here' }, { hang: true }]);
  await saying(fixture, ref, 'here');
  await first.close();
  const second = fixture.process();
  await second.stop(ref, 10_000);
  expect(await states(fixture)).toEqual(['exited']);
  expect(await follow(second, ref)).toMatchObject({ exitCode: 1 });
  await second.stop(ref, 10_000);
});

test('a superseded process does not touch its successor’s sandbox', async () => {
  const [fixture, first, ref] = await started([{ say: 'here' }, { hang: true }]);
  await saying(fixture, ref, 'here');
  const second = fixture.process();
  await second.adoptExisting();
  await first.stop(ref, 0).catch(() => undefined);
  expect(await states(fixture)).toEqual(['running']);
  expect(first.live()).toEqual([]);
  await second.stop(ref, 0);
  expect(await states(fixture)).toEqual(['exited']);
});
