import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorStatuses } from '../../api/errors.ts';
import { type ApiProcess, type ApiWorld, openApiWorld } from './api-world.ts';
import { caller } from './call.ts';

let world: ApiWorld;
let api: ApiProcess;

beforeAll(async () => {
  world = await openApiWorld();
  api = await world.start();
});
afterAll(() => world.close());

test('the codes of errors are these; one that is missing here was added without a decision', () => {
  expect(errorStatuses).toEqual({
    VALIDATION_ERROR: [400, 408, 414, 415, 431],
    UNAUTHORIZED: [401, 403],
    NOT_FOUND: [404],
    METHOD_NOT_ALLOWED: [405],
    RUNNER_OFFLINE: [409],
    ENDPOINT_RETIRED: [410],
    PAYLOAD_TOO_LARGE: [413],
    RANGE_NOT_SATISFIABLE: [416],
    RATE_LIMITED: [429],
    CONCURRENT_LIMIT: [429],
    MONTHLY_QUOTA: [429],
    STREAM_LIMIT: [429],
    QUEUE_FULL: [429],
    INTERNAL_ERROR: [500],
    UPSTREAM_UNAVAILABLE: [503],
  });
});

test('describes every endpoint to anybody', async () => {
  const { status, json } = await caller(api, null)('/api/v1/openapi.json');
  expect([status, json.openapi]).toEqual([200, '3.1.0']);
  expect(Object.keys(json.paths).sort()).toEqual([
    '/api/v1/flows',
    '/api/v1/flows/{flowId}/runs',
    '/api/v1/runs/{runId}',
    '/api/v1/runs/{runId}/files',
    '/api/v1/runs/{runId}/files/{*}',
    '/api/v1/runs/{runId}/logs',
    '/api/v1/runs/{runId}/messages',
    '/api/v1/runs/{runId}/stop',
    '/api/v1/runs/{runId}/stream',
  ]);
  expect(Object.keys(json.components.schemas)).toEqual(
    expect.arrayContaining(['Run', 'Error', 'Flow']),
  );
});
