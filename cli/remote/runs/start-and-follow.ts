import { type Command, Option } from 'commander';
import type { Run, RunDetails, RunEvent } from '../../../client/index.ts';
import { CliError } from '../../format-error.ts';
import { note, write } from '../../print.ts';
import { rememberRun } from '../connection.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Interrupts, watchInterrupts } from '../interrupts.ts';
import { shortId } from './find-run.ts';
import {
  followToEnd,
  noteQuestions,
  printAnswer,
  printEvent,
  progressOn,
  requireCleanEnd,
} from './follow-run.ts';

export interface FollowOptions {
  follow?: true;
  wait?: true;
  detach?: true;
  pull?: string;
  stopOnInterrupt?: true;
  json?: true;
}

/** The options of commands that start a run. */
export const withFollowOptions = (command: Command): Command =>
  command
    .addOption(new Option('--follow', 'show the progress (default)').conflicts(['wait', 'detach']))
    .addOption(new Option('--wait', 'wait silently').conflicts('detach'))
    .option('--detach', 'do not wait; print the ID of the run')
    .option('--pull <folder>', 'download the files of the run after its end')
    .option('--stop-on-interrupt', 'stop the run on Ctrl-C or SIGTERM, for scripts and CI')
    .option('--json', 'print JSON; with --follow one line per event');

/** Starts a run and follows it to its end, unless the options or Ctrl-C detach from it. */
export async function startAndFollow(
  { url, start }: { url: string; start: () => Promise<Run> },
  options: FollowOptions,
): Promise<void> {
  const { stopOnInterrupt = false } = options;
  const interrupts = watchInterrupts('SIGINT', ...(stopOnInterrupt ? ['SIGTERM' as const] : []));
  try {
    const run = await start();
    rememberRun(url, run.runId);
    if (options.detach === true) return printDetached(run, options);
    if (options.json !== true) note(`Run ${run.runId}`);
    const ended = await waitForEnd(run, options, interrupts);
    await finish(run, ended, options);
  } finally {
    interrupts.close();
  }
}

function printDetached(run: Run, { json }: FollowOptions): void {
  if (json === true) return write(JSON.stringify(run.record));
  write(run.runId);
  note(`Follow it: flowrun logs -f ${shortId(run.runId)}`);
}

/** How long the command waits for a second Ctrl-C after the first. */
const detachDelayMs = 5_000;

async function waitForEnd(
  run: Run,
  options: FollowOptions,
  interrupts: Interrupts,
): Promise<RunDetails> {
  const { signal } = interrupts;
  const onEvent = onEventOf(run, options);
  try {
    return await followToEnd(run, { signal, onEvent });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (options.stopOnInterrupt !== true) await detachUnlessAgain(run, interrupts);
  note('Stopping the run.');
  await run.stop();
  return followToEnd(run, {});
}

function onEventOf({ runId }: Run, { json, wait }: FollowOptions): (event: RunEvent) => void {
  if (wait === true) return (event) => noteQuestions(event, runId);
  return json === true ? printEvent : progressOn(process.stderr, runId);
}

async function detachUnlessAgain({ runId }: Run, interrupts: Interrupts): Promise<void> {
  const id = shortId(runId);
  note(`\nThe run continues. Follow it: flowrun logs -f ${id}\nStop it: flowrun stop ${id}`);
  note(`Press Ctrl-C again within ${detachDelayMs / 1_000} seconds to stop it now.`);
  if (!(await interrupts.again(detachDelayMs)))
    throw new CliError('', { exitCode: exitCodes.interrupted });
}

async function finish(run: Run, ended: RunDetails, options: FollowOptions): Promise<void> {
  const { json, wait, pull } = options;
  if (json !== true) {
    // A terminal has shown the text already.
    const isShown = wait !== true && process.stdout.isTTY && process.stderr.isTTY;
    if (!isShown || ended.structuredOutput !== null) printAnswer(ended);
  } else if (wait === true) write(JSON.stringify(ended));
  if (pull !== undefined) {
    const paths = await run.files.pull(pull);
    note(`${paths.length} files are in ${pull}.`);
  }
  requireCleanEnd(ended);
}
