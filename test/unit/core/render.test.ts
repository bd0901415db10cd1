import { describe, expect, test } from 'vitest';
import { renderLine, renderText } from '../../../core/frames/render.ts';
import type { JsonObject } from '../../../core/json.ts';

const assistant = (...content: JsonObject[]) =>
  renderLine({ type: 'assistant', message: { content } });
const toolResult = (block: JsonObject) =>
  renderLine({ type: 'user', message: { content: [{ type: 'tool_result', ...block }] } });

describe('assistant text', () => {
  test('is printed unchanged, with a line end', () => {
    expect(assistant({ type: 'text', text: '# Hello\n\n- a\n- b' })).toBe('# Hello\n\n- a\n- b\n');
    expect(assistant({ type: 'text', text: 'one line\n' })).toBe('one line\n');
    expect(assistant({ type: 'text', text: ' \n' })).toBe('');
  });

  test('omits thinking', () => {
    expect(assistant({ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'yes' })).toBe(
      'yes\n',
    );
  });
});

describe('a tool call', () => {
  test.each([
    ['Write', { content: 'long', file_path: '/workspace/src/a.ts' }, '● Write src/a.ts\n'],
    ['Read', { file_path: '/etc/hosts' }, '● Read /etc/hosts\n'],
    ['Bash', { description: 'Lists', command: 'ls -l\ncat x' }, '● Bash ls -l cat x\n'],
    ['Grep', { path: 'src', pattern: 'retry' }, '● Grep retry\n'],
    ['Task', { prompt: 'very long', description: 'Look around' }, '● Task Look around\n'],
    ['mcp__tracker__list', { project: 'P', limit: 3 }, '● mcp__tracker__list P\n'],
    ['Other', { deep: { a: 1 } }, '● Other\n'],
    ['Other', {}, '● Other\n'],
  ])('%s is one line', (name, input, line) => {
    expect(assistant({ type: 'tool_use', name, input })).toBe(line);
  });

  test('is one line for any input', () => {
    const line = assistant({
      type: 'tool_use',
      name: 'Bash',
      input: { command: 'x '.repeat(10_000) },
    });
    expect(line.length).toBeLessThan(165);
    expect(line.endsWith('…\n')).toBe(true);
  });
});

describe('a tool result', () => {
  test('is indented below the call', () => {
    expect(toolResult({ content: 'a\nb\n' })).toBe('  ⎿ a\n    b\n');
    expect(toolResult({ content: 'no such file', is_error: true })).toBe('  ✗ no such file\n');
    expect(toolResult({ content: [{ type: 'text', text: 'a' }, { type: 'image' }] })).toBe(
      '  ⎿ a\n    [image]\n',
    );
    expect(toolResult({ content: '' })).toBe('');
  });

  test('is truncated with a count of the omitted lines', () => {
    const six = '1\n2\n3\n4\n5\n6';
    expect(toolResult({ content: six })).not.toContain('…');
    expect(toolResult({ content: `${six}\n7` })).toContain('    6\n    … 1 more line\n');
    expect(toolResult({ content: `${six}\n7\n8` })).toContain('… 2 more lines\n');
  });
});

describe('other lines', () => {
  test('a message of the user is marked', () => {
    expect(renderLine({ type: 'user', message: { content: 'Do this\nand that' } })).toBe(
      '> Do this\n  and that\n',
    );
  });

  test('the start of a session shows the model and failed servers', () => {
    const servers = [
      { name: 'tracker', status: 'failed' },
      { name: 'ok', status: 'connected' },
    ];
    expect(renderLine({ type: 'system', subtype: 'init', model: 'm', mcp_servers: servers })).toBe(
      '[m · MCP server tracker failed]\n',
    );
  });

  test('a successful result prints nothing', () => {
    expect(renderLine({ type: 'result', subtype: 'success', is_error: false, result: 'x' })).toBe(
      '',
    );
    expect(renderLine({ type: 'result', subtype: 'success', is_error: true, result: 'x' })).toBe(
      '✗ x\n',
    );
    expect(renderLine({ type: 'result', is_error: true })).toBe('✗ the turn failed\n');
  });

  test('nothing else is printed', () => {
    for (const type of ['rate_limit_event', 'tool_progress', 'command_lifecycle', 'x']) {
      expect(renderLine({ type, message: { content: 'text' } })).toBe('');
    }
  });
});

describe('text from the agent', () => {
  test('contains no terminal control sequences', () => {
    const text =
      '\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x9b2Jx\x07\x7f';
    expect(renderText(text)).toBe('red link 2Jx\n');
  });

  test('keeps its line ends and tabs', () => {
    expect(renderText('a\r\nb\rc\td')).toBe('a\nb\nc\td\n');
  });
});
