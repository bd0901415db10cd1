import { demoName } from './demo-stack.ts';
import { failWith } from './failure.ts';
import { withStackLock } from './lock.ts';
import { say } from './progress.ts';
import { stopStack } from './stop-stack.ts';

await stop().catch(failWith);

async function stop(): Promise<void> {
  const ended = await withStackLock(demoName, () => stopStack(demoName));
  say(ended.length === 0 ? 'Nothing was running.' : `Ended: ${ended.join(', ')}.`);
}
