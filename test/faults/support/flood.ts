// The run under test: the agent prints 20 000 lines, some of them long or non-ASCII, in three
// parts, and waits before each part until the test releases it. A test can therefore be sure that
// the run is half done when something dies.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOf } from '../../../worker/sandbox/sandbox-paths.ts';
import { randomText } from '../../fixtures/scripted-agent/random-text.ts';
import { script } from '../../support/prompts.ts';
import type { Service } from '../../support/service.ts';
import type { LoggedFrame } from '../run-records.ts';

const longEvery = 100;
const parts = [
  { lines: 7_000, seed: 1 },
  { lines: 7_000, seed: 2 },
  { lines: 6_000, seed: 3 },
] as const;
const finalText = 'the last word';

/** The part that starts when this file exists. */
const releaseFile = (part: number): string => `part-${part}`;

export function floodPrompt(): string {
  const steps = parts.flatMap((part, index) => [
    { waitForFile: releaseFile(index) },
    { ...part, longEvery },
  ]);
  return script([...steps, { say: finalText }]);
}

/** Releases these parts once the sandbox exists. */
export function releaseFlood(service: Service, runId: string, ...which: (0 | 1 | 2)[]): void {
  const { workspace } = foldersOf(service.dataDir, { runId, generation: 1 });
  for (const part of which) writeFileSync(join(workspace, releaseFile(part)), '');
}

/** A line makes two frames: raw and rendered. */
export const framesOfPart = 2 * parts[0].lines;

/** Describes the differences between the agent's output and the log. */
export function checkFlood(log: LoggedFrame[]): string[] {
  const actual = textsIn(log);
  const expected = [...parts.flatMap(textsOfPart), finalText];
  const at = expected.findIndex((text, index) => actual[index] !== text);
  if (at !== -1) return [`line ${at} is ${JSON.stringify(actual[at]?.slice(0, 60))}`];
  return actual.length === expected.length
    ? []
    : [`${actual.length} lines instead of ${expected.length}`];
}

function textsOfPart({ lines, seed }: { lines: number; seed: number }): string[] {
  return Array.from({ length: lines }, (_, index) => randomText(index, { seed, longEvery }));
}

/** The agent's output according to the log, in order. */
export function textsIn(log: LoggedFrame[]): string[] {
  return log.filter(({ event }) => event === 'assistant').map(({ data }) => textOf(data));
}

/** The same for the complete lines of the raw output. */
export function textsOfOutput(output: string): string[] {
  const lines = output.split('\n').slice(0, -1);
  return lines.filter((line) => line.includes('"type":"assistant"')).map(textOf);
}

function textOf(data: string): string {
  const line = JSON.parse(data) as { message: { content: { text?: string }[] } };
  return line.message.content[0]?.text ?? '';
}
