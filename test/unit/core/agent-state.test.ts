import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAgentLine } from '../../../core/agent/agent-line.ts';
import {
  type AgentState,
  initialAgentState,
  isIdle,
  reduce,
} from '../../../core/agent/agent-state.ts';
import { answerLine, denialLine, type InteractionEvent } from '../../../core/agent/interaction.ts';
import type { Frame } from '../../../core/frames/frame.ts';
import { limits } from '../../../core/limits.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { hostileLines } from './hostile-lines.ts';

interface ReadResult {
  state: AgentState;
  frames: Frame[];
  events: InteractionEvent[];
}

/**
 * Reduces lines one after the other. At every index in `cuts`, the state is serialized and parsed,
 * as it is between two readers.
 */
function readLines(lines: string[], cuts: ReadonlySet<number> = new Set()): ReadResult {
  const result: ReadResult = { state: initialAgentState, frames: [], events: [] };
  for (const [index, line] of lines.entries()) {
    const { facts } = readAgentLine(line);
    const reduced = reduce(result.state, facts);
    result.state = cuts.has(index)
      ? (JSON.parse(JSON.stringify(reduced.state)) as AgentState)
      : reduced.state;
    result.frames.push(...reduced.frames);
    result.events.push(...reduced.interactionEvents);
  }
  return result;
}

const recorded = (name: string): string[] =>
  readFileSync(join(repository, 'test/fixtures/agent-output', `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

const summarize = ({ frames }: ReadResult): unknown[] =>
  frames.map(({ event, data }) => {
    const { status, outcome, questions } = JSON.parse(data) as Record<string, unknown>;
    return [event, status ?? outcome ?? (questions as { question: string }[])[0]?.question];
  });

describe('recorded output of the real agent', () => {
  test('waits until both questions are answered; denies a permission request', () => {
    const lines = recorded('questions');
    const result = readLines(lines);
    expect(summarize(result)).toEqual([
      ['interaction', 'Which colour?'],
      ['agent_status', 'waiting'],
      ['interaction', 'Which door?'],
      ['interaction_closed', 'answered'],
      ['interaction_closed', 'answered'],
      ['agent_status', 'working'],
    ]);
    expect(isIdle(result.state)).toBe(true);
    const requestIndex = lines.findLastIndex((line) => line.includes('can_use_tool'));
    const { denials } = readLines(lines.slice(0, requestIndex + 1)).state;
    expect(denials).toMatchObject([{ of: 'permission' }]);
    expect(readLines(lines.slice(0, requestIndex + 2)).state.denials).toEqual([]);
  });

  test('echoes the answers that it received', () => {
    const lines = recorded('questions');
    const { events } = readLines(lines);
    const [first] = events.flatMap((one) => (one.kind === 'asked' ? [one.interaction] : []));
    if (!first) throw new Error('the agent asked no question');
    const answer = answerLine(first, { 'Which colour?': 'Blue' });
    const repeated = lines.find(
      (line) => line.startsWith('{"type":"control_response"') && line.includes(first.interactionId),
    );
    expect(JSON.parse(answer)).toEqual(JSON.parse(repeated ?? ''));
    const refused = lines.findLast((line) => line.startsWith('{"type":"control_response"'));
    const requestId = /"request_id":"([^"]+)"/.exec(refused ?? '')?.[1] ?? '';
    expect(denialLine({ requestId, of: 'permission' })).toBe(refused);
  });

  test('is idle only after the turns of its background tasks', () => {
    const lines = recorded('background-task');
    const states = lines.map((_, index) => readLines(lines.slice(0, index + 1)).state);
    const first = states.findIndex(({ turn }) => turn !== null);
    expect(states[first]).toMatchObject({ isInTurn: false, backgroundTasks: 1 });
    expect(states.findIndex(isIdle)).toBeGreaterThan(first);
    expect(states.slice(first, -1).filter(({ isInTurn }) => isInTurn)).not.toEqual([]);
    expect(isIdle(readLines(lines).state)).toBe(true);
    expect(summarize(readLines(lines))).toEqual([['agent_status', 'working']]);
  });

  test('has a turn due from the end of its last background task to the turn that this starts', () => {
    const lines = recorded('background-task');
    const ended = lines.findIndex((line) => line.includes('"tasks":[]'));
    const due = lines.flatMap((_, index) =>
      readLines(lines.slice(0, index + 1)).state.isTurnDue ? [index] : [],
    );
    expect(due).toEqual([ended]);
    expect(lines[ended + 1]).toContain('"subtype":"init"');
  });

  test('has no turn due if its last background task ends during a turn', () => {
    const lines = recorded('background-task');
    const start = lines.findIndex((line) => line.includes('"subtype":"init"'));
    const ended = lines.find((line) => line.includes('"tasks":[]')) ?? '';
    const started = lines.find((line) => line.includes('"tasks":[{')) ?? '';
    const { state } = readLines([...lines.slice(0, start + 1), started, ended]);
    expect(state).toMatchObject({ isInTurn: true, backgroundTasks: 0, isTurnDue: false });
  });
});

const askLine = (id: unknown, input: unknown = { questions: [{ question: 'Which?' }] }): string =>
  JSON.stringify({
    type: 'control_request',
    request_id: id,
    request: { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input },
  });
const cancelLine = (id: unknown): string =>
  JSON.stringify({ type: 'control_cancel_request', request_id: id });
const answered = (id: unknown): string =>
  JSON.stringify({
    type: 'control_response',
    response: { subtype: 'success', request_id: id, response: { behavior: 'allow' } },
  });

describe('generated lines', () => {
  // Few values, so that most lines concern a question that is open or was.
  const ids = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('a', 'b', 'c', 'd e', '__proto__', 'x'.repeat(129)) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  const anyLine = fc.oneof(
    ids.map((id) => askLine(id)),
    fc.tuple(ids, fc.jsonValue()).map(([id, input]) => askLine(id, input)),
    ids.map(cancelLine),
    ids.map(answered),
    fc.constantFrom('{"type":"result","is_error":false}', '{"type":"system","subtype":"init"}'),
    hostileLines,
  );

  test('yield the same frames wherever reading resumes', () => {
    fc.assert(
      fc.property(fc.array(anyLine), fc.uniqueArray(fc.nat(50)), (lines, cuts) => {
        expect(readLines(lines, new Set(cuts))).toEqual(readLines(lines));
      }),
      { numRuns: 500 },
    );
  });

  test('open no question twice, and close only open ones', () => {
    fc.assert(
      fc.property(fc.array(anyLine), (lines) => {
        const { events, state } = readLines(lines);
        const open: string[] = [];
        for (const one of events) {
          if (one.kind === 'asked') open.push(one.interaction.interactionId);
          else expect(open.splice(open.indexOf(one.interactionId), 1)).toEqual([one.interactionId]);
          expect(new Set(open).size).toBe(open.length);
        }
        expect(open).toEqual(state.questions);
      }),
      { numRuns: 500 },
    );
  });
});

describe('limits on questions', () => {
  const many = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => askLine(`q${n}`));

  test('denies a question above the limit', () => {
    const full = readLines(many(limits.interaction.openMax));
    expect(full.state).toMatchObject({ denials: [] });
    expect(full.state.questions).toHaveLength(limits.interaction.openMax);
    const over = readLines(many(limits.interaction.openMax + 1));
    expect(over.state.questions).toEqual(full.state.questions);
    expect(over.state.denials).toEqual([
      { requestId: `q${limits.interaction.openMax}`, of: 'permission' },
    ]);
    expect(over.events).toEqual(full.events);
  });

  test('limits the pending denials', () => {
    const lines = Array.from({ length: 1_000 }, (_, n) => askLine(`q${n}`, {}));
    expect(readLines(lines).state.denials).toHaveLength(limits.interaction.openMax);
  });

  const questions = (count: number, chars = 5) => ({
    questions: Array.from({ length: count }, (_, n) => ({
      question: `${n}`.padEnd(chars, '?'),
      options: [],
    })),
  });
  test.each([
    ['as many as allowed', questions(limits.interaction.questionsMax), true],
    ['one more', questions(limits.interaction.questionsMax + 1), false],
    ['none', questions(0), false],
    ['as long as allowed', questions(1, limits.interaction.questionMaxChars), true],
    ['one character more', questions(1, limits.interaction.questionMaxChars + 1), false],
    ['one without its text', { questions: [{ question: '' }] }, false],
    ['too much other data', { ...questions(1), more: 'x'.repeat(64 * 1024) }, false],
  ])('in one request: %s', (_what, input, isShown) => {
    const { state } = readLines([askLine('q', input)]);
    expect(state.questions).toEqual(isShown ? ['q'] : []);
    expect(state.denials).toHaveLength(isShown ? 0 : 1);
  });

  test('ignores an ID that cannot be in a path', () => {
    for (const id of ['', 'a/b', 'a b', '..%2f', 'x'.repeat(129), 7, null]) {
      expect(readLines([askLine(id)]).state).toEqual(initialAgentState);
    }
    expect(readLines([askLine('x'.repeat(128))]).state.questions).toHaveLength(1);
  });
});
