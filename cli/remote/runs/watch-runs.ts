import { setTimeout as delay } from 'node:timers/promises';
import { isFlowrunError } from '../../../client/http/errors.ts';
import type { Flowrun, RunRecord } from '../../../client/index.ts';
import { heading, write } from '../../print.ts';
import { flowNames } from '../find-flow.ts';
import { noteRetry } from '../operators/operator-http.ts';
import { rowOf, runColumns } from './run-rows.ts';

interface Watch {
  flowrun: Flowrun;
  /** The runs of the list, newest first. */
  read(): Promise<RunRecord[]>;
  json?: true;
}

const intervalMs = 2_000;
const retryMs = 10_000;

/**
 * Prints the runs of a list, oldest first, and then each one that is new or has changed. It never
 * returns, and an outage of the service does not end it.
 */
export async function watchRuns(watch: Watch): Promise<never> {
  const printer = createPrinter(watch);
  for (;;) {
    try {
      await printer.print(await watch.read());
      await delay(intervalMs);
    } catch (error) {
      if (!isFlowrunError(error) || (error.status ?? 500) < 500) throw error;
      noteRetry({ error, delayMs: retryMs });
      await delay(retryMs);
    }
  }
}

function createPrinter({ flowrun, json }: Watch) {
  const printed = new Map<string, string>();
  const widths = runColumns.map((column) => column.length);
  let names = new Map<string, string>();
  let hasHeading = json === true;

  /** Columns only grow, so that the lines stay below each other. */
  function printLine(cells: readonly (string | number | null)[]): void {
    const texts = cells.map((value, at) => {
      const text = String(value ?? '-');
      widths[at] = Math.max(widths[at] ?? 0, text.length);
      return text.padEnd(widths[at] ?? 0);
    });
    write(texts.join('  ').trimEnd());
  }

  return {
    async print(runs: readonly RunRecord[]): Promise<void> {
      const changed = runs.filter((run) => printed.get(run.runId) !== JSON.stringify(run));
      if (changed.some(({ flowId }) => !names.has(flowId))) names = await flowNames(flowrun);
      if (!hasHeading) printLine(runColumns.map(heading));
      hasHeading = true;
      for (const run of changed.toReversed()) {
        printed.set(run.runId, JSON.stringify(run));
        if (json === true) write(JSON.stringify(run));
        else printLine(runColumns.map((column) => rowOf(run, names)[column]));
      }
    },
  };
}
