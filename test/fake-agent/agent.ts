import { replayFrame } from './frames.ts';
import type { Fields } from './json.ts';
import type { Output } from './output.ts';
import { lifecycle, runOwnTurn, runTurn } from './run-turn.ts';
import type { Session } from './session.ts';
import type { UserMessage } from './user-message.ts';

export interface Agent {
  take(message: UserMessage): void;
  /** Ends the running turn; says which messages still wait. */
  interrupt(): string[];
  /** Resolves when nothing is running, here or in the background, and nothing waits. */
  idle(): Promise<void>;
}

/**
 * Messages wait in a queue; a turn takes all that wait and runs their scripts one after the other.
 * The same uuid runs once: within the process always, and after `--resume` when it was answered before.
 * What a script leaves in the background begins a turn of its own when it ends, between two others.
 */
export function createAgent(session: Session, output: Output): Agent {
  const known = new Set<string>();
  const background = new Set<Promise<void>>();
  let queue: UserMessage[] = [];
  const state: { running?: Promise<void> | undefined } = {};
  let interruption = new AbortController();

  function context() {
    interruption = new AbortController();
    return { session, output, signal: interruption.signal, later };
  }

  async function runQueue() {
    while (queue.length > 0) {
      const messages = queue;
      queue = [];
      await runTurn(messages, context());
    }
    state.running = undefined;
  }

  function later(work: Promise<readonly Fields[]>) {
    const done = work.then(async (steps) => {
      while (state.running !== undefined) await state.running;
      state.running = runOwnTurn(steps, context()).then(runQueue);
      background.delete(done);
    });
    background.add(done);
  }

  return {
    take(message) {
      if (known.has(message.uuid)) return output.frame(replayFrame(message));
      known.add(message.uuid);
      if (session.transcript.answered.has(message.uuid)) {
        output.frame(replayFrame(message));
        return lifecycle(output, message, 'completed');
      }
      lifecycle(output, message, 'queued');
      queue.push(message);
      state.running ??= runQueue();
    },
    interrupt() {
      interruption.abort();
      return queue.map((message) => message.uuid);
    },
    async idle() {
      while (state.running !== undefined || background.size > 0) {
        await (state.running ?? Promise.race(background));
      }
    },
  };
}
