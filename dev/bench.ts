// The service against its limits, on a stack of its own, one bench at a time: two at once would measure
// each other. Ends with exit code 1 where a target is missed.

import { join } from 'node:path';
import { onFreshStack } from './checked-stack.ts';
import { failWith } from './failure.ts';
import { repository } from './folders.ts';
import { show } from './test-steps.ts';

const program = join(repository, 'bench/main.ts');

await onFreshStack('bench', ({ env, signal }) => {
  const args = ['--import', 'tsx', program, ...process.argv.slice(2)];
  return show(process.execPath, args, { env, signal });
})
  .then((code) => {
    process.exitCode = code === 0 ? 0 : 1;
  })
  .catch(failWith);
