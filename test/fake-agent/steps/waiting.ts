import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { numberAt, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';

const lookEveryMs = 20;
const longMs = 2 ** 31 - 1;

/** Waiting; an interrupt ends all of it. */
export const waitingSteps: Handlers = {
  sleepMs: (step, { signal }) => sleep(numberAt(step, 'sleepMs'), undefined, { signal }),
  hang: (_, { signal }) => sleep(longMs, undefined, { signal }),
  /** Goes on when the file is there: whoever makes it decides when. */
  waitForFile: async (step, { signal }) => {
    const path = textAt(step, 'waitForFile');
    while (!existsSync(path)) await sleep(lookEveryMs, undefined, { signal });
  },
};
