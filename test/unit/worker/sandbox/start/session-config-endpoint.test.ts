// The configuration endpoint of a session's sandbox, with a store that records its calls.

import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyRunConfig } from '../../../../../core/runs/run-config.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import { sessionConfigEndpoint } from '../../../../../worker/sandbox/start/config-endpoint.ts';

const ref = { runId: randomUUID(), generation: 3 };
const folders = foldersOf('/nowhere', ref);
const network = { policy: 'limited' as const, allowedHosts: [] };
const flow = {
  flowId: 'flow-1',
  instructions: null,
  disallowedTools: [],
  childRuns: null,
  network,
};
const bounds = { model: null, maxTurns: null };
const plan = {
  run: { partialMessages: false, ...bounds },
  flow,
  outputSchema: null,
  answerTokensMax: null,
};

function withStore() {
  const stored = { version: 1, isGone: false };
  const calls: unknown[] = [];
  const sessions = {
    readConfig: async (...of: unknown[]) => {
      calls.push(['read', ...of]);
      const { version, isGone } = stored;
      return isGone ? null : { config: { ...emptyRunConfig, env: { V: `${version}` } }, version };
    },
    acknowledgeConfig: async (...of: unknown[]) => calls.push(['acknowledge', ...of]) > 0,
  };
  const flows = { readSecrets: async () => ({ env: {}, mcpServers: {} }) };
  const logger = pino({ enabled: false });
  const createEndpoint = () =>
    sessionConfigEndpoint({ sessions, flows }, { ref, plan, folders }, logger);
  return { stored, calls, createEndpoint };
}

const { runId, generation } = ref;
const read = ['read', runId, generation];

test('acknowledges the version that was sent last, even if a newer one exists', async () => {
  const { stored, calls, createEndpoint } = withStore();
  const handlers = createEndpoint();
  expect(await handlers.config()).toMatchObject({ env: { V: '1' } });
  stored.version = 2;
  expect(await handlers.config()).toMatchObject({ env: { V: '2' } });
  stored.version = 3;
  await handlers.acknowledge();
  expect(calls).toEqual([read, read, ['acknowledge', runId, generation, 2]]);
  expect(await handlers.config()).toBeNull();
  await handlers.acknowledge();
  expect(calls).toHaveLength(3);
});

test('a process that has not sent a version acknowledges none', async () => {
  const { calls, createEndpoint } = withStore();
  await createEndpoint().config();
  await createEndpoint().acknowledge();
  expect(calls).toEqual([read, ['acknowledge', runId, generation, 0]]);
});

test('a configuration that is gone is not sent, and its acknowledgement names no version', async () => {
  const { stored, calls, createEndpoint } = withStore();
  stored.isGone = true;
  const handlers = createEndpoint();
  for (let n = 0; n < 3; n += 1) expect(await handlers.config()).toBeNull();
  for (let n = 0; n < 3; n += 1) await handlers.acknowledge();
  expect(calls).toEqual([read, ['acknowledge', runId, generation, 0]]);
});
