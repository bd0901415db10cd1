// One run that produces output at full speed, and one reader. The bench writes all lines into the
// run's spool at once, so the agent's speed is not a limit. A line makes two frames, its structured
// form and its rendered text, and both are delivered. For the limit, a line is one frame.

import { createHash } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomText } from '../../test/fixtures/scripted-agent/random-text.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { parseOnly } from '../limits/parse-only.ts';
import type { OpenScenario, Sample, Scenario } from '../measure/scenario.ts';
import { type BenchService, startBenchService, untilNoSandbox } from '../service/bench-service.ts';
import { type ReaderCrowd, startReaderCrowd } from '../service/reader-crowd.ts';

const lineCount = 20_000;
const framesPerLine = 2;
const endlessPrompt = '@agent [{"hang":true}]';
const sessionId = '00000000-0000-4000-8000-000000000000';

export const firehose: Scenario = {
  id: 'T8',
  targets: [
    {
      id: 'T8',
      title: 'frames from one run to one reader, against reading and JSON.parse alone',
      unit: '/s',
      better: 'more',
      goal: 0.1,
    },
  ],
  iterations: 10,
  warmUps: 2,
  open,
};

async function open(): Promise<OpenScenario> {
  const service = await startBenchService();
  const reader = startReaderCrowd(1);
  const lines = agentLines();
  const file = join(service.dataDir, 'lines');
  writeFileSync(file, lines);
  return {
    async ours() {
      const sample = await timeFlood(service, reader, lines);
      await untilNoSandbox(service);
      await service.database.pool.query('truncate frames'); // the log is large and not needed
      return sample;
    },
    limit: async () => ({ values: { T8: perSecond(await parseOnly(file, lineCount)) } }),
    async close() {
      await reader.stop();
      await service.stop();
    },
  };
}

async function timeFlood(
  service: BenchService,
  reader: ReaderCrowd,
  lines: Buffer,
): Promise<Sample> {
  const { runId } = await service.trigger({ prompt: endlessPrompt });
  const spool = foldersOf(service.dataDir, { runId, generation: 1 }).spoolFile;
  const before = await untilQuiet(service, runId);
  // A reader that resumes after a frame gets all later frames, but no rendered log first.
  const url = `${service.url}/api/v1/runs/${runId}/stream?lastEventId=${before}`;
  await reader.open(url, [service.key]);
  const startedAt = performance.now();
  appendFileSync(spool, lines);
  const { cpuMs } = await reader.untilFrames(lineCount * framesPerLine);
  const elapsedMs = performance.now() - startedAt;
  await service.call('DELETE', `/runs/${runId}`);
  reader.leave();
  return { values: { T8: perSecond(elapsedMs) * framesPerLine }, generatorCpuMs: cpuMs };
}

/** The agent has printed the start of its turn, and waits. */
async function untilQuiet({ database }: BenchService, runId: string): Promise<number> {
  const text = `select count(*) filter (where event = 'user') as user_frames, count(*) as frames
    from frames where run_id = $1`;
  for (;;) {
    const { rows } = await database.pool.query<{ user_frames: number; frames: number }>(text, [
      runId,
    ]);
    const row = rows[0];
    if (row !== undefined && row.user_frames > 0) return row.frames;
    await sleep(20);
  }
}

/** Seeded, so that every run has the same bytes. */
function agentLines(): Buffer {
  const lines = Array.from({ length: lineCount }, (_, index) => {
    const content = [{ type: 'text', text: randomText(index, { seed: 7, longEvery: 0 }) }];
    const message = { role: 'assistant', content };
    const line = { type: 'assistant', message, uuid: uuidOf(index), session_id: sessionId };
    return `${JSON.stringify(line)}\n`;
  });
  return Buffer.from(lines.join(''));
}

function uuidOf(index: number): string {
  const hex = createHash('sha1').update(String(index)).digest('hex');
  return [8, 4, 4, 4, 12].map((length, part) => hex.slice(part * 4, part * 4 + length)).join('-');
}

const perSecond = (ms: number): number => (lineCount * 1_000) / ms;
