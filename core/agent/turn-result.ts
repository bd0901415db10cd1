import { type JsonObject, jsonText, objectIn, textIn } from '../json.ts';
import type { EndCause } from '../runs/end-cause.ts';
import type { Usage } from '../runs/run.ts';
import { stripUnstorable } from '../sanitize-text.ts';

/** The agent's report at the end of a turn. */
export interface TurnResult {
  isError: boolean;
  subtype: string;
  result: string | null;
  /** JSON text. */
  structuredOutput: string | null;
  usage: Usage;
  costUsd: number | null;
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
    usage: readUsage(objectIn(line, 'usage')),
    costUsd: readCost(line.total_cost_usd),
    numTurns: readCount(line.num_turns, turnsMax),
    isUnprompted: textIn(objectIn(line, 'origin'), 'kind') === 'task-notification',
    cause: causeOf(subtype),
  };
}

const tokensMax = 1e12;
const turnsMax = 1e6;
const costMaxUsd = 1e9;

function structuredOutputOf(line: JsonObject): string | null {
  const value = line.structured_output;
  return value === undefined || value === null ? null : jsonText(value);
}

function readUsage(usage: JsonObject): Usage {
  return {
    inputTokens: readCount(usage.input_tokens, tokensMax),
    outputTokens: readCount(usage.output_tokens, tokensMax),
    cacheReadInputTokens: readCount(usage.cache_read_input_tokens, tokensMax),
    cacheCreationInputTokens: readCount(usage.cache_creation_input_tokens, tokensMax),
  };
}

function readCount(value: unknown, max: number): number {
  if (typeof value !== 'number' || !(value > 0)) return 0;
  return Math.floor(Math.min(value, max));
}

/** Rounds away floating-point noise of the agent's sums, such as 0.30000000000000004. */
function readCost(value: unknown): number | null {
  if (typeof value !== 'number' || !(value >= 0)) return null;
  return Math.round(Math.min(value, costMaxUsd) * 1e6) / 1e6;
}

function causeOf(subtype: string): EndCause | null {
  if (subtype === 'error_max_budget_usd') return 'budget_exceeded';
  return subtype === 'error_max_turns' ? 'max_turns_exceeded' : null;
}
