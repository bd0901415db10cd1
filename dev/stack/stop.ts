// `npm run stop` ends the demo's stack; `npm run stop -- test`, or `bench`, one that FLOWRUN_KEEP=1 left behind.

import { demoName } from '../demo/demo-stack.ts';
import { say } from '../lib/progress.ts';
import { CannotGoOn, failWith } from '../lib/setup-error.ts';
import { withStackLock } from './lock.ts';
import { stopStack } from './stop-stack.ts';

const stacks = [demoName, 'test', 'bench'];

await stop().catch(failWith);

async function stop(): Promise<void> {
  const [stack = demoName] = process.argv.slice(2);
  if (!stacks.includes(stack))
    throw new CannotGoOn(`There is no stack ${stack}, only ${stacks.join(', ')}.`);
  const ended = await withStackLock(stack, () => stopStack(stack));
  say(ended.length === 0 ? 'Nothing was running.' : `Ended: ${ended.join(', ')}.`);
}
