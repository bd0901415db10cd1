// The service reports to monitoring, and cleans up without a request.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { linesOf } from '../support/log-lines.ts';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

const patiently = { timeout: 120_000 };
let service: Service;
beforeAll(async () => {
  service = await startService({ env: { RUN_RETENTION_DAYS: '2' } });
}, 240_000);
afterAll(() => service?.stop());

interface Readiness {
  status: string;
  details: object;
  clockAheadMs: number;
  hosts: { imagePresent: boolean | null }[];
}

async function askReadiness() {
  const answer = await fetch(`${service.url}/readyz`);
  const { data } = (await answer.json()) as { data: Readiness }; // as openapi.json has it
  return { httpStatus: answer.status, ...data };
}

it('is ready with all its dependencies, and reports the state of its host', async () => {
  const imagesSeen = async () => (await askReadiness()).hosts.map((host) => host.imagePresent);
  await expect.poll(imagesSeen, patiently).toEqual([true]);
  const ready = await askReadiness();
  expect(ready).toMatchObject({ httpStatus: 200, status: 'ok' });
  const part = { latencyMs: expect.any(Number), version: expect.stringMatching(/^\d+[._]/) };
  const parts = ['postgres', 'schema', 'redis', 'temporal'];
  expect(ready.details).toEqual(Object.fromEntries(parts.map((name) => [name, part])));
  expect(Math.abs(ready.clockAheadMs)).toBeLessThan(1_000);
  expect(ready.hosts).toMatchObject([
    {
      engineVersion: expect.stringMatching(/^\d+\./),
      runtime: expect.stringMatching(/^run(c|sc)$/),
      diskFreeBytes: expect.any(Number),
      diskFreeInodes: expect.any(Number),
      clockAheadMs: expect.any(Number),
    },
  ]);
});

it('removes logs and files after their retention period, and no others', async () => {
  const prompt = script([{ write: { path: '/workspace/a.txt', content: 'kept' } }, { say: 'one' }]);
  const [old, young] = await Promise.all([
    service.trigger({ prompt }),
    service.trigger({ prompt }),
  ]);
  for (const { runId } of [old, young]) {
    await service.untilEnded(runId);
    expect(await left(runId)).toEqual({ entries: expect.any(Number), file: 200 });
  }
  await service.worker.kill('SIGTERM');
  const from = service.worker.log().length;
  const text = `update runs set ended_at = ended_at - interval '49 hours' where id = $1`;
  await service.database.pool.query(text, [old.runId]);
  await service.database.pool.query(`delete from reconciler_jobs where name = 'retention'`);
  await service.worker.start();
  await expect.poll(() => left(old.runId), patiently).toEqual({ entries: 0, file: 404 });
  expect(await left(young.runId)).toEqual({ entries: expect.any(Number), file: 200 });
  expect((await left(young.runId)).entries).toBeGreaterThan(0);
  expect(await service.readRun(old.runId)).toMatchObject({ result: 'one' });
  const swept = linesOf(service.worker.log().slice(from)).filter(
    ({ msg }) => msg === 'retention_applied',
  );
  expect(swept).toMatchObject([{ logs: expect.any(Number), runFiles: 1 }]);
});

async function left(runId: string): Promise<{ entries: number; file: number }> {
  const log = await service.call<{ entries: object[] }>(
    'GET',
    `/runs/${runId}/logs?format=structured&channel=all`,
  );
  const file = await service.call('GET', `/runs/${runId}/files/a.txt`);
  return { entries: log.data.entries.length, file: file.status };
}
