import { type ContentBlock, type MessagesRequest, textOf } from './request.ts';

export interface ToolCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
  /** Absent until the tool has returned. */
  result?: { text: string; isError: boolean };
}

/** A request as a conversation: the prompts, and the tool calls since the latest one. */
export interface Conversation {
  /** The latest message of the user. */
  prompt: string;
  earlierPrompts: readonly string[];
  /** The agent CLI started this turn itself, because a background task has ended. */
  isNotification: boolean;
  /** Tool calls since the latest prompt, in order. */
  calls: readonly ToolCall[];
  /** The number of replies with tool calls since the latest prompt. */
  rounds: number;
  tools: ReadonlyMap<string, unknown>;
  system: string;
  workingDirectory: string;
  sessionId: string;
  /** The schema of a structured answer that is requested as text, not as a tool call. */
  outputSchema: unknown;
}

export function readConversation(request: MessagesRequest): Conversation {
  const blocks = request.messages.flatMap((message, turn) =>
    asBlocks(message.content).map((block) => ({ role: message.role, turn, block })),
  );
  const prompts = promptsOf(blocks);
  const last = prompts.at(-1);
  const since = blocks.filter((entry) => entry.turn > (last?.turn ?? -1));
  const uses = since.filter(({ block }) => block.type === 'tool_use');
  return {
    prompt: last?.text ?? '',
    isNotification: notification.test(textOf(request.messages.at(-1)?.content)),
    earlierPrompts: prompts.slice(0, -1).map((prompt) => prompt.text),
    calls: uses.map(({ block }) => toolCall(block, since)),
    rounds: new Set(uses.map((entry) => entry.turn)).size,
    tools: new Map((request.tools ?? []).map((tool) => [tool.name ?? '', tool.input_schema])),
    system: textOf(request.system),
    workingDirectory: workingDirectoryOf(request),
    sessionId: request.metadata?.user_id ?? '',
    outputSchema: request.output_config?.format?.schema,
  };
}

interface PositionedBlock {
  role: 'user' | 'assistant' | 'system';
  turn: number;
  block: ContentBlock;
}

function asBlocks(content: string | ContentBlock[]): ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The agent CLI adds reminders and interruption notes as user messages, which are not prompts. */
const addedByCli = /^\s*(<system-reminder>|\[Request interrupted)/;

const notification = /^\s*<system-reminder>\s*\[SYSTEM NOTIFICATION/m;

function promptsOf(blocks: readonly PositionedBlock[]): { turn: number; text: string }[] {
  const byTurn = new Map<number, string[]>();
  for (const { role, turn, block } of blocks) {
    if (role !== 'user' || block.type !== 'text') continue;
    if (block.text === undefined || block.text === '' || addedByCli.test(block.text)) continue;
    byTurn.set(turn, [...(byTurn.get(turn) ?? []), block.text]);
  }
  return [...byTurn].map(([turn, texts]) => ({ turn, text: texts.join('\n') }));
}

function toolCall(use: ContentBlock, since: readonly PositionedBlock[]): ToolCall {
  const call = { name: use.name ?? '', input: use.input ?? {} };
  const answer = since.find(
    ({ block }) => block.type === 'tool_result' && block.tool_use_id === use.id,
  );
  if (answer === undefined) return call;
  const { content, is_error } = answer.block;
  return { ...call, result: { text: resultText(content), isError: is_error === true } };
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block: unknown) => blockText(block)).join('\n');
}

function blockText(block: unknown): string {
  const isText = typeof block === 'object' && block !== null && 'text' in block;
  return isText && typeof block.text === 'string' ? block.text : '';
}

/** The agent CLI states its working directory. Other callers get that of the sandbox. */
function workingDirectoryOf(request: MessagesRequest): string {
  const notes = request.messages.filter((message) => message.role === 'system');
  for (const content of [request.system, ...notes.map((note) => note.content)]) {
    const match = /working directory: (\/[^\n"]*)/i.exec(textOf(content));
    if (match?.[1] !== undefined) return match[1].trim();
  }
  return '/workspace';
}
