import { expect, test } from 'vitest';
import { createRetentionStore } from '../../../systems/postgres/maintenance/retention-store.ts';
import { openStream } from '../../support/sse-client.ts';
import { caller } from './call.ts';
import { assistant, output, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

const queries = [
  '',
  '?order=desc&limit=2',
  '?format=structured&channel=all',
  '?format=structured&channel=chat&afterSeq=2',
  '?format=structured&channel=all&order=desc&beforeSeq=5&limit=2',
];

test('logs and streams of a run are the same after its log was packed', async () => {
  const log = await triggerRun(fixture, { url: api.url, ...tenant });
  await log.write([output('one\n'), assistant('one'), output('two\n'), assistant('zwei ü')]);
  await log.write([assistant('three'), output('three\n')]);
  await log.end();
  const path = `/api/v1/runs/${log.runId}`;
  async function readAll() {
    const keys = (await fixture.redis.keys()).filter((key) => key.includes(log.runId));
    if (keys.length > 0) await fixture.redis.redis.del(...keys);
    const pages = [];
    for (const query of queries)
      pages.push((await caller(api, tenant.key)(`${path}/logs${query}`)).json);
    const streams = [];
    for (const lastEventId of ['0', '3']) {
      const address = `${api.url}${path}/stream`;
      const stream = await openStream(address, { key: tenant.key, lastEventId });
      await stream.closed;
      streams.push(stream.events);
    }
    return { pages, streams };
  }
  const before = await readAll();
  expect(await createRetentionStore(fixture.database.pool).packLogs(-1_000)).toBe(1);
  expect(await readAll()).toEqual(before);
});
