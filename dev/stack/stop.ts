// `npm run stop` stops the stacks that stay up: that of the demo, and that of `npm test -- <file>`.
// `npm run stop -- <name>` stops one, such as `test` or `bench` after FLOWRUN_KEEP=1.

import { print } from '../lib/progress.ts';
import { exitWithError, SetupError } from '../lib/setup-error.ts';
import { withStackLock } from './lock.ts';
import { stackNames } from './stack-names.ts';
import { stopStack } from './stop-stack.ts';

await stop(process.argv[2]).catch(exitWithError);

async function stop(name: string | undefined): Promise<void> {
  const known = Object.values(stackNames);
  if (name !== undefined && !known.includes(name)) {
    throw new SetupError(`There is no stack ${name}; the stacks are ${known.join(', ')}.`);
  }
  const names = name === undefined ? [stackNames.demo, stackNames.testFiles] : [name];
  const stopped: string[] = [];
  for (const one of names) stopped.push(...(await withStackLock(one, () => stopStack(one))));
  print(stopped.length === 0 ? 'Nothing was running.' : `Stopped: ${stopped.join(', ')}.`);
}
