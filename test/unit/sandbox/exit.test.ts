import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type EntryWorld, entryWorld } from './support/entry-fixture.ts';

let world: EntryWorld;
afterEach(() => world.close());

test('reports the agent’s exit code and exits with it', async () => {
  world = await entryWorld({ config: { args: ['tell', '42'] } });
  await world.host.up();
  expect(await world.start().ended).toBe(42);
  expect(world.host.exits).toEqual([{ code: 42, signal: null }]);
});

test('reports the signal of a killed agent', async () => {
  world = await entryWorld({ config: { args: ['kill-self'] } });
  await world.host.up();
  expect(await world.start().ended).toBe(137);
  expect(world.host.exits).toEqual([{ code: 137, signal: 'SIGKILL' }]);
});

test('retries the report until the host is back', async () => {
  world = await entryWorld({ config: { args: ['echo', '5'] } });
  await world.host.up();
  const entry = world.start();
  await world.untilSaid('up');
  world.host.closeInput();
  await world.untilSaid('end').then(() => world.host.down());
  await sleep(700);
  await world.host.up();
  expect(await entry.ended).toBe(5);
  expect(world.host.exits).toEqual([{ code: 5, signal: null }]);
});

test('exits without a report on SIGTERM while the host is unreachable', async () => {
  world = await entryWorld({ config: { args: ['echo', '5'] } });
  world.host.closeInput();
  await world.host.up();
  world.host.once('/control/exit', () => void world.host.down());
  const entry = world.start();
  await world.host.untilAsked('/control/exit');
  await sleep(200);
  entry.terminate('SIGTERM');
  expect(await entry.ended).toBe(5);
  expect(world.host.exits).toEqual([]);
});

test('reports an agent that cannot be started', async () => {
  world = await entryWorld();
  rmSync(world.paths.agent);
  await world.host.up();
  expect(await world.start().ended).toBe(127);
  expect(world.errors()).toContain('could not be started');
  expect(world.host.exits).toEqual([{ code: 127, signal: null }]);
});
