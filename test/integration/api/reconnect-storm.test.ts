// All streams of a key return after a restart of the API. An EventSource gives up for good at the
// first answer other than 200.

import { EventSource } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createRateLimiter } from '../../../systems/redis/rate-limit.ts';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api } = useTenant();

const rateLimitRpm = 2_400;

/** Uses every token that the key has. */
async function emptyBucket(keyId: string): Promise<void> {
  const { redis, instance } = fixture.redis;
  const limiter = createRateLimiter(redis, { instance, nowMs: Date.now });
  const take = () => limiter.take(keyId, rateLimitRpm);
  await Promise.all(Array.from({ length: rateLimitRpm }, take));
  while ((await take()).allowed);
}

async function restart(process: ApiProcess): Promise<ApiProcess> {
  await process.close();
  return fixture.start({}, Number(new URL(process.url).port));
}

test('no EventSource is locked out when both processes restart and the key has no token left', async () => {
  const own = await fixture.tenant({ key: { rateLimitRpm } });
  const { runId } = await triggerRun(fixture, { url: api.url, ...own });
  const processes = await Promise.all([fixture.start(), fixture.start()]);
  const sources = Array.from({ length: 80 }, (_, n) => {
    const { url } = processes[n % 2 === 0 ? 0 : 1];
    const source = new EventSource(`${url}/api/v1/runs/${runId}/stream?api_key=${own.key}`);
    const seen = { source, opened: 0 };
    source.addEventListener('open', () => void (seen.opened += 1));
    return seen;
  });
  onTestFinished(() => sources.forEach(({ source }) => source.close()));
  await expect.poll(() => sources.filter(({ opened }) => opened === 1).length).toBe(80);

  await emptyBucket(own.keyId);
  const restarted = await Promise.all(processes.map(restart));
  await expect
    .poll(
      () =>
        sources.filter((s) => s.opened > 1 || s.source.readyState === EventSource.CLOSED).length,
      { timeout: 15_000 },
    )
    .toBe(80);
  expect(sources.filter(({ opened }) => opened > 1)).toHaveLength(80);
  for (const { log } of restarted) expect(log()).not.toContain('RATE_LIMITED');
});
