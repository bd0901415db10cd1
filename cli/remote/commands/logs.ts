import { Command } from 'commander';
import type { Run } from '../../../client/index.ts';
import { isObject, textIn } from '../../../core/json.ts';
import { write } from '../../print.ts';
import { connect } from '../connection.ts';
import { findRun, runHelp } from '../runs/find-run.ts';
import { followToEnd, printEvent, progressOn, requireCleanEnd } from '../runs/follow-run.ts';

interface LogsOptions {
  follow?: true;
  json?: true;
}

export function logsCommand(): Command {
  return new Command('logs')
    .description('print the log of a run')
    .argument('<run>', runHelp)
    .option('-f, --follow', 'continue to the end of the run, and exit with its code')
    .option('--json', 'print one line of JSON per event')
    .action(async (reference: string, options: LogsOptions) => {
      const run = await findRun(await connect(), reference);
      if (options.follow === true) return followLog(run, options);
      return printLog(run, options);
    });
}

async function followLog(run: Run, { json }: LogsOptions): Promise<void> {
  const onEvent = json === true ? printEvent : progressOn(process.stdout, run.runId);
  requireCleanEnd(await followToEnd(run, { onEvent }));
}

async function printLog(run: Run, { json }: LogsOptions): Promise<void> {
  if (json === true) {
    for await (const entry of run.log()) write(JSON.stringify(entry));
    return;
  }
  for await (const { data } of run.log({ channel: 'output' })) {
    process.stdout.write(isObject(data) ? (textIn(data, 'data') ?? '') : '');
  }
}
