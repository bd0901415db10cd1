import { Command } from 'commander';
import type { scheduleState } from '../../core/flows/schedule-state.ts';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { printRecord, printTable, write } from '../print.ts';

/** How many of the next and of the latest starts are shown. */
const shown = 10;

export function showSchedule({ withSchedules, parseReference }: CliDeps): Command {
  return new Command('show')
    .description('show the next and the latest starts of a schedule, and the missed ones')
    .argument('<flow-id>', 'the ID of the flow', parseReference)
    .option('--json', 'print JSON')
    .action((flowId: string, options: { json?: true }) =>
      withSchedules(async ({ findFlow, readState }) => {
        const found = await findFlow(flowId);
        if (found === null) throw new CliError(`No such flow: ${flowId}.`);
        const { schedule } = found;
        if (schedule === null) throw new CliError('The flow has no schedule.');
        print(await readState({ ...found, schedule }), options);
      }),
    );
}

function print(state: ReturnType<typeof scheduleState>, options: { json?: true }): void {
  const nextStarts = state.nextStarts.slice(0, shown);
  const starts = state.starts.slice(0, shown);
  if (options.json === true) return printRecord({ ...state, nextStarts, starts }, options);
  const { nextStarts: _next, starts: _starts, ...record } = state;
  printRecord(record, options);
  write(`\nNext starts: ${nextStarts.join(', ') || 'none'}\n`);
  printTable(starts, ['scheduledAt', 'outcome', 'code', 'runId'], options);
}
