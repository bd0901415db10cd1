import { Command } from 'commander';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { connect } from '../connection.ts';
import { readInputFiles } from '../read-input-files.ts';
import { list, type Pairs, pair } from '../remote-options.ts';
import { findRun, runHelp } from '../runs/find-run.ts';
import { type FollowOptions, startAndFollow, withFollowOptions } from '../runs/start-and-follow.ts';

interface RetryOptions extends FollowOptions {
  input?: Pairs;
  env?: Pairs;
  file?: string[];
}

export function retryCommand(): Command {
  const command = new Command('retry')
    .description('start an ended run again, with its flow as it is now, and follow it to its end')
    .argument('<run>', runHelp)
    .argument('[prompt]', 'a different prompt (default: that of the run)')
    .option('-f, --file <path>', 'also send a file or folder; repeatable', list)
    .option(
      '-i, --input <name=value>',
      'its FLOW_CTX_<NAME> variable, which is not stored; repeatable',
      pair,
    )
    .option(
      '-e, --env <name=value>',
      'environment variable of the agent, which is not stored; repeatable',
      pair,
    );
  return withFollowOptions(command).action(retry);
}

async function retry(
  reference: string,
  prompt: string | undefined,
  options: RetryOptions,
): Promise<void> {
  const { input, env, file } = options;
  const files = file && readInputFiles(file);
  const request = omitUndefined({ prompt, context: input, env, files });
  const connection = await connect();
  const run = await findRun(connection, reference);
  await startAndFollow({ url: connection.url, start: () => run.retry(request) }, options);
}
