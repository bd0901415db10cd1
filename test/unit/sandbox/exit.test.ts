import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createEntryFixture, type EntryFixture } from './support/entry-fixture.ts';

let fixture: EntryFixture;
afterEach(() => fixture.close());

test('reports the agent’s exit code and exits with it', async () => {
  fixture = await createEntryFixture({ config: { args: ['report', '42'] } });
  await fixture.host.up();
  expect(await fixture.start().ended).toBe(42);
  expect(fixture.host.exits).toEqual([{ code: 42, signal: null }]);
});

test('reports the signal of a killed agent', async () => {
  fixture = await createEntryFixture({ config: { args: ['kill-self'] } });
  await fixture.host.up();
  expect(await fixture.start().ended).toBe(137);
  expect(fixture.host.exits).toEqual([{ code: 137, signal: 'SIGKILL' }]);
});

test('retries the report until the host is back', async () => {
  fixture = await createEntryFixture({ config: { args: ['echo', '5'] } });
  await fixture.host.up();
  const entry = fixture.start();
  await fixture.untilPrinted('up');
  fixture.host.closeInput();
  await fixture.untilPrinted('end').then(() => fixture.host.down());
  await sleep(700);
  await fixture.host.up();
  expect(await entry.ended).toBe(5);
  expect(fixture.host.exits).toEqual([{ code: 5, signal: null }]);
});

test('exits without a report on SIGTERM while the host is unreachable', async () => {
  fixture = await createEntryFixture({ config: { args: ['echo', '5'] } });
  fixture.host.closeInput();
  await fixture.host.up();
  fixture.host.once('/control/exit', () => void fixture.host.down());
  const entry = fixture.start();
  await fixture.host.untilRequested('/control/exit');
  await sleep(200);
  entry.terminate('SIGTERM');
  expect(await entry.ended).toBe(5);
  expect(fixture.host.exits).toEqual([]);
});

test('reports an agent that cannot be started', async () => {
  fixture = await createEntryFixture();
  rmSync(fixture.paths.agent);
  await fixture.host.up();
  expect(await fixture.start().ended).toBe(127);
  expect(fixture.errors()).toContain('could not be started');
  expect(fixture.host.exits).toEqual([{ code: 127, signal: null }]);
});
