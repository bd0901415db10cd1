import { expect, test } from 'vitest';
import { createReplaySource } from '../../../api/stream/replay-source.ts';
import { limits } from '../../../core/limits.ts';
import { asEvents, openStream } from '../../support/sse-client.ts';
import { assistant, type LogWriter, output, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

const newRun = () => triggerRun(fixture, { url: api.url, ...tenant });
const { frameMaxBytes } = limits.redis;
const { pageBytes } = limits.replay;
const pageFrames = pageBytes / frameMaxBytes;

/** A frame whose data has so many bytes. */
const sized = (bytes: number) => assistant('x'.repeat(bytes - assistant('').data.length));

/** The sequence numbers of each page. */
async function pagesOf({ runId }: LogWriter): Promise<number[][]> {
  const source = createReplaySource({ frames: fixture.stores.frames, ...fixture });
  const pages: number[][] = [];
  for (let seq = 0; ; seq = pages.at(-1)?.at(-1) ?? seq) {
    const page = await source.readAfter(runId, seq);
    if (page.length === 0) return pages;
    pages.push(page.map((frame) => frame.seq));
  }
}

const forget = async ({ runId }: LogWriter): Promise<void> => {
  const keys = (await fixture.redis.keys()).filter((key) => key.includes(runId));
  await fixture.redis.redis.del(...keys);
};

test.each(['Redis', 'Postgres'])(
  'a page from %s ends with the frame that reaches its size',
  async (from) => {
    const reaching = Array.from({ length: pageFrames }, () => sized(frameMaxBytes));
    const log = await newRun();
    await log.write([...reaching, sized(200), sized(200)]);
    const below = await newRun();
    await below.write([sized(frameMaxBytes - 1), ...reaching.slice(1), sized(200), sized(200)]);
    if (from === 'Postgres') await Promise.all([log, below].map(forget));
    expect((await pagesOf(log)).map(({ length }) => length)).toEqual([pageFrames, 2]);
    expect((await pagesOf(below)).map(({ length }) => length)).toEqual([pageFrames + 1, 1]);
  },
);

test('a frame that is larger than a page is alone in its page', async () => {
  const log = await newRun();
  await log.write([sized(200), sized(4 * pageBytes), sized(200)]);
  expect(await pagesOf(log)).toEqual([[1], [2], [3]]);
});

test('a page has small frames up to the limit, and one more begins the next', async () => {
  const log = await newRun();
  await log.write(Array.from({ length: limits.replay.pageFrames + 1 }, () => sized(200)));
  expect((await pagesOf(log)).map(({ length }) => length)).toEqual([limits.replay.pageFrames, 1]);
});

test('a page from Redis continues after token deltas', async () => {
  const log = await newRun();
  const deltas = Array.from({ length: limits.replay.pageFrames }, (_, n) => `{"n":${n}}`);
  for (let n = 0; n < 3; n += 1) await log.write([sized(200)], { deltas });
  expect((await pagesOf(log)).flat()).toEqual([1, 2, 3]);
});

test('sends a log of many pages once and in order after its rendered end', async () => {
  const log = await newRun();
  const sizes = [frameMaxBytes, 200, frameMaxBytes + 1, 4 * pageBytes];
  for (const size of [...sizes, ...sizes, ...sizes]) await log.write([output('x\n'), sized(size)]);
  await log.write(Array.from({ length: 3 * pageFrames }, () => sized(frameMaxBytes)));
  await log.end();
  const address = `${api.url}/api/v1/runs/${log.runId}/stream`;
  const client = await openStream(address, { key: tenant.key });
  await client.closed;
  const structured = log.stored.filter(({ event }) => event !== 'output');
  expect(client.names().slice(0, 2)).toEqual(['status', 'output']);
  expect(client.events.slice(2, -1)).toEqual(asEvents(structured));
  const resumed = await openStream(address, { key: tenant.key, lastEventId: '3' });
  await resumed.closed;
  expect(resumed.events.slice(1, -1)).toEqual(asEvents(log.stored.slice(3)));
});
