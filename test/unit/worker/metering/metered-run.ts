import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { onTestFinished } from 'vitest';
import type { LedgerEntry, RunSpending } from '../../../../core/metering/ledger-entry.ts';
import type { ReachedBudget } from '../../../../core/metering/monthly-budget.ts';
import type { LimitedRun } from '../../../../worker/metering/call-limits.ts';
import { openRunMeter, type RunMeter } from '../../../../worker/metering/run-meter.ts';

interface MeteredRun {
  runId: string;
  /** The folder of its sandbox. */
  root: string;
  meter: RunMeter;
  /** The ledger entries in the order of the statements. */
  recorded: LedgerEntry[][];
  /** The report of each call. */
  observed: LedgerEntry[];
  /** One per line of the log. */
  logged: Record<string, unknown>[];
  /** Opens a meter for the same sandbox, as the next process does. */
  again(): Promise<MeteredRun>;
}

interface RunOptions extends Partial<LimitedRun> {
  /** The run's ledger entries. */
  spending?: RunSpending;
  /** Fails, or waits, in place of a ledger that has taken the calls. */
  onRecord?: (calls: readonly LedgerEntry[]) => Promise<void>;
  /** Whose monthly budget is reached. */
  reachedBudget?: () => ReachedBudget;
  isSession?: boolean;
  hasTreeBudget?: boolean;
  now?: () => Date;
}

/** A run whose ledger is in memory. Its files are removed after the test. */
export async function meteredRun(options: RunOptions = {}): Promise<MeteredRun> {
  const root = await mkdtemp(join(tmpdir(), 'metered-'));
  onTestFinished(() => rm(root, { recursive: true }));
  return openRun({ root, runId: randomUUID() }, options);
}

async function openRun(
  run: { root: string; runId: string },
  options: RunOptions,
): Promise<MeteredRun> {
  const { onRecord = async () => undefined, now = () => new Date(), ...others } = options;
  const { reachedBudget = () => null, isSession = false, ...of } = others;
  const { hasTreeBudget = false, ...limited } = of;
  const recorded: LedgerEntry[][] = [];
  const observed: LedgerEntry[] = [];
  const logged: Record<string, unknown>[] = [];
  const write = (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>);
  const meter = await openRunMeter(
    {
      ledger: {
        async record(_runId, calls) {
          await onRecord(calls);
          recorded.push([...calls]);
          const all = recorded.flat();
          return {
            calls: all.length,
            costNanos: all.reduce((sum, { costNanos }) => sum + (costNanos ?? 0), 0),
            reachedBudget: reachedBudget(),
          };
        },
      },
      modelPrices: {},
      onModelCall: (call) => void observed.push(call),
      now,
      newId: randomUUID,
    },
    {
      ...{ ...unlimited, ...limited, ...run, logger: pino({}, { write }) },
      ...{ isSession, hasTreeBudget, reachedBudget: reachedBudget() },
    },
  );
  onTestFinished(meter.close);
  return {
    ...run,
    meter,
    recorded,
    observed,
    logged,
    again: () => openRun(run, options),
  };
}

const unlimited = {
  ...{ model: null, maxTurns: null, maxBudgetUsd: null, allowedModels: [] },
  spending: { calls: 0, costNanos: null },
};
