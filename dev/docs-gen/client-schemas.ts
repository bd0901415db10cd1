// The schemas of the OpenAPI document that the clients use.

/** The parts of JSON Schema that the document uses. */
export interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  propertyNames?: Schema;
  items?: Schema;
  contentSchema?: Schema;
  description?: string;
  content?: Record<string, { schema: Schema }>;
}

interface Operation {
  operationId: string;
  requestBody?: Schema;
  responses: Record<string, Schema>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { requestBody: Schema } }>;
  components: { schemas: Record<string, Schema> };
}

/** Schemas of the document that the clients name differently. */
const renamed: Record<string, string> = {
  Run: 'RunRecord',
  RunWithPrompt: 'RunDetails',
  Session: 'SessionRecord',
  SessionWithFiles: 'SessionDetails',
};

/** Schemas that the clients use, besides those that they refer to. */
const used = [
  'ChangedConfig',
  'DeletedRun',
  'FileChange',
  'FileEntry',
  'Flow',
  'LogEntries',
  'OpenedSession',
  'Operator',
  'Project',
  'QueuedMessage',
  'Run',
  'RunOfOperator',
  'RunToken',
  'RunWithPrompt',
  'SessionWithFiles',
  'Turn',
  'UnfinishedMessage',
];

/** Bodies of requests by their operations. */
const bodies: Record<string, string> = {
  changeSessionConfig: 'ChangeConfigBody',
  chat: 'ChatBody',
  openSession: 'OpenSessionBody',
  retryRun: 'RetryRunBody',
  triggerRun: 'TriggerRunBody',
};

/** The schemas by the names of their types, with all schemas that they refer to. */
export function clientSchemas(description: unknown): Map<string, Schema> {
  const { paths, webhooks, components } = description as Document; // made by this repository's API
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const schemas = new Map<string, Schema | undefined>([
    ['EventData', eventData(components.schemas)],
    ['WebhookBodies', webhookBodies(webhooks)],
    ...Object.entries(bodies).map(([id, name]) => [name, bodyOf(operations, id)] as const),
    ...used.map((name) => [clientName(name), components.schemas[name]] as const),
  ]);
  // Iterating over a map includes entries that are added meanwhile.
  for (const schema of schemas.values()) {
    for (const name of namesIn(schema)) schemas.set(clientName(name), components.schemas[name]);
  }
  return new Map([...schemas].map(([name, schema]) => [name, present(name, schema)]));
}

function present(name: string, schema: Schema | undefined): Schema {
  if (schema === undefined) throw new Error(`The document has no schema for ${name}.`);
  return schema;
}

const bodyOf = (operations: Operation[], id: string): Schema | undefined =>
  operations.find(({ operationId }) => operationId === id)?.requestBody?.content?.[
    'application/json'
  ]?.schema;

/** The components that a schema refers to. */
const namesIn = (schema: Schema | undefined): string[] =>
  [...JSON.stringify(schema ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name = '']) => name,
  );

/** The data of each event by its name. */
function eventData(schemas: Record<string, Schema>): Schema {
  const events = (schemas['StreamEvent']?.anyOf ?? []).map(({ $ref = '' }): [string, Schema] => {
    const { event, data = {} } = schemas[nameIn($ref)]?.properties ?? {};
    return [String(event?.const), data];
  });
  const properties = Object.fromEntries(events);
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** The body of each webhook by its event. */
function webhookBodies(webhooks: Document['webhooks']): Schema {
  const bodiesByEvent = Object.entries(webhooks).map(([event, { post }]): [string, Schema] => [
    event,
    post.requestBody.content?.['application/json']?.schema ?? {},
  ]);
  const properties = Object.fromEntries(bodiesByEvent);
  return { type: 'object', properties, required: Object.keys(properties) };
}

export const nameIn = (ref: string): string => ref.split('/').at(-1) ?? '';

export const clientName = (name: string): string => renamed[name] ?? name;
