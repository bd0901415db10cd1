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
 * The most that a call can use. A token of text is at least one byte long. The tokens of an image
 * do not depend on the length of its data, and a document may be compressed.
 */
export function callBound({ bytes, maxTokens, fields }: BoundedRequest): CallBound {
  const { images, hasDocument, cachesForAnHour } = scan(fields);
  const tools = listIn(fields, 'tools').filter(isObject);
  const tokens = textBytes({ bytes, fields }) + images * imageTokensMax + addedForTools(tools);
  return {
    promptTokens: hasDocument ? Math.max(tokens, promptTokensMax) : tokens,
    cachesForAnHour,
    outputTokens: maxTokens,
    webSearches: tools.map(searchesOf).reduce(sum, 0),
  };
}

/** What the prompt of a call usually uses, if the model API does not say. */
export function usualPromptTokens(request: Omit<BoundedRequest, 'maxTokens'>): number {
  const { images } = scan(request.fields);
  return Math.ceil(textBytes(request) / usualBytesPerToken) + images * usualImageTokens;
}

interface Scan {
  images: number;
  /** Its length does not bound its text. */
  hasDocument: boolean;
  cachesForAnHour: boolean;
}

/**
 * Scans the whole request. A field that is found where it has no effect only makes the bound
 * larger.
 */
function scan(
  value: unknown,
  found: Scan = { images: 0, hasDocument: false, cachesForAnHour: false },
): Scan {
  if (Array.isArray(value)) for (const each of value) scan(each, found);
  if (!isObject(value)) return found;
  if (textIn(objectIn(value, 'cache_control'), 'ttl') === '1h') found.cachesForAnHour = true;
  if (value.type === 'image') found.images += 1;
  if (value.type === 'document' && !isTextSource(objectIn(value, 'source')))
    found.hasDocument = true;
  scan(Object.values(value), found);
  return found;
}

const isTextSource = ({ type }: JsonObject): boolean => type === 'text' || type === 'content';

/**
 * The length of the request without the images' data. Only blocks of content are images: the same
 * members in the input of a tool are text for the model.
 */
const textBytes = ({ bytes, fields }: Omit<BoundedRequest, 'maxTokens'>): number =>
  bytes - listIn(fields, 'messages').filter(isObject).map(imageBytesIn).reduce(sum, 0);

const imageBytesIn = (holder: JsonObject): number =>
  listIn(holder, 'content').filter(isObject).map(imageBytesOf).reduce(sum, 0);

function imageBytesOf(block: JsonObject): number {
  if (block.type === 'tool_result') return imageBytesIn(block);
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
