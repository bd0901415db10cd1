// The administration over HTTP with an operator token, with names and prefixes in place of IDs.

import { expect, test } from 'vitest';
import { addEndpoint } from '../../support/endpoints.ts';
import type { RemoteCli } from '../../support/remote-cli.ts';
import { useApi } from '../api/use-api.ts';
import { newToken, userWith } from './operator-user.ts';

const { fixture, api } = useApi();

async function newOperator(projectIds?: string[]) {
  const token = await newToken(fixture, projectIds);
  return operatorCli(userWith({ FLOWRUN_URL: api.url, FLOWRUN_TOKEN: token }));
}

function operatorCli(flowrun: RemoteCli) {
  async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, out, err } = await flowrun(...args, '--json');
    expect(code, err).toBe(0);
    return JSON.parse(out) as T;
  }
  return { flowrun, json };
}

test('projects, flows and keys are managed by their names', async () => {
  const { flowrun, json } = await newOperator();
  const created = await json('project', 'create', 'shop', '--max-concurrent-runs', '3');
  expect(created).toMatchObject({ projectId: 'shop', name: 'shop', maxConcurrentRuns: 3 });
  const again = await flowrun('project', 'create', 'shop');
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('already in use') });
  const changed = await json('project', 'set', 'shop', '--monthly-run-quota', '5');
  expect(changed).toMatchObject({ monthlyRunQuota: 5 });
  const secrets = await json('project', 'webhook-secret', 'shop', '--next');
  expect(secrets).toMatchObject({ webhookSecret: expect.stringMatching(/^whs_/) });
  const rotated = await json('project', 'webhook-secret', 'shop', '--rotate');
  expect(rotated['webhookSecret']).toBe(secrets['nextWebhookSecret']);

  const shop = ['--project', 'shop'];
  const flow = await json('flow', 'create', ...shop, '--name', 'writer', '--max-turns', '4');
  expect(flow).toMatchObject({ name: 'writer', limits: { maxTurns: 4 } });
  const update = ['--prompt', 'Write.', '--schedule', '0 9 * * MON'];
  expect(await json('flow', 'update', 'writer', ...update)).toMatchObject({ prompt: 'Write.' });
  const zone = await json('flow', 'update', 'wri', '--timezone', 'Europe/Berlin');
  expect(zone).toMatchObject({ schedule: { cron: '0 9 * * MON', timezone: 'Europe/Berlin' } });
  const shown = await json('schedule', 'show', 'writer');
  expect(shown).toMatchObject({ cron: '0 9 * * MON', nextStarts: [], starts: [] });
  expect(await json('schedule', 'pause', 'writer')).toMatchObject({
    schedulePausedAt: expect.any(String),
  });
  expect(await json('schedule', 'resume', 'writer')).toMatchObject({ schedulePausedAt: null });
  const refused = await flowrun('flow', 'update', 'writer', '--schedule', 'never');
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('schedule') });

  const key = await json('key', 'create', ...shop, '--name', 'ci', '--scope', 'read');
  expect(key).toMatchObject({ key: expect.stringMatching(/^frs_/), scopes: ['read'] });
  const budget = await json('key', 'set', 'ci', '--monthly-budget-usd', '20');
  expect(budget).toMatchObject({ monthlyBudgetUsd: 20 });
  expect(await json('key', 'revoke', 'ci')).toMatchObject({ state: 'revoked' });
  expect((await flowrun('key', 'list', ...shop)).out).toMatch(/ci .*revoked/);

  expect(await json('flow', 'archive', 'writer')).toMatchObject({ archivedAt: expect.any(String) });
  expect(await json('flow', 'list', ...shop)).toEqual([]);
  expect(await json('flow', 'list', ...shop, '--archived')).toMatchObject([{ name: 'writer' }]);
  expect(await json('flow', 'restore', 'writer')).toMatchObject({ archivedAt: null });
  expect(await json('project', 'archive', 'shop')).toMatchObject({
    archivedAt: expect.any(String),
  });
  expect(await json('project', 'list', '--archived')).toMatchObject([{ projectId: 'shop' }]);
  expect(await json('project', 'restore', 'shop')).toMatchObject({ archivedAt: null });
}, 300_000);

test('endpoints are managed by their URLs, and their events by prefixes', async () => {
  const { projectId } = await fixture.tenant();
  const { flowrun, json } = await newOperator([projectId]);
  const url = 'https://hooks.example/events';
  const events = ['--event', 'run.finished'];
  const made = await json('webhooks', 'create', '--project', projectId, '--url', url, ...events);
  expect(made).toMatchObject({ url, eventTypes: ['run.finished'] });
  const { eventId } = await json<{ eventId: string }>('webhooks', 'test', url);
  const listed = await json('webhooks', 'deliveries', 'https://hooks');
  expect(listed).toMatchObject([{ eventId, event: 'endpoint.test', state: 'pending' }]);
  const early = await flowrun('webhooks', 'redeliver', eventId.slice(0, 8));
  expect(early).toMatchObject({ code: 1, err: expect.stringContaining('still being delivered') });
  await fixture.stores.events.drop(eventId);
  expect(await json('webhooks', 'redeliver', eventId.slice(0, 8))).toEqual({
    ...{ eventId, delivery: 1 },
  });
  const update = await json('webhooks', 'update', url, '--event', 'session.ended');
  expect(update).toMatchObject({ eventTypes: ['session.ended'] });
  expect(await json('webhooks', 'delete', url)).toMatchObject({ removed: true });
  expect(await json('webhooks', 'list', '--project', projectId)).toEqual([]);
}, 180_000);

test('says what is missing, what is ambiguous, and what needs the database', async () => {
  const { projectId, flowId } = await fixture.tenant();
  const { flowrun } = await newOperator([projectId]);
  await fixture.stores.flows.create({ projectId, name: 'A flow' });
  await addEndpoint(fixture.database.pool, { projectId, url: null, eventTypes: ['run.finished'] });
  const cases = [
    [['flow', 'show', 'A flow'], `matches several: ${flowId}`],
    [['flow', 'show', 'none'], 'No such flow: none.'],
    [['key', 'revoke', 'none'], 'No such key: none.'],
    // Each is the beginning of the only one.
    [['key', 'revoke', ''], 'No such key: .'],
    [['webhooks', 'delete', ''], 'No such endpoint: .'],
    [['webhooks', 'delete', 'null'], 'No such endpoint: null.'],
    [['webhooks', 'test', 'none'], 'No such endpoint: none.'],
    [['webhooks', 'redeliver', 'none'], 'No such event: none.'],
    [['flow', 'versions', flowId], 'needs the database'],
  ] as const;
  for (const [args, message] of cases)
    expect(await flowrun(...args)).toMatchObject({
      ...{ code: 1, err: expect.stringContaining(message) },
    });
  const keyOnly = userWith({ FLOWRUN_URL: api.url, FLOWRUN_KEY: 'frs_x' });
  expect((await keyOnly('project', 'list')).err).toContain('login <url> --token');
}, 120_000);
