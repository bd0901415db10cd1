import { isObject, type JsonObject, listIn, objectIn, textIn } from '../json.ts';
import type { CallBound } from './call-cost.ts';

/** The model API charges less for any image. */
const imageTokensMax = 5_000;
/** For a search tool that states no limit. */
const searchesMax = 20;

interface BoundedRequest {
  /** The length of the request as it is sent. */
  bytes: number;
  maxTokens: number;
  fields: JsonObject;
}

/**
 * The largest that a call can use. No token is shorter than a byte, and an image costs the same for
 * any length.
 */
export function callBound({ bytes, maxTokens, fields }: BoundedRequest): CallBound {
  const images = imagesIn(fields.messages);
  const imageChars = images.reduce((sum, chars) => sum + chars, 0);
  return {
    promptTokens: bytes - imageChars + images.length * imageTokensMax,
    outputTokens: maxTokens,
    webSearches: listIn(fields, 'tools').filter(isObject).map(searchesOf).reduce(sum, 0),
  };
}

/** The lengths of the images' data. */
function imagesIn(value: unknown): number[] {
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  if (!isObject(value)) return [];
  const source = objectIn(value, 'source');
  const data = textIn(source, 'data');
  if (value.type === 'image' && data !== null) return [data.length];
  return Object.values(value).flatMap(imagesIn);
}

function searchesOf(tool: JsonObject): number {
  if (textIn(tool, 'type')?.startsWith('web_search') !== true) return 0;
  const { max_uses: maxUses } = tool;
  return typeof maxUses === 'number' && maxUses >= 0 ? Math.ceil(maxUses) : searchesMax;
}

const sum = (a: number, b: number): number => a + b;
