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
  const { imageLengths, cachesForAnHour } = scan(fields);
  return {
    promptTokens: bytes - imageLengths.reduce(sum, 0) + imageLengths.length * imageTokensMax,
    cachesForAnHour,
    outputTokens: maxTokens,
    webSearches: listIn(fields, 'tools').filter(isObject).map(searchesOf).reduce(sum, 0),
  };
}

interface Scan {
  /** The lengths of the images' data. */
  imageLengths: number[];
  cachesForAnHour: boolean;
}

function scan(value: unknown, found: Scan = { imageLengths: [], cachesForAnHour: false }): Scan {
  if (Array.isArray(value)) for (const each of value) scan(each, found);
  if (!isObject(value)) return found;
  if (textIn(objectIn(value, 'cache_control'), 'ttl') === '1h') found.cachesForAnHour = true;
  const data = value.type === 'image' ? textIn(objectIn(value, 'source'), 'data') : null;
  if (data === null) scan(Object.values(value), found);
  else found.imageLengths.push(data.length);
  return found;
}

function searchesOf(tool: JsonObject): number {
  if (textIn(tool, 'type')?.startsWith('web_search') !== true) return 0;
  const { max_uses: maxUses } = tool;
  return typeof maxUses === 'number' && maxUses >= 0 ? Math.ceil(maxUses) : searchesMax;
}

const sum = (a: number, b: number): number => a + b;
