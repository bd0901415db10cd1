// Readers of a log that is shorter than what they have read, because the database was restored
// while the service ran.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { purgeRuns } from '../../../systems/redis/purge-runs.ts';
import { openStream } from '../../support/sse-client.ts';
import { stackEnv } from '../../support/stack-env.ts';
import { assistant, openLog, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
const query = (text: string) => fixture.database.pool.query(text);

test('closes open streams with a retry time, and streams nothing that the log has lost', async () => {
  const log = await triggerRun(fixture, { url: api.url, ...tenant });
  const address = `${api.url}/api/v1/runs/${log.runId}/stream`;
  const before = await openStream(address, { key: tenant.key });
  await log.write([assistant('one')]);
  await log.write([assistant('lost'), assistant('lost too')]);
  await before.until((events) => events.at(-1)?.id === '3');
  await sleep(2 * limits.stream.tickMs); // the process has polled the number of restores

  await query(`update run_logs set last_seq = 1, lease_expires_at = null, lease_owner = null
    where run_id = '${log.runId}'`);
  await query(`delete from frames where run_id = '${log.runId}' and seq > 1`);
  await query('insert into restores (dumped_at, reconciled_at) values (db_clock(), db_clock())');
  await purgeRuns({ url: stackEnv.redisUrl, instance: fixture.redis.instance });
  await before.closed;
  expect(before.retries).toHaveLength(2);
  expect(before.retries[1]).toBeGreaterThanOrEqual(limits.stream.reconnectMinMs);
  expect(before.names()).not.toContain('finished');

  const after = await openStream(address, { key: tenant.key });
  await after.until((events) => events.at(-1)?.id === '1');
  const rest = await openLog(fixture, log.runId);
  await rest.write([assistant('new')]);
  await after.until((events) => events.at(-1)?.id === '2');
  expect(after.events.at(-1)?.data).toContain('new');
  expect(after.events.some(({ data }) => data.includes('lost'))).toBe(false);
  expect(after.isClosed()).toBe(false);
  after.leave();
});
