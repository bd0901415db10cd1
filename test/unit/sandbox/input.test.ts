import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { timeouts } from '../../../sandbox/entry/constants.ts';
import { type EntryWorld, entryWorld, sha256 } from './support/entry-fixture.ts';

let world: EntryWorld;
afterEach(() => world.close());

const polls = (): string[] => world.host.asked.filter((line) => line.includes('/messages'));
const received = (): unknown[] => world.said().flatMap((line) => line.sha256 ?? []);

test('feeds whole messages in order, including 1 MiB, and then ends the input', async () => {
  world = await entryWorld({ config: { args: ['echo', '7'] } });
  await world.host.up();
  const prompt = JSON.stringify({ text: '€\\n"'.repeat(200_000) });
  const messages = ['{"a":1}', prompt, '{"b":2}'];
  const entry = world.start();
  for (const message of messages) world.host.push(message);
  world.host.closeInput();
  expect(await entry.ended).toBe(7);
  expect(received()).toEqual(messages.map(sha256));
  expect(await world.untilSaid('end')).toEqual({ end: true, rest: 0 });
});

test('feeds no partial message when the host dies while it sends one', async () => {
  world = await entryWorld();
  await world.host.up();
  const entry = world.start();
  await world.untilSaid('up');
  await world.host.untilAsked('after=0');
  world.host.push('{"first":true}');
  await world.untilSaid('sha256');
  const message = JSON.stringify({ text: 'x'.repeat(100_000) });
  await new Promise<void>((resolve) => {
    world.host.once('/control/messages', (response) => {
      const body = JSON.stringify({ index: 2, line: message });
      response.writeHead(200, { 'content-length': body.length });
      response.write(body.slice(0, 60_000), () => void world.host.down().then(resolve));
    });
  });
  await sleep(300);
  expect(received()).toHaveLength(1);
  world.host.push(message);
  await world.host.up();
  world.host.closeInput();
  await entry.ended;
  expect(received()).toEqual(['{"first":true}', message].map(sha256));
});

test('retries at once when the host is killed in the middle of a poll', async () => {
  world = await entryWorld({ pollMs: 20_000 });
  await world.host.up();
  world.start();
  await world.untilSaid('up');
  await world.host.untilAsked('after=0');
  const before = polls().length;
  await world.host.down();
  await world.host.up();
  const reconnectedAt = performance.now();
  while (polls().length === before) await sleep(5);
  expect(performance.now() - reconnectedAt).toBeLessThan(10_000); // at least half a poll
});

test('writes a message only once when it is received twice', async () => {
  world = await entryWorld();
  await world.host.up();
  const entry = world.start();
  await world.untilSaid('up');
  world.host.push('{"n":1}');
  await world.untilSaid('sha256');
  world.host.once('/control/messages', (response) =>
    response.end(JSON.stringify({ index: 1, line: '{"n":1}' })),
  );
  world.host.push('{"n":2}');
  world.host.closeInput();
  await entry.ended;
  expect(received()).toEqual(['{"n":1}', '{"n":2}'].map(sha256));
});

test('waits between polls if the host always responds with nothing', async () => {
  world = await entryWorld({ pollMs: 0 });
  await world.host.up();
  world.start();
  await world.untilSaid('up');
  const before = polls().length;
  const startedAt = performance.now();
  await sleep(1_000);
  const maxPolls = (performance.now() - startedAt) / timeouts.redialMs + 1;
  expect(polls().length - before).toBeLessThanOrEqual(maxPolls);
});
