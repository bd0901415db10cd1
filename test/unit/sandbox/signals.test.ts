import { afterEach, expect, test } from 'vitest';
import { type EntryWorld, entryWorld } from './support/entry-fixture.ts';

let world: EntryWorld;
afterEach(() => world.close());

test('forwards SIGTERM to the agent and its child processes', async () => {
  world = await entryWorld({ config: { args: ['family'] } });
  await world.host.up();
  const entry = world.start();
  await world.untilSaid('up');
  await world.untilSaid('child');
  entry.terminate('SIGTERM');
  expect(await entry.ended).toBe(143);
  expect(world.said().filter((line) => 'child' in line)).toEqual([
    { child: 'up' },
    { child: 'SIGTERM' },
  ]);
});

test('does not kill an agent that ignores SIGTERM; the host decides', async () => {
  world = await entryWorld({ config: { args: ['deaf'] } });
  await world.host.up();
  const entry = world.start();
  await world.untilSaid('up');
  entry.terminate('SIGTERM');
  await world.untilSaid('heard');
  expect(world.host.exits).toEqual([]);
  entry.terminate('SIGKILL');
  expect(await entry.ended).toBe(137);
});

test('exits at once on SIGTERM before the agent is started', async () => {
  world = await entryWorld();
  const entry = world.start();
  entry.terminate('SIGTERM');
  expect(await entry.ended).toBe(143);
});
