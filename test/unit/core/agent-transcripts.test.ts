import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AgentLine, readAgentLine } from '../../../core/agent/agent-line.ts';
import { repository } from '../../../dev/lib/folders.ts';

/** The frames of the real agent's recorded output. */
function read(name: string): { lines: string[]; read: AgentLine[] } {
  const path = join(repository, 'test/fixtures/agent-output', `${name}.jsonl`);
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return { lines, read: lines.map(readAgentLine) };
}

function rendered(name: string): string {
  const frames = read(name).read.flatMap((line) => line.frames);
  const output = frames.filter((frame) => frame.event === 'output');
  return output.map((frame) => (JSON.parse(frame.data) as { data: string }).data).join('');
}

const transcripts = [
  'api-error',
  'background-task',
  'interrupted',
  'max-turns',
  'partial-messages',
  'permission-denied',
  'questions',
  'structured-output',
  'success',
  'unknown-session',
];

describe.each(transcripts)('%s', (name) => {
  test('every event is forwarded verbatim under its own name', () => {
    for (const [index, line] of read(name).lines.entries()) {
      const { type } = JSON.parse(line) as { type: string };
      const { frames, deltas } = readAgentLine(line);
      const forwarded = frames.filter(({ event }) => event === type);
      if (type.startsWith('control_')) expect(frames).toEqual([]);
      else if (type === 'stream_event') expect(deltas).toEqual([line]);
      else
        expect(
          forwarded.map(({ data }) => data),
          `line ${index + 1}`,
        ).toEqual([line]);
    }
  });

  test('its rendered text contains no terminal control sequences', () => {
    expect(rendered(name)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  });
});

describe('the turn', () => {
  const turnOf = (name: string) =>
    read(name).read.flatMap(({ facts }) => (facts.turn === undefined ? [] : [facts.turn]));

  test('of a successful run has a result', () => {
    const [turn, ...more] = turnOf('success');
    expect(more).toEqual([]);
    expect(turn).toMatchObject({
      isError: false,
      subtype: 'success',
      cause: null,
      structuredOutput: null,
    });
    expect(turn?.result).toContain('haiku.md');
    expect(turn?.numTurns).toBe(3);
  });

  test('that ran out of turns has that cause', () => {
    expect(turnOf('max-turns')).toMatchObject([{ isError: true, cause: 'max_turns_exceeded' }]);
  });

  test('that was interrupted is an error without a result', () => {
    expect(turnOf('interrupted')).toMatchObject([{ isError: true, result: null, cause: null }]);
  });

  test('with a schema has its structured output as JSON', () => {
    const [turn] = turnOf('structured-output');
    expect(JSON.parse(turn?.structuredOutput ?? 'null')).toBeTypeOf('object');
    expect(turn?.structuredOutput).not.toBeNull();
  });

  test('of an unknown conversation is an error', () => {
    expect(turnOf('unknown-session')).toMatchObject([{ isError: true, numTurns: 0 }]);
  });
});

describe('the agent', () => {
  const statusesOf = (name: string) =>
    read(name).read.flatMap(({ facts }) => facts.agentStatus ?? []);

  test('works from the acceptance of its message to its result', () => {
    expect(statusesOf('success')).toEqual(['working', 'idle']);
    expect(statusesOf('interrupted')).toEqual(['working', 'error']);
    expect(statusesOf('api-error')).toEqual(['working', 'error']);
  });

  test('names its message and its conversation at its start and at its end', () => {
    const facts = read('success').read.map((line) => line.facts);
    const accepted = facts.flatMap((fact) => fact.accepted ?? []);
    expect(accepted).toHaveLength(1);
    expect(facts.flatMap((fact) => fact.completed ?? [])).toEqual(accepted);
    expect(facts.flatMap((fact) => fact.session ?? [])[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('has its token deltas passed on', () => {
    const deltas = read('partial-messages').read.flatMap((line) => line.deltas);
    expect(deltas.length).toBeGreaterThan(10);
    expect(deltas.join()).toContain('text_delta');
    expect(deltas.join()).toContain('thinking_delta');
  });
});

describe('the rendered log', () => {
  test('reads like a terminal', () => {
    const text = rendered('success');
    expect(text).toContain('> Write a haiku about the sea into haiku.md\n');
    expect(text).toContain('\n● Write haiku.md\n  ⎿ File created successfully');
    expect(text).toContain('\n    No wire to the world,\n');
    expect(text.endsWith('\n')).toBe(true);
  });

  test('shows the questions of the agent', () => {
    expect(rendered('questions')).toContain('● AskUserQuestion Which colour?\n');
  });

  test('shows why a turn failed', () => {
    expect(rendered('api-error')).toContain('✗ API Error: 400');
    expect(rendered('max-turns')).toContain(
      '✗ error_max_turns: Reached maximum number of turns (2)\n',
    );
    expect(rendered('permission-denied')).toContain(
      '[the model API: overloaded · attempt 1 failed]\n',
    );
    expect(rendered('permission-denied')).toContain('  ✗ Permission to use Bash');
    expect(rendered('unknown-session')).toContain(
      '✗ error_during_execution: No conversation found',
    );
  });
});
