import type { RunRecord } from '../../../client/index.ts';
import { shortId } from './find-run.ts';

export const runColumns = ['run', 'flow', 'state', 'age', 'costUsd', 'name', 'labels'] as const;

type RunRow = Record<(typeof runColumns)[number], string | number | null>;

/** A run as a line of a table. `names` are those of the flows. */
export function rowOf(run: RunRecord, names: ReadonlyMap<string, string>): RunRow {
  return {
    run: shortId(run.runId),
    flow: names.get(run.flowId) ?? shortId(run.flowId),
    state: stateOf(run),
    age: ageOf(run.createdAt),
    costUsd: run.costUsd,
    name: run.name,
    labels: Object.entries(run.labels)
      .map((entry) => entry.join('='))
      .join(' '),
  };
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
