import { describe, expect, it } from 'vitest';
import { readAgentLine } from '../../../core/agent/agent-line.ts';
import { createChatReader } from '../../../core/frames/chat-frames.ts';
import type { PendingTurn } from '../../../core/sessions/chat.ts';

const expected = { messageId: 'm-1', uuid: 'u-1', isAccepted: false, error: null };
const lifecycle = (state: string, uuid = 'u-1'): string =>
  JSON.stringify({ type: 'command_lifecycle', command_uuid: uuid, state });
const result = (more: object = {}): string =>
  JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'Hi', ...more });
const prose = (text: string, more: object = {}): string =>
  JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text }] }, ...more });

/** The additional events of a session for each line. */
function read(lines: string[], beginning: PendingTurn = expected): string[] {
  const reader = createChatReader('s-1', beginning);
  return lines.flatMap((line) => {
    const { text: said, end } = reader.read(line, readAgentLine(line).facts);
    return [...said, ...end].map(({ event, data }) => `${event} ${data}`);
  });
}

const ended = (exitCode: number): string =>
  `turn_end {"exitCode":${exitCode},"sessionId":"s-1","messageId":"m-1"}`;

describe('a turn', () => {
  it('ends with its result, once', () => {
    const lines = [lifecycle('queued'), lifecycle('started'), prose('Hi'), result()];
    const events = ['chat_output {"text":"Hi"}', ended(0)];
    expect(read([...lines, lifecycle('completed'), result()])).toEqual(events);
  });

  it('fails if its result is an error', () => {
    expect(read([lifecycle('started'), result({ is_error: true })])).toEqual([ended(1)]);
  });

  it('is not ended by an earlier or unprompted result', () => {
    const unprompted = result({ origin: { kind: 'task-notification' } });
    expect(read([result(), lifecycle('started'), unprompted, result()])).toEqual([ended(0)]);
  });

  it('fails if the agent completes it without a result', () => {
    expect(read([lifecycle('completed', 'other'), lifecycle('completed')])).toEqual([ended(1)]);
  });

  it('includes the reason if the service interrupted it', () => {
    const interrupted = { ...expected, error: 'stalled' as const };
    const why = ended(1).replace('}', ',"error":"stalled"}');
    expect(read([lifecycle('started'), result({ is_error: true })], interrupted)).toEqual([why]);
    expect(read([lifecycle('completed')], interrupted)).toEqual([why]);
    expect(read([lifecycle('started'), result()], interrupted)).toEqual([ended(0)]);
  });

  it('continues after a restart of the reader', () => {
    expect(read([result()], { ...expected, isAccepted: true })).toEqual([ended(0)]);
  });

  it('contains the text for the user, not that of subagents', () => {
    expect(read([prose('aside', { parent_tool_use_id: 'toolu_1' }), prose('')])).toEqual([]);
  });
});
