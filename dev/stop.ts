import { demoName } from './demo-stack.ts';
import { failWith } from './failure.ts';
import { foldersOf } from './folders.ts';
import { withStackLock } from './lock.ts';
import { say } from './progress.ts';
import { stopStack } from './stop-stack.ts';

await stop().catch(failWith);

async function stop(): Promise<void> {
  const isOurs = (instance: string) => instance === demoName;
  const ended = await withStackLock(demoName, () =>
    stopStack({ stack: demoName, folders: foldersOf(demoName), isOurs }),
  );
  say(ended.length === 0 ? 'Nothing was running.' : `Ended: ${ended.join(', ')}.`);
}
