import type { RunFacts } from '../agent/agent-line.ts';
import { isObject, listIn, objectIn, parseObject, textIn } from '../json.ts';
import { stripUnstorable } from '../sanitize-text.ts';
import { type PendingTurn, type TurnEnd, type TurnError, turnEndData } from '../sessions/chat.ts';
import type { Frame } from './frame.ts';

/** The chat events of an agent's line, in addition to its frames. */
export interface ChatLine {
  /** Text for the user, before the line's own frames. */
  text: Frame[];
  /** The end of the turn, after them. */
  end: Frame[];
  facts: Pick<RunFacts, 'startedMessage' | 'turnEnd'>;
}

export interface ChatReader {
  /** Sets the turn that the next lines belong to. */
  expect(turn: PendingTurn): void;
  /** Records why the current turn is being stopped. */
  markInterrupted(error: TurnError): void;
  read(line: string, facts: RunFacts): ChatLine;
}

/**
 * A turn ends with its `result`; `turn_end` is in the same batch, so that the log never has one
 * without the other. The result of an unprompted turn ends no message's turn. Deterministic for the
 * same start and lines.
 */
export function createChatReader(sessionId: string, initial: PendingTurn | null): ChatReader {
  let expected = initial;

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
    const { isError, result: reply } = facts.turn;
    return { messageId, exitCode: isError ? 1 : 0, reply };
  }
  // Completed without a result: the agent treated the message as a duplicate.
  if (facts.completed !== uuid) return null;
  return { messageId, exitCode: 1, reply: null };
}

/** The agent's text for the user, without that of its subagents. */
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
