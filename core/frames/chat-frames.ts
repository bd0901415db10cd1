import type { RunFacts } from '../agent/agent-line.ts';
import { isObject, listIn, objectIn, parseObject, textIn } from '../json.ts';
import { stripUnstorable } from '../sanitize-text.ts';
import { type PendingTurn, type TurnEnd, type TurnError, turnEndData } from '../sessions/chat.ts';
import type { Frame } from './frame.ts';

/** What a line of a session's agent is in a chat, beside what any agent's line means. */
export interface ChatLine {
  /** What is said to the user, before the line itself. */
  text: Frame[];
  /** That the turn is over, after it. */
  end: Frame[];
  facts: Pick<RunFacts, 'startedMessage' | 'turnEnd'>;
}

export interface ChatReader {
  /** What the agent is given next; until then its lines belong to no message. */
  expect(turn: PendingTurn): void;
  /** The present turn is made to end. */
  markInterrupted(error: TurnError): void;
  read(line: string, facts: RunFacts): ChatLine;
}

/**
 * A turn ends with its `result`, and the `turn_end` that says so stands in the same batch, so that
 * neither is ever in the log without the other. A result that nobody asked for by a message ends no
 * turn. The same lines after the same beginning give the same frames.
 */
export function createChatReader(sessionId: string, beginning: PendingTurn | null): ChatReader {
  let expected = beginning;

  return {
    expect(turn) {
      expected = turn;
    },
    markInterrupted(error) {
      if (expected !== null) expected = { ...expected, error };
    },
    read(line, facts) {
      const prose = textFrames(line);
      if (expected === null) return { text: prose, end: [], facts: {} };
      if (facts.accepted === expected.uuid) {
        expected = { ...expected, isAccepted: true };
        return { text: prose, end: [], facts: { startedMessage: expected.messageId } };
      }
      const turnEnd = endOf(expected, facts);
      if (turnEnd === null) return { text: prose, end: [], facts: {} };
      const data = turnEndData(sessionId, turnEnd, expected.error);
      expected = null;
      return {
        text: prose,
        end: [{ event: 'turn_end', data, channel: 'chat' }],
        facts: { turnEnd },
      };
    },
  };
}

function endOf({ messageId, uuid, isAccepted }: PendingTurn, facts: RunFacts): TurnEnd | null {
  if (facts.turn !== undefined && isAccepted && !facts.turn.isUnprompted) {
    const { isError, result: reply, usage, costUsd } = facts.turn;
    return { messageId, exitCode: isError ? 1 : 0, reply, usage, costUsd };
  }
  // Done with it without a word: it swallowed a message that it believes to know.
  if (facts.completed !== uuid) return null;
  return { messageId, exitCode: 1, reply: null, usage: null, costUsd: null };
}

/** What the agent says to the user; what its helpers say among themselves is none of it. */
function textFrames(line: string): Frame[] {
  const value = parseObject(line);
  if (value === null || value.type !== 'assistant') return [];
  if (value.parent_tool_use_id != null) return [];
  const blocks = listIn(objectIn(value, 'message'), 'content').filter(isObject);
  const texts = blocks.filter(({ type }) => type === 'text').map((block) => textIn(block, 'text'));
  return texts
    .filter((text) => text !== null && text !== '')
    .map((text) => ({
      event: 'chat_output',
      data: JSON.stringify({ text: stripUnstorable(text ?? '') }),
      channel: 'chat',
    }));
}
