import { type Fields } from './json.ts';
import { askingSteps } from './steps/asking.ts';
import { brokenSteps } from './steps/broken.ts';
import { endingSteps } from './steps/ending.ts';
import { fileSteps } from './steps/files.ts';
import { floodSteps } from './steps/flood.ts';
import { networkSteps } from './steps/network.ts';
import { shellSteps } from './steps/shell.ts';
import { speechSteps } from './steps/speech.ts';
import { waitingSteps } from './steps/waiting.ts';
import type { Turn } from './turn.ts';

/** Does one step of a script. A step is an object; the handler is the one named by one of its fields. */
export type Handler = (step: Fields, turn: Turn) => void | Promise<void>;
export type Handlers = Readonly<Record<string, Handler>>;

const handlers: Handlers = {
  ...speechSteps,
  ...fileSteps,
  ...shellSteps,
  ...networkSteps,
  ...floodSteps,
  ...waitingSteps,
  ...askingSteps,
  ...endingSteps,
  ...brokenSteps,
};

export async function runSteps(steps: readonly Fields[], turn: Turn): Promise<void> {
  for (const step of steps) {
    turn.signal.throwIfAborted();
    await handlerOf(step)(step, turn);
  }
}

function handlerOf(step: Fields): Handler {
  for (const name of Object.keys(step)) {
    const handler = handlers[name];
    if (handler !== undefined && Object.hasOwn(handlers, name)) return handler;
  }
  throw new Error(`no step is called ${Object.keys(step).join(', ')}`);
}
