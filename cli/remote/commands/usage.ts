import { Command, InvalidArgumentError } from 'commander';
import type { RunRecord } from '../../../client/index.ts';
import { printTable, write } from '../../print.ts';
import { connect } from '../connection.ts';
import { flowNames } from '../find-flow.ts';
import { since } from '../remote-options.ts';

interface UsageOptions {
  by: string;
  since: Date;
  csv?: true;
  json?: true;
}

interface Usage {
  runs: number;
  costUsd: number;
  /** Runs whose cost is unknown. They are not in the sum. */
  unpriced: number;
  inputTokens: number;
  outputTokens: number;
}

const week = (): Date => since('7d');

export function usageCommand(): Command {
  return new Command('usage')
    .description('sum up the cost and the tokens of runs')
    .option('--by <group>', 'flow, day, key, or label:<name>', group, 'flow')
    .option('--since <time>', 'runs created since then (default: 7d)', since)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .action((options: Omit<UsageOptions, 'since'> & { since?: Date }) =>
      printUsage({ ...options, since: options.since ?? week() }),
    );
}

function group(text: string): string {
  if (/^(?:flow|day|key|label:.+)$/s.test(text)) return text;
  throw new InvalidArgumentError('Expected flow, day, key or label:<name>.');
}

async function printUsage({ by, csv, json, ...options }: UsageOptions): Promise<void> {
  const { flowrun } = await connect();
  const names = by === 'flow' ? await flowNames(flowrun) : new Map<string, string>();
  const sums = new Map<string, Usage>();
  const filter = { createdAfter: options.since.toISOString(), pageSize: 200 };
  for await (const { record } of flowrun.runs(filter)) {
    const key = keyOf(record, by, names);
    sums.set(key, added(sums.get(key), record));
  }
  const [column = by] = by.split(':');
  const rows = [...sums]
    .map(([key, usage]) => ({ [column]: key, ...usage, costUsd: rounded(usage.costUsd) }))
    .sort((a, b) => b.costUsd - a.costUsd);
  const fields = [column, 'runs', 'costUsd', 'unpriced', 'inputTokens', 'outputTokens'] as const;
  if (csv === true) return write(csvOf(rows, fields));
  printTable<Record<string, string | number>>(rows, [...fields], { ...(json && { json }) });
}

function keyOf(run: RunRecord, by: string, names: Map<string, string>): string {
  if (by === 'flow') return names.get(run.flowId) ?? run.flowId;
  if (by === 'day') return run.createdAt.slice(0, 10);
  if (by === 'key') return run.createdBy.keyName;
  return run.labels[by.slice('label:'.length)] ?? '(none)';
}

function added(sum: Usage | undefined, { costUsd, usage }: RunRecord): Usage {
  const before = sum ?? { runs: 0, costUsd: 0, unpriced: 0, inputTokens: 0, outputTokens: 0 };
  const input = usage.inputTokens + usage.cacheReadInputTokens + usage.cacheCreationInputTokens;
  return {
    runs: before.runs + 1,
    costUsd: before.costUsd + (costUsd ?? 0),
    unpriced: before.unpriced + (costUsd === null ? 1 : 0),
    inputTokens: before.inputTokens + input,
    outputTokens: before.outputTokens + usage.outputTokens,
  };
}

/** The service rounds to millionths, too. */
const rounded = (usd: number): number => Math.round(usd * 1_000_000) / 1_000_000;

/** Text that a spreadsheet would take for a formula is quoted as text. */
function csvOf(rows: Record<string, string | number>[], fields: readonly string[]): string {
  const cell = (value: string | number | undefined): string => {
    const text = String(value ?? '');
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [fields, ...rows.map((row) => fields.map((field) => row[field]))]
    .map((line) => line.map(cell).join(','))
    .join('\n');
}
