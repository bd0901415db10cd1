import { describe, expect, test } from 'vitest';
import {
  createProjectStore,
  type Project,
} from '../../../systems/postgres/accounts/project-store.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();

describe('projects', () => {
  test('are created, changed and listed', async () => {
    const made = await flowrun.json<Project>('project', 'create', 'news');
    expect(made).toMatchObject({
      projectId: 'news',
      name: 'news',
      maxConcurrentRuns: 10,
      maxOpenSessions: 10_000,
      monthlyRunQuota: null,
      monthlyBudgetUsd: null,
      storageQuotaBytes: 50 * 1024 ** 3,
    });
    const set = (...args: string[]) => flowrun.json<Project>('project', 'set', 'news', ...args);
    expect(await set('--max-concurrent-runs', '3', '--monthly-run-quota', '100')).toMatchObject({
      maxConcurrentRuns: 3,
      monthlyRunQuota: 100,
    });
    await set('--max-open-sessions', '4');
    expect(await set('--storage-quota-bytes', '5')).toMatchObject({ storageQuotaBytes: 5 });
    const largest = 2 ** 50;
    expect(await set('--storage-quota-bytes', `${largest}`)).toMatchObject({
      storageQuotaBytes: largest,
    });
    expect(await set('--monthly-budget-usd', '0.5')).toMatchObject({ monthlyBudgetUsd: 0.5 });
    expect(await set('--monthly-budget-usd', 'none')).toMatchObject({ monthlyBudgetUsd: null });
    expect(await set('--storage-quota-bytes', 'none')).toMatchObject({ storageQuotaBytes: null });
    expect(await set('--monthly-run-quota', 'none')).toMatchObject({
      maxConcurrentRuns: 3,
      maxOpenSessions: 4,
      monthlyRunQuota: null,
    });
    const all = await flowrun.json<Project[]>('project', 'list');
    expect(all.map(({ projectId }) => projectId)).toEqual(['shop', 'news']);
  });

  test('have one webhook secret', async () => {
    const secret = await flowrun.json('project', 'webhook-secret', 'shop');
    expect(secret).toEqual({
      webhookSecret: expect.stringMatching(/^whs_\S{43}$/),
      standardWebhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]+=*$/),
      nextWebhookSecret: null,
      nextStandardWebhookSecret: null,
    });
    expect(await flowrun.json('project', 'webhook-secret', 'shop')).toEqual(secret);
    const replaced = await flowrun.json('project', 'webhook-secret', 'shop', '--rotate', '--now');
    expect(replaced).not.toEqual(secret);
    expect(await flowrun.json('project', 'webhook-secret', 'shop')).toEqual(replaced);
    expect((await flowrun('project', 'webhook-secret', 'shop', '--now')).code).toBe(2);
  });

  test('have a second webhook secret while it is rotated', async () => {
    const secrets = (...args: string[]) =>
      flowrun.json<Record<string, string>>('project', 'webhook-secret', 'shop', ...args);
    const before = await secrets();
    const rotating = await secrets('--next');
    expect(rotating).toEqual({
      ...before,
      nextWebhookSecret: expect.stringMatching(/^whs_/),
      nextStandardWebhookSecret: expect.stringMatching(/^whsec_/),
    });
    expect(await secrets('--next')).toEqual(rotating);
    expect(await secrets('--rotate')).toMatchObject({
      webhookSecret: rotating['nextWebhookSecret'],
      standardWebhookSecret: rotating['nextStandardWebhookSecret'],
      nextWebhookSecret: null,
    });
    const repeated = await flowrun('project', 'webhook-secret', 'shop', '--rotate');
    expect([repeated.code, repeated.err]).toEqual([
      ...[1, expect.stringMatching(/no next webhook secret.* --next.* --rotate --now/s)],
    ]);
    expect((await secrets())['webhookSecret']).toBe(rotating['nextWebhookSecret']);
    const both = await flowrun('project', 'webhook-secret', 'shop', '--next', '--rotate');
    expect(both.code).not.toBe(0);
  });

  test('have a project model, whose key is not printed', async () => {
    const keyFile = fixture.file('model.key', 'sk-own-model\n');
    const set = (...args: string[]) => flowrun('project', 'set', 'shop', '--json', ...args);
    const projects = createProjectStore(fixture.database.pool, fixture.sealer);
    const url = ['--own-model-base-url', 'https://models.example.test'];
    const { code, out } = await set('--own-model-key-file', keyFile, ...url);
    expect([code, out.includes('sk-own')]).toEqual([0, false]);
    expect(await projects.readModel('shop')).toEqual({
      apiKey: 'sk-own-model',
      baseUrl: 'https://models.example.test',
    });
    expect((await set('--own-model-key-file', keyFile)).code).toBe(2);
    expect((await set('--own-model-key-file', 'none')).code).toBe(0);
    expect(await projects.readModel('shop')).toBeNull();
  });

  test('are also printed as text', async () => {
    const { out } = await flowrun('project', 'list');
    expect(out).toMatch(/^PROJECT ID {2,}NAME {2,}MAX CONCURRENT RUNS/);
    expect(out).toMatch(/\nshop {2,}The shop {2,}10 {2,}10000 {2,}/);
  });
});
