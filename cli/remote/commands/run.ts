import { text } from 'node:stream/consumers';
import { Command, Option } from 'commander';
import type { Run, RunDetails, RunEvent, RunOptions } from '../../../client/index.ts';
import { CliError } from '../../format-error.ts';
import { budgetUsd, wholeNumber } from '../../parse-options.ts';
import { note, write } from '../../print.ts';
import { connect, rememberRun } from '../connection.ts';
import { exitCodes } from '../exit-codes.ts';
import { findFlowId } from '../find-flow.ts';
import { shortId } from '../find-run.ts';
import {
  followToEnd,
  noteQuestions,
  printAnswer,
  printEvent,
  progressOn,
  requireCleanEnd,
} from '../follow-run.ts';
import { type Interrupts, watchInterrupts } from '../interrupts.ts';
import { readInputFiles } from '../read-input-files.ts';
import { list, type Pairs, pair } from '../remote-options.ts';

interface RunCommandOptions {
  follow?: true;
  wait?: true;
  detach?: true;
  pull?: string;
  input?: Pairs;
  label?: Pairs;
  env?: Pairs;
  file?: string[];
  name?: string;
  model?: string;
  maxBudgetUsd?: number;
  maxTurns?: number;
  timeoutSeconds?: number;
  stopOnInterrupt?: true;
  json?: true;
}

export function runCommand(): Command {
  return new Command('run')
    .description('start a run and follow it to its end')
    .argument('<flow>', 'name or ID of the flow, or a unique prefix')
    .argument('[prompt]', "the task; - reads it from standard input (default: the flow's prompt)")
    .addOption(new Option('--follow', 'show the progress (default)').conflicts(['wait', 'detach']))
    .addOption(new Option('--wait', 'wait silently').conflicts('detach'))
    .option('--detach', 'do not wait; print the ID of the run')
    .option('--pull <folder>', 'download the files of the run after its end')
    .option('-f, --file <path>', 'send a file or folder; repeatable', list)
    .option('-i, --input <name=value>', 'FLOW_CTX_<NAME> of the agent; repeatable', pair)
    .option('-e, --env <name=value>', 'environment variable of the agent; repeatable', pair)
    .option('-l, --label <name=value>', 'label of the run; repeatable', pair)
    .option('--name <text>', 'name of the run')
    .option('--model <model>', 'model of the agent')
    .option('--max-budget-usd <usd>', 'limit of the cost', budgetUsd)
    .option('--max-turns <n>', "limit of the agent's rounds", wholeNumber(1, 100_000))
    .option('--timeout-seconds <n>', 'limit of the duration', wholeNumber(1, 10_000_000))
    .option('--stop-on-interrupt', 'stop the run on Ctrl-C or SIGTERM, for scripts and CI')
    .option('--json', 'print JSON; with --follow one line per event')
    .action(startRun);
}

async function startRun(
  flow: string,
  prompt: string | undefined,
  options: RunCommandOptions,
): Promise<void> {
  const request = await requestOf(prompt, options);
  const { flowrun, url } = await connect();
  const flowId = await findFlowId(flowrun, flow);
  const { stopOnInterrupt = false } = options;
  const interrupts = watchInterrupts('SIGINT', ...(stopOnInterrupt ? ['SIGTERM' as const] : []));
  try {
    const run = await flowrun.run(flowId, request);
    rememberRun(url, run.runId);
    if (options.detach === true) return printDetached(run, options);
    if (options.json !== true) note(`Run ${run.runId}`);
    const ended = await waitForEnd(run, options, interrupts);
    await finish(run, ended, options);
  } finally {
    interrupts.close();
  }
}

async function requestOf(
  prompt: string | undefined,
  options: RunCommandOptions,
): Promise<RunOptions> {
  const { input, label, file, env, name, model, maxBudgetUsd, maxTurns, timeoutSeconds } = options;
  const given = {
    prompt: prompt === '-' ? await text(process.stdin) : prompt,
    labels: label,
    context: input,
    env,
    files: file === undefined ? undefined : readInputFiles(file),
    name,
    model,
    maxBudgetUsd,
    maxTurns,
    timeoutSeconds,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function printDetached(run: Run, { json }: RunCommandOptions): void {
  if (json === true) return write(JSON.stringify(run.record));
  write(run.runId);
  note(`Follow it: flowrun logs -f ${shortId(run.runId)}`);
}

/** How long the command waits for a second Ctrl-C after the first. */
const detachDelayMs = 5_000;

async function waitForEnd(
  run: Run,
  options: RunCommandOptions,
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

function onEventOf({ runId }: Run, { json, wait }: RunCommandOptions): (event: RunEvent) => void {
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

async function finish(run: Run, ended: RunDetails, options: RunCommandOptions): Promise<void> {
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
