import { afterEach, expect, test } from 'vitest';
import { createEntryFixture, type EntryFixture } from './support/entry-fixture.ts';

let fixture: EntryFixture;
afterEach(() => fixture.close());

test('forwards SIGTERM to the agent and its child processes', async () => {
  fixture = await createEntryFixture({ config: { args: ['family'] } });
  await fixture.host.up();
  const entry = fixture.start();
  await fixture.untilPrinted('up');
  await fixture.untilPrinted('child');
  entry.terminate('SIGTERM');
  expect(await entry.ended).toBe(143);
  expect(fixture.printed().filter((line) => 'child' in line)).toEqual([
    { child: 'up' },
    { child: 'SIGTERM' },
  ]);
});

test('does not kill an agent that ignores SIGTERM; the host decides', async () => {
  fixture = await createEntryFixture({ config: { args: ['ignore-sigterm'] } });
  await fixture.host.up();
  const entry = fixture.start();
  await fixture.untilPrinted('up');
  entry.terminate('SIGTERM');
  await fixture.untilPrinted('received');
  expect(fixture.host.exits).toEqual([]);
  entry.terminate('SIGKILL');
  expect(await entry.ended).toBe(137);
});

test('exits at once on SIGTERM before the agent is started', async () => {
  fixture = await createEntryFixture();
  const entry = fixture.start();
  entry.terminate('SIGTERM');
  expect(await entry.ended).toBe(143);
});
