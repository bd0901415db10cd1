import { type JsonObject, jsonText, objectIn, textIn } from '../json.ts';
import type { EndCause } from '../runs/end-cause.ts';
import { stripUnstorable } from '../sanitize-text.ts';

/**
 * The agent's report at the end of a turn. Its `usage` and `total_cost_usd` are ignored, because
 * the gateway measures both.
 */
export interface TurnResult {
  isError: boolean;
  subtype: string;
  result: string | null;
  /** JSON text. */
  structuredOutput: string | null;
  numTurns: number;
  /** The turn had no message: a background task of the agent ended. */
  isUnprompted: boolean;
  /** The end cause of a run, if the agent stopped at one of its limits. */
  cause: EndCause | null;
}

/** Reads a `result` line. Clamps every number to the range of its column. */
export function readTurnResult(line: JsonObject): TurnResult {
  const subtype = stripUnstorable(textIn(line, 'subtype') ?? '').slice(0, 100);
  const result = textIn(line, 'result');
  return {
    isError: line.is_error === true || subtype.startsWith('error'),
    subtype,
    result: result === null ? null : stripUnstorable(result),
    structuredOutput: structuredOutputOf(line),
    numTurns: readCount(line.num_turns, turnsMax),
    isUnprompted: textIn(objectIn(line, 'origin'), 'kind') === 'task-notification',
    cause: causeOf(subtype),
  };
}

const turnsMax = 1e6;

function structuredOutputOf(line: JsonObject): string | null {
  const value = line.structured_output;
  return value === undefined || value === null ? null : jsonText(value);
}

function readCount(value: unknown, max: number): number {
  if (typeof value !== 'number' || !(value > 0)) return 0;
  return Math.floor(Math.min(value, max));
}

function causeOf(subtype: string): EndCause | null {
  if (subtype === 'error_max_budget_usd') return 'budget_exceeded';
  return subtype === 'error_max_turns' ? 'max_turns_exceeded' : null;
}
