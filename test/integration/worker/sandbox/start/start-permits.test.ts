// A host that starts one sandbox at a time.

import { expect, test } from 'vitest';
import type { SandboxRef } from '../../../../../workflows/shared/activities.ts';
import { linesOf } from '../../../../support/log-lines.ts';
import { useDatabase } from '../../../../support/use-database.ts';
import { createSupervisorFixture, type SupervisorFixture } from '../supervisor-fixture.ts';

const database = useDatabase();
const retry = { timeout: 30_000 };
const waitForRelease = [{ say: 'working' }, { waitForFile: 'go-on' }];

/** Whether the start of the sandbox had to wait. */
function isDelayed({ logged }: SupervisorFixture, { runId }: SandboxRef): boolean {
  const lines = linesOf(logged.join(''));
  const line = lines.findLast((one) => one['runId'] === runId && one['msg'] === 'sandbox_attached');
  if (line === undefined) throw new Error('the sandbox was not started');
  return line['admission'] === 'delayed';
}

const untilSaid = (fixture: SupervisorFixture): Promise<void> =>
  expect.poll(() => JSON.stringify(fixture.published), retry).toContain('working');

test('starts the next sandbox at once after the first output of an agent that works', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const supervisor = fixture.process({ cpus: 1 });
  const [first, second] = [await fixture.run(waitForRelease), await fixture.run(waitForRelease)];
  await supervisor.start(first);
  await untilSaid(fixture);
  await supervisor.start(second);
  expect(isDelayed(fixture, second)).toBe(false);
  expect(supervisor.live()).toEqual([first, second]);
});

test('starts the next sandbox at once beside those that it has adopted', async () => {
  const fixture = await createSupervisorFixture(database.pool);
  const before = fixture.process();
  const adopted = [await fixture.run([{ hang: true }]), await fixture.run([{ hang: true }])];
  await Promise.all(adopted.map((ref) => before.start(ref)));
  await before.close();
  const supervisor = fixture.process({ cpus: 1 });
  await supervisor.adoptExisting();
  for (const ref of adopted) expect(await supervisor.start(ref)).toBe('started');
  const next = await fixture.run(waitForRelease);
  await supervisor.start(next);
  expect(isDelayed(fixture, next)).toBe(false);
  expect(supervisor.live()).toHaveLength(3);
});
