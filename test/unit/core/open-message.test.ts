import { describe, expect, test } from 'vitest';
import { readAgentLine } from '../../../core/agent/agent-line.ts';
import {
  type AgentState,
  initialAgentState,
  isIdle,
  reduce,
} from '../../../core/agent/agent-state.ts';

/** After every line the state is serialized and parsed, as it is between two readers. */
const stateAfter = (lines: string[]): AgentState =>
  lines.reduce(
    (state, line) => JSON.parse(JSON.stringify(reduce(state, readAgentLine(line).facts).state)),
    initialAgentState,
  );

describe('an agent that completes a message without a result', () => {
  const lifecycle = (state: string, uuid: string) =>
    JSON.stringify({ type: 'command_lifecycle', command_uuid: uuid, state });
  const init = JSON.stringify({ type: 'system', subtype: 'init' });
  const result = (fields: object = {}) =>
    JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: '', ...fields });
  const first = [lifecycle('started', 'a'), init, result(), lifecycle('completed', 'a')];
  const unprompted = result({ origin: { kind: 'task-notification' } });
  const withoutResult = [lifecycle('started', 'b'), init, lifecycle('completed', 'b')];

  test.each([
    ['its first', withoutResult],
    ['after one with a result', [...first, ...withoutResult]],
    ['after a result of an unprompted turn', [...first, unprompted, ...withoutResult]],
    [
      'whose turn began after that of a background task',
      [...first, init, lifecycle('started', 'b'), unprompted, init, lifecycle('completed', 'b')],
    ],
  ])('is idle: %s', (_which, lines) => {
    expect(isIdle(stateAfter(lines.slice(0, -1)))).toBe(false);
    expect(isIdle(stateAfter(lines))).toBe(true);
  });

  test('is not idle if an unprompted turn has begun between the result and the completion', () => {
    const lines = [...first.slice(0, -1), init, lifecycle('completed', 'a')];
    expect(isIdle(stateAfter(lines))).toBe(false);
    expect(isIdle(stateAfter([...lines, unprompted]))).toBe(true);
  });
});
