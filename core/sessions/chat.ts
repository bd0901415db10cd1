/** A message that the agent is to process. Its UUID is new in every sandbox. */
export interface PendingTurn {
  messageId: string;
  uuid: string;
  /** The agent has started on it. */
  isAccepted: boolean;
  /** Why the turn is being stopped; null if it is not. */
  error: TurnError | null;
}

/** Reasons for which the service stops a turn. */
export type TurnError = 'timed_out' | 'stalled';

/** A message that could not be delivered to an agent. */
export interface UndeliveredMessage {
  error: 'no_capacity' | 'files_refused';
  /** Shown in place of the agent's answer. */
  reason: string;
}

/** The end of a turn, as recorded in the session's log and its message. */
export interface TurnEnd {
  messageId: string;
  exitCode: 0 | 1;
  /** Null if the agent reported none. */
  reply: string | null;
}

/** The `data` of `turn_end`, with the error that failed the turn. */
export function turnEndData(
  sessionId: string,
  { messageId, exitCode }: Pick<TurnEnd, 'messageId' | 'exitCode'>,
  error: TurnError | null,
): string {
  const why = exitCode === 0 || error === null ? {} : { error };
  return JSON.stringify({ exitCode, sessionId, messageId, ...why });
}
