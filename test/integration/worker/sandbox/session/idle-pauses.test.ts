import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useDatabase } from '../../../../support/use-database.ts';
import { startSession } from './session-fixture.ts';

const database = useDatabase();
const pauseAfterMs = 100;

test('an idle session is not paused while its host is fenced, and is paused afterwards', async () => {
  let isFenced = true;
  const { fixture, ref } = await startSession(database.pool, {
    pauseAfterMs,
    isFenced: () => isFenced,
  });
  const state = async () => (await fixture.sandboxes.find(ref))?.state;
  await sleep(5 * pauseAfterMs);
  expect(await state()).toBe('running');
  isFenced = false;
  await expect.poll(state).toBe('paused');
});
