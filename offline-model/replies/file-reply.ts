import type { Conversation, ToolCall } from '../conversation.ts';
import { callTool, type MessageReply, message, say } from '../reply.ts';
import { fileContent } from './file-content.ts';
import { quoted } from './words.ts';

const asksForWriting = /\b(write|create|make|save|put|produce|generate|add)\b/i;
const fileName =
  /(?:^|[\s`"'“(])((?:\/|\.\/)?(?:[\w-][\w.-]*\/)*(?!node\.js\b)[\w-][\w.-]*\.(?:md|txt|json|csv|html?|css|[mc]?[jt]s|py|sh|ya?ml|xml|svg|toml|ini|sql|log|go|rs|rb|c|h))(?=$|[\s`"'”),.;:!?])/gi;
const maxFiles = 5;

/**
 * Writes the files that a prompt asks for: one Write call each, one command that shows them, and a
 * closing message. The tool calls since the prompt determine the next step. Undefined without a
 * requested file.
 */
export function fileReply(conversation: Conversation): MessageReply | undefined {
  const paths = pathsIn(conversation);
  if (paths.length === 0) return undefined;
  const names = paths.map((path) => displayPath(path, conversation)).join(' and ');
  if (!conversation.tools.has('Write')) {
    return message([say(`I would write ${names}, but no Write tool was offered to me.`)]);
  }
  const last = conversation.calls.at(-1);
  const failed = last?.result?.isError === true ? last : undefined;
  if (failed !== undefined) return afterFailure(failed, conversation);
  const missing = paths.find((path) => !isWritten(path, conversation));
  if (missing !== undefined) return write(missing, conversation);
  if (!conversation.calls.some((call) => call.name === 'Bash') && conversation.tools.has('Bash')) {
    return message([say('Let me look at the result.'), callTool('Bash', showCommand(paths))]);
  }
  return message([say(closing(names, last))]);
}

function pathsIn({ prompt, workingDirectory }: Conversation): string[] {
  if (!asksForWriting.test(prompt)) return [];
  const names = [...prompt.matchAll(fileName)].flatMap((match) => match[1] ?? []);
  const absolute = names.map((name) =>
    name.startsWith('/') ? name : `${workingDirectory}/${name.replace(/^\.\//, '')}`,
  );
  return [...new Set(absolute)].slice(0, maxFiles);
}

function isWritten(path: string, { calls }: Conversation): boolean {
  return calls.some(
    (call) => call.name === 'Write' && call.input['file_path'] === path && succeeded(call),
  );
}

function succeeded(call: ToolCall): boolean {
  return call.result !== undefined && !call.result.isError;
}

function write(path: string, conversation: Conversation): MessageReply {
  const { prompt, calls } = conversation;
  const name = displayPath(path, conversation);
  const opening =
    calls.length === 0 ? `You ask: ${quoted(prompt)} I will write ${name}.` : `Next, ${name}.`;
  const input = { file_path: path, content: fileContent(path, prompt) };
  return message([say(opening), callTool('Write', input)]);
}

/** Reads an existing file first, which the Write tool requires. Any other error ends the turn. */
function afterFailure(failed: ToolCall, { tools }: Conversation): MessageReply {
  const path = failed.input['file_path'];
  const text = failed.result?.text ?? '';
  if (failed.name === 'Write' && /read it first|not been read/i.test(text) && tools.has('Read')) {
    return message([
      say('It exists already; I read it first.'),
      callTool('Read', { file_path: path }),
    ]);
  }
  return message([say(`The ${failed.name} tool refused: ${quoted(text, 300)} I stop here.`)]);
}

function showCommand(paths: readonly string[]) {
  const names = paths.map((path) => `'${path.replaceAll("'", "'\\''")}'`).join(' ');
  return { command: `ls -l ${names} && head -n 20 ${names}`, description: 'Show what was written' };
}

function closing(names: string, last: ToolCall | undefined): string {
  const seen = last?.name === 'Bash' ? `\n\n${last.result?.text.trim() ?? ''}\n\n` : ' ';
  return `Done: I wrote ${names}.${seen}Ask for a change and I will make it.`;
}

/** Shortens paths in the working directory. */
function displayPath(path: string, { workingDirectory }: Conversation): string {
  return path.startsWith(`${workingDirectory}/`) ? path.slice(workingDirectory.length + 1) : path;
}
