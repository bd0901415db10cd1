import { Command, Option } from 'commander';
import { limits } from '../../core/limits.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { endpointEvents } from '../../core/webhook.ts';
import type { CliDeps, Stores } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { projectId, repeated, wholeNumber } from '../parse-options.ts';
import { note, printRecord, printTable } from '../print.ts';
import { nothingToUpdate } from './require-change.ts';
import { readWebhookSecrets, rotateSecret } from './webhook-secret.ts';

export function webhooksCommand(deps: CliDeps): Command {
  return new Command('webhooks')
    .description('manage the webhook endpoints of projects, and their deliveries')
    .addCommand(create(deps))
    .addCommand(list(deps))
    .addCommand(update(deps))
    .addCommand(remove(deps))
    .addCommand(test(deps))
    .addCommand(deliveries(deps))
    .addCommand(redeliver(deps))
    .addCommand(rotate(deps));
}

interface Output {
  json?: true;
}

interface EndpointOptions extends Output {
  url?: string;
  event?: string[];
}

const eventHelp = `an event to send; repeatable: ${endpointEvents.join(', ')}`;

function create({ withStores, loadValidators }: CliDeps): Command {
  return new Command('create')
    .description('create a webhook endpoint')
    .requiredOption('--project <project>', 'the project of the endpoint', projectId)
    .option(
      '--url <url>',
      'https URL that receives the events; without it they are stored but not sent',
    )
    .requiredOption('--event <event>', eventHelp, repeated)
    .option('--json', 'print JSON')
    .action(async ({ project, url, event, json }: EndpointOptions & { project: string }) => {
      const { newEndpoint } = await loadValidators();
      await withStores(async ({ projects, change, webhookAllowPrivate }) => {
        const fields = newEndpoint(omitUndefined({ url, eventTypes: event }), webhookAllowPrivate);
        if ((await projects.find(project)) === null)
          throw new CliError(`No such project: ${project}.`);
        const created = await change((on) => on.createEndpoint({ ...fields, projectId: project }));
        if (created === null) throw new CliError(tooMany);
        printRecord(created, { ...(json && { json }) });
      });
    });
}

const tooMany = `The project has ${limits.webhook.endpointsPerProject} endpoints, the maximum number. Delete one first.`;

function list({ withStores }: CliDeps): Command {
  return new Command('list')
    .description('list the webhook endpoints of a project, oldest first')
    .requiredOption('--project <project>', 'the project', projectId)
    .option('--json', 'print JSON')
    .action((options: Output & { project: string }) =>
      withStores(async ({ endpoints }) => {
        const fields = ['endpointId', 'url', 'eventTypes', 'createdAt'] as const;
        printTable(await endpoints.list(options.project), [...fields], options);
      }),
    );
}

function update({ withStores, loadValidators, parseReference }: CliDeps): Command {
  return new Command('update')
    .description('change the URL or the events of a webhook endpoint')
    .argument('<endpoint-id>', 'its ID, see `flowrun webhooks list`', parseReference)
    .option('--url <url>', 'the https URL; also for events that are not delivered yet')
    .option('--event <event>', `${eventHelp}; replaces all`, repeated)
    .option('--json', 'print JSON')
    .action(async (endpointId: string, { url, event, ...output }: EndpointOptions) => {
      const body = omitUndefined({ url, eventTypes: event });
      if (Object.keys(body).length === 0) throw nothingToUpdate('webhooks update');
      const { endpointPatch } = await loadValidators();
      await withStores(async (stores) => {
        const patch = endpointPatch(body, stores.webhookAllowPrivate);
        const endpoint = await findEndpoint(stores, endpointId);
        const changed = await stores.change((on) => on.changeEndpoint(endpoint, patch));
        if (changed === null) throw noEndpoint(endpointId);
        printRecord(changed, output);
      });
    });
}

function remove({ withStores, parseReference }: CliDeps): Command {
  return new Command('delete')
    .description('delete a webhook endpoint; nothing is sent to it from then on')
    .argument('<endpoint-id>', 'its ID', parseReference)
    .option('--json', 'print JSON')
    .action((reference: string, options: Output) =>
      withStores(async (stores) => {
        const endpoint = await findEndpoint(stores, reference);
        const { endpointId } = endpoint;
        if (!(await stores.change((on) => on.removeEndpoint(endpoint))))
          throw noEndpoint(endpointId);
        if (options.json) printRecord({ endpointId, removed: true }, options);
        else note(`Deleted the endpoint ${endpointId}.`);
      }),
    );
}

function test({ withStores, parseReference }: CliDeps): Command {
  return new Command('test')
    .description('send `endpoint.test` to a webhook endpoint')
    .argument('<endpoint-id>', 'its ID', parseReference)
    .option('--json', 'print JSON')
    .action((reference: string, options: Output) =>
      withStores(async (stores) => {
        const endpoint = await findEndpoint(stores, reference);
        const { endpointId } = endpoint;
        const eventId = await stores.change((on) => on.sendTestEvent(endpoint, new Date()));
        printRecord({ eventId, delivery: 0 }, options);
        noteDelivery(endpointId);
      }),
    );
}

function deliveries({ withStores, parseReference }: CliDeps): Command {
  const { defaultItems, maxItems } = limits.page;
  return new Command('deliveries')
    .description('list the events that are sent to a webhook endpoint, latest first')
    .argument('<endpoint-id>', 'its ID', parseReference)
    .option('--limit <n>', 'maximum number of events', wholeNumber(1, maxItems), defaultItems)
    .option('--json', 'print JSON')
    .action((endpointId: string, { limit, ...output }: Output & { limit: number }) =>
      withStores(async (stores) => {
        await findEndpoint(stores, endpointId);
        const { events } = await stores.events.page(endpointId, { limit });
        printTable(events, [...deliveryFields], output);
      }),
    );
}

const deliveryFields = [
  'eventId',
  'event',
  'runId',
  'state',
  'attempts',
  'lastStatus',
  'createdAt',
] as const;

function redeliver({ withStores, parseReference }: CliDeps): Command {
  return new Command('redeliver')
    .description('send an event again, with the same ID and body')
    .argument('<event-id>', 'its ID, see `flowrun webhooks deliveries`', parseReference)
    .option('--json', 'print JSON')
    .action((reference: string, options: Output) =>
      withStores(async ({ events, endpoints, change }) => {
        const event = await events.find(reference);
        if (event === null) throw new CliError(`No such event: ${reference}.`);
        const { endpointId, eventId } = event;
        if (endpointId !== null && (await endpoints.find(endpointId)) === null)
          throw new CliError(`The endpoint ${endpointId} was deleted.`);
        if (event.state === 'held')
          throw new CliError(
            'The event cannot be sent: its endpoint had no URL when it was stored.',
          );
        const delivery = await change((on) => on.redeliverEvent(event));
        if (delivery === null)
          throw new CliError('The event is still being delivered. Retry later.');
        printRecord({ eventId, delivery }, options);
        if (endpointId !== null) noteDelivery(endpointId);
      }),
    );
}

function rotate({ withStores }: CliDeps): Command {
  const next = new Option('--next', 'begin a rotation: also sign with a second secret');
  return new Command('rotate-secret')
    .description('replace the secret that signs the webhooks of a project with the next one')
    .argument('<project>', 'its ID', projectId)
    .addOption(next.conflicts('now'))
    .option('--now', 'replace it, and the next one, by a new one at once')
    .option('--json', 'print JSON')
    .action((id: string, options: Output & { next?: true; now?: true }) =>
      withStores(async (stores) => {
        if ((await stores.projects.find(id)) === null)
          throw new CliError(`No such project: ${id}.`);
        if (options.next) await stores.change((on) => on.prepareWebhookSecret(id));
        else await rotateSecret(stores.change, id, { ...options, atOnce: '--now' });
        printRecord(await readWebhookSecrets(stores, id), options);
      }),
    );
}

async function findEndpoint({ endpoints }: Pick<Stores, 'endpoints'>, endpointId: string) {
  const endpoint = await endpoints.find(endpointId);
  if (endpoint === null) throw noEndpoint(endpointId);
  return endpoint;
}

const noEndpoint = (endpointId: string) => new CliError(`No such endpoint: ${endpointId}.`);

const noteDelivery = (endpointId: string): void =>
  note(
    `A worker sends it within seconds: \`flowrun webhooks deliveries ${endpointId}\` shows its state.`,
  );
