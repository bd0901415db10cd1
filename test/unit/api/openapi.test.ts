import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../api/app-types.ts';
import { errorStatuses } from '../../../api/errors.ts';
import { streamEvents } from '../../../core/frames/frame.ts';
import { makeDocuments } from '../../../dev/docs-gen/documents.ts';
import { buildStubApi } from '../../../dev/docs-gen/stub-api.ts';

const publicUrl = 'https://runs.example.test';
let app: App;
beforeAll(async () => {
  app = await buildStubApi(publicUrl);
});
afterAll(() => app.close());

const read = async (path: string) => {
  const answer = await app.inject(path);
  expect(answer.statusCode).toBe(200);
  return JSON.parse(answer.body);
};

describe('the contract that clients are written against', () => {
  test('has exactly these error codes, so that a new one is a deliberate decision', () => {
    expect(errorStatuses).toEqual({
      VALIDATION_ERROR: [400, 408, 414, 415, 431],
      UNAUTHORIZED: [401, 403],
      PROJECT_ARCHIVED: [403],
      NOT_FOUND: [404],
      METHOD_NOT_ALLOWED: [405],
      RUNNER_OFFLINE: [409],
      MESSAGE_NOT_QUEUED: [409],
      FILES_NOT_KEPT: [409],
      ENDPOINT_RETIRED: [410],
      PRECONDITION_FAILED: [412],
      PAYLOAD_TOO_LARGE: [413],
      RANGE_NOT_SATISFIABLE: [416],
      RATE_LIMITED: [429],
      CONCURRENT_LIMIT: [429],
      MONTHLY_QUOTA: [429],
      BUDGET_REACHED: [429],
      RUN_TREE_LIMIT: [429],
      SESSION_LIMIT: [429],
      STREAM_LIMIT: [429],
      WAIT_LIMIT: [429],
      QUEUE_FULL: [429],
      INTERNAL_ERROR: [500],
      UPSTREAM_UNAVAILABLE: [503],
    });
  });

  test('has exactly these stream events, each described', async () => {
    expect([...streamEvents].sort()).toEqual([
      'agent_status',
      'assistant',
      'chat_output',
      'files_skipped',
      'filetree',
      'finished',
      'interaction',
      'interaction_closed',
      'line_cut',
      'message_withdrawn',
      'output',
      'replay_truncated',
      'result',
      'session_ready',
      'state_rolled_back',
      'status',
      'stream',
      'stream_event',
      'system',
      'turn_end',
      'user',
      'user_message',
    ]);
    const { paths, components } = await read('/api/v1/openapi.json');
    const { schema } =
      paths['/api/v1/runs/{runId}/stream'].get.responses[200].content['text/event-stream'];
    for (const name of streamEvents) expect(schema.description).toContain(` ${name}`);
    const schemaAt = ({ $ref }: { $ref: string }) =>
      components.schemas[$ref.split('/').at(-1) ?? ''];
    const [union, other] = schema.contentSchema.anyOf.map(schemaAt);
    expect(other.properties.event).toHaveProperty('pattern');
    const names = union.anyOf
      .map(schemaAt)
      .map(({ properties }: StreamEvent) => properties.event.const);
    expect(names.sort()).toEqual([...streamEvents].sort());
  });
});

interface StreamEvent {
  properties: { event: { const: string } };
}

describe('the description', () => {
  test('is up to date with the routes; `npm run describe` regenerates it', async () => {
    for (const { path, text } of await makeDocuments()) {
      expect(readFileSync(path, 'utf8') === text, `${basename(path)} is out of date`).toBe(true);
    }
  });

  test('needs no key and names the public URL', async () => {
    const description = await read('/api/v1/openapi.json');
    expect(description).toMatchObject({ openapi: '3.1.0', servers: [{ url: publicUrl }] });
    const { variable } = await read('/api/v1/postman.json');
    expect(variable).toContainEqual({ key: 'baseUrl', value: publicUrl });
  });

  test('has every route that needs a key or an operator, and the sign-in', async () => {
    const { paths } = await read('/api/v1/openapi.json');
    const described = Object.entries(paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routes = app.routeTable
      .filter(({ config }) => config.callers?.includes('anyone') === false)
      .map(({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
      .map((route) => route.replace('*', '{filePath}'))
      .filter((route) => !route.startsWith('HEAD '));
    expect(described.sort()).toEqual([...routes, 'POST /api/sign-in'].sort());
  });

  test('has operators’ routes in a separate section, with another authentication', async () => {
    const { paths, tags } = await read('/api/v1/openapi.json');
    expect(tags.map(({ name }: { name: string }) => name)).toContain('Operators');
    for (const [path, item] of Object.entries(paths as Record<string, Record<string, Operation>>)) {
      for (const [method, operation] of Object.entries(item)) {
        const isForKeys = path.startsWith('/api/v1/') || path === '/mcp';
        const what = `${method} ${path}`;
        expect(operation.tags.includes('Operators'), what).toBe(!isForKeys);
        const schemes = (operation.security ?? [{ apiKey: [] }]).flatMap(Object.keys);
        expect(
          schemes.filter((name) => !['keyInQuery', 'runToken'].includes(name)),
          what,
        ).toEqual(schemesOf(path));
      }
    }
  });

  test('allows additional fields in responses, but not in requests', async () => {
    const { paths, components } = await read('/api/v1/openapi.json');
    const schemas = components.schemas as Record<string, object>;
    for (const name of ['Run', 'Flow', 'FileEntry', 'RunFinished', 'SessionEnded']) {
      expect(JSON.stringify(schemas[name]), name).not.toContain('"additionalProperties":false');
    }
    const { requestBody } = paths['/api/v1/flows/{flowId}/runs'].post;
    expect(requestBody.content['application/json'].schema.additionalProperties).toBe(false);
  });

  test('has the body of each webhook', async () => {
    const { webhooks, components } = await read('/api/v1/openapi.json');
    const bodies = Object.entries(webhooks as Record<string, { post: Webhook }>).map(
      ([event, { post }]) => {
        const [{ description }] = post.parameters;
        expect(description).toBe(`\`${event}\`.`);
        const name = post.requestBody.content['application/json'].schema.$ref.split('/').at(-1);
        expect(components.schemas).toHaveProperty(name ?? '');
        return [event, name];
      },
    );
    expect(bodies).toEqual([
      ['run.started', 'RunStarted'],
      ['run.finished', 'RunFinished'],
      ['session.idle', 'SessionIdle'],
      ['session.ended', 'SessionEnded'],
      ['interaction.asked', 'InteractionAsked'],
      ['delivery.dropped', 'DeliveryDropped'],
      ['schedule.missed', 'ScheduleMissed'],
      ['budget.reached', 'MonthlyBudgetReached'],
      ['endpoint.test', 'EndpointTest'],
    ]);
  });

  test('contains the limits of a trigger', async () => {
    const { paths } = await read('/api/v1/openapi.json');
    const { requestBody } = paths['/api/v1/flows/{flowId}/runs'].post;
    const { properties } = requestBody.content['application/json'].schema;
    expect(properties).toMatchObject({
      name: { minLength: 1, maxLength: 200 },
      appendSystemPrompt: { maxLength: 100_000 },
      callbackUrl: { maxLength: 2_048 },
      idempotencyKey: { maxLength: 255 },
      labels: { maxProperties: 20 },
      disallowedTools: { maxItems: 200, items: { maxLength: 256 } },
      files: { maxItems: 100 },
      env: { maxProperties: 100, description: expect.stringMatching(/32768 .* 262144 /) },
      mcpServers: { maxProperties: 20, description: expect.stringContaining('65536') },
      outputSchema: { description: expect.stringContaining('65536') },
      prompt: { minLength: 1, description: expect.stringContaining('1048576') },
    });
  });

  test('has an ID, a summary, a tag and error responses for every operation', async () => {
    const { paths } = await read('/api/v1/openapi.json');
    for (const [path, item] of Object.entries(paths as Record<string, Record<string, Operation>>)) {
      for (const [method, { operationId, summary, responses, tags }] of Object.entries(item)) {
        const operation = `${method} ${path}`;
        expect(operationId, operation).toMatch(/^[a-z][A-Za-z]+$/);
        expect(summary, operation).toMatch(/^[A-Z].+[^.]$/);
        expect(tags, operation).toHaveLength(1);
        expect(Object.keys(responses), operation).toEqual(expect.arrayContaining(statuses));
      }
    }
  });
});

/** Every request can get them: for its bytes, for its key, and from an overloaded service. */
const statuses = ['400', '401', '408', '414', '429', '431', '500', '503'];

interface Webhook {
  parameters: [{ description: string }];
  requestBody: { content: { 'application/json': { schema: { $ref: string } } } };
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  responses: object;
}

/** Operator tokens do not sign in or out, and create no tokens. */
function schemesOf(path: string): string[] {
  if (path === '/api/sign-in') return [];
  if (path.startsWith('/api/v1/') || path === '/mcp') return ['apiKey'];
  const isForTokens = /^\/api\/(projects|audit)/.test(path);
  return isForTokens ? ['operatorSession', 'operatorToken'] : ['operatorSession'];
}
