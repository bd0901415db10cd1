import { expect, test } from 'vitest';
import { endCauses } from '../../../core/runs/end-cause.ts';
import { finalAgentStatus } from '../../../core/runs/final-agent-status.ts';

test.each(['working', 'waiting'] as const)('%s becomes idle or error', (status) => {
  for (const cause of endCauses) {
    expect(finalAgentStatus(status, cause)).toBe(cause === 'completed' ? 'idle' : 'error');
  }
});

test.each(['idle', 'error', null] as const)('%s is kept', (status) => {
  for (const cause of endCauses) expect(finalAgentStatus(status, cause)).toBe(status);
});
