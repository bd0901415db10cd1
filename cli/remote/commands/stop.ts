import { Command } from 'commander';
import type { Run, RunRecord } from '../../../client/index.ts';
import { note, write } from '../../print.ts';
import { connect } from '../connection.ts';
import { findRun, runHelp } from '../runs/find-run.ts';

export const stopCommand = (): Command =>
  changing({ name: 'stop', description: 'stop a run' }, (run) => run.stop());

export const interruptCommand = (): Command =>
  changing(
    { name: 'interrupt', description: 'end the current turn of a session, or a run' },
    (run) => run.interrupt(),
  );

function changing(
  { name, description }: { name: string; description: string },
  change: (run: Run) => Promise<RunRecord>,
): Command {
  return new Command(name)
    .description(description)
    .argument('<run>', runHelp)
    .option('--json', 'print JSON')
    .action(async (reference: string, { json }: { json?: true }) => {
      const run = await findRun(await connect(), reference);
      const record = await change(run);
      if (json === true) return write(JSON.stringify(record));
      note(`Run ${run.runId} ${stateOf(record)}.`);
    });
}

function stateOf({ finishedAt, stopping }: RunRecord): string {
  if (finishedAt !== null) return 'has ended';
  return stopping === true ? 'is stopping' : 'is interrupted';
}
