// Readers that come after the buffers of a run have expired in Redis.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { redisKeys } from '../../../systems/redis/keys.ts';
import { snapshotOf } from '../../support/snapshot-of.ts';
import { asEvents, openStream } from '../../support/sse-client.ts';
import { assistant, type LogWriter, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

const watch = ({ runId }: LogWriter) =>
  openStream(`${api.url}/api/v1/runs/${runId}/stream`, { key: tenant.key });

/** A run with a file, whose tree and frames were in Redis. */
async function newRun(): Promise<LogWriter> {
  const log = await triggerRun(fixture, { url: api.url, ...tenant });
  await log.write([assistant('one'), assistant('two')]);
  await fixture.frameStream.publishFileTree(log.runId, '[]');
  const content = Buffer.from('stored');
  const sha256 = createHash('sha256').update(content).digest('hex');
  const blob = { sha256, size: content.length };
  await fixture.stores.blobs.put(Readable.from([content]), blob);
  const file = { ...blob, path: 'a.txt', mode: 0o644, scope: 'run' as const };
  const snapshot = snapshotOf([{ ...file, modifiedAt: new Date() }]);
  await fixture.stores.files.replaceSnapshot({ runId: log.runId, generation: 1 }, snapshot);
  return log;
}

/** As after five minutes. */
async function letExpire({ runId }: LogWriter): Promise<void> {
  const keys = redisKeys(fixture.redis.instance);
  const expiring = [keys.frames(runId), keys.fileTree(runId)];
  const { redis } = fixture.redis;
  for (const key of expiring) expect(await redis.pttl(key)).toBeLessThanOrEqual(5 * 60_000);
  expect(await redis.del(...expiring)).toBe(2);
}

const stored = JSON.stringify([{ name: 'a.txt', path: 'a.txt', type: 'file' }]);

test('an ended run is streamed from Postgres and its snapshot', async () => {
  const log = await newRun();
  await log.end();
  await letExpire(log);
  const client = await watch(log);
  await client.closed;
  expect(client.names()).toEqual(['status', 'filetree', 'assistant', 'assistant', 'finished']);
  expect(client.events[1]?.data).toBe(stored);
  expect(client.events.slice(2, 4)).toEqual(asEvents(log.stored));
});

test('so is a sleeping session', async () => {
  const log = await newRun();
  await fixture.frameStream.expire(log.runId);
  await fixture.database.pool.query(`update runs set status = 'sleep' where id = $1`, [log.runId]);
  await letExpire(log);
  const client = await watch(log);
  await client.until((events) => events.at(-1)?.id === '2');
  expect(client.names()).toEqual(['status', 'filetree', 'assistant', 'assistant']);
  expect(client.events[1]?.data).toBe(stored);
  client.leave();
});
