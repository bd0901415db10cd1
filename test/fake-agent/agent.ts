import { initFrame, noteFrame, replayFrame } from './frames.ts';
import type { Fields } from './json.ts';
import type { Output } from './output.ts';
import { runSteps } from './run-steps.ts';
import { findSteps } from './script.ts';
import type { Session } from './session.ts';
import { closeTurn, startTurn, type Turn, TurnEnded } from './turn.ts';
import type { UserMessage } from './user-message.ts';

export interface Agent {
  take(message: UserMessage): void;
  /** Ends the running turn; says which messages still wait. */
  interrupt(): string[];
  /** Resolves when nothing is running and nothing waits. */
  idle(): Promise<void>;
}

/**
 * Messages wait in a queue; a turn takes all that wait and runs their scripts one after the other.
 * The same uuid runs once: within the process always, and after `--resume` when it was answered before.
 */
export function createAgent(session: Session, output: Output): Agent {
  const known = new Set<string>();
  let queue: UserMessage[] = [];
  let running: Promise<void> | undefined;
  let interruption = new AbortController();

  async function runQueue() {
    while (queue.length > 0) {
      const messages = queue;
      queue = [];
      interruption = new AbortController();
      await runTurn(messages, { session, output, signal: interruption.signal });
    }
    running = undefined;
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
      running ??= runQueue();
    },
    interrupt() {
      interruption.abort();
      return queue.map((message) => message.uuid);
    },
    async idle() {
      await running;
    },
  };
}

interface TurnContext {
  session: Session;
  output: Output;
  signal: AbortSignal;
}

async function runTurn(messages: readonly UserMessage[], context: TurnContext): Promise<void> {
  const { session, output, signal } = context;
  const text = messages.map((message) => message.text).join('\n');
  const last = messages.at(-1) ?? { uuid: output.newId(), text };
  if (session.messages.length === 0) session.transcript.addSystemPrompt(session.systemPrompt);
  for (const message of messages) {
    if (message !== last) output.frame(replayFrame(message));
    session.transcript.addMessage(message);
    session.messages.push(message.text);
  }
  for (const message of messages) lifecycle(output, message, 'started');
  output.frame(initFrame(session));
  output.frame(replayFrame({ uuid: last.uuid, text }));
  const turn = startTurn({ session, output, signal, inputLength: text.length });
  const state = await runScripts(messages, turn);
  for (const message of messages) lifecycle(output, message, state);
  if (turn.exitAfterResult !== undefined) process.exit(turn.exitAfterResult);
}

async function runScripts(messages: readonly UserMessage[], turn: Turn) {
  try {
    for (const { text } of messages) await runSteps(stepsOf(text), turn);
    closeTurn(turn, { subtype: 'success' });
    return 'completed';
  } catch (error) {
    if (turn.signal.aborted) turn.output.frame(noteFrame('[Request interrupted by user]'));
    const subtype = error instanceof TurnEnded ? error.subtype : 'error_during_execution';
    closeTurn(turn, { subtype, errors: [error instanceof Error ? error.message : String(error)] });
    return turn.signal.aborted ? 'cancelled' : 'completed';
  }
}

/** Without a script the message comes back as it is. */
function stepsOf(text: string): Fields[] {
  return findSteps(text) ?? [{ say: text }];
}

type LifecycleState = 'queued' | 'started' | 'completed' | 'cancelled';

function lifecycle(output: Output, { uuid }: UserMessage, state: LifecycleState): void {
  output.frame({ type: 'command_lifecycle', command_uuid: uuid, state });
}
