import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyRunConfig, type RunConfig } from '../../../../../core/runs/run-config.ts';
import { runConfigEndpoint } from '../../../../../worker/sandbox/start/config-endpoint.ts';

const network = { policy: 'limited' as const, allowedHosts: [] };
const flow = { flowId: 'flow-1', instructions: null, disallowedTools: [], network };
const bounds = { model: null, maxTurns: null, maxBudgetUsd: null };
const run = { runId: 'run-1', partialMessages: false, ...bounds };
const configured = { run, flow, outputSchema: null };

/** The handlers, with a store that records its calls. */
function withStore(stored: RunConfig | null) {
  const calls: string[] = [];
  const configs = {
    read: async () => (calls.push('read'), stored),
    acknowledge: async () => void calls.push('acknowledge'),
  };
  const flows = { readSecrets: async () => ({ env: { A: 'b' }, mcpServers: {} }) };
  const logger = pino({ enabled: false });
  return { calls, handlers: runConfigEndpoint({ configs, flows }, configured, logger) };
}

test('returns the configuration until it is acknowledged, and makes no further queries after that', async () => {
  const { calls, handlers } = withStore(emptyRunConfig);
  for (let i = 0; i < 2; i += 1) {
    expect(await handlers.config()).toMatchObject({ env: { A: 'b' } });
  }
  await handlers.acknowledge();
  expect(calls).toEqual(['read', 'read', 'acknowledge']);
  for (let i = 0; i < 100; i += 1) {
    expect(await handlers.config()).toBeNull();
    await handlers.acknowledge();
  }
  expect(calls).toHaveLength(3);
});

test('after a restart, queries an acknowledged configuration only once', async () => {
  const { calls, handlers } = withStore(null);
  for (let i = 0; i < 100; i += 1) expect(await handlers.config()).toBeNull();
  await handlers.acknowledge();
  expect(calls).toEqual(['read']);
});
