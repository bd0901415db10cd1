import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { countTasks } from '../background.ts';
import { fieldsAt, isFields, numberAt, textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';

const lookEveryMs = 20;
const longMs = 2 ** 31 - 1;

/** Waiting; an interrupt ends all of it but what waits in the background. */
export const waitingSteps: Handlers = {
  sleepMs: (step, { signal }) => sleep(numberAt(step, 'sleepMs'), undefined, { signal }),
  hang: (_, { signal }) => sleep(longMs, undefined, { signal }),
  /** Begins a turn of its own after a while: `{"background":{"sleepMs":n,"steps":[…]}}`. */
  background: (step, turn) => {
    const fields = fieldsAt(step, 'background');
    const steps = Array.isArray(fields['steps']) ? fields['steps'].filter(isFields) : [];
    countTasks(turn, 1);
    turn.output.frame({ type: 'system', subtype: 'task_started', is_backgrounded: true });
    turn.later(sleep(numberAt(fields, 'sleepMs'), steps));
  },
  /** Goes on when the file is there: whoever makes it decides when. */
  waitForFile: async (step, { signal }) => {
    const path = textAt(step, 'waitForFile');
    while (!existsSync(path)) await sleep(lookEveryMs, undefined, { signal });
  },
};
