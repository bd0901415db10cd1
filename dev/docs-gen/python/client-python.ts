// The generated files of the Python client.

import { join } from 'node:path';
import { repository } from '../../lib/folders.ts';
import { clientSchemas, type Schema } from '../client-schemas.ts';
import { dataName, makePythonEvents, runEvents, webhookEvents } from './events.ts';
import { makePythonModels } from './models.ts';
import { makePythonOptions } from './options.ts';
import { makeSynchronousModules } from './synchronous.ts';

const folder = 'client-python/flowrun';

/** The text of each file by its path in the repository. */
export function makePythonFiles(description: unknown): [path: string, text: string][] {
  const schemas = clientSchemas(description);
  const events = schemas.get('EventData')?.properties ?? {};
  const webhooks = schemas.get('WebhookBodies')?.properties ?? {};
  const models = new Map([...modelsIn(schemas), ...dataOf(events)]);
  const synchronous = makeSynchronousModules(join(repository, folder, '_async'));
  return [
    [`${folder}/_generated/models.py`, makePythonModels(models)],
    [`${folder}/_generated/events.py`, makePythonEvents(events, runEvents)],
    [`${folder}/_generated/webhooks.py`, makePythonEvents(webhooks, webhookEvents)],
    [`${folder}/_generated/options.py`, makePythonOptions(schemas)],
    ...[...synchronous].map(([file, text]): [string, string] => [`${folder}/_sync/${file}`, text]),
  ];
}

/** Requests are options, and files are sent by other names. */
const modelsIn = (schemas: Map<string, Schema>): [string, Schema][] =>
  [...schemas].filter(([name]) => !/(?:Body|^InputFile|^EventData|^WebhookBodies)$/.test(name));

const dataOf = (events: Record<string, Schema>): [string, Schema][] =>
  Object.entries(events)
    .filter(([, { properties }]) => properties !== undefined)
    .map(([event, schema]) => [dataName(event), schema]);
