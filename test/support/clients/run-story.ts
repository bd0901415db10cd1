// Runs the steps of a story with the TypeScript client. Prints one line of JSON for each
// observation.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Flowrun, FlowrunError, type Run, RunFailed } from '../../../client/index.ts';
import type { PreparedStep } from './story.ts';

let retries = 0;
const flowrun = new Flowrun({ onRetry: () => (retries += 1) });
let run: Run;

type Steps = { [Name in PreparedStep['do']]: (step: PreparedStep) => Promise<object | undefined> };

const steps: Steps = {
  async start({ flow, prompt, name, labels, files }) {
    run = await flowrun.run(flow, { prompt, name, labels, files });
    return { runId: run.runId };
  },
  async follow({ answers }) {
    for await (const event of run.events()) {
      const { type, seq, data } = event;
      observe('event', { event: type === 'unknown' ? event.name : type, seq, data });
      if (event.type === 'interaction') await run.answer(event, answers);
    }
    return undefined;
  },
  async result() {
    const { text, costUsd, structured } = await run.result();
    return { text, costUsd, structured };
  },
  async log() {
    for await (const { event, seq, data } of run.log()) observe('entry', { event, seq, data });
    return undefined;
  },
  async files() {
    const paths: string[] = [];
    for await (const { path } of run.files.list()) paths.push(path);
    const folder = mkdtempSync(join(tmpdir(), 'story-'));
    try {
      assertEqual((await run.files.pull(folder)).sort(), paths.toSorted());
      const note = readFileSync(join(folder, 'in/note.txt'), 'utf8');
      assertEqual(await run.files.readText('in/note.txt'), note);
      return { paths: paths.sort(), note };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  async changes() {
    assertEqual((await run.changes.patch()).includes('+new\n'), true);
    const changes: string[] = [];
    for await (const { status, path } of run.changes.list()) changes.push(`${status} ${path}`);
    return { changes: changes.sort() };
  },
  async find({ labels }) {
    const runIds: string[] = [];
    for await (const { runId } of flowrun.runs({ labels, flow: 'writer', pageSize: 1 }))
      runIds.push(runId);
    return { runIds };
  },
  async session({ flow, env, prompts }) {
    const session = await flowrun.session(flow, { env });
    const turns = prompts.map((prompt) => session.send(prompt));
    const texts: string[] = [];
    for (const turn of turns) {
      let text = '';
      for await (const part of turn) text += part;
      texts.push(text);
    }
    const results = await Promise.all(turns.map(async (turn) => (await turn).text));
    await session.end();
    return { texts, results };
  },
  async fail({ flow }) {
    const error = await flowrun.run(flow).catch((reason: unknown) => reason);
    return factsOf(error);
  },
  async stop({ flow, prompt }) {
    const hanging = await flowrun.run(flow, { prompt });
    await hanging.stop({ graceSeconds: 0 });
    return factsOf(await hanging.result().catch((reason: unknown) => reason));
  },
};

function factsOf(error: unknown): object {
  if (!(error instanceof FlowrunError)) throw error;
  const { code, name } = error;
  return { code, error: name, ...(error instanceof RunFailed ? { cause: error.cause } : {}) };
}

function assertEqual(actual: unknown, expected: unknown): void {
  const [one, other] = [actual, expected].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`${one} is not ${other}`);
}

function observe(kind: string, observation: unknown): void {
  process.stdout.write(`${JSON.stringify({ kind, observation })}\n`);
}

const story = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as PreparedStep[]; // written by client-story.ts
for (const step of story) observe(step.do, await steps[step.do](step));
observe('retries', retries);
