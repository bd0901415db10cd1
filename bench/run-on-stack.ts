// `npm run bench` measures on a separate stack. Only one bench may run at a time, because two would
// disturb each other. Arguments are checked before anything is started.

import { join } from 'node:path';
import { repository } from '../dev/lib/folders.ts';
import { exitWithError, SetupError } from '../dev/lib/setup-error.ts';
import { ensureGvisorEngine } from '../dev/stack/servers/gvisor-engine.ts';
import { ensureTemporalServer, stopTemporalServer } from '../dev/stack/servers/temporal-server.ts';
import { stackNames } from '../dev/stack/stack-names.ts';
import { runInForeground } from '../dev/test-runner/run-in-foreground.ts';
import { type TestStack, withFreshStack } from '../dev/test-runner/test-stack-runner.ts';
import { type BenchOptions, readArguments } from './arguments.ts';
import { readRehearsalArguments, rehearsalCommand } from './rehearsal/arguments.ts';
import { scenarios } from './scenarios/index.ts';

const program = join(repository, 'bench/main.ts');
const rehearsal = join(repository, 'bench/rehearsal/main.ts');

/** Installations store everything on disk, so Temporal does so too when time is measured. */
const durable = { inMemory: false };

const [first, ...others] = process.argv.slice(2);
await (first === rehearsalCommand ? rehearse(others) : bench(process.argv.slice(2))).catch(
  exitWithError,
);

async function rehearse(args: string[]): Promise<void> {
  readRehearsalArguments(args);
  const run = ({ env, signal }: TestStack) =>
    runInForeground(process.execPath, [rehearsal, ...args], { env, signal });
  const code = await withFreshStack(stackNames.bench, run, durable);
  process.exitCode = code === 0 ? 0 : 1;
}

async function bench(args: string[]): Promise<void> {
  const options = readArguments(args, scenarios);
  const run = async (stack: TestStack): Promise<number> => {
    try {
      const env = { ...stack.env, ...(await otherServers(stack, options)) };
      const { signal } = stack;
      return await runInForeground(process.execPath, [program, ...args], { env, signal });
    } finally {
      await stopTemporalServer(stack.folders);
    }
  };
  const code = await withFreshStack(stackNames.bench, run, durable);
  process.exitCode = code === 0 ? 0 : 1;
}

async function otherServers(
  { folders, env }: TestStack,
  { runtime, temporal }: BenchOptions,
): Promise<Record<string, string>> {
  const postgresUrl = env['TEST_POSTGRES_URL'] ?? '';
  return {
    ...(temporal === 'postgres'
      ? { TEST_TEMPORAL_ADDRESS: await ensureTemporalServer(folders, postgresUrl) }
      : {}),
    ...(runtime === 'runsc' ? await gvisorEngine({ folders, env }) : {}),
  };
}

async function gvisorEngine({ folders, env }: Pick<TestStack, 'folders' | 'env'>) {
  const { socket, reason } = await ensureGvisorEngine({
    folders,
    stackSocket: (env['TEST_DOCKER_HOST'] ?? '').slice('unix://'.length),
    images: [env['TEST_SANDBOX_IMAGE'], env['TEST_SCRIPTED_IMAGE']].filter(
      (tag) => tag !== undefined,
    ),
  });
  if (socket === undefined) throw new SetupError(`No engine here has gVisor: ${reason}.`);
  return { TEST_DOCKER_HOST: `unix://${socket}`, TEST_SANDBOX_RUNTIME: 'runsc' };
}
