import { expect, test } from 'vitest';
import { createAuditLog } from '../../../systems/postgres/accounts/audit-log.ts';
import {
  createEventStore,
  type EndpointEventRecord,
} from '../../../systems/postgres/endpoints/event-store.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();

const url = 'https://hooks.example/events';
const webhooks = <T = Record<string, unknown>>(...args: string[]) =>
  flowrun.json<T>('webhooks', ...args);

test('manage endpoints and their deliveries, each change with an entry in the audit log', async () => {
  const shop = ['--project', 'shop'];
  const events = ['--event', 'run.finished', '--event', 'run.finished'];
  const created = await webhooks<{ endpointId: string }>(
    'create',
    ...shop,
    '--url',
    url,
    ...events,
  );
  const { endpointId } = created;
  expect(created).toMatchObject({ projectId: 'shop', url, eventTypes: ['run.finished'] });
  expect(await webhooks('list', ...shop)).toEqual([created]);
  const eventTypes = ['session.ended', 'delivery.dropped'];
  const chosen = eventTypes.flatMap((event) => ['--event', event]);
  expect(await webhooks('update', endpointId, ...chosen)).toEqual({ ...created, eventTypes });

  const { eventId } = await webhooks<{ eventId: string }>('test', endpointId);
  const deliveries = () => webhooks<EndpointEventRecord[]>('deliveries', endpointId);
  const event = { eventId, event: 'endpoint.test', state: 'pending', attempts: 0 };
  expect(await deliveries()).toMatchObject([event]);
  const early = await flowrun('webhooks', 'redeliver', eventId);
  expect([early.code, early.err]).toEqual([1, expect.stringContaining('still being delivered')]);
  await createEventStore(fixture.database.pool, fixture.sealer).drop(eventId);
  expect(await webhooks('redeliver', eventId)).toEqual({ eventId, delivery: 1 });
  const table = await flowrun('webhooks', 'deliveries', endpointId);
  expect(table.out).toMatch(/^EVENT ID +EVENT +RUN ID +STATE/);
  expect(table.out).toContain(eventId);

  expect(await webhooks('delete', endpointId)).toEqual({ endpointId, removed: true });
  expect(await webhooks('list', ...shop)).toEqual([]);
  const gone = await flowrun('webhooks', 'redeliver', eventId);
  expect([gone.code, gone.err]).toEqual([1, `The endpoint ${endpointId} was deleted.\n`]);
  const log = createAuditLog(fixture.database.pool, fixture.sealer);
  const { entries } = await log.page({ limit: 5 });
  expect(entries.map(({ action, source }) => [action, source])).toEqual([
    ['endpoint_removed', 'command_line'],
    ['event_redelivered', 'command_line'],
    ['test_event_requested', 'command_line'],
    ['endpoint_changed', 'command_line'],
    ['endpoint_created', 'command_line'],
  ]);
});

test('rotate the secret of a project', async () => {
  const rotate = (...args: string[]) =>
    webhooks<Record<string, string>>('rotate-secret', 'shop', ...args);
  const none = await flowrun('webhooks', 'rotate-secret', 'shop');
  expect([none.code, none.err]).toEqual([1, expect.stringMatching(/--next.* with --now\./s)]);
  const { nextWebhookSecret } = await rotate('--next');
  expect(await rotate()).toMatchObject({
    ...{ webhookSecret: nextWebhookSecret, nextWebhookSecret: null },
  });
  expect((await rotate('--now'))['webhookSecret']).not.toBe(nextWebhookSecret);
});

const unknown = '00000000-0000-4000-8000-000000000000';
const create = ['create', '--project', 'shop', '--url'];

test.each([
  [2, [...create, 'http://hooks.example/', '--event', 'run.finished'], 'url: must be an https URL'],
  [2, [...create, 'https://10.0.0.1/', '--event', 'run.finished'], 'url: must have a public'],
  [2, [...create, url, '--event', 'run.lost'], 'eventTypes'],
  [2, [...create, url], '--event'],
  [1, ['create', '--project', 'none', '--url', url, '--event', 'run.finished'], 'No such project'],
  [2, ['update', unknown], 'Nothing to update'],
  [1, ['update', unknown, '--url', url], 'No such endpoint'],
  [1, ['delete', unknown], 'No such endpoint'],
  [1, ['test', unknown], 'No such endpoint'],
  [1, ['deliveries', unknown], 'No such endpoint'],
  [1, ['redeliver', unknown], 'No such event'],
  [2, ['deliveries', unknown, '--limit', '0'], '--limit'],
])('exit with %i for %j', async (code, args, message) => {
  const failed = await flowrun('webhooks', ...args);
  expect([failed.code, failed.err]).toEqual([code, expect.stringContaining(message)]);
});
