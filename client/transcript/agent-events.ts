// Events of the agent have the agent's format, in which every field may be missing.

import { isObject, type JsonObject, listIn, objectIn, textIn } from '../../core/json.ts';
import type { RunEvent } from '../stream/events.ts';
import { addEntry, type Draft, updateEntry } from './draft.ts';
import type { PatchHunk } from './entries.ts';
import { emptyTranscript } from './state.ts';

export function applyAgentEvent(draft: Draft, { type, seq, data }: RunEvent): void {
  if (!isObject(data)) return;
  switch (type) {
    case 'assistant':
      return addAnswer(draft, seq, data);
    case 'user':
      return addInput(draft, seq, data);
    case 'result':
      return addResult(draft, seq, data);
    case 'system':
      return addSystem(draft, seq, data);
    case 'stream_event':
      return addDelta(draft, data);
    default:
    // Other events repeat the same content, or have nothing to show.
  }
}

const blocksOf = (data: JsonObject): JsonObject[] =>
  listIn(objectIn(data, 'message'), 'content').filter(isObject);

const parentOf = (data: JsonObject): string | null => textIn(data, 'parent_tool_use_id');

function addAnswer(draft: Draft, seq: number | null, data: JsonObject): void {
  const parent = parentOf(data);
  if (parent === null) draft.typing = emptyTranscript.typing;
  countTokens(draft, objectIn(data, 'message'));
  for (const block of blocksOf(data)) {
    const text = textIn(block, 'text') ?? textIn(block, 'thinking') ?? '';
    const { type } = block;
    if (type === 'tool_use') {
      const toolUseId = textIn(block, 'id') ?? '';
      const call = {
        toolUseId,
        name: textIn(block, 'name') ?? '',
        input: objectIn(block, 'input'),
      };
      const open = { state: 'running', result: null, patch: [], children: [] } as const;
      addEntry(draft, { seq, parent }, { kind: 'tool', ...call, ...open });
    } else if (type === 'text' && text !== '') {
      const isError = data.is_api_error_message === true;
      addEntry(draft, { seq, parent }, { kind: 'text', text, isError });
    } else if (type === 'thinking' && text !== '') {
      addEntry(draft, { seq, parent }, { kind: 'thinking', text });
    }
  }
}

/** Each block of a message is an event. The usage in these events is cumulative. */
function countTokens(draft: Draft, message: JsonObject): void {
  const id = textIn(message, 'id') ?? '';
  const usage = objectIn(message, 'usage');
  const inputTokens =
    numberIn(usage, 'input_tokens') +
    numberIn(usage, 'cache_creation_input_tokens') +
    numberIn(usage, 'cache_read_input_tokens');
  const outputTokens = numberIn(usage, 'output_tokens');
  const { reported, lastMessage } = draft;
  const before = lastMessage.id === id ? lastMessage : emptyTranscript.lastMessage;
  draft.reported = {
    ...reported,
    inputTokens: reported.inputTokens + inputTokens - before.inputTokens,
    outputTokens: reported.outputTokens + outputTokens - before.outputTokens,
  };
  draft.lastMessage = { id, inputTokens, outputTokens };
}

function numberIn(value: JsonObject, name: string): number {
  const member = value[name];
  return typeof member === 'number' ? member : 0;
}

/** Results of tools, and the agent's echo of its input. A session already has its messages. */
function addInput(draft: Draft, seq: number | null, data: JsonObject): void {
  for (const block of blocksOf(data)) {
    if (block.type === 'tool_result')
      setToolResult(draft, block, objectIn(data, 'tool_use_result'));
  }
  if (parentOf(data) !== null) return;
  const texts = blocksOf(data).map((block) => textIn(block, 'text') ?? '');
  const text = textIn(objectIn(data, 'message'), 'content') ?? texts.join('');
  if (text === '') return;
  if (data.isReplay !== true) {
    const isInterrupt = text.startsWith('[Request interrupted');
    if (isInterrupt) addEntry(draft, { seq }, { kind: 'notice', notice: 'interrupted', text });
    return;
  }
  const last = draft.entries.findLast(({ kind }) => kind === 'message');
  if (last?.kind === 'message' && last.messageId !== null) return;
  addEntry(draft, { seq }, { kind: 'message', messageId: null, text, attempt: 1, end: null });
}

function setToolResult(draft: Draft, block: JsonObject, details: JsonObject): void {
  const toolUseId = textIn(block, 'tool_use_id');
  const parts = listIn(block, 'content').filter(isObject);
  const texts = parts.map((part) => textIn(part, 'text') ?? `[${textIn(part, 'type') ?? 'data'}]`);
  const result = textIn(block, 'content') ?? texts.join('\n');
  const state = block.is_error === true ? 'failed' : 'done';
  const patch = listIn(details, 'structuredPatch').filter(isObject).map(hunkOf);
  updateEntry(draft, (entry) =>
    entry.kind === 'tool' && entry.toolUseId === toolUseId
      ? { ...entry, state, result, patch }
      : null,
  );
}

const hunkOf = (hunk: JsonObject): PatchHunk => ({
  oldStart: numberIn(hunk, 'oldStart'),
  newStart: numberIn(hunk, 'newStart'),
  lines: listIn(hunk, 'lines').filter((line) => typeof line === 'string'),
});

function addResult(draft: Draft, seq: number | null, data: JsonObject): void {
  draft.typing = emptyTranscript.typing;
  draft.reported = { ...draft.reported, costUsd: numberIn(data, 'total_cost_usd') };
  if (data.is_error !== true) return;
  const errors = listIn(data, 'errors').filter((error) => typeof error === 'string');
  const text = errors.join('\n') || (textIn(data, 'result') ?? textIn(data, 'subtype') ?? '');
  addEntry(draft, { seq }, { kind: 'notice', notice: 'agent_error', text });
}

function addSystem(draft: Draft, seq: number | null, data: JsonObject): void {
  if (data.subtype === 'init') draft.model = textIn(data, 'model') ?? draft.model;
  if (data.subtype === 'compact_boundary') {
    const text = 'The earlier conversation was summarized.';
    addEntry(draft, { seq }, { kind: 'notice', notice: 'compacted', text });
  }
  if (data.subtype === 'api_retry') {
    const text = `The model API did not answer (${textIn(data, 'error') ?? 'no reason'}).`;
    addEntry(draft, { seq }, { kind: 'notice', notice: 'api_retry', text });
  }
}

function addDelta(draft: Draft, data: JsonObject): void {
  const event = objectIn(data, 'event');
  if (event.type !== 'content_block_delta' || parentOf(data) !== null) return;
  const delta = objectIn(event, 'delta');
  const { text, thinking } = draft.typing;
  draft.typing = {
    text: text + (delta.type === 'text_delta' ? (textIn(delta, 'text') ?? '') : ''),
    thinking: thinking + (delta.type === 'thinking_delta' ? (textIn(delta, 'thinking') ?? '') : ''),
  };
}
