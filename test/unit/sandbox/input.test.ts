import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { timeouts } from '../../../sandbox/entry/constants.ts';
import { createEntryFixture, type EntryFixture, sha256 } from './support/entry-fixture.ts';

let fixture: EntryFixture;
afterEach(() => fixture.close());

const polls = (): string[] => fixture.host.requests.filter((line) => line.includes('/messages'));
const received = (): unknown[] => fixture.printed().flatMap((line) => line.sha256 ?? []);

test('feeds whole messages in order, including 1 MiB, and then ends the input', async () => {
  fixture = await createEntryFixture({ config: { args: ['echo', '7'] } });
  await fixture.host.up();
  const prompt = JSON.stringify({ text: '€\\n"'.repeat(200_000) });
  const messages = ['{"a":1}', prompt, '{"b":2}'];
  const entry = fixture.start();
  for (const message of messages) fixture.host.push(message);
  fixture.host.closeInput();
  expect(await entry.ended).toBe(7);
  expect(received()).toEqual(messages.map(sha256));
  expect(await fixture.untilPrinted('end')).toEqual({ end: true, rest: 0 });
});

test('feeds no partial message when the host dies while it sends one', async () => {
  fixture = await createEntryFixture();
  await fixture.host.up();
  const entry = fixture.start();
  await fixture.untilPrinted('up');
  await fixture.host.untilRequested('after=0');
  fixture.host.push('{"first":true}');
  await fixture.untilPrinted('sha256');
  const message = JSON.stringify({ text: 'x'.repeat(100_000) });
  await new Promise<void>((resolve) => {
    fixture.host.once('/control/messages', (response) => {
      const body = JSON.stringify({ index: 2, line: message });
      response.writeHead(200, { 'content-length': body.length });
      response.write(body.slice(0, 60_000), () => void fixture.host.down().then(resolve));
    });
  });
  await sleep(300);
  expect(received()).toHaveLength(1);
  fixture.host.push(message);
  await fixture.host.up();
  fixture.host.closeInput();
  await entry.ended;
  expect(received()).toEqual(['{"first":true}', message].map(sha256));
});

test('retries at once when the host is killed in the middle of a poll', async () => {
  fixture = await createEntryFixture({ pollMs: 20_000 });
  await fixture.host.up();
  fixture.start();
  await fixture.untilPrinted('up');
  await fixture.host.untilRequested('after=0');
  const before = polls().length;
  await fixture.host.down();
  await fixture.host.up();
  const reconnectedAt = performance.now();
  while (polls().length === before) await sleep(5);
  expect(performance.now() - reconnectedAt).toBeLessThan(10_000); // at least half a poll
});

test('writes a message only once when it is received twice', async () => {
  fixture = await createEntryFixture();
  await fixture.host.up();
  const entry = fixture.start();
  await fixture.untilPrinted('up');
  fixture.host.push('{"n":1}');
  await fixture.untilPrinted('sha256');
  fixture.host.once('/control/messages', (response) =>
    response.end(JSON.stringify({ index: 1, line: '{"n":1}' })),
  );
  fixture.host.push('{"n":2}');
  fixture.host.closeInput();
  await entry.ended;
  expect(received()).toEqual(['{"n":1}', '{"n":2}'].map(sha256));
});

test('waits between polls if the host always responds with nothing', async () => {
  fixture = await createEntryFixture({ pollMs: 0 });
  await fixture.host.up();
  fixture.start();
  await fixture.untilPrinted('up');
  const before = polls().length;
  const startedAt = performance.now();
  await sleep(1_000);
  const maxPolls = (performance.now() - startedAt) / timeouts.redialMs + 1;
  expect(polls().length - before).toBeLessThanOrEqual(maxPolls);
});
