// A host with far more slots than processors gets runs for all of them at once. None of them fails
// or waits forever, and the host keeps its lease.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { linesOf } from '../support/log-lines.ts';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

const count = 60;
const timeoutMs = 900_000;
const memoryBytes = 64 * 1024 ** 2;

let service: Service;
beforeAll(async () => {
  const resources = { memoryBytes, cpus: 1 };
  service = await startService({ env: { HOST_CAPACITY: String(count) }, flow: { resources } });
  await service.database.pool.query('update projects set max_concurrent_runs = 1000');
}, 240_000);
afterAll(() => service?.stop());

it(`completes ${count} runs that start on one host at once`, { timeout: timeoutMs }, async () => {
  const prompt = script([{ say: 'Hello' }]);
  const runs = await Promise.all(Array.from({ length: count }, () => service.trigger({ prompt })));
  const ended = await Promise.all(runs.map(({ runId }) => service.untilEnded(runId, timeoutMs)));
  const waitsMs = ended.map(
    ({ startedAt, createdAt }) => Date.parse(startedAt ?? '') - Date.parse(createdAt),
  );
  console.info({ latestMs: Math.max(...waitsMs) });
  expect(ended.map(({ exitCode, error }) => ({ exitCode, error }))).toEqual(
    runs.map(() => ({ exitCode: 0, error: undefined })),
  );
  const fenced = linesOf(service.worker.log()).filter(({ msg }) => msg === 'host_fenced');
  expect(fenced).toEqual([]);
});
