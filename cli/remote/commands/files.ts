import { Command } from 'commander';
import type { FileEntry } from '../../../client/index.ts';
import { note, printTable } from '../../print.ts';
import { connect } from '../connection.ts';
import { findRun, runHelp } from '../find-run.ts';

export function filesCommand(): Command {
  return new Command('files')
    .description('read the files of a run')
    .addCommand(listFiles())
    .addCommand(printFile())
    .addCommand(pullFiles());
}

function listFiles(): Command {
  return new Command('ls')
    .description('list the files')
    .argument('<run>', runHelp)
    .argument('[prefix]', 'only paths that begin with this')
    .option('--json', 'print JSON')
    .action(async (reference: string, prefix: string | undefined, options: { json?: true }) => {
      const run = await findRun(await connect(), reference);
      const files: FileEntry[] = [];
      for await (const file of run.files.list(filterOf(prefix))) files.push(file);
      printTable(files, ['size', 'modifiedAt', 'path'], options);
    });
}

function printFile(): Command {
  return new Command('cat')
    .description('print a file')
    .argument('<run>', runHelp)
    .argument('<path>', 'path in the working directory')
    .action(async (reference: string, path: string) => {
      const run = await findRun(await connect(), reference);
      process.stdout.write(await run.files.read(path));
    });
}

function pullFiles(): Command {
  return new Command('pull')
    .description('download the files into a folder')
    .argument('<run>', runHelp)
    .argument('[folder]', 'the folder', '.')
    .option('--prefix <prefix>', 'only paths that begin with this')
    .action(async (reference: string, folder: string, options: { prefix?: string }) => {
      const run = await findRun(await connect(), reference);
      const paths = await run.files.pull(folder, filterOf(options.prefix));
      note(`${paths.length} files are in ${folder}.`);
    });
}

const filterOf = (prefix: string | undefined) => (prefix === undefined ? {} : { prefix });
