import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testSealer } from '../../../support/database.ts';
import { createScenario } from '../../../support/database-records.ts';
import { admissionStores } from './admission-stores.ts';
import { setupFreshScenario } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const stores = () => admissionStores(database.pool);

describe('an idempotency key', () => {
  test('returns the first run with its labels, even if the second request differs', async () => {
    const first = await scenario.run({ idempotencyKey: 'k', labels: { a: '1' } });
    const again = scenario.request({ idempotencyKey: 'k', labels: { a: '2' }, prompt: 'Other' });
    const replay = await stores().admission.admitRun(again);
    expect(replay).toEqual({ outcome: 'replay', run: first });
    expect(await stores().runs.find(again.runId)).toBeNull();
  });

  test('returns the current state of the run, also of a deleted one', async () => {
    const { runId } = await scenario.run({ idempotencyKey: 'k' });
    await stores().runs.markDeleted(runId);
    await stores().end(runId);
    const replay = await stores().admission.admitRun(scenario.request({ idempotencyKey: 'k' }));
    expect(replay).toEqual({ outcome: 'replay', run: await stores().runs.find(runId) });
  });

  test('belongs to its project', async () => {
    const first = await scenario.run({ idempotencyKey: 'k' });
    const other = await createScenario(database.pool, testSealer);
    const second = await stores().admission.admitRun(other.request({ idempotencyKey: 'k' }));
    expect(second).toMatchObject({ outcome: 'admitted', run: { projectId: other.projectId } });
    expect('run' in second && second.run.workflowId).not.toBe(first.workflowId);
  });

  test('is checked before the cap and the quota, and uses neither', async () => {
    const project = { maxConcurrentRuns: 1, monthlyRunQuota: 1 };
    const full = await createScenario(database.pool, testSealer, { project });
    const first = await full.run({ idempotencyKey: 'k' });
    const before = await stores().writtenFor(full.projectId);
    const replay = await stores().admission.admitRun(full.request({ idempotencyKey: 'k' }));
    expect(replay).toEqual({ outcome: 'replay', run: first });
    expect(await stores().writtenFor(full.projectId)).toEqual(before);
  });

  test('is not used up by a rejected run', async () => {
    const full = await createScenario(database.pool, testSealer, {
      project: { maxConcurrentRuns: 1 },
    });
    const first = await full.run();
    const request = full.request({ idempotencyKey: 'k' });
    expect(await stores().admission.admitRun(request)).toMatchObject({ outcome: 'rejected' });
    await stores().end(first.runId);
    expect(await stores().admission.admitRun(request)).toMatchObject({ outcome: 'admitted' });
  });
});

describe('the id of a workflow', () => {
  const runId = 'a3bb189e-8bf9-4d3a-9c4e-000000000001';
  const windowStart = '2026-11-21T10:00:00.123Z';
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  async function idFor(key: string | null, projectId = 'p1'): Promise<string> {
    const { rows } = await database.pool.query<{ id: string }>(
      'select run_workflow_id($1, $2, $3, $4) as id',
      [projectId, runId, key, windowStart],
    );
    return rows[0]?.id ?? '';
  }

  test('contains the run if there is no key, else project, key and window', async () => {
    expect(await idFor(null)).toBe(`run/${runId}`);
    for (const key of ['order-7', '\\x41', 'a/b', "'", 'k'.repeat(100)]) {
      expect(await idFor(key)).toBe(`run/p1/${key}/${windowStart}`);
    }
  });

  test('contains the digest of a key that is long or looks like a digest', async () => {
    const long = 'k'.repeat(101);
    for (const key of [long, `sha256:${sha256(long)}`, 'sha256:x']) {
      expect(await idFor(key)).toBe(`run/p1/sha256:${sha256(key)}/${windowStart}`);
    }
  });

  test('is never shared by two keys or two projects, and fits Temporal’s limit', async () => {
    const keys = fc.string({
      unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    });
    const property = fc.asyncProperty(keys, keys, async (one, other) => {
      const ids = await Promise.all([idFor(one), idFor(other), idFor(one, 'p'.repeat(64))]);
      expect(ids[0] === ids[1]).toBe(one === other);
      expect(ids[0]).not.toBe(ids[2]);
      expect(Math.max(...ids.map((id) => id.length))).toBeLessThanOrEqual(255);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
