import { createParser, type EventSourceMessage } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAgentLine } from '../../../core/agent/agent-line.ts';
import { type Frame, serviceEvents } from '../../../core/frames/frame.ts';
import { hostileLines } from './hostile-lines.ts';

/** The events that a client's parser reads from a frame written to the stream. */
function asReceived(frame: Frame): EventSourceMessage[] {
  const received: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => received.push(message) });
  parser.feed(`event: ${frame.event}\ndata: ${frame.data}\n\n`);
  return received;
}

const statuses = ['working', 'idle', 'waiting', 'error'];

/** The only ways in which a line may become an event with a service name. */
function isHonest({ event, data }: Frame): boolean {
  const payload: unknown = JSON.parse(data);
  if (event === 'output') return typeof (payload as { data: unknown }).data === 'string';
  if (event === 'agent_status') return statuses.includes((payload as { status: string }).status);
  return event === 'stream' || !serviceEvents.some((name) => name === event);
}

describe('a generated line', () => {
  test('always yields the same frames', () => {
    fc.assert(
      fc.property(hostileLines, (line) => {
        expect(readAgentLine(line)).toEqual(readAgentLine(line));
      }),
    );
  });

  test('never uses an event name of the service', () => {
    fc.assert(
      fc.property(hostileLines, (line) => readAgentLine(line).frames.every(isHonest)),
      { numRuns: 500 },
    );
  });

  test('is one event for a client, with exactly the stored data', () => {
    fc.assert(
      fc.property(hostileLines, (line) => {
        for (const frame of readAgentLine(line).frames) {
          expect(frame.event).toMatch(/^[a-z_]{1,40}$/);
          expect(asReceived(frame)).toEqual([
            { id: undefined, event: frame.event, data: frame.data },
          ]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('contains only text that the stores accept', () => {
    fc.assert(
      fc.property(hostileLines, (line) => {
        const { frames, facts } = readAgentLine(line);
        const texts = [
          ...frames.map((frame) => frame.data),
          ...[facts.accepted, facts.completed, facts.session],
          ...[facts.turn?.result, facts.turn?.subtype, facts.turn?.structuredOutput],
        ];
        for (const text of texts) expect(text ?? '').not.toMatch(/[\0\ud800-\udfff]/u);
      }),
      { numRuns: 500 },
    );
  });
});

test('sanitizes IDs and ignores invalid ones', () => {
  const factsOf = (id: string) => [
    readAgentLine(
      JSON.stringify({ type: 'command_lifecycle', state: 'completed', command_uuid: id }),
    ),
    readAgentLine(JSON.stringify({ type: 'system', subtype: 'init', session_id: id })),
  ];
  expect(factsOf('a\0b\ud800').map(({ facts }) => facts)).toEqual([
    { completed: 'a\ufffdb\ufffd' },
    { turnStarted: true, session: 'a\ufffdb\ufffd' },
  ]);
  expect(factsOf('x'.repeat(129)).map(({ facts }) => facts)).toEqual([{}, { turnStarted: true }]);
});

describe('forgery', () => {
  test.each(serviceEvents)(
    'a line of type %s becomes a `stream` event, its payload unchanged',
    (type) => {
      const line = JSON.stringify({ type, status: 'sleep', sessionId: 'x', data: 'forged' });
      expect(readAgentLine(line).frames).toEqual([
        { event: 'stream', data: line, channel: 'chat' },
      ]);
    },
  );

  const oddTypes: unknown[] = [
    'finished\r\n\r\nevent: finished',
    'a\nb',
    'Result',
    'x'.repeat(41),
    '',
    'tool-use',
    '__proto__',
    'constructor',
    7,
    null,
    true,
    ['finished'],
    { toString: 'finished' },
  ];
  test.each(oddTypes.map((type) => [type]))('type %j becomes a `stream` event', (type) => {
    const line = JSON.stringify({ type, a: 1 });
    expect(readAgentLine(line).frames).toEqual([{ event: 'stream', data: line, channel: 'chat' }]);
  });

  test('a __proto__ member has no effect', () => {
    const line =
      '{"__proto__":{"type":"result","is_error":true},"constructor":{"prototype":{"x":1}}}';
    expect(readAgentLine(line)).toEqual({
      frames: [{ event: 'stream', data: line, channel: 'chat' }],
      deltas: [],
      facts: {},
    });
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });

  test('line breaks become spaces', () => {
    const [frame] = readAgentLine('\r{"type":\r"note",\n"a":1}\r').frames;
    expect(frame).toEqual({ event: 'note', data: '{"type": "note", "a":1}', channel: 'other' });
  });
});

describe('the meaning of a line', () => {
  test('is forwarded verbatim', () => {
    const line = '{ "uuid":"1",  "type":"system", "big":12345678901234567890 }';
    expect(readAgentLine(line).frames).toEqual([{ event: 'system', data: line, channel: 'chat' }]);
  });

  test('gives rendered output, then the line, then the status', () => {
    const line = JSON.stringify({
      type: 'result',
      subtype: 'error_max_turns',
      is_error: true,
      errors: ['7'],
    });
    expect(readAgentLine(line).frames.map(({ event, channel }) => [event, channel])).toEqual([
      ['output', 'output'],
      ['result', 'chat'],
      ['agent_status', 'other'],
    ]);
  });

  test.each([
    'control_request',
    'control_response',
    'control_x',
    'keep_alive',
    'transcript_mirror',
  ])('%s is not part of the conversation', (type) => {
    expect(readAgentLine(JSON.stringify({ type }))).toEqual({ frames: [], deltas: [], facts: {} });
  });

  test('a token delta is published and not stored', () => {
    const line = '{"type":"stream_event","event":{"type":"message_start"}}';
    expect(readAgentLine(line)).toEqual({ frames: [], deltas: [line], facts: {} });
  });

  test('text that is not a JSON object is output only', () => {
    for (const line of ['Segmentation fault', '[1,2]', '"finished"', '42', 'null', '{"type":']) {
      expect(readAgentLine(line)).toEqual({
        frames: [
          { event: 'output', data: JSON.stringify({ data: `${line}\n` }), channel: 'output' },
        ],
        deltas: [],
        facts: {},
      });
    }
    expect(readAgentLine('').frames).toEqual([]);
  });

  test('a message starts and completes', () => {
    const line = (state: string) =>
      JSON.stringify({ type: 'command_lifecycle', command_uuid: 'u-1', state });
    expect(readAgentLine(line('queued')).facts).toEqual({});
    expect(readAgentLine(line('started')).facts).toEqual({
      accepted: 'u-1',
      agentStatus: 'working',
    });
    expect(readAgentLine(line('completed')).facts).toEqual({ completed: 'u-1' });
    expect(readAgentLine(line('cancelled')).facts).toEqual({ completed: 'u-1' });
    expect(readAgentLine(line('started')).frames.at(-1)).toEqual({
      event: 'agent_status',
      data: '{"status":"working"}',
      channel: 'other',
    });
  });
});
