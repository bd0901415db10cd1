import { Command, Option } from 'commander';
import type { RunRecord } from '../../../client/index.ts';
import { wholeNumber } from '../../parse-options.ts';
import { printTable, write } from '../../print.ts';
import { connect } from '../connection.ts';
import { findFlowId, flowNames } from '../find-flow.ts';
import { shortId } from '../find-run.ts';
import { type Pairs, pair, since } from '../remote-options.ts';

interface RunsOptions {
  flow?: string;
  label?: Pairs;
  status?: RunRecord['status'];
  since?: Date;
  limit: number;
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
    .option('--json', 'print JSON')
    .action(listRuns);
}

async function listRuns({ flow, label, status, limit, json, ...options }: RunsOptions) {
  const { flowrun } = await connect();
  const runs: RunRecord[] = [];
  const filter = {
    ...(flow === undefined ? {} : { flow: await findFlowId(flowrun, flow) }),
    ...(label === undefined ? {} : { labels: label }),
    ...(status === undefined ? {} : { status }),
    ...(options.since === undefined ? {} : { createdAfter: options.since.toISOString() }),
    pageSize: Math.min(limit, 200),
  };
  for await (const { record } of flowrun.runs(filter)) {
    runs.push(record);
    if (runs.length === limit) break;
  }
  if (json === true) return write(JSON.stringify(runs));
  const names = await flowNames(flowrun);
  const rows = runs.map((run) => ({
    run: shortId(run.runId),
    flow: names.get(run.flowId) ?? shortId(run.flowId),
    state: stateOf(run),
    age: ageOf(run.createdAt),
    costUsd: run.costUsd,
    name: run.name,
    labels: Object.entries(run.labels)
      .map((entry) => entry.join('='))
      .join(' '),
  }));
  printTable(rows, ['run', 'flow', 'state', 'age', 'costUsd', 'name', 'labels'], {});
}

/** The cause of the end, or what the run is doing. */
function stateOf({
  error,
  finishedAt,
  startedAt,
  stopping,
  status,
  agentStatus,
}: RunRecord): string {
  if (finishedAt !== null) return error ?? 'completed';
  if (stopping === true) return 'stopping';
  if (status === 'sleep') return 'sleep';
  return startedAt === null ? 'starting' : (agentStatus ?? 'running');
}

function ageOf(createdAt: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(createdAt)) / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
