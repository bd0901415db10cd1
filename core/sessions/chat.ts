import type { Usage } from '../runs/run.ts';

/** A message on its way through a session's agent. Its uuid is new in every sandbox. */
export interface PendingTurn {
  messageId: string;
  uuid: string;
  /** The agent has begun to work on it. */
  isAccepted: boolean;
  /** Why it is cut off; null as long as it is not. */
  error: TurnError | null;
}

/** What this service cuts a turn off for. */
export type TurnError = 'timed_out' | 'stalled';

/** Why a message was given to no agent. */
export interface UndeliveredMessage {
  error: 'no_capacity' | 'files_refused';
  /** Said where the agent's answer would be. */
  reason: string;
}

/** How a turn ended, as a session's log and its message tell it. */
export interface TurnEnd {
  messageId: string;
  exitCode: 0 | 1;
  /** Null where the agent said nothing of it. */
  reply: string | null;
  usage: Usage | null;
  /** The agent's running total. */
  costUsd: number | null;
}

/** The `data` of `turn_end`; with an error where the turn has failed by that. */
export function turnEndData(
  sessionId: string,
  { messageId, exitCode }: Pick<TurnEnd, 'messageId' | 'exitCode'>,
  error: TurnError | null,
): string {
  const why = exitCode === 0 || error === null ? {} : { error };
  return JSON.stringify({ exitCode, sessionId, messageId, ...why });
}
