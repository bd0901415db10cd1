import {
  assistantFrame,
  assistantMessage,
  resultFrame,
  type ToolOutcome,
  toolResultFrame,
} from './frames.ts';
import type { Fields } from './json.ts';
import type { Output } from './output.ts';
import { refusal } from './permissions.ts';
import type { Session } from './session.ts';
import { streamEvents } from './stream-events.ts';

/** One turn, with what its script has said about how it ends. */
export interface Turn {
  session: Session;
  output: Output;
  /** Fires on an interrupt. */
  signal: AbortSignal;
  /** Leaves work in the background; the steps it gives are a turn of their own. */
  later: (work: Promise<readonly Fields[]>) => void;
  /** How many results the turn prints. */
  results: 0 | 1 | 2;
  /** Fields put over those of the result. */
  overrides: Fields;
  exitAfterResult: number | undefined;
  startedAt: number;
  inputLength: number;
  outputLength: number;
  lastText: string;
  /** Tool calls so far. */
  rounds: number;
}

export interface ToolCall {
  name: string;
  input: Fields;
  /** What permissions look at: a command, a path, an address. */
  subject: string;
}

/** Ends a turn before its script is through, with a result of this kind. */
export class TurnEnded extends Error {
  readonly subtype: string;

  constructor(subtype: string, message: string) {
    super(message);
    this.subtype = subtype;
  }
}

const dollarsPerToken = 0.00001;
const charsPerToken = 4;

export function startTurn(
  start: Pick<Turn, 'session' | 'output' | 'signal' | 'later' | 'inputLength'>,
): Turn {
  return {
    ...start,
    results: 1,
    overrides: {},
    exitAfterResult: undefined,
    startedAt: performance.now(),
    outputLength: 0,
    lastText: '',
    rounds: 0,
  };
}

export function say(turn: Turn, text: string): void {
  turn.lastText = text;
  emitBlock(turn, { type: 'text', text });
}

/** Prints an assistant line of one block, between its token events where they are asked for. */
export function emitBlock(turn: Turn, block: Fields): void {
  const { session, output } = turn;
  const message = assistantMessage(`msg_${output.newId()}`, block);
  session.transcript.addAssistant(message);
  turn.outputLength += JSON.stringify(block).length;
  const isPartial = session.args.has('--include-partial-messages');
  const { before, after } = isPartial ? streamEvents(message, block) : { before: [], after: [] };
  for (const frame of [...before, assistantFrame(message), ...after]) output.frame(frame);
}

/** Prints a tool call and its result; `run` is not called where the tool is withheld. */
export async function useTool(
  turn: Turn,
  { name, input, subject }: ToolCall,
  run: () => Promise<ToolOutcome>,
): Promise<void> {
  const { session, output } = turn;
  checkTurns(turn);
  turn.rounds += 1;
  const id = `toolu_${output.newId()}`;
  emitBlock(turn, { type: 'tool_use', id, name, input });
  const refused = refusal(session, name, subject);
  if (refused === undefined) {
    const outcome = await run().catch((error: unknown) => stopped(turn, error));
    output.frame(toolResultFrame(id, outcome));
    return turn.signal.throwIfAborted();
  }
  const denied = { type: 'system', subtype: 'permission_denied', tool_name: name, tool_use_id: id };
  if (refused.startsWith('Permission')) output.frame(denied);
  output.frame(toolResultFrame(id, { text: refused, isError: true }));
}

/** The call that an interrupt stops still gets a result; any other error is the script's own. */
function stopped({ signal }: Turn, error: unknown): ToolOutcome {
  if (!signal.aborted) throw error;
  return { text: 'The call was stopped while running.', isError: true };
}

export function addCost({ session }: Turn, costUsd: number): void {
  session.costUsd += costUsd;
  const maxBudgetUsd = Number(session.args.one('--max-budget-usd') ?? Infinity);
  if (session.costUsd <= maxBudgetUsd) return;
  throw new TurnEnded('error_max_budget_usd', `Reached maximum budget ($${maxBudgetUsd})`);
}

function checkTurns({ session, rounds }: Turn): void {
  const maxTurns = Number(session.args.one('--max-turns') ?? Infinity);
  if (rounds < maxTurns) return;
  throw new TurnEnded('error_max_turns', `Reached maximum number of turns (${maxTurns})`);
}

export interface TurnEnd {
  subtype: string;
  /** Absent on success. */
  errors?: readonly string[];
}

/** Prints the result, as often as the script wants it. Cost adds up over the conversation, usage does not. */
export function closeTurn(turn: Turn, { subtype, errors }: TurnEnd): void {
  const { session, output } = turn;
  const inputTokens = Math.ceil(turn.inputLength / charsPerToken);
  const outputTokens = Math.ceil(turn.outputLength / charsPerToken);
  session.costUsd += (inputTokens + outputTokens) * dollarsPerToken;
  session.transcript.addCost(session.costUsd);
  const result = resultFrame({
    subtype,
    errors,
    result: turn.lastText,
    durationMs: Math.round(performance.now() - turn.startedAt),
    numTurns: turn.rounds + 1,
    inputTokens,
    outputTokens,
    totalCostUsd: session.costUsd,
  });
  for (let sent = 0; sent < turn.results; sent += 1) {
    output.frame({ ...result, result_index: session.resultCount, ...turn.overrides });
    session.resultCount += 1;
  }
  session.exitCode = (turn.overrides['is_error'] ?? result['is_error']) === true ? 1 : 0;
}
