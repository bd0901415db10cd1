import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyRunConfig, type RunConfig } from '../../../../../core/runs/run-config.ts';
import { runConfigEndpoint } from '../../../../../worker/sandbox/start/config-endpoint.ts';

const network = { policy: 'limited' as const, allowedHosts: [] };
const flow = {
  flowId: 'flow-1',
  instructions: null,
  disallowedTools: [],
  childRuns: null,
  network,
};
const bounds = { model: null, maxTurns: null };
const ref = { runId: 'run-1', generation: 1 };
const plan = {
  run: { partialMessages: false, ...bounds },
  flow,
  outputSchema: null,
  answerTokensMax: null,
};

/** The handlers, with a store that records its calls. */
function withStore(stored: RunConfig | null, isAccepted = true) {
  const calls: string[] = [];
  const configs = {
    read: async () => (calls.push('read'), stored),
    acknowledge: async () => (calls.push('acknowledge'), isAccepted),
  };
  const flows = { readSecrets: async () => ({ env: { A: 'b' }, mcpServers: {} }) };
  const logger = pino({ enabled: false });
  return { calls, handlers: runConfigEndpoint({ configs, flows }, { ref, plan }, logger) };
}

test('returns the configuration until it is acknowledged, and makes no further queries after that', async () => {
  const { calls, handlers } = withStore(emptyRunConfig);
  for (let i = 0; i < 2; i += 1) {
    expect(await handlers.config()).toMatchObject({ env: { A: 'b' } });
  }
  expect(await handlers.acknowledge()).toBe(true);
  expect(calls).toEqual(['read', 'read', 'acknowledge']);
  for (let i = 0; i < 100; i += 1) {
    expect(await handlers.config()).toBeNull();
    expect(await handlers.acknowledge()).toBe(true);
  }
  expect(calls).toHaveLength(3);
});

test('every acknowledgement of a superseded sandbox is refused, after one query', async () => {
  const { calls, handlers } = withStore(emptyRunConfig, false);
  expect(await handlers.config()).not.toBeNull();
  for (let i = 0; i < 100; i += 1) expect(await handlers.acknowledge()).toBe(false);
  expect(await handlers.config()).toBeNull();
  expect(calls).toEqual(['read', 'acknowledge']);
});

test('after a restart, queries an acknowledged configuration only once', async () => {
  const { calls, handlers } = withStore(null);
  for (let i = 0; i < 100; i += 1) expect(await handlers.config()).toBeNull();
  // Its answer may have been lost with the process before.
  for (let i = 0; i < 100; i += 1) expect(await handlers.acknowledge()).toBe(true);
  expect(calls).toEqual(['read', 'acknowledge']);
});
