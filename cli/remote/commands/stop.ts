import { Command } from 'commander';
import { note, write } from '../../print.ts';
import { connect } from '../connection.ts';
import { findRun } from '../find-run.ts';

export function stopCommand(): Command {
  return new Command('stop')
    .description('stop a run')
    .argument('<run>', 'ID or unique prefix, name, or @ for the last one')
    .option('--json', 'print JSON')
    .action(async (reference: string, { json }: { json?: true }) => {
      const run = await findRun(await connect(), reference);
      const record = await run.stop();
      if (json === true) return write(JSON.stringify(record));
      note(`Run ${run.runId} ${record.finishedAt === null ? 'is stopping' : 'has ended'}.`);
    });
}
