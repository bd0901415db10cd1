import { describe, expect, test } from 'vitest';
import { causeOf, stateOf } from '../../../dashboard/ui/run-state.ts';

const run = {
  status: 'running' as const,
  agentStatus: null,
  startedAt: null,
  finishedAt: null,
};
const ended = { ...run, status: 'sleep' as const, finishedAt: '2026-01-01T00:00:00.000Z' };

describe('the state of a run', () => {
  test.each([
    [run, 'starting'],
    [{ ...run, agentStatus: 'working' as const }, 'working'],
    [{ ...run, agentStatus: 'waiting' as const }, 'waiting'],
    [{ ...run, agentStatus: 'idle' as const }, 'idle'],
    [{ ...run, agentStatus: 'error' as const }, 'idle'],
    [{ ...run, status: 'sleep' as const }, 'sleeping'],
    [{ ...run, stopping: true as const }, 'stopping'],
    [ended, 'completed'],
    [{ ...ended, error: 'stopped_by_api' }, 'stopped'],
    [{ ...ended, error: 'Process exited with code 1' }, 'failed'],
  ])('%j is %s', (record, state) => {
    expect(stateOf(record)).toBe(state);
  });

  test('has its cause in words, and an unknown cause as it is', () => {
    expect(causeOf('out_of_memory')).toBe('Out of memory');
    expect(causeOf('container_start_failed: no capacity')).toBe('Did not start: no capacity');
    expect(causeOf('another_cause')).toBe('another_cause');
  });
});
