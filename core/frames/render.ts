import { isObject, type JsonObject, listIn, objectIn, textIn } from '../json.ts';
import { oneLine, stripControlCodes, truncateText } from '../sanitize-text.ts';
import { summarizeToolInput } from './summarize-tool-input.ts';

/**
 * Renders a line of the agent like a terminal: its text unchanged, one line per tool call, and the
 * start of the tool's result. Empty if there is nothing to show.
 */
export function renderLine(line: JsonObject): string {
  switch (line.type) {
    case 'system':
      return renderSystem(line);
    case 'assistant':
      return blocksOf(line).map(renderAssistantBlock).join('');
    case 'user':
      return blocksOf(line).map(renderUserBlock).join('');
    case 'result':
      return renderResult(line);
    case 'line_cut':
      return note([`a line of ${numberText(line.bytes)} bytes was too long to be kept`]);
    default:
      return '';
  }
}

/** Output that is not an event of the agent. */
export function renderText(text: string): string {
  const readable = stripControlCodes(text);
  return readable.trim() === '' ? '' : withLineEnd(readable);
}

function renderSystem(line: JsonObject): string {
  if (line.subtype === 'init')
    return note([textIn(line, 'model') ?? 'agent', ...failedServers(line)]);
  if (line.subtype !== 'api_retry') return '';
  const reason = textIn(line, 'error') ?? 'no answer';
  return note([`the model API: ${reason}`, `attempt ${numberText(line.attempt)} failed`]);
}

/** A server that cannot be reached stops nothing, so this is where a reader learns of it. */
function failedServers(line: JsonObject): string[] {
  const servers = listIn(line, 'mcp_servers').filter(isObject);
  const failed = servers.filter((server) => server.status === 'failed');
  return failed.map((server) => `MCP server ${textIn(server, 'name') ?? '?'} failed`);
}

function note(words: string[]): string {
  return `[${oneLine(stripControlCodes(words.join(' · ')), lineMaxChars)}]\n`;
}

function numberText(value: unknown): string {
  return typeof value === 'number' ? String(value) : '?';
}

/** A message's content is a list of blocks, or one text. */
function blocksOf(line: JsonObject): JsonObject[] {
  const message = objectIn(line, 'message');
  const text = textIn(message, 'content');
  if (text !== null) return [{ type: 'text', text }];
  return listIn(message, 'content').filter(isObject);
}

function renderAssistantBlock(block: JsonObject): string {
  if (block.type === 'text') return renderText(textIn(block, 'text') ?? '');
  if (block.type !== 'tool_use') return '';
  const name = textIn(block, 'name') ?? 'tool';
  const input = summarizeToolInput(name, objectIn(block, 'input'));
  return `● ${oneLine(stripControlCodes(`${name} ${input}`), lineMaxChars)}\n`;
}

function renderUserBlock(block: JsonObject): string {
  if (block.type === 'text') return indented(textIn(block, 'text') ?? '', '> ', '  ');
  if (block.type !== 'tool_result') return '';
  const mark = block.is_error === true ? '  ✗ ' : '  ⎿ ';
  return indented(resultText(block), mark, '    ');
}

function resultText(block: JsonObject): string {
  const text = textIn(block, 'content');
  if (text !== null) return text;
  const parts = listIn(block, 'content').filter(isObject);
  return parts
    .map((part) => textIn(part, 'text') ?? `[${textIn(part, 'type') ?? 'data'}]`)
    .join('\n');
}

/** The first lines of a text after a mark, and the number of omitted lines. */
function indented(text: string, mark: string, rest: string): string {
  const readable = stripControlCodes(text).trimEnd();
  if (readable === '') return '';
  const lines = readable.split('\n');
  const shown = lines.slice(0, shownLines).map((line) => cutLineText(line));
  const left = lines.length - shown.length;
  if (left > 0) shown.push(`… ${left} more ${left === 1 ? 'line' : 'lines'}`);
  return `${mark}${shown.join(`\n${rest}`)}\n`;
}

function cutLineText(line: string): string {
  return line.length <= lineMaxChars ? line : truncateText(line, lineMaxChars);
}

/** Empty for a successful turn, whose text has been printed already. */
function renderResult(line: JsonObject): string {
  const subtype = textIn(line, 'subtype') ?? '';
  if (line.is_error !== true && !subtype.startsWith('error')) return '';
  const errors = listIn(line, 'errors').filter((error) => typeof error === 'string');
  const message = errors.length > 0 ? errors.join('; ') : (textIn(line, 'result') ?? '');
  const words = [subtype === 'success' ? '' : subtype, message].filter((word) => word !== '');
  return `✗ ${oneLine(stripControlCodes(words.join(': ') || 'the turn failed'), resultMaxChars)}\n`;
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

const shownLines = 6;
const lineMaxChars = 160;
const resultMaxChars = 1_000;
