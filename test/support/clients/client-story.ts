// Runs the story with each client, as a program of its language.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect } from 'vitest';
import { toSynchronous } from '../../../dev/docs-gen/python/synchronous.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { stackEnv } from '../stack-env.ts';
import { type PreparedStep, prepareStory } from './story.ts';

export const clientNames = ['TypeScript', 'Python', 'asynchronous Python'] as const;
export type ClientName = (typeof clientNames)[number];

interface Observation {
  kind: string;
  observation: unknown;
}

interface ObservedFrame {
  event: string;
  seq: number | null;
  data: unknown;
}

interface StoryOptions {
  client: ClientName;
  url: string;
  key: string;
  /** The agent writes this many times more lines. */
  factor: number;
  /** Called for each event that the client yields. */
  onEvent?: (event: ObservedFrame) => void;
  onStart?: (runId: string) => void;
}

/** Runs the story to its end, and checks what the client has observed. */
export async function runStory(options: StoryOptions): Promise<ObservedFrame[]> {
  const folder = mkdtempSync(join(tmpdir(), 'story-'));
  try {
    const steps = prepareStory(options.factor);
    writeFileSync(join(folder, 'story.json'), JSON.stringify(steps));
    const observed = await observe(commandOf(options.client, folder), { ...options, folder });
    for (const step of steps) checkStep(step, observed);
    return framesIn(observed, 'event');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function checkStep({ do: kind, expect: expected }: PreparedStep, observed: Observation[]): void {
  const found = observed.filter((each) => each.kind === kind);
  expect(found, kind).toHaveLength(1);
  if (expected !== undefined) expect(found[0]?.observation, kind).toEqual(expected);
  if (kind === 'log') expect(framesIn(observed, 'entry')).toEqual(storedIn(observed));
  const runIds = ['start', 'find'].map((name) => observed.find((each) => each.kind === name));
  const [started, foundRuns] = runIds.map((each) => each?.observation) as [
    { runId: string },
    { runIds: string[] },
  ]; // the observations of these steps
  if (kind === 'find') expect(foundRuns.runIds).toContain(started.runId);
}

/** The end of the stream is not stored. */
const storedIn = (observed: Observation[]): ObservedFrame[] =>
  framesIn(observed, 'event').filter(({ seq, event }) => seq !== null && event !== 'finished');

const framesIn = (observed: Observation[], kind: string): ObservedFrame[] =>
  observed
    .filter((each) => each.kind === kind)
    .map(({ observation }) => observation as ObservedFrame);

function commandOf(client: ClientName, folder: string): string[] {
  if (client === 'TypeScript') return [process.execPath, join(import.meta.dirname, 'run-story.ts')];
  const program = join(import.meta.dirname, 'run_story.py');
  if (client === 'asynchronous Python') return [stackEnv.python, program];
  const synchronous = join(folder, 'run_story.py');
  writeFileSync(synchronous, toSynchronous(readFileSync(program, 'utf8')));
  return [stackEnv.python, synchronous];
}

async function observe(
  [program = '', ...args]: string[],
  { url, key, folder, onEvent, onStart }: StoryOptions & { folder: string },
): Promise<Observation[]> {
  const child = spawn(program, [...args, join(folder, 'story.json')], {
    env: {
      PATH: process.env['PATH'],
      FLOWRUN_URL: url,
      FLOWRUN_KEY: key,
      PYTHONPATH: join(repository, 'client-python'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const observed: Observation[] = [];
  for await (const line of linesOf(child.stdout)) {
    const each = JSON.parse(line) as Observation; // printed by the programs of the story
    observed.push(each);
    if (each.kind === 'event') onEvent?.(each.observation as ObservedFrame);
    if (each.kind === 'start') onStart?.((each.observation as { runId: string }).runId);
  }
  expect(await ended, errors).toBe(0);
  return observed;
}

/** `readline` also ends a line at U+2028, which JSON may contain. */
async function* linesOf(output: Readable): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const text of output.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
