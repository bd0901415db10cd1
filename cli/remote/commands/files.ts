import { Command } from 'commander';
import type { FileEntry, FlowFiles, RunFiles } from '../../../client/index.ts';
import { UsageError } from '../../format-error.ts';
import { note, printTable } from '../../print.ts';
import { connect } from '../connection.ts';
import { findFlowId } from '../find-flow.ts';
import { readInputFiles } from '../read-input-files.ts';
import { findRun, runHelp } from '../runs/find-run.ts';

export function filesCommand(): Command {
  return new Command('files')
    .description('read and change the files of a run, or those that runs of a flow start with')
    .addCommand(listFiles())
    .addCommand(printFile())
    .addCommand(pullFiles())
    .addCommand(pushFiles());
}

interface FilesOptions {
  flow?: string;
}

/** An argument that may be missing. */
type Word = string | undefined;

type Files = RunFiles | FlowFiles;

const runOrFirst = `${runHelp}; not with --flow`;

const listFiles = (): Command =>
  withFlow(new Command('ls'))
    .description('list the files')
    .argument('[run]', runOrFirst)
    .argument('[prefix]', 'only paths that begin with this')
    .option('--json', 'print JSON')
    .action(async (first: Word, second: Word, options: FilesOptions & { json?: true }) => {
      const { files, rest } = await filesIn([first, second], options);
      const entries: FileEntry[] = [];
      for await (const file of files.list(filterOf(rest[0]))) entries.push(file);
      printTable(entries, ['size', 'modifiedAt', 'path'], options);
    });

const printFile = (): Command =>
  withFlow(new Command('cat'))
    .description('print a file')
    .argument('[run]', runOrFirst)
    .argument('[path]', 'path in the working directory')
    .action(async (first: Word, second: Word, options: FilesOptions) => {
      const { files, rest } = await filesIn([first, second], options);
      const [path] = rest;
      if (path === undefined) throw new UsageError('Pass the path of the file.');
      process.stdout.write(await files.read(path));
    });

const pullFiles = (): Command =>
  withFlow(new Command('pull'))
    .description('download the files into a folder')
    .argument('[run]', runOrFirst)
    .argument('[folder]', 'the folder (default: the current one)')
    .option('--prefix <prefix>', 'only paths that begin with this')
    .action(async (first: Word, second: Word, options: FilesOptions & { prefix?: string }) => {
      const { files, rest } = await filesIn([first, second], options);
      const [folder = '.'] = rest;
      const paths = await files.pull(folder, filterOf(options.prefix));
      note(`${paths.length} files are in ${folder}.`);
    });

const pushFiles = (): Command =>
  withFlow(new Command('push'))
    .description('add files and folders, or replace those with the same path')
    .argument('<paths...>', 'the run, unless --flow is given, and then the files and folders')
    .action(async (words: string[], options: FilesOptions) => {
      const paths = options.flow === undefined ? words.slice(1) : words;
      if (paths.length === 0) throw new UsageError('Pass the files and folders to send.');
      const sent = readInputFiles(paths);
      const { files } = await filesIn(words, options);
      await files.add(sent);
      note(`${sent.length} files sent.`);
    });

const withFlow = (command: Command): Command =>
  command.option('--flow <flow>', 'the files of this flow, instead of those of a run');

/** Without `--flow` the first word is the run. */
async function filesIn(
  words: Word[],
  { flow }: FilesOptions,
): Promise<{ files: Files; rest: Word[] }> {
  const [first, ...others] = words;
  if (flow !== undefined) {
    const { flowrun } = await connect();
    return { files: flowrun.flowFiles(await findFlowId(flowrun, flow)), rest: words };
  }
  if (first === undefined) throw new UsageError('Pass a run, or a flow with --flow.');
  return { files: (await findRun(await connect(), first)).files, rest: others };
}

const filterOf = (prefix: string | undefined) => (prefix === undefined ? {} : { prefix });
