// `npm run stop` ends the demo's stack; `npm run stop -- test`, or `bench`, one that FLOWRUN_KEEP=1 left behind.

import { demoName } from '../demo/demo-stack.ts';
import { print } from '../lib/progress.ts';
import { exitWithError, SetupError } from '../lib/setup-error.ts';
import { withStackLock } from './lock.ts';
import { stopStack } from './stop-stack.ts';

const stacks = [demoName, 'test', 'bench'];

await stop().catch(exitWithError);

async function stop(): Promise<void> {
  const [stack = demoName] = process.argv.slice(2);
  if (!stacks.includes(stack))
    throw new SetupError(`There is no stack ${stack}, only ${stacks.join(', ')}.`);
  const ended = await withStackLock(stack, () => stopStack(stack));
  print(ended.length === 0 ? 'Nothing was running.' : `Ended: ${ended.join(', ')}.`);
}
