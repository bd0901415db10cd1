import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { importError, packageOf } from '../../../dev/lint/boundaries.mjs';
import { isCode, productFiles } from '../structure/source-files.ts';

const path = join(repository, 'dev/lint/boundaries.json');
const table = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

const isRefused = (file: string, specifier: string, isType = false): boolean =>
  importError({ file, specifier, isType }) !== null;

describe('an import is rejected', () => {
  test.each([
    ['core/run.ts', 'node:fs'],
    ['core/run.ts', 'zod'],
    ['core/agent/line.ts', '../../lib/async/sleep.ts'],
    ['lib/async/sleep.ts', '../../config/logger.ts'],
    ['config/load.ts', '../systems/postgres/pool.ts'],
    ['config/load.ts', 'pg'],
    ['workflows/run/run.ts', 'node:fs'],
    ['workflows/run/run.ts', '../../activities/index.ts'],
    ['systems/postgres/pool.ts', '../redis/connect.ts'],
    ['systems/redis/connect.ts', 'pg'],
    ['systems/docker/engine.ts', '../../worker/sandbox/deps.ts'],
    ['systems/prometheus/server.ts', 'pg'],
    ['systems/temporal/client.ts', 'dockerode'],
    ['activities/index.ts', '@temporalio/client'],
    ['activities/index.ts', '../worker/main.ts'],
    ['worker/sandbox/start/attach.ts', '../../../api/errors.ts'],
    ['worker/sandbox/start/attach.ts', 'dockerode'],
    ['worker/host/heartbeat.ts', '@temporalio/worker'],
    ['api/runs/start-run.ts', '../../workflows/run/run.ts'],
    ['api/runs/start-run.ts', '@temporalio/client'],
    ['cli/program.ts', '../worker/main.ts'],
    ['cli/commands/key.ts', '../../systems/docker/engine.ts'],
    ['dashboard/run/run-feed.ts', 'node:fs'],
    ['dashboard/run/run-feed.ts', 'zod'],
    ['dashboard/run/run-feed.ts', '../../api/errors.ts'],
    ['sandbox/entry/entry.ts', 'undici'],
    ['offline-model/server.ts', '../dev/lib/run.ts'],
    ['api/runs/start-run.ts', '../../test/support/database.ts'],
  ])('by %s of %s', (file, specifier) => {
    expect(isRefused(file, specifier)).toBe(true);
  });

  test.each([
    ['core/run.ts', '../systems/postgres/pool.ts'],
    ['workflows/run/run.ts', '../../systems/postgres/pool.ts'],
    ['systems/postgres/pool.ts', '../redis/connect.ts'],
    ['systems/redis/connect.ts', '../../worker/host/heartbeat.ts'],
    ['api/runs/start-run.ts', '../../worker/host/heartbeat.ts'],
    ['worker/sandbox/start/attach.ts', 'dockerode'],
  ])('by %s of %s as a type', (file, specifier) => {
    expect(isRefused(file, specifier, true)).toBe(true);
  });
});

test.each([
  ['worker/sandbox/start/attach.ts', '../../../systems/docker/engine.ts'],
  ['worker/sandbox/start/attach.ts', '../../../workflows/shared/activities.ts'],
  ['api/runs/start-run.ts', '../../systems/postgres/runs/run-store.ts'],
  ['systems/temporal/start-run.ts', '../../workflows/shared/signals.ts'],
])('%s may import %s as a type only', (file, specifier) => {
  expect(isRefused(file, specifier, true)).toBe(false);
  expect(isRefused(file, specifier, false)).toBe(true);
});

test.each([
  ['api/main.ts', '../systems/redis/connect.ts'],
  ['worker/load-tasks.ts', '../activities/index.ts'],
  ['worker/temporal/workers.ts', '@temporalio/worker'],
  ['worker/sandbox/start/attach.ts', '../../egress/policy.ts'],
  ['cli/open-doctor.ts', '../systems/docker/engine.ts'],
  ['dashboard/run/run-feed.ts', '../../client/http/http.ts'],
  ['systems/postgres/runs/run-store.ts', '../client/pool.ts'],
])('%s may import %s', (file, specifier) => {
  expect(isRefused(file, specifier)).toBe(false);
});

test('every product folder has an entry in the table', () => {
  const folders = new Set(productFiles().filter(isCode).map(packageOf));
  expect(Object.keys(table)).toEqual(expect.arrayContaining([...folders]));
});
