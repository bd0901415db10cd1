// The story that every client has to tell: the steps of story.json, in which scripts are prompts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileContent } from '../../../client/index.ts';
import { saying, script } from '../prompts.ts';

interface Step {
  do:
    | 'start'
    | 'follow'
    | 'result'
    | 'log'
    | 'files'
    | 'changes'
    | 'find'
    | 'session'
    | 'fail'
    | 'stop';
  flow: string;
  name: string;
  labels: Record<string, string>;
  files: FileContent[];
  answers: Record<string, string>;
  env: Record<string, string>;
  /** What the client has to observe. */
  expect?: object;
}

export interface PreparedStep extends Step {
  prompt: string;
  /** The messages of a session. */
  prompts: string[];
}

interface WrittenStep extends Step {
  script?: { lines?: number; longEvery?: number }[];
  /** What the agent says in each turn of a session. */
  turns?: string[];
}

/** The agent writes this many times more short lines than in the file. */
export function prepareStory(factor: number): PreparedStep[] {
  const file = join(import.meta.dirname, 'story.json');
  const steps = JSON.parse(readFileSync(file, 'utf8')) as WrittenStep[]; // written by hand
  return steps.map(({ script: agentSteps = [], turns = [], ...step }) => ({
    ...step,
    prompt: script(agentSteps.map((each) => longer(each, factor))),
    prompts: turns.map(saying),
  }));
}

const longer = (step: { lines?: number; longEvery?: number }, factor: number): object =>
  step.lines === undefined || step.longEvery !== 0 ? step : { ...step, lines: step.lines * factor };
