import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTurnResult } from '../../../core/agent/turn-result.ts';

describe('a turn', () => {
  test('is read with all its fields', () => {
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
      usage: {
        inputTokens: 1,
        outputTokens: 2,
        cacheReadInputTokens: 3,
        cacheCreationInputTokens: 4,
      },
      costUsd: 0.25,
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

  test('distinguishes a missing cost from 0', () => {
    expect(readTurnResult({}).costUsd).toBeNull();
    expect(readTurnResult({ total_cost_usd: 'much' }).costUsd).toBeNull();
    expect(readTurnResult({ total_cost_usd: 0 }).costUsd).toBe(0);
  });

  test.each([
    [0.1 + 0.2, 0.3],
    [0.0000014, 0.000001],
    [12.3456789, 12.345679],
    [1e9 + 0.1, 1e9],
  ])('with cost %d has cost %d', (total_cost_usd, costUsd) => {
    expect(readTurnResult({ total_cost_usd }).costUsd).toBe(costUsd);
  });

  test('has numbers within the range of the columns', () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.jsonValue());
    const usage = fc.record({ input_tokens: number, output_tokens: number });
    fc.assert(
      fc.property(number, number, usage, (num_turns, total_cost_usd, used) => {
        const turn = readTurnResult({ num_turns, total_cost_usd, usage: used });
        const { inputTokens, outputTokens } = turn.usage;
        for (const count of [turn.numTurns, inputTokens, outputTokens]) {
          expect(Number.isSafeInteger(count) && count >= 0 && count <= 1e12).toBe(true);
        }
        expect(turn.numTurns).toBeLessThan(2 ** 31);
        expect(turn.costUsd === null || (turn.costUsd >= 0 && turn.costUsd <= 1e9)).toBe(true);
      }),
    );
  });
});
