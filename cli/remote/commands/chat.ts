import { Command } from 'commander';
import type { PendingTurn, RunEvent, Session } from '../../../client/index.ts';
import { CliError } from '../../format-error.ts';
import { note } from '../../print.ts';
import { askQuestions } from '../ask-questions.ts';
import { connect, rememberRun } from '../connection.ts';
import { exitCodes } from '../exit-codes.ts';
import { findFlowId } from '../find-flow.ts';
import { openLines } from '../read-lines.ts';
import { printEvent } from '../runs/follow-run.ts';
import { toolLines } from '../runs/tool-lines.ts';

interface ChatOptions {
  session?: string;
  json?: true;
}

export function chatCommand(): Command {
  return new Command('chat')
    .description('talk with a flow; each line is a message')
    .argument('<flow>', 'name or ID of the flow, or a unique prefix')
    .argument('[message]', 'send only this message')
    .option('--session <id>', 'continue this session, or open it (default: a new one)')
    .option('--json', 'print one line of JSON per event')
    .action(chat);
}

async function chat(flow: string, message: string | undefined, options: ChatOptions) {
  const { flowrun, url } = await connect();
  const flowId = await findFlowId(flowrun, flow);
  const { session: id } = options;
  const session = await flowrun.session(flowId, {
    ...(id === undefined ? {} : { id }),
    partialMessages: true,
  });
  rememberRun(url, session.run.runId);
  note(`Session ${session.sessionId}`);
  const lines = openLines();
  const conversation = { session, lines, options };
  try {
    const code =
      message === undefined ? await talk(conversation) : await takeTurn(conversation, message);
    if (code !== 0) throw new CliError('The last turn has failed.', { exitCode: code });
  } finally {
    lines.close();
  }
}

interface Conversation {
  session: Session;
  lines: ReturnType<typeof openLines>;
  options: ChatOptions;
}

/** Until the end of the input, or Ctrl-C between two turns. */
async function talk(conversation: Conversation): Promise<number> {
  let code = 0;
  for (;;) {
    const line = await conversation.lines.read('> ');
    if (line === null) return code;
    if (line.trim() !== '') code = await takeTurn(conversation, line);
  }
}

/** Ctrl-C interrupts the turn. The result is the exit code. */
async function takeTurn(conversation: Conversation, message: string): Promise<number> {
  const { session, lines } = conversation;
  let interrupts = 0;
  const onInterrupt = (): void => {
    interrupts += 1;
    if (interrupts > 1) process.exit(exitCodes.interrupted);
    note('\nInterrupting the turn. Press Ctrl-C again to leave.');
    session.run.interrupt().catch(() => undefined);
  };
  lines.interruptWith(onInterrupt);
  try {
    const code = await showTurn(conversation, session.send(message));
    if (interrupts > 0) note('The turn has been interrupted.');
    return code;
  } finally {
    lines.interruptWith(null);
  }
}

async function showTurn(
  { session, lines, options }: Conversation,
  turn: PendingTurn,
): Promise<number> {
  const { createTextReader } = await import('../../../client/sessions/turn-text.ts');
  const readText = createTextReader();
  let isLineOpen = false;
  let code = 0;
  const show = (event: RunEvent): void => {
    if (options.json === true) return printEvent(event);
    for (const text of readText(event)) {
      process.stdout.write(text);
      isLineOpen = !text.endsWith('\n');
    }
    for (const line of toolLines(event)) note(line);
  };
  for await (const event of turn.events()) {
    show(event);
    if (event.type === 'interaction')
      await session.run.answer(event, await askQuestions(event.data.questions, lines.read));
    if (event.type === 'turn_end') code = endOf(event.data);
  }
  if (isLineOpen) process.stdout.write('\n');
  return code;
}

function endOf({ exitCode, error }: { exitCode: number; error?: string }): number {
  if (error !== undefined) note(`The turn has ended: ${error}`);
  return exitCode === 0 ? 0 : exitCodes.agentError;
}
