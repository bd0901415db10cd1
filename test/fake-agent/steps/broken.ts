import { spawn } from 'node:child_process';
import { setImmediate as nextTick } from 'node:timers/promises';
import { numberAt, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';
import { say } from '../turn.ts';

const chunkBytes = 16 * 1024 * 1024;
const chunksPerMegabyte = (1024 * 1024) / chunkBytes;

/** Ways in which an agent behaves badly. */
export const brokenSteps: Handlers = {
  /** Hears neither interrupts nor the end of its input any more. */
  deaf: (_, { session }) => {
    session.isDeaf = true;
    session.neverEnds = true;
  },
  trapTerm: () => {
    process.removeAllListeners('SIGTERM').on('SIGTERM', () => {});
  },
  selfKill: async (step) => {
    process.kill(process.pid, textAt(step, 'selfKill'));
    await nextTick();
  },
  /** Takes memory and keeps it: `true` until killed, a number that many megabytes, "child" in a child process. */
  oom: async (step, turn) => {
    if (step['oom'] === 'child') return say(turn, await hogInChild());
    const megabytes = step['oom'] === true ? Infinity : numberAt(step, 'oom');
    const hoard: Buffer[] = [];
    while (hoard.length < megabytes * chunksPerMegabyte) {
      hoard.push(Buffer.alloc(chunkBytes, 1));
      await nextTick();
    }
    say(turn, `Holding ${hoard.length / chunksPerMegabyte} MB`);
  },
};

const hog = 'const hoard = []; for (;;) hoard.push(Buffer.alloc(16777216, 1));';

async function hogInChild(): Promise<string> {
  const child = spawn(process.execPath, ['-e', hog], { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve(`The child ended with ${signal ?? code}`));
  });
}
