import type { Conversation } from '../conversation.ts';
import { callTool, type MessageReply, message, say } from '../reply.ts';

const asksForRunning = /\b(?:run|execute)\b[^`\n]*`([^`\n]+)`/i;

/**
 * Runs the command in backticks that a prompt asks for, and reports its output. Otherwise
 * undefined.
 */
export function commandReply({ prompt, calls, tools }: Conversation): MessageReply | undefined {
  const command = asksForRunning.exec(prompt)?.[1];
  if (command === undefined) return undefined;
  if (!tools.has('Bash')) {
    return message([say(`I would run ${command}, but no Bash tool was offered to me.`)]);
  }
  const done = calls.find((call) => call.name === 'Bash')?.result;
  if (done === undefined) return message([say('I run it.'), callTool('Bash', { command })]);
  const verdict = done.isError ? 'The command failed' : 'The command ran';
  return message([say(`${verdict}. It said:\n\n${done.text.trim() || '(nothing)'}`)]);
}
