// The calls of test/integration/systems/postgres/growth in a database of 100 000 runs, 10 million
// frames and 10 000 sleeping sessions, beside one that has only the calls' subjects: the time of
// each call, and what it reads.

import { expect, it } from 'vitest';
import { median } from '../../bench/measure/statistics.ts';
import {
  type Call,
  countBlocks,
  timeCall,
} from '../integration/systems/postgres/growth/count-blocks.ts';
import { hotPaths } from '../integration/systems/postgres/growth/hot-paths.ts';
import { lists } from '../integration/systems/postgres/growth/lists.ts';
import { periodicJobs } from '../integration/systems/postgres/growth/periodic-jobs.ts';
import { useTwoDatabases } from '../integration/systems/postgres/growth/two-databases.ts';

const size = { runs: 100_000, sleeping: 10_000, framesOfRun: 100 };
const { subjects, clients } = useTwoDatabases(size);
const rounds = 30;
/** The goal is 1.1. */
const ratioMax = 1.3;

/** Times in turn: empty, grown, grown, empty. */
async function ratioOf(empty: Call, grown: Call): Promise<number> {
  const times = { empty: [] as number[], grown: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['empty', 'grown', 'grown', 'empty'] as const) {
      const call = name === 'empty' ? empty : grown;
      times[name].push(await timeCall(clients[name], call));
    }
  }
  return median(times.grown) / median(times.empty);
}

it('takes as long as in an empty database', { timeout: 30 * 60_000 }, async () => {
  const slow: Record<string, string> = {};
  for (const calls of [hotPaths, lists, periodicJobs]) {
    const inGrown = calls(subjects.grown);
    for (const [name, empty] of Object.entries(calls(subjects.empty))) {
      const grown = inGrown[name];
      if (grown === undefined) throw new Error(`no call ${name}`);
      const reads = {
        empty: await countBlocks(clients.empty, empty),
        grown: await countBlocks(clients.grown, grown),
      };
      const ratio = await ratioOf(empty, grown);
      const line = `${ratio.toFixed(2)}, ${reads.empty.blocks} and ${reads.grown.blocks} blocks`;
      process.stdout.write(`${name}: ${line}\n`);
      const hasMoreEntries = reads.grown.entries > reads.empty.entries;
      if (ratio > ratioMax && !hasMoreEntries) slow[name] = line;
    }
  }
  expect(slow).toEqual({});
});
