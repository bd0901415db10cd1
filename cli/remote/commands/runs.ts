import { Command, Option } from 'commander';
import type { Flowrun, RunFilter, RunRecord } from '../../../client/index.ts';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { wholeNumber } from '../../parse-options.ts';
import { printTable, write } from '../../print.ts';
import { connect } from '../connection.ts';
import { findFlowId, flowNames } from '../find-flow.ts';
import { type Pairs, pair, since } from '../remote-options.ts';
import { rowOf, runColumns } from '../runs/run-rows.ts';
import { watchRuns } from '../runs/watch-runs.ts';

interface RunsOptions {
  flow?: string;
  label?: Pairs;
  status?: RunRecord['status'];
  since?: Date;
  limit: number;
  watch?: true;
  json?: true;
}

export function runsCommand(): Command {
  return new Command('runs')
    .description('list runs, newest first')
    .option('--flow <flow>', 'only runs of this flow')
    .option('-l, --label <name=value>', 'only runs with this label; repeatable', pair)
    .addOption(
      new Option('--status <status>', 'only runs with this status').choices(['running', 'sleep']),
    )
    .option('--since <time>', 'only runs created since then, such as 2h', since)
    .option('--limit <n>', 'maximum number of runs', wholeNumber(1, 10_000), 20)
    .option('--watch', 'then print each run that is new or has changed, until Ctrl-C')
    .option('--json', 'print JSON; with --watch one line per run')
    .action(listRuns);
}

async function listRuns(options: RunsOptions): Promise<void> {
  const { flowrun } = await connect();
  const filter = await filterOf(flowrun, options);
  const read = () => readRuns(flowrun, filter, options.limit);
  if (options.watch === true) return watchRuns({ flowrun, read, ...options });
  const runs = await read();
  if (options.json === true) return write(JSON.stringify(runs));
  const names = await flowNames(flowrun);
  printTable(
    runs.map((run) => rowOf(run, names)),
    [...runColumns],
    {},
  );
}

async function filterOf(
  flowrun: Flowrun,
  { flow, label, status, since: from, limit }: RunsOptions,
): Promise<RunFilter> {
  return omitUndefined({
    flow: flow === undefined ? undefined : await findFlowId(flowrun, flow),
    labels: label,
    status,
    createdAfter: from?.toISOString(),
    pageSize: Math.min(limit, 200),
  });
}

async function readRuns(flowrun: Flowrun, filter: RunFilter, limit: number): Promise<RunRecord[]> {
  const runs: RunRecord[] = [];
  for await (const { record } of flowrun.runs(filter)) {
    runs.push(record);
    if (runs.length === limit) break;
  }
  return runs;
}
