import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAnswerReader } from '../../../../core/metering/answer-reader.ts';
import { noTokens } from '../../../../core/metering/token-counts.ts';

const stream = 'text/event-stream; charset=utf-8';

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const started = event('message_start', {
  message: {
    model: 'claude-opus-5-5',
    content: [],
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 300,
      cache_creation_input_tokens: 50,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
      output_tokens: 1,
    },
  },
});
const delta = event('content_block_delta', {
  delta: { type: 'text_delta', text: 'Grüße "usage"' },
});
const ended = event('message_delta', {
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 700, server_tool_use: { web_search_requests: 2 } },
});
const wholeStream = [started, delta, event('ping', {}), delta, ended, event('message_stop', {})];

const fromStart = {
  ...noTokens,
  ...{ input: 10, output: 1, cacheRead: 300, cacheWrite5m: 20, cacheWrite1h: 30 },
};
const complete = {
  model: 'claude-opus-5-5',
  tokens: { ...fromStart, output: 700, webSearches: 2 },
  isComplete: true,
};

/** As the gateway passes them on: one character per byte. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

function read(contentType: string, parts: string[]) {
  const reader = createAnswerReader(contentType);
  for (const part of parts) reader.push(part);
  return reader.answer();
}

describe('a streamed answer', () => {
  test('is read from its start and its end', () => {
    expect(read(stream, wholeStream)).toEqual(complete);
  });

  test('is read the same however it is split into parts', () => {
    const bytes = bytesOf(wholeStream.join(''));
    const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (at) => {
        const ends = [...at, bytes.length].sort((a, b) => a - b);
        const parts = ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
        expect(read(stream, parts)).toEqual(complete);
      }),
    );
  });

  test('that was cut off anywhere reports the usage up to that point', () => {
    const bytes = bytesOf(wholeStream.join(''));
    const startLength = bytesOf(started).length - 1;
    const endedAt = bytesOf(wholeStream.slice(0, 5).join('')).length - 1;
    for (let at = 0; at < bytes.length; at += 1) {
      const answer = read(stream, [bytes.slice(0, at)]);
      if (at >= endedAt) expect(answer).toEqual(complete);
      else {
        const tokens = at >= startLength ? fromStart : null;
        expect([at, answer.tokens, answer.isComplete]).toEqual([at, tokens, false]);
      }
    }
  });

  test('is not complete before its stop reason', () => {
    const progress = event('message_delta', { delta: {}, usage: { output_tokens: 90 } });
    const answer = read(stream, [started, progress]);
    expect(answer).toMatchObject({ isComplete: false, tokens: { output: 90, input: 10 } });
  });

  test('counts the iterations that its totals exclude', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 1_000, output_tokens: 200 },
      { type: 'message', input_tokens: 10, output_tokens: 40 },
    ];
    const usage = { input_tokens: 10, output_tokens: 40, iterations };
    const { tokens } = read(stream, [
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
    ]);
    expect(tokens).toEqual({ ...noTokens, input: 1_010, output: 240 });
  });

  test('is not buffered: a line without an end is dropped, and the next one is read', () => {
    const endless = `data: {"type":"message_delta","usage":"${'x'.repeat(70_000)}"}`;
    expect(read(stream, [started, endless, endless, '\n', ended])).toEqual({
      ...complete,
      isComplete: true,
    });
  });

  test.each([
    'data: {"type":"message_delta","usage":',
    'data: "usage"',
    'data: {"type":"message_delta","usage":{"output_tokens":"many","input_tokens":-1}}',
    'data: {"type":"message_delta","usage":[1]}',
    'data: {"type":"other","usage":{"output_tokens":9}}',
  ])('keeps what it knows after a line like %s', (line) => {
    expect(read(stream, [started, `${line}\n`]).tokens).toEqual(fromStart);
  });
});

describe('an answer in one piece', () => {
  const body = JSON.stringify({
    model: 'claude-opus-5-5',
    usage: {
      ...{ input_tokens: 10, output_tokens: 700, cache_read_input_tokens: 300 },
      ...{ cache_creation_input_tokens: 50, cache_creation: { ephemeral_1h_input_tokens: 30 } },
      server_tool_use: { web_search_requests: 2 },
    },
  });

  test('is read when all of it has arrived, and not before', () => {
    const half = Math.floor(body.length / 2);
    expect(read('application/json', [body.slice(0, half), body.slice(half)])).toEqual(complete);
    expect(read('application/json', [body.slice(0, -1)])).toEqual({
      ...{ model: null, tokens: null, isComplete: false },
    });
  });

  test('without usage reports none', () => {
    expect(read('application/json', ['{"model":"m","content":[]}'])).toEqual({
      ...{ model: 'm', tokens: null, isComplete: false },
    });
  });

  test('is not buffered beyond its bound', () => {
    const reader = createAnswerReader('application/json', {
      lineChars: 10,
      bodyChars: body.length,
    });
    reader.push(body);
    expect(reader.answer()).toEqual(complete);
    reader.push(' ');
    expect(reader.answer().tokens).toBeNull();
  });
});
