import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../test/support/service.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { coldPrompt, isInit, saysText } from './first-text.ts';
import { historyTimestamps } from './history-timestamps.ts';
import { logTimestamps } from './log-timestamps.ts';
import type { StepName } from './steps.ts';
import { watchSpool } from './watch-spool.ts';

/** Milliseconds since the request was sent. */
export type RunTrace = Record<StepName, number>;

/** Runs one run to its end. All timestamps are from clocks of this machine. */
export async function traceRun(service: Service): Promise<RunTrace> {
  const sentAt = Date.now();
  const { runId } = await service.trigger({ prompt: coldPrompt });
  const [spool, textOnStream] = await Promise.all([
    spoolMoments(service, runId),
    streamMoment(service, runId),
  ]);
  const absolute = {
    ...logTimestamps(service, runId),
    ...(await historyTimestamps(runId)),
    ...spool,
    textStored: await storedMoment(service, runId),
    textOnStream,
  };
  const since = Object.entries(absolute).map(([name, at]) => [name, at - sentAt]);
  return Object.fromEntries(since) as RunTrace; // the names are unchanged
}

async function spoolMoments({ dataDir }: Service, runId: string) {
  const { spoolFile } = foldersOf(dataDir, { runId, generation: 1 });
  while (!existsSync(spoolFile)) await sleep(2);
  const spool = watchSpool(spoolFile);
  const toDate = Date.now() - performance.now();
  const initInSpool = toDate + (await spool.untilLine(isInit));
  const textInSpool = toDate + (await spool.untilLine(saysText));
  spool.close();
  return { initInSpool, textInSpool };
}

async function streamMoment(service: Service, runId: string): Promise<number> {
  let at = Number.NaN;
  for await (const { event, data } of service.stream(runId)) {
    if (Number.isNaN(at) && event === 'assistant' && saysText(data)) at = Date.now();
  }
  return at;
}

async function storedMoment({ database }: Service, runId: string): Promise<number> {
  const { rows } = await database.pool.query<{ at: Date; data: string }>(
    `select at, data from frames where run_id = $1 and event = 'assistant' order by seq`,
    [runId],
  );
  return rows.find(({ data }) => saysText(data))?.at.getTime() ?? Number.NaN;
}
