import pino from 'pino';
import { expect, test } from 'vitest';
import { emptyRunConfig, type RunConfig } from '../../../../../core/runs/run-config.ts';
import { runConfigEndpoint } from '../../../../../worker/sandbox/start/run-config-endpoint.ts';

const flow = { flowId: 'flow-1', instructions: null, disallowedTools: [] };
const bounds = { model: null, maxTurns: null, maxBudgetUsd: null };
const run = { runId: 'run-1', partialMessages: false, ...bounds };
const configured = { run, flow, outputSchema: null };

/** The handlers over a store that says what it was asked. */
function overStore(stored: RunConfig | null) {
  const asked: string[] = [];
  const configs = {
    read: async () => (asked.push('read'), stored),
    acknowledge: async () => void asked.push('acknowledge'),
  };
  const flows = { readSecrets: async () => ({ env: { A: 'b' }, mcpServers: {} }) };
  const logger = pino({ enabled: false });
  return { asked, handlers: runConfigEndpoint({ configs, flows }, configured, logger) };
}

test('gives the configuration until it is acknowledged, and asks the database for nothing after that', async () => {
  const { asked, handlers } = overStore(emptyRunConfig);
  for (let i = 0; i < 2; i += 1) {
    expect(await handlers.config()).toMatchObject({ env: { A: 'b' } });
  }
  await handlers.acknowledge();
  expect(asked).toEqual(['read', 'read', 'acknowledge']);
  for (let i = 0; i < 100; i += 1) {
    expect(await handlers.config()).toBeNull();
    await handlers.acknowledge();
  }
  expect(asked).toHaveLength(3);
});

test('after a restart finds out once that it is gone', async () => {
  const { asked, handlers } = overStore(null);
  for (let i = 0; i < 100; i += 1) expect(await handlers.config()).toBeNull();
  await handlers.acknowledge();
  expect(asked).toEqual(['read']);
});
