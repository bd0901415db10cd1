// What a call reads must not grow with what is stored. Each call is made in a database that has
// only its subjects, and in one that has them among many other records.

import { describe, expect, test } from 'vitest';
import { type Call, countBlocks, countUpdatesOfRuns, type Reads } from './count-blocks.ts';
import { hotPaths } from './hot-paths.ts';
import { lists } from './lists.ts';
import { periodicJobs } from './periodic-jobs.ts';
import type { Subjects } from './subjects.ts';
import { useTwoDatabases } from './two-databases.ts';

const size = { runs: 2_000, sleeping: 500, framesOfRun: 25 };
/**
 * Indexes have a level more, and rows are on further pages. A scan of any table reads more, and so
 * does one of a single table or index beside others.
 */
const bound = { ratio: 1.5, blocks: 45, blocksOfRelation: 30, blocksPerEntry: 8 };

const { subjects, clients } = useTwoDatabases(size);

type Calls = (of: Subjects) => Record<string, Call>;

function callOf(calls: Calls, name: string, database: 'empty' | 'grown'): Call {
  const call = calls(subjects[database])[name];
  if (call === undefined) throw new Error(`no call ${name}`);
  return call;
}

/** The blocks, and the tables and indexes of which too many were read, if there are too many. */
function excess(empty: Reads, grown: Reads): string[] {
  const entries = Math.max(0, grown.entries - empty.entries);
  const isMore = (from: number, to: number, blocks: number): boolean =>
    to > from * bound.ratio + blocks + entries * bound.blocksPerEntry;
  const relations = [...grown.of].filter(([of, blocks]) =>
    isMore(empty.of.get(of) ?? 0, blocks, bound.blocksOfRelation),
  );
  if (!isMore(empty.blocks, grown.blocks, bound.blocks) && relations.length === 0) return [];
  return [`${grown.blocks} blocks, not ${empty.blocks}`, ...relations.map((of) => of.join(': '))];
}

/** The names are known before the databases are. */
const names = (calls: Calls): string[] => Object.keys(calls(anySubjects));
const anyRun = { runId: '', createdAt: new Date() };
const anySubjects = {
  scenario: { projectId: '', flow: { flowId: '' } },
  ...{ running: anyRun, admitted: anyRun, ended: anyRun, awake: anyRun, asleep: anyRun },
  ...{ lease: {}, awakeLease: {}, oldFlowIds: [] },
} as unknown as Subjects;

/** Calls that write come last, because the rows that they leave are dead and are read too. */
describe.each([
  ['a periodic job', periodicJobs],
  ['a list', lists],
  ['a request, a turn or a run', hotPaths],
] as const)('of %s', (_of, calls) => {
  test.each(names(calls))('%s reads no more than in an empty database', async (name) => {
    const empty = await countBlocks(clients.empty, callOf(calls, name, 'empty'));
    const grown = await countBlocks(clients.grown, callOf(calls, name, 'grown'));
    expect(excess(empty, grown)).toEqual([]);
  });
});

/** Every index of active runs, because Postgres would use another one. */
const ofActiveRuns = 'runs_occupying_slots, runs_active, runs_active_by_host, runs_active_by_files';

test.each([
  [ofActiveRuns, hotPaths, 'admit a run'],
  ['runs_with_log', periodicJobs, 'purge logs'],
  ['sessions_with_files', periodicJobs, 'purge files of sessions'],
  ['runs_by_agent_status', lists, 'list runs that wait for an answer'],
] as const)('without %s a call exceeds the bound', async (index, calls, name) => {
  const empty = await countBlocks(clients.empty, callOf(calls, name, 'empty'));
  const call = callOf(calls, name, 'grown');
  const grown = await countBlocks(clients.grown, call, `drop index ${index}`);
  expect(excess(empty, grown)[0]).toMatch(/^\d+ blocks/);
});

test.each([
  'append eight frames',
  'end a turn',
  'record model calls',
  'record the start of a sandbox',
  'store a snapshot',
])('%s updates runs without writing to an index', async (name) => {
  await clients.grown.query('vacuum runs'); // the tests above left dead row versions
  const { all, hot } = await countUpdatesOfRuns(clients.grown, callOf(hotPaths, name, 'grown'));
  expect(all).toBeGreaterThan(0);
  expect(hot).toBe(all);
});
