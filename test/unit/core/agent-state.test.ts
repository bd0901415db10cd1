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

interface Heard {
  memory: AgentState;
  frames: Frame[];
  news: InteractionEvent[];
}

/** Reads lines one after the other; the memory goes through its stored form at every `cut`. */
function hear(lines: string[], cuts: ReadonlySet<number> = new Set()): Heard {
  const heard: Heard = { memory: initialAgentState, frames: [], news: [] };
  for (const [index, line] of lines.entries()) {
    const { facts } = readAgentLine(line);
    const followed = reduce(heard.memory, facts);
    heard.memory = cuts.has(index)
      ? (JSON.parse(JSON.stringify(followed.state)) as AgentState)
      : followed.state;
    heard.frames.push(...followed.frames);
    heard.news.push(...followed.interactionEvents);
  }
  return heard;
}

const recorded = (name: string): string[] =>
  readFileSync(join(repository, 'test/fixtures/agent-output', `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

const told = ({ frames }: Heard): unknown[] =>
  frames.map(({ event, data }) => {
    const { status, outcome, questions } = JSON.parse(data) as Record<string, unknown>;
    return [event, status ?? outcome ?? (questions as { question: string }[])[0]?.question];
  });

describe('recorded output of the real agent', () => {
  test('waits until both questions are answered; denies a permission request', () => {
    const lines = recorded('questions');
    const heard = hear(lines);
    expect(told(heard)).toEqual([
      ['interaction', 'Which colour?'],
      ['agent_status', 'waiting'],
      ['interaction', 'Which door?'],
      ['interaction_closed', 'answered'],
      ['interaction_closed', 'answered'],
      ['agent_status', 'working'],
    ]);
    expect(isIdle(heard.memory)).toBe(true);
    const asked = lines.findLastIndex((line) => line.includes('can_use_tool'));
    const { denials } = hear(lines.slice(0, asked + 1)).memory;
    expect(denials).toMatchObject([{ of: 'permission' }]);
    expect(hear(lines.slice(0, asked + 2)).memory.denials).toEqual([]);
  });

  test('echoes the answers that it received', () => {
    const lines = recorded('questions');
    const { news } = hear(lines);
    const [first] = news.flatMap((one) => (one.kind === 'asked' ? [one.interaction] : []));
    if (!first) throw new Error('nothing was asked');
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
    const states = lines.map((_, index) => hear(lines.slice(0, index + 1)).memory);
    const first = states.findIndex(({ turn }) => turn !== null);
    expect(states[first]).toMatchObject({ isInTurn: false, backgroundTasks: 1 });
    expect(states.findIndex(isIdle)).toBeGreaterThan(first);
    expect(states.slice(first, -1).filter(({ isInTurn }) => isInTurn)).not.toEqual([]);
    expect(isIdle(hear(lines).memory)).toBe(true);
    expect(told(hear(lines))).toEqual([['agent_status', 'working']]);
  });
});

const ask = (id: unknown, input: unknown = { questions: [{ question: 'Which?' }] }): string =>
  JSON.stringify({
    type: 'control_request',
    request_id: id,
    request: { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input },
  });
const cancel = (id: unknown): string =>
  JSON.stringify({ type: 'control_cancel_request', request_id: id });
const answered = (id: unknown): string =>
  JSON.stringify({
    type: 'control_response',
    response: { subtype: 'success', request_id: id, response: { behavior: 'allow' } },
  });

describe('generated lines', () => {
  const ids = fc.oneof(
    fc.constantFrom('a', 'b', 'c', 'd e', '__proto__', 'x'.repeat(129)),
    fc.jsonValue(),
  );
  const talk = fc.oneof(
    ids.map((id) => ask(id)),
    fc.tuple(ids, fc.jsonValue()).map(([id, input]) => ask(id, input)),
    ids.map(cancel),
    ids.map(answered),
    fc.constantFrom('{"type":"result","is_error":false}', '{"type":"system","subtype":"init"}'),
    hostileLines,
  );

  test('give the same frames wherever reading resumes', () => {
    fc.assert(
      fc.property(fc.array(talk), fc.uniqueArray(fc.nat(50)), (lines, cuts) => {
        expect(hear(lines, new Set(cuts))).toEqual(hear(lines));
      }),
      { numRuns: 2_000 },
    );
  });

  test('close every question at most once, and only open ones', () => {
    fc.assert(
      fc.property(fc.array(talk), (lines) => {
        const { news, memory } = hear(lines);
        const open: string[] = [];
        for (const one of news) {
          if (one.kind === 'asked') open.push(one.interaction.interactionId);
          else expect(open.splice(open.indexOf(one.interactionId), 1)).toEqual([one.interactionId]);
        }
        expect(open).toEqual(memory.questions);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('limits on questions', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, n) => ask(`q${n}`));

  test('denies a question above the limit', () => {
    const full = hear(many(limits.interactionsMax));
    expect(full.memory).toMatchObject({ denials: [] });
    expect(full.memory.questions).toHaveLength(limits.interactionsMax);
    const over = hear(many(limits.interactionsMax + 1));
    expect(over.memory.questions).toEqual(full.memory.questions);
    expect(over.memory.denials).toEqual([
      { requestId: `q${limits.interactionsMax}`, of: 'permission' },
    ]);
    expect(over.news).toEqual(full.news);
  });

  test('limits the pending denials', () => {
    const lines = Array.from({ length: 1_000 }, (_, n) => ask(`q${n}`, {}));
    expect(hear(lines).memory.denials).toHaveLength(limits.interactionsMax);
  });

  const questions = (count: number, chars = 5) => ({
    questions: Array.from({ length: count }, (_, n) => ({
      question: `${n}`.padEnd(chars, '?'),
      options: [],
    })),
  });
  test.each([
    ['as many as there may be', questions(limits.questionsMax), true],
    ['one more', questions(limits.questionsMax + 1), false],
    ['none', questions(0), false],
    ['as long as one may be', questions(1, limits.questionMaxChars), true],
    ['one character more', questions(1, limits.questionMaxChars + 1), false],
    ['one without its text', { questions: [{ question: '' }] }, false],
    ['too much beside them', { ...questions(1), more: 'x'.repeat(64 * 1024) }, false],
  ])('in one asking: %s', (_what, input, isShown) => {
    const { memory } = hear([ask('q', input)]);
    expect(memory.questions).toEqual(isShown ? ['q'] : []);
    expect(memory.denials).toHaveLength(isShown ? 0 : 1);
  });

  test('ignores an ID that cannot be in a path', () => {
    for (const id of ['', 'a/b', 'a b', '..%2f', 'x'.repeat(129), 7, null]) {
      expect(hear([ask(id)]).memory).toEqual(initialAgentState);
    }
    expect(hear([ask('x'.repeat(128))]).memory.questions).toHaveLength(1);
  });
});
