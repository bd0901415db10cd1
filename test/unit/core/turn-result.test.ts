import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTurnResult } from '../../../core/agent/turn-result.ts';

describe('a turn', () => {
  test('is read without usage and cost, which the agent could forge', () => {
    const line = {
      subtype: 'success',
      is_error: false,
      result: 'done',
      structured_output: { a: [1, null] },
      usage: {
        input_tokens: 1,
        output_tokens: 2,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 4,
      },
      total_cost_usd: 0.25,
      num_turns: 5,
    };
    expect(readTurnResult(line)).toEqual({
      isError: false,
      subtype: 'success',
      result: 'done',
      structuredOutput: '{"a":[1,null]}',
      numTurns: 5,
      isUnprompted: false,
      cause: null,
    });
    const byItself = { ...line, origin: { kind: 'task-notification' } };
    expect(readTurnResult(byItself).isUnprompted).toBe(true);
  });

  test.each([
    ['error_max_budget_usd', 'budget_exceeded'],
    ['error_max_turns', 'max_turns_exceeded'],
    ['error_during_execution', null],
  ])('that ended with %s is an error of cause %s', (subtype, cause) => {
    expect(readTurnResult({ subtype })).toMatchObject({
      isError: true,
      subtype,
      cause,
      result: null,
    });
  });

  test('has a number of turns within the range of its column', () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.jsonValue());
    fc.assert(
      fc.property(number, (num_turns) => {
        const { numTurns } = readTurnResult({ num_turns });
        expect(Number.isSafeInteger(numTurns) && numTurns >= 0).toBe(true);
        expect(numTurns).toBeLessThan(2 ** 31);
      }),
    );
  });
});
