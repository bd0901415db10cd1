import { isObject, type JsonObject, listIn, objectIn, textIn } from '../json.ts';
import type { CallBound } from './call-cost.ts';

/** An upper limit: the model API charges less for every image. */
const imageTokensMax = 5_000;
const usualImageTokens = 1_600;
const usualBytesPerToken = 4;
/** What the model API adds to a prompt with tools, and for each tool that it defines itself. */
const toolTokensMax = 1_000;
/** The longest prompt of any model. */
const promptTokensMax = 1_000_000;
/** Assumed for a search tool without `max_uses`. */
const searchesMax = 20;

interface BoundedRequest {
  /** The length of the request as it is sent. */
  bytes: number;
  maxTokens: number;
  fields: JsonObject;
}

/**
 * The most that a call can use. A token of text is at least one byte long. The tokens of an image do not
 * depend on the length of its data, and a document may be compressed.
 */
export function callBound({ bytes, maxTokens, fields }: BoundedRequest): CallBound {
  const { images, hasDocument, cachesForAnHour } = scan(fields);
  const tools = listIn(fields, 'tools').filter(isObject);
  const text = bytes - imageData(fields) + images * imageTokensMax + addedForTools(tools);
  return {
    promptTokens: hasDocument ? Math.max(text, promptTokensMax) : text,
    cachesForAnHour,
    outputTokens: maxTokens,
    webSearches: tools.map(searchesOf).reduce(sum, 0),
  };
}

/** What the prompt of a call usually uses, if the model API does not say. */
export function usualPromptTokens({ bytes, fields }: Omit<BoundedRequest, 'maxTokens'>): number {
  const { images } = scan(fields);
  const text = bytes - imageData(fields);
  return Math.ceil(text / usualBytesPerToken) + images * usualImageTokens;
}

interface Scan {
  images: number;
  /** Its length says nothing about its text. */
  hasDocument: boolean;
  cachesForAnHour: boolean;
}

/** Of the whole request: what is found where it has no effect makes the bound larger, and nothing else. */
function scan(
  value: unknown,
  found: Scan = { images: 0, hasDocument: false, cachesForAnHour: false },
): Scan {
  if (Array.isArray(value)) for (const each of value) scan(each, found);
  if (!isObject(value)) return found;
  if (textIn(objectIn(value, 'cache_control'), 'ttl') === '1h') found.cachesForAnHour = true;
  if (value.type === 'image') found.images += 1;
  if (value.type === 'document' && !isText(objectIn(value, 'source'))) found.hasDocument = true;
  scan(Object.values(value), found);
  return found;
}

const isText = ({ type }: JsonObject): boolean => type === 'text' || type === 'content';

/**
 * The length of the images' data. Only of blocks of content: the same members in the input of a tool are
 * text for the model.
 */
const imageData = (fields: JsonObject): number =>
  listIn(fields, 'messages').filter(isObject).map(imageDataIn).reduce(sum, 0);

const imageDataIn = (holder: JsonObject): number =>
  listIn(holder, 'content').filter(isObject).map(imageDataOf).reduce(sum, 0);

function imageDataOf(block: JsonObject): number {
  if (block.type === 'tool_result') return imageDataIn(block);
  const { type, data } = objectIn(block, 'source');
  const isInline = block.type === 'image' && type === 'base64' && typeof data === 'string';
  return isInline ? data.length : 0;
}

function addedForTools(tools: JsonObject[]): number {
  const defined = tools.filter(({ type }) => type !== undefined && type !== 'custom');
  return tools.length === 0 ? 0 : (1 + defined.length) * toolTokensMax;
}

function searchesOf(tool: JsonObject): number {
  if (textIn(tool, 'type')?.startsWith('web_search') !== true) return 0;
  const { max_uses: maxUses } = tool;
  return typeof maxUses === 'number' && maxUses >= 0 ? Math.ceil(maxUses) : searchesMax;
}

const sum = (a: number, b: number): number => a + b;
