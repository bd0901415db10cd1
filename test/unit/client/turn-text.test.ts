import { expect, test } from 'vitest';
import { createTextReader } from '../../../client/sessions/turn-text.ts';
import { type RunEvent, toEvent } from '../../../client/stream/events.ts';
import { recordedEvents } from './recorded-events.ts';

const textsOf = (events: RunEvent[]): string[] => {
  const read = createTextReader();
  return events.flatMap((event) => read(event));
};

const block = (text: string): RunEvent => toEvent('chat_output', 1, { text });

const delta = (text: string, parent: string | null = null): RunEvent =>
  toEvent('stream_event', null, {
    parent_tool_use_id: parent,
    event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
  });

test('yields each block of an answer', () => {
  expect(textsOf([block('one'), block('two')])).toEqual(['one', 'two']);
});

test('yields token by token, and then only the missing rest of the block', () => {
  expect(textsOf([delta('Hel'), delta('lo'), block('Hello'), block('Bye')])).toEqual([
    'Hel',
    'lo',
    'Bye',
  ]);
  expect(textsOf([delta('Hel'), block('Hello')])).toEqual(['Hel', 'lo']);
});

test('yields a block whole if deltas before it were lost, and no text of a subagent', () => {
  expect(textsOf([delta('lo'), block('Hello')])).toEqual(['lo', 'Hello']);
  expect(textsOf([delta('thinks', 'tool-1'), block('Hello')])).toEqual(['Hello']);
});

test('yields the text of a recorded run exactly once', () => {
  const events = recordedEvents('partial-messages');
  const whole = events.flatMap((event) => {
    if (event.type !== 'assistant') return [event];
    const content = event.data.message?.content;
    const blocks = Array.isArray(content) ? content : [];
    const texts = blocks.filter(({ type }) => type === 'text').map(({ text }) => String(text));
    return [...texts.map(block), event];
  });
  const written = whole.flatMap((event) => (event.type === 'chat_output' ? [event.data.text] : []));
  expect(textsOf(whole).join('')).toBe(written.join(''));
  expect(textsOf(whole).length).toBeGreaterThan(written.length);
});
