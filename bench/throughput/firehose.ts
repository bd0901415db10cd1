// One run that produces output at full speed, and one reader, with every feature enabled. The bench
// writes all lines into the run's spool at once, so the agent's speed is not a limit. A line makes
// two frames, its structured form and its rendered text, and both are delivered. For the limit, a
// line is one frame.

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis } from '../../systems/redis/connect.ts';
import { redisKeys } from '../../systems/redis/keys.ts';
import { type Service, startService } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { untilGone } from '../cold/cold-service.ts';
import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { openReaders, type Readers } from '../support/open-readers.ts';
import { agentLines } from './lines.ts';
import { parseOnly } from './parse-only.ts';

const lineCount = 20_000;
const framesPerLine = 2;
const endlessPrompt = '@agent [{"hang":true}]';

export const firehose: Target = {
  id: 'T8',
  title: 'frames/s from one run to one reader, against tail and JSON.parse alone',
  unit: 'frames/s',
  better: 'more',
  goal: 0.1,
  gate: 0.06,
  open,
};

async function open(): Promise<Scenario> {
  const service = await startService({ env: { LOG_LEVEL: 'info' } });
  const readers = openReaders(1);
  const lines = agentLines(lineCount);
  const file = join(service.dataDir, 'lines');
  writeFileSync(file, lines);
  return {
    async ours() {
      const sample = await timeFlood(service, readers, lines);
      await untilGone(service);
      return sample;
    },
    limit: async () => ({ value: perSecond(await parseOnly(file, lineCount)) }),
    async close() {
      await readers.stop();
      await service.stop();
    },
  };
}

async function timeFlood(service: Service, readers: Readers, lines: Buffer): Promise<Sample> {
  const { runId } = await service.trigger({ prompt: endlessPrompt });
  const spool = foldersOf(service.dataDir, { runId, generation: 1 }).spoolFile;
  const before = await untilQuiet(service, runId);
  // A reader that resumes after a frame gets all later frames, but no rendered log first.
  const url = `${service.url}/api/v1/runs/${runId}/stream?lastEventId=${before}`;
  await readers.open(url, [service.key]);
  const startedAt = Date.now();
  appendFileSync(spool, lines);
  const { atMs, cpuMs } = await readers.haveFrames(lineCount * framesPerLine);
  const elapsedMs = atMs - startedAt;
  await service.call('DELETE', `/runs/${runId}`);
  await forget(service, runId);
  const linesPerSecond = perSecond(elapsedMs);
  const generatorShare = cpuMs / elapsedMs;
  return { value: linesPerSecond * framesPerLine, also: { linesPerSecond }, generatorShare };
}

/** The agent has printed the start of its turn, and waits. */
async function untilQuiet({ database }: Service, runId: string): Promise<number> {
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

/** Deletes the run, because its log and stream are large and are not needed any more. */
async function forget({ database, instance }: Service, runId: string): Promise<void> {
  await database.pool.query('truncate frames');
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'bench', onError: () => undefined });
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  await redis.del(redisKeys(instance).frames(runId));
  redis.disconnect();
}

function perSecond(ms: number): number {
  return (lineCount * 1_000) / ms;
}
