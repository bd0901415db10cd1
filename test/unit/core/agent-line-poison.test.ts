import { describe, expect, test } from 'vitest';
import { readAgentLine } from '../../../core/agent/agent-line.ts';
import { truncatedLine } from '../../../core/agent/truncated-line.ts';
import { limits } from '../../../core/limits.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

const deep = 100_000;
const long = 'x'.repeat(limits.spool.lineMaxBytes);
const assistant = (content: string) => `{"type":"assistant","message":{"content":[${content}]}}`;

const poison: [string, string][] = [
  ['an escaped NUL', assistant('{"type":"text","text":"a\\u0000b"}')],
  ['a raw NUL', `{"type":"assistant","x":"\0"}`],
  ['a lone surrogate, escaped', assistant('{"type":"text","text":"\\ud800"}')],
  ['a lone surrogate, raw', '{"type":"note","text":"\ud800"}'],
  ['a lone surrogate outside of JSON', '\udc00 and more'],
  ['100 000 nested arrays', `{"type":"note","a":${'['.repeat(deep)}${']'.repeat(deep)}}`],
  [
    '100 000 nested objects',
    `{"type":"result","structured_output":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}}`,
  ],
  ['100 000 unclosed arrays', '['.repeat(deep)],
  ['8 MiB of text', assistant(`{"type":"text","text":"${long}"}`)],
  [
    '8 MiB in one input',
    assistant(`{"type":"tool_use","name":"Bash","input":{"command":"${long}"}}`),
  ],
  [
    '8 MiB of tool result',
    `{"type":"user","message":{"content":[{"type":"tool_result","content":"${long}"}]}}`,
  ],
  ['8 MiB of line ends', `{"type":"user","message":{"content":"${'\\n'.repeat(4_000_000)}"}}`],
  ['8 MiB that is not JSON', long],
  ['8 MiB of escape characters', '\x1b['.repeat(4_000_000)],
  ['8 MiB of unfinished sequences', '\x1b]0;'.repeat(2_000_000)],
  ['8 MiB of half sequences', `\x1b${' '.repeat(4_000_000)}${'\x1b[0'.repeat(1_000_000)}`],
  ['8 MiB of blanks', `{"type":"user","message":{"content":"${' '.repeat(8_000_000)}x"}}`],
  ['8 MiB of carriage returns', `{"type":"a",${'\r'.repeat(8_000_000)}"b":1}`],
  ['8 MiB under `type`', `{"type":"${long}"}`],
  ['a million members', `{"type":"assistant","message":{"content":[${'1,'.repeat(1_000_000)}1]}}`],
  ['a member named __proto__', '{"type":"assistant","__proto__":{"message":1},"message":null}'],
  ['out-of-range numbers', '{"type":"result","usage":{"input_tokens":1e400},"num_turns":-1e300}'],
];

describe('a poisoned line', () => {
  test.each(poison)('%s does not stop the log', (_name, line) => {
    const { timeMs, result } = cpuTimeOf(() => readAgentLine(line));
    expect(timeMs).toBeLessThan(3_000);
    for (const { data } of result.frames) {
      expect(/[\r\n\0]/.test(data)).toBe(false);
      expect(() => void JSON.parse(data)).not.toThrow();
    }
  });
});

test('replaces lone surrogates', () => {
  const [frame] = readAgentLine('{"type":"note","text":"\ud800"}').frames;
  expect(frame?.data).toBe('{"type":"note","text":"\ufffd"}');
});

test('a truncated line has its length and start', () => {
  const line = truncatedLine(`{"type":"assistant","${long}`, 50_000_000);
  expect(line.length).toBeLessThan(2 * limits.spool.truncatedHeadChars);
  const { frames, facts } = readAgentLine(line);
  expect(frames).toEqual([
    {
      event: 'output',
      data: JSON.stringify({ data: '[a line of 50000000 bytes was too long to be kept]\n' }),
      channel: 'output',
    },
    { event: 'line_cut', data: line, channel: 'other' },
  ]);
  expect(facts).toEqual({});
});
