import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import type { RunOptions } from '../../../client/index.ts';
import { budgetUsd, wholeNumber } from '../../parse-options.ts';
import { connect } from '../connection.ts';
import { findFlowId } from '../find-flow.ts';
import { readInputFiles } from '../read-input-files.ts';
import { list, type Pairs, pair } from '../remote-options.ts';
import { type FollowOptions, startAndFollow, withFollowOptions } from '../runs/start-and-follow.ts';

interface RunCommandOptions extends FollowOptions {
  input?: Pairs;
  label?: Pairs;
  env?: Pairs;
  file?: string[];
  name?: string;
  model?: string;
  maxBudgetUsd?: number;
  maxTurns?: number;
  timeoutSeconds?: number;
}

export function runCommand(): Command {
  const command = new Command('run')
    .description('start a run and follow it to its end')
    .argument('<flow>', 'name or ID of the flow, or a unique prefix')
    .argument('[prompt]', "the task; - reads it from standard input (default: the flow's prompt)")
    .option('-f, --file <path>', 'send a file or folder; repeatable', list)
    .option('-i, --input <name=value>', 'FLOW_CTX_<NAME> of the agent; repeatable', pair)
    .option('-e, --env <name=value>', 'environment variable of the agent; repeatable', pair)
    .option('-l, --label <name=value>', 'label of the run; repeatable', pair)
    .option('--name <text>', 'name of the run')
    .option('--model <model>', 'model of the agent')
    .option('--max-budget-usd <usd>', 'limit of the cost', budgetUsd)
    .option('--max-turns <n>', "limit of the agent's rounds", wholeNumber(1, 100_000))
    .option('--timeout-seconds <n>', 'time limit of the run', wholeNumber(1, 10_000_000));
  return withFollowOptions(command).action(startRun);
}

async function startRun(
  flow: string,
  prompt: string | undefined,
  options: RunCommandOptions,
): Promise<void> {
  const request = await requestOf(prompt, options);
  const { flowrun, url } = await connect();
  const flowId = await findFlowId(flowrun, flow);
  await startAndFollow({ url, start: () => flowrun.run(flowId, request) }, options);
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
