// Counts calls to dependencies instead of measuring times. Counts have no noise, so every
// difference is a real change.

import { setTimeout as sleep } from 'node:timers/promises';
import { untilGone } from '../cold/cold-service.ts';
import { historyOf } from '../cold/history-timestamps.ts';
import { median } from '../measure/statistics.ts';
import type { Survey } from '../measure/survey.ts';
import { columns } from '../report/table.ts';
import { type Counts, startTappedService, type TappedService } from './tapped-service.ts';

const runs = 5;
const floodLines = 5_000;
const framesPerLine = 2;
const idleSeconds = 10;

interface RunCounts {
  post: number;
  worker: number;
  docker: Record<string, number>;
  history: number;
}

export const counters: Survey = {
  id: 'counters',
  title: 'calls of a run to dependencies (median)',
  async run() {
    const tapped = await startTappedService();
    try {
      const idle = await countIdle(tapped);
      const counted: RunCounts[] = [];
      while (counted.length < runs) counted.push(await countRun(tapped));
      const appends = await countAppends(tapped);
      const rows = rowsOf({ idle, counted, appends });
      return { text: columns(rows).replaceAll(/^/gm, '    '), data: { idle, counted, appends } };
    } finally {
      await tapped.close();
    }
  },
};

/** Calls per second while no run exists. */
async function countIdle({ now }: TappedService) {
  const before = now();
  await sleep(idleSeconds * 1_000);
  const after = now();
  return {
    api: (after.api.statements - before.api.statements) / idleSeconds,
    worker: (after.worker.statements - before.worker.statements) / idleSeconds,
    docker: sum(difference(before, after)) / idleSeconds,
  };
}

async function countRun({ service, sandboxes, now }: TappedService): Promise<RunCounts> {
  const before = now();
  const { runId } = await service.trigger({ prompt: '@agent [{"say":"Hello."}]' });
  const post = now().api.statements - before.api.statements;
  await service.untilEnded(runId);
  await untilGone({ sandboxes });
  const after = now();
  return {
    post,
    worker: after.worker.statements - before.worker.statements,
    docker: difference(before, after),
    history: (await historyOf(`run/${runId}`)).length,
  };
}

/** Statements that it takes to store a thousand frames that arrive at the highest rate. */
async function countAppends({ service, sandboxes, now }: TappedService): Promise<number> {
  const before = now();
  const prompt = `@agent [{"lines":${floodLines},"seed":3}]`;
  const { runId } = await service.trigger({ prompt });
  await service.untilEnded(runId);
  await untilGone({ sandboxes });
  const appends = now().worker.appends - before.worker.appends;
  return (appends * 1_000) / (floodLines * framesPerLine);
}

function rowsOf(found: {
  idle: { api: number; worker: number; docker: number };
  counted: RunCounts[];
  appends: number;
}): string[][] {
  const { idle, counted, appends } = found;
  const of = (pick: (run: RunCounts) => number): string => String(median(counted.map(pick)));
  const kinds = [...new Set(counted.flatMap(({ docker }) => Object.keys(docker)))].sort();
  return [
    ['Postgres statements per POST', of(({ post }) => post)],
    ['Postgres statements of the worker per run', of(({ worker }) => worker)],
    ['Postgres statements per 1,000 frames', appends.toFixed(2)],
    ['Docker calls per run', of(({ docker }) => sum(docker))],
    ...kinds.map((kind) => [`    ${kind}`, of(({ docker }) => docker[kind] ?? 0)]),
    ['Temporal events per run', of(({ history }) => history)],
    ['idle, per second: Postgres by the API', idle.api.toFixed(2)],
    ['idle, per second: Postgres by the worker', idle.worker.toFixed(2)],
    ['idle, a second: Docker', idle.docker.toFixed(2)],
  ];
}

function difference(before: Counts, after: Counts): Record<string, number> {
  const names = Object.keys(after.docker);
  const grown = names.map((name) => [name, (after.docker[name] ?? 0) - (before.docker[name] ?? 0)]);
  return Object.fromEntries(grown.filter(([, count]) => count !== 0)) as Record<string, number>; // names and counts
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
