import { expect, test } from 'vitest';
import { splitBetaFlags } from '../../../../core/model/beta-flags.ts';
import { agentRequests } from '../../../support/agent-requests.ts';

test('every flag of the agent is kept under every policy', () => {
  for (const { betas } of agentRequests) {
    for (const policy of ['none', 'limited', 'open'] as const) {
      expect(splitBetaFlags(betas, policy)).toEqual({ kept: betas.split(','), removed: [] });
    }
  }
});

test('flags of features that act outside the sandbox need the policy open', () => {
  const header = 'mcp-client-2025-04-04,files-api-2025-04-14, effort-2025-11-24';
  expect(splitBetaFlags(header, 'limited')).toEqual({
    kept: ['effort-2025-11-24'],
    removed: ['mcp-client-2025-04-04', 'files-api-2025-04-14'],
  });
  expect(splitBetaFlags(header, 'open').removed).toEqual([]);
});

test('unknown flags are removed under every policy, and an empty header has none', () => {
  const header = ' fast-mode-2026-02-01 ,,EFFORT-2025-11-24';
  const removed = ['fast-mode-2026-02-01', 'EFFORT-2025-11-24'];
  expect(splitBetaFlags(header, 'open')).toEqual({ kept: [], removed });
  expect(splitBetaFlags('', 'none')).toEqual({ kept: [], removed: [] });
});
