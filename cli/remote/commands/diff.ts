import { Command } from 'commander';
import type { FileChange } from '../../../client/index.ts';
import { printTable, write } from '../../print.ts';
import { connect } from '../connection.ts';
import { findRun, runHelp } from '../runs/find-run.ts';

export function diffCommand(): Command {
  return new Command('diff')
    .description('print what a run has changed in its files, as a patch for `git apply`')
    .argument('<run>', runHelp)
    .argument('[prefix]', 'only paths that begin with this')
    .option('--stat', 'list the changed files instead')
    .option('--json', 'list the changed files as JSON')
    .action(
      async (
        reference: string,
        prefix: string | undefined,
        options: { stat?: true; json?: true },
      ) => {
        const { changes } = await findRun(await connect(), reference);
        const filter = prefix === undefined ? {} : { prefix };
        if (options.stat !== true && options.json !== true) {
          process.stdout.write(await changes.patch(filter));
          return;
        }
        const list: FileChange[] = [];
        for await (const change of changes.list(filter)) list.push(change);
        if (options.json === true) return write(JSON.stringify(list));
        printTable(list, ['status', 'path'], {});
      },
    );
}
