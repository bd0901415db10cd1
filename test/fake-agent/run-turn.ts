import { countTasks } from './background.ts';
import { initFrame, noteFrame, replayFrame } from './frames.ts';
import type { Fields } from './json.ts';
import type { Output } from './output.ts';
import { runSteps } from './run-steps.ts';
import { findSteps } from './script.ts';
import { closeTurn, startTurn, type Turn, TurnEnded } from './turn.ts';
import type { UserMessage } from './user-message.ts';

export type TurnContext = Pick<Turn, 'session' | 'output' | 'signal' | 'later'>;

/** A turn for messages, with the lines about their fate around it. */
export async function runTurn(
  messages: readonly UserMessage[],
  context: TurnContext,
): Promise<void> {
  const { session, output } = context;
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
  const turn = startTurn({ ...context, inputLength: text.length });
  const state = await runScripts(messages.map(stepsIn), turn);
  for (const message of messages) lifecycle(output, message, state);
  if (turn.exitAfterResult !== undefined) process.exit(turn.exitAfterResult);
}

/** A turn that nobody asked for by a message: something in the background has ended. */
export async function runOwnTurn(steps: readonly Fields[], context: TurnContext): Promise<void> {
  const { session, output } = context;
  output.frame({ type: 'system', subtype: 'task_notification', status: 'completed' });
  countTasks(context, -1);
  output.frame(initFrame(session));
  const turn = startTurn({ ...context, inputLength: 0 });
  turn.overrides = { origin: { kind: 'task-notification' } };
  await runScripts([() => steps], turn);
}

async function runScripts(scripts: readonly (() => readonly Fields[])[], turn: Turn) {
  try {
    for (const steps of scripts) await runSteps(steps(), turn);
    closeTurn(turn, { subtype: 'success' });
    return 'completed';
  } catch (error) {
    if (turn.signal.aborted) turn.output.frame(noteFrame('[Request interrupted by user]'));
    const subtype = error instanceof TurnEnded ? error.subtype : 'error_during_execution';
    closeTurn(turn, { subtype, errors: [error instanceof Error ? error.message : String(error)] });
    return turn.signal.aborted ? 'cancelled' : 'completed';
  }
}

/** Without a script the message comes back as it is; an unreadable one fails within its turn. */
function stepsIn({ text }: UserMessage): () => readonly Fields[] {
  return () => findSteps(text) ?? [{ say: text }];
}

type LifecycleState = 'queued' | 'started' | 'completed' | 'cancelled';

export function lifecycle(output: Output, { uuid }: UserMessage, state: LifecycleState): void {
  output.frame({ type: 'command_lifecycle', command_uuid: uuid, state });
}
