// What a session's sandbox is told of its configuration, over a store that says what it was asked.

import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyRunConfig } from '../../../../../core/runs/run-config.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import { sessionConfigEndpoint } from '../../../../../worker/sandbox/session/session-config.ts';

const ref = { runId: randomUUID(), generation: 3 };
const folders = foldersOf('/nowhere', ref);
const flow = { flowId: 'flow-1', instructions: null, disallowedTools: [] };
const bounds = { model: null, maxTurns: null, maxBudgetUsd: null };
const plan = { run: { partialMessages: false, ...bounds }, flow, outputSchema: null };

function overStore() {
  const stored = { version: 1, isGone: false };
  const asked: unknown[] = [];
  const sessions = {
    readConfig: async (...of: unknown[]) => {
      asked.push(['read', ...of]);
      const { version, isGone } = stored;
      return isGone ? null : { config: { ...emptyRunConfig, env: { V: `${version}` } }, version };
    },
    acknowledgeConfig: async (...of: unknown[]) => void asked.push(['acknowledge', ...of]),
  };
  const flows = { readSecrets: async () => ({ env: {}, mcpServers: {} }) };
  const logger = pino({ enabled: false });
  const begin = () =>
    sessionConfigEndpoint(
      { sessions, flows },
      // Of the plan, what it comes to use.
      { ref, plan, folders } as unknown as Parameters<typeof sessionConfigEndpoint>[1],
      logger,
    );
  return { stored, asked, begin };
}

const { runId, generation } = ref;
const read = ['read', runId, generation];

test('what is noted as known is the version that was told last, whatever it has changed to since', async () => {
  const { stored, asked, begin } = overStore();
  const handlers = begin();
  expect(await handlers.config()).toMatchObject({ env: { V: '1' } });
  stored.version = 2;
  expect(await handlers.config()).toMatchObject({ env: { V: '2' } });
  stored.version = 3;
  await handlers.acknowledge();
  expect(asked).toEqual([read, read, ['acknowledge', runId, generation, 2]]);
  expect(await handlers.config()).toBeNull();
  await handlers.acknowledge();
  expect(asked).toHaveLength(3);
});

test('a process that does not know which version was told notes none', async () => {
  const { asked, begin } = overStore();
  await begin().config();
  await begin().acknowledge();
  expect(asked).toEqual([read, ['acknowledge', runId, generation, 0]]);
});

test('once it is gone nothing is told or noted', async () => {
  const { stored, asked, begin } = overStore();
  stored.isGone = true;
  const handlers = begin();
  for (let n = 0; n < 3; n += 1) expect(await handlers.config()).toBeNull();
  await handlers.acknowledge();
  expect(asked).toEqual([read]);
});
