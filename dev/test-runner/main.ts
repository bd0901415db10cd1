// Every check there is, on a stack of its own: format, lint, types, then all tests, and those of
// sandboxes once more on gVisor.

import { join } from 'node:path';
import { ensureBrowser } from '../stack/servers/browser.ts';
import { ensureGvisorEngine } from '../stack/servers/gvisor-engine.ts';
import { asksForGvisorTests } from './gvisor-tests.ts';
import { runOnTestStack, type TestStack } from './test-stack-runner.ts';
import { runChecks, runTests, type Tally } from './test-steps.ts';

const args = process.argv.slice(2);
const nothing = 'none of them on gVisor:';
const pathOf = (dockerHost = ''): string => dockerHost.slice('unix://'.length);

await runOnTestStack('test', async ({ folders, env, signal }) => {
  const checks = await runChecks(signal);
  const resultFile = join(folders.data, 'tests.json');
  const withBrowser = { ...env, TEST_BROWSER: await ensureBrowser() };
  const tests = await runTests({ env: withBrowser, resultFile, args, signal });
  return [checks, tests, await runOnGvisor({ folders, env: withBrowser, signal })];
});

/** Never passed over in silence: what comes of it is said beside the count. */
async function runOnGvisor({ folders, env, signal }: TestStack): Promise<Tally> {
  const none = { passed: 0, failed: 0 };
  if (!asksForGvisorTests(args))
    return { ...none, note: `${nothing} no test of sandboxes was asked for` };
  const { socket, reason: whyNot } = await ensureGvisorEngine({
    folders,
    stackSocket: pathOf(env['TEST_DOCKER_HOST']),
    images: [env['TEST_SANDBOX_IMAGE'], env['TEST_SCRIPTED_IMAGE']].filter(
      (tag) => tag !== undefined,
    ),
  });
  if (socket === undefined) return { ...none, note: `${nothing} ${whyNot}` };
  const onGvisor = { TEST_DOCKER_HOST: `unix://${socket}`, TEST_SANDBOX_RUNTIME: 'runsc' };
  const { passed, failed } = await runTests({
    title: 'tests of sandboxes, on gVisor',
    env: { ...env, ...onGvisor },
    resultFile: join(folders.data, 'gvisor-tests.json'),
    args: ['--project', 'gvisor', ...args],
    signal,
  });
  return { passed, failed, note: `${passed + failed} of them on gVisor` };
}
