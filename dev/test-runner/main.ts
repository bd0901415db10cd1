// `npm test` runs every check and test on a fresh stack. With files or `--project`, it runs that
// part alone, on a stack that stays up, or on none if the part needs none.

import { join } from 'node:path';
import { print } from '../lib/progress.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { commandHint } from '../stack/command-hint.ts';
import { ensureBrowser } from '../stack/servers/browser.ts';
import { ensureGvisorEngine } from '../stack/servers/gvisor-engine.ts';
import { ensurePromtool } from '../stack/servers/promtool.ts';
import { gvisorTestFiles } from './gvisor-tests.ts';
import { ensurePython } from './python/ensure-python.ts';
import { abortOnSignals } from './run-in-foreground.ts';
import { runTests } from './run-tests.ts';
import { needsStack, type Selection, selectTests } from './select-tests.ts';
import { runStaticChecks } from './static-checks.ts';
import { reportTallies, type Tally } from './tally.ts';
import { runOnReusedStack, runOnTestStack, type TestStack } from './test-stack-runner.ts';
import { runUnitTests } from './unit-tests.ts';

const args = process.argv.slice(2);

await test().catch(exitWithError);

async function test(): Promise<void> {
  const selection = selectTests(args);
  const isPart = selection.files.length > 0 || selection.project !== undefined;
  if (!isPart) return runOnTestStack('test', runEverything);
  if (needsStack(selection)) return runOnReusedStack((stack) => runPart(stack, selection));
  reportTallies([await runUnitTests(args, abortOnSignals())]);
}

async function runEverything({ folders, env, signal }: TestStack): Promise<Tally[]> {
  const checks = await runStaticChecks(signal);
  const resultFile = join(folders.data, 'tests.json');
  const fullEnv = { ...env, ...(await ensurePrograms()) };
  const tests = await runTests({ env: fullEnv, resultFile, args, signal });
  const onGvisor = await runOnGvisor({ folders, env: fullEnv, signal }, [
    '--project',
    'gvisor',
    ...args,
  ]);
  return [checks, tests, onGvisor];
}

async function runPart(stack: TestStack, selection: Selection): Promise<Tally[]> {
  const env = { ...stack.env, ...(await ensurePrograms()) };
  if (selection.project === 'gvisor') return [await runOnGvisor({ ...stack, env }, args)];
  const resultFile = join(stack.folders.data, 'tests.json');
  const tally = await runTests({ env, resultFile, args, signal: stack.signal });
  const hasGvisorTests = gvisorTestFiles().some((file) => selection.files.includes(file));
  if (hasGvisorTests)
    print(`\n${commandHint('npm test -- --project gvisor')} <file> runs them on gVisor.`);
  return [tally];
}

async function ensurePrograms(): Promise<Record<string, string>> {
  return {
    TEST_BROWSER: await ensureBrowser(),
    TEST_PROMTOOL: await ensurePromtool(),
    TEST_PYTHON: await ensurePython(),
  };
}

/** If no engine here has gVisor, the note above the sums says so. */
async function runOnGvisor(
  { folders, env, signal }: TestStack,
  vitestArgs: string[],
): Promise<Tally> {
  const { socket, reason } = await ensureGvisorEngine({
    folders,
    stackSocket: (env['TEST_DOCKER_HOST'] ?? '').slice('unix://'.length),
    images: [env['TEST_SANDBOX_IMAGE'], env['TEST_SCRIPTED_IMAGE']].filter(
      (tag) => tag !== undefined,
    ),
  });
  if (socket === undefined)
    return { passed: 0, failed: 0, note: `none of them on gVisor: ${reason}` };
  const gvisor = { TEST_DOCKER_HOST: `unix://${socket}`, TEST_SANDBOX_RUNTIME: 'runsc' };
  const { passed, failed } = await runTests({
    title: 'tests of sandboxes, on gVisor',
    env: { ...env, ...gvisor },
    resultFile: join(folders.data, 'gvisor-tests.json'),
    args: vitestArgs,
    signal,
  });
  return { passed, failed, note: `${passed + failed} of them on gVisor` };
}
