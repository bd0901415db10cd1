import { setImmediate as nextTick } from 'node:timers/promises';
import { numberAt } from '../json.ts';
import { randomText } from '../random-text.ts';
import type { Handlers } from '../run-steps.ts';

const linesBetweenTicks = 256;

/** Many assistant lines, as fast as the reader takes them: text `index` of the seed is line `index`. */
export const floodSteps: Handlers = {
  lines: async (step, { output, signal }) => {
    const count = numberAt(step, 'lines');
    const shape = { seed: numberAt(step, 'seed', 1), longEvery: numberAt(step, 'longEvery', 0) };
    for (let index = 0; index < count; index += 1) {
      const content = [{ type: 'text', text: randomText(index, shape) }];
      output.frame({ type: 'assistant', message: { role: 'assistant', content } });
      if (index % linesBetweenTicks === 0) await nextTick(undefined, { signal });
    }
  },
};
