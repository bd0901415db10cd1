import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RunEvent, toEvent } from '../../../client/stream/events.ts';
import type { Entry } from '../../../client/transcript/entries.ts';
import { emptyTranscript, type Transcript } from '../../../client/transcript/state.ts';
import { extendTranscript } from '../../../client/transcript/transcript.ts';
import { recordedEvents } from './recorded-events.ts';

const transcriptOf = (events: RunEvent[]): Transcript =>
  extendTranscript(emptyTranscript, ...events);

/** An entry in one line. */
function lineOf(entry: Entry): string {
  switch (entry.kind) {
    case 'tool':
      return `${entry.name} ${entry.state}`;
    case 'question':
      return `question ${entry.state}`;
    case 'notice':
      return entry.notice;
    default:
      return `${entry.kind} ${entry.text.slice(0, 20)}`;
  }
}

const linesOf = (name: string): string[] => transcriptOf(recordedEvents(name)).entries.map(lineOf);

const numbered = (...events: [name: string, data: unknown][]): RunEvent[] =>
  events.map(([name, data], index) => toEvent(name, index + 1, data));

const recordings = [
  'api-error',
  'background-task',
  'interrupted',
  'max-turns',
  'partial-messages',
  'permission-denied',
  'questions',
  'structured-output',
  'success',
];

describe('the transcript of a recorded run', () => {
  test('has the prompt, the answer, and each call of a tool with its result', () => {
    const { entries, model, reported } = transcriptOf(recordedEvents('success'));
    expect(entries.map(lineOf)).toEqual([
      'message Write a haiku about ',
      'text You ask: “Write a ha',
      'Write done',
      'text Let me look at the r',
      'Bash done',
      'text Done: I wrote haiku.',
    ]);
    expect(entries[2]).toMatchObject({ input: { file_path: '/workspace/haiku.md' } });
    expect(entries[4]).toMatchObject({ result: expect.stringContaining('haiku.md') });
    expect(model).toBe('claude-opus-5-5');
    expect(reported.costUsd).toBeCloseTo(0.150984, 6);
    expect(reported.inputTokens).toBeGreaterThan(0);
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  });

  test('has the same keys when only its end is loaded', () => {
    const keysOf = (events: RunEvent[]) => transcriptOf(events).entries.map(({ key }) => key);
    const events = recordedEvents('success');
    const latest = keysOf(events.slice(events.findIndex(({ type }) => type === 'assistant')));
    expect(latest.length).toBeGreaterThan(3);
    expect(keysOf(events).slice(-latest.length)).toEqual(latest);
  });

  test('has the work of a subagent below its call', () => {
    const { entries } = transcriptOf(recordedEvents('background-task'));
    const call = entries.find((entry) => entry.kind === 'tool');
    expect(call).toMatchObject({ children: [{ kind: 'text', text: 'I counted to three.' }] });
    expect(entries.filter(({ kind }) => kind === 'text')).toHaveLength(3);
  });

  test('has the tools of a subagent with their results', () => {
    const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });
    const assistant = (content: object[], parent: string | null) => ({
      message: { content },
      parent_tool_use_id: parent,
    });
    const { entries } = transcriptOf(
      numbered(
        ['assistant', assistant([use('task', 'Task')], null)],
        ['assistant', assistant([use('inner', 'Bash')], 'task')],
        [
          'user',
          assistant([{ type: 'tool_result', tool_use_id: 'inner', content: 'done' }], 'task'),
        ],
      ),
    );
    expect(entries).toMatchObject([
      {
        name: 'Task',
        state: 'running',
        children: [{ name: 'Bash', state: 'done', result: 'done' }],
      },
    ]);
  });

  test('shows failed and refused tools, and errors of the model', () => {
    expect(linesOf('interrupted').slice(-3)).toEqual(['Bash failed', 'interrupted', 'agent_error']);
    expect(linesOf('permission-denied')).toContain('api_retry');
    expect(linesOf('questions')).toContain('Bash failed');
    expect(linesOf('api-error').slice(1)).toEqual(['text API Error: 400 the m', 'agent_error']);
  });

  test('shows what the agent types until the whole block comes', () => {
    const events = recordedEvents('partial-messages');
    const lastDelta = events.findLastIndex(
      ({ type, data }) => type === 'stream_event' && JSON.stringify(data).includes('text_delta'),
    );
    const { typing, entries } = transcriptOf(events.slice(0, lastDelta + 1));
    const whole = transcriptOf(events);
    expect(typing.text).not.toBe('');
    expect(whole.typing).toEqual(emptyTranscript.typing);
    expect(
      whole.entries.slice(entries.length).map((entry) => 'text' in entry && entry.text),
    ).toContain(typing.text);
    expect(whole.entries.map(({ kind }) => kind)).toContain('thinking');
  });

  test.each(recordings)('is the same however %s is split and repeated', (name) => {
    const events = recordedEvents(name);
    const whole = transcriptOf(events);
    fc.assert(
      fc.property(fc.nat(events.length), fc.nat(events.length), (one, other) => {
        const [back, cut] = [Math.min(one, other), Math.max(one, other)];
        const before = extendTranscript(emptyTranscript, ...events.slice(0, cut));
        // Frames without a number are not sent again.
        const again = events.slice(back).filter(({ seq }, at) => seq !== null || back + at >= cut);
        expect(extendTranscript(before, ...again)).toEqual(whole);
        const oneByOne = events.reduce(
          (state, event) => extendTranscript(state, event),
          emptyTranscript,
        );
        expect(oneByOne).toEqual(whole);
      }),
      { numRuns: 25 },
    );
  });

  test('does not change the transcript that it extends', () => {
    const events = recordedEvents('background-task');
    const early = transcriptOf(events.slice(0, 12));
    const copy = structuredClone(early);
    extendTranscript(early, ...events.slice(12));
    expect(early).toEqual(copy);
  });
});

describe('the transcript of a session', () => {
  const echo = (text: string) => ({ isReplay: true, message: { content: text } });
  const answer = (text: string) => ({ message: { content: [{ type: 'text', text }] } });

  test('has each message once, with the end of its turn', () => {
    const { entries } = transcriptOf(
      numbered(
        ['user_message', { messageId: 'm1', text: 'Hello' }],
        ['user', echo('Hello')],
        ['chat_output', { text: 'Hi' }],
        ['assistant', answer('Hi')],
        ['turn_end', { messageId: 'm1', sessionId: 's', exitCode: 1, error: 'no_capacity' }],
      ),
    );
    expect(entries.map(lineOf)).toEqual(['message Hello', 'text Hi']);
    expect(entries[0]).toMatchObject({ end: { exitCode: 1, error: 'no_capacity' } });
  });

  test('replaces the earlier attempt of a turn', () => {
    const { entries } = transcriptOf(
      numbered(
        ['user_message', { messageId: 'm1', text: 'First' }],
        ['user_message', { messageId: 'm2', text: 'Second' }],
        ['assistant', answer('lost')],
        ['user_message', { messageId: 'm2', text: 'Second', attempt: 2 }],
        ['assistant', answer('kept')],
      ),
    );
    expect(entries.map(lineOf)).toEqual(['message First', 'message Second', 'text kept']);
    expect(entries[1]).toMatchObject({ attempt: 2 });
  });

  test('closes questions and tools that the end of a turn leaves open', () => {
    const use = { type: 'tool_use', id: 't1', name: 'Bash', input: {} };
    const events = numbered(
      ['user_message', { messageId: 'm1', text: 'Hello' }],
      ['assistant', { message: { content: [use] } }],
      ['interaction', { interactionId: 'i1', toolName: 'AskUserQuestion', questions: [] }],
      ['interaction', { interactionId: 'i2', toolName: 'AskUserQuestion', questions: [] }],
      ['interaction_closed', { interactionId: 'i1', outcome: 'answered' }],
      ['turn_end', { messageId: 'm1', sessionId: 's', exitCode: 1 }],
    );
    expect(transcriptOf(events.slice(0, -1)).entries.map(lineOf).slice(1)).toEqual([
      'Bash running',
      'question answered',
      'question open',
    ]);
    expect(transcriptOf(events).entries.map(lineOf).slice(1)).toEqual([
      'Bash stopped',
      'question answered',
      'question withdrawn',
    ]);
  });

  test('ignores events of any other form', () => {
    const odd = [null, 1, [], {}, { message: 1 }, { message: { content: [null, {}] } }];
    const names = ['assistant', 'user', 'result', 'system', 'stream_event', 'stream', 'later'];
    const events = names.flatMap((name) => odd.map((data) => toEvent(name, null, data)));
    expect(transcriptOf(events).entries).toEqual([]);
  });
});
