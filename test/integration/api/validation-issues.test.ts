// Validation errors are written for people who have sent JSON, and do not mention the library's
// terms.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parse } from '../../../api/http/validation-issues.ts';
import { signedIn } from './operators/operator-client.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant, call } = useTenant();

const trigger = (body: object) => call(`/api/v1/flows/${tenant.flowId}/runs`, { body });
const server = { type: 'http', url: 'https://mcp.example.com/' };
const file = { path: 'a.txt', content: 'a', encoding: 'utf8' };

describe('a trigger reports in plain words', () => {
  test.each([
    [{ prompt: 7 }, 'body.prompt: must be a string'],
    [{ prompt: null }, 'body.prompt: must be a string'],
    [{ prompt: '' }, 'body.prompt: must not be empty'],
    [{ prompt: ' \n\t' }, 'body.prompt: must not be only white space'],
    [{ timeoutSeconds: 1e99 }, 'body.timeoutSeconds: must be at most 86400'],
    [{ partialMessages: 'yes' }, 'body.partialMessages: must be true or false'],
    [{ env: ['A'] }, 'body.env: must be an object'],
    [{ env: { A: 1 } }, 'body.env.A: must be a string'],
    [{ labels: 'a' }, 'body.labels: must be an object'],
    [{ files: {} }, 'body.files: must be an array'],
    [{ files: [7] }, 'body.files.0: must be an object'],
    [{ files: Array.from({ length: 101 }, () => file) }, 'body.files: must have at most 100 items'],
    [
      { files: [{ path: 'a.txt', encoding: 'hex' }] },
      'body.files.0.content: is required; body.files.0.encoding: must be "utf8" or "base64"',
    ],
    [{ mcpServers: { docs: 'x' } }, 'body.mcpServers.docs: must be an object'],
    [
      { mcpServers: { docs: {} } },
      'body.mcpServers.docs.type: is required; body.mcpServers.docs.url: is required',
    ],
    [
      { mcpServers: { docs: { ...server, type: 'stdio' } } },
      'body.mcpServers.docs.type: must be http or sse; stdio servers are not supported',
    ],
    [{ mcpMode: 'add' }, 'body.mcpMode: must be "merge" or "replace"'],
    [{ disallowedTools: ['Bash', 7] }, 'body.disallowedTools.1: must be a string'],
    [
      { callbackUrl: `https://${'x'.repeat(2_048)}` },
      'body.callbackUrl: must have at most 2048 characters',
    ],
    [{ maxTurns: 1.5 }, 'body.maxTurns: must be a whole number'],
    [{ maxTurns: 0 }, 'body.maxTurns: must be at least 1'],
    [{ maxTurns: 1_001 }, 'body.maxTurns: must be at most 1000'],
    [{ outputSchema: '{}' }, 'body.outputSchema: must be an object'],
    [{ promt: 'Go' }, 'body.promt: unknown field'],
    [[], 'body: must be an object'],
  ])('%j', async (body, said) => {
    const { status, json } = await trigger(Array.isArray(body) ? body : { prompt: 'Go', ...body });
    expect([status, json.error.message]).toEqual([400, said]);
  });
});

describe('other operations, too', () => {
  test('for a missing field', async () => {
    const chat = await call(`/api/v1/flows/${tenant.flowId}/chat`, { body: {} });
    expect(chat.json.error.message).toBe('body.message: is required');
    const blank = await call(`/api/v1/flows/${tenant.flowId}/chat`, { body: { message: ' ' } });
    expect(blank.json.error.message).toBe('body.message: must not be only white space');
    const ask = await signedIn(fixture, api);
    const project = await ask('/api/projects', { body: {} });
    expect(project.json.error.message).toBe('body.projectId: is required');
  });

  test.each([
    ['flowId=7', 'query.flowId: must be a UUID'],
    ['status=asleep', 'query.status: must be "running" or "sleep"'],
    ['limit=0', 'query.limit: must be at least 1'],
    ['limit=many', 'query.limit: must be a whole number'],
    ['limit=1&limit=2', 'query.limit: must not be repeated'],
    ['status=running&status=sleep', 'query.status: must not be repeated'],
    ['page=1&page=2', 'query.page: unknown field'],
    ['label=a:1&label=b', 'query.label: must be a label of the form key:value'],
    ['page=2', 'query.page: unknown field'],
  ])('for a query: %s', async (query, said) => {
    const { status, json } = await call(`/api/v1/runs?${query}`);
    expect([status, json.error.message]).toEqual([400, said]);
  });

  test('for an answer with two permitted forms', async () => {
    const { runId } = (await trigger({ prompt: 'Go' })).json.data;
    const answer = async (given: unknown) => {
      const body = { answers: { 'Which?': given } };
      const { json } = await call(`/api/v1/runs/${runId}/interactions/question-1`, { body });
      return json.error.message;
    };
    expect(await answer(7)).toBe('body.answers.Which?: must be a string or an array');
    expect(await answer([7])).toBe('body.answers.Which?.0: must be a string');
    expect(await answer([])).toBe('body.answers.Which?: must not be empty');
  });
});

const kinds = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('a') }),
  z.object({ kind: z.literal('b') }),
]);

/** All issues of zod, whether or not a current schema can cause them. */
const everyKind: [string, z.ZodType, unknown, string][] = [
  ['a type', z.bigint(), 1, 'must be a bigint'],
  ['a number without an end', z.number(), Number.POSITIVE_INFINITY, 'must be a finite number'],
  ['no number', z.number(), 'x', 'must be a number'],
  ['a value', z.literal(7), 8, 'must be 7'],
  ['three values', z.enum(['a', 'b', 'c']), 'd', 'must be "a", "b" or "c"'],
  ['a text too long', z.string().max(1), 'ab', 'must have at most 1 character'],
  ['a text too short', z.string().min(2), 'a', 'must have at least 2 characters'],
  ['another length', z.string().length(2), 'abc', 'must have exactly 2 characters'],
  ['a number not below', z.number().lt(5), 5, 'must be less than 5'],
  ['a number not above', z.number().gt(5), 5, 'must be more than 5'],
  ['no multiple', z.number().multipleOf(2), 3, 'must be a multiple of 2'],
  ['a set', z.set(z.string()).min(2), new Set(['a']), 'must have at least 2 items'],
  ['another uuid', z.uuid(), 'x', 'must be a UUID'],
  ['no time', z.iso.datetime(), 'x', 'must be a time like 2026-01-31T09:00:00.000Z'],
  ['another format', z.ipv4(), 'x', 'must be a valid ipv4'],
  ['a pattern', z.string().regex(/^a$/), 'b', 'must match /^a$/'],
  ['a beginning', z.string().startsWith('a'), 'b', 'must start with "a"'],
  ['an end', z.string().endsWith('a'), 'b', 'must end with "a"'],
  ['a part', z.string().includes('a'), 'b', 'must contain "a"'],
  ['a name', z.record(z.string().max(1), z.string()), { ab: 'x' }, 'its name must have at most 1'],
  ['an entry', z.map(z.string(), z.string()), new Map([['a', 1]]), 'must be a string'],
  ['another kind', kinds, { kind: 'c' }, 'must be "a" or "b"'],
  ['kinds', z.union([z.boolean(), z.null()]), 'x', 'must be true or false or null'],
  ['two kinds at once', z.xor([z.string(), z.string()]), 'x', 'is not valid'],
  ['a rule without words', z.string().refine(() => false), 'x', 'is not valid'],
  ['a rule in words', z.string().refine(() => false, { error: 'is odd' }), 'x', 'is odd'],
];

test.each(everyKind)('describes %s in plain words', (_what, schema, given, said) => {
  const wrong = parse(z.strictObject({ at: schema }), { at: given });
  expect(wrong).toMatchObject({ issues: [{ message: expect.stringContaining(said) }] });
  const absent = parse(z.strictObject({ at: schema }), {});
  expect(absent).toEqual({ issues: [{ path: ['at'], message: 'is required' }] });
});
