import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { asEvents, openStream, type SeenEvent, type SseClient } from '../../support/sse-client.ts';
import { assistant, type LogWriter, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

const frameBytes = 30_000;
const batch = (n: number) => Array.from({ length: 40 }, () => assistant(`${n}`.repeat(frameBytes)));

const watch = (log: LogWriter, lastEventId = '0') =>
  openStream(`${api.url}/api/v1/runs/${log.runId}/stream`, { key: tenant.key, lastEventId });

const framesOf = (events: SeenEvent[]) => events.filter(({ event }) => event === 'assistant');

/** All frames of an ended run, also if its reader was disconnected before it resumed. */
async function received(client: SseClient, log: LogWriter): Promise<SeenEvent[]> {
  await client.closed;
  if (client.names().at(-1) === 'finished') return framesOf(client.events);
  const rest = await watch(log, framesOf(client.events).at(-1)?.id);
  await rest.closed;
  return framesOf([...client.events, ...rest.events]);
}

test('a slow reader and fast ones receive each frame once, in order, and little waits in memory', async () => {
  const log = await triggerRun(fixture, { url: api.url, ...tenant });
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket) => void sockets.add(socket);
  api.app.server.on('connection', onConnection);
  const slow = await watch(log);
  const fast = await Promise.all(Array.from({ length: 5 }, () => watch(log)));
  api.app.server.off('connection', onConnection);
  const untilFast = (count: number) =>
    Promise.all(fast.map(({ until }) => until((events) => framesOf(events).length >= count)));

  // Small frames first, so that all readers wait for the next ones.
  for (let n = 1; n <= 20; n += 1) {
    await log.write([assistant(`${n}`)]);
    await untilFast(n);
  }
  slow.pause();
  let bufferedBytes = 0;
  // More than the buffers of TCP hold.
  for (let n = 0; n < 15; n += 1) {
    await log.write(batch(n % 10));
    await untilFast(log.stored.length);
    for (const { writableLength } of sockets) {
      bufferedBytes = Math.max(bufferedBytes, writableLength);
    }
  }
  slow.resume();
  for (let n = 0; n < 10; n += 1) await log.write([assistant(`end ${n}`)]);
  await log.end();
  for (const client of [slow, ...fast]) {
    expect(await received(client, log)).toEqual(asEvents(log.stored));
  }
  // It has begun to wait, with less than one chunk and the frame that completed it.
  expect(bufferedBytes).toBeGreaterThan(0);
  expect(bufferedBytes).toBeLessThanOrEqual(2 * limits.stream.bufferMaxBytes + 2 * frameBytes);
});
