import { isObject, type JsonObject, listIn, objectIn } from '../json.ts';
import { noTokens, type TokenCounts } from './token-counts.ts';

/** Far more than a call can use, and small enough to multiply by any price. */
const tokensMax = 1e9;

/**
 * Reads a `usage` object of the model API on top of an earlier one of the same answer. A field that
 * is absent keeps its earlier value, because the end of a stream repeats only some fields.
 */
export function readUsage(usage: JsonObject, earlier: TokenCounts = noTokens): TokenCounts {
  const top = readTokens(usage, earlier);
  const iterations = listIn(usage, 'iterations').filter(isObject);
  // The totals of an answer exclude some of its iterations, such as those that compact the context.
  const sums = iterations.map((part) => readTokens(part, noTokens)).reduce(add, noTokens);
  return iterations.length === 0 ? top : largerOf(top, sums);
}

function readTokens(usage: JsonObject, earlier: TokenCounts): TokenCounts {
  const written = count(
    usage.cache_creation_input_tokens,
    earlier.cacheWrite5m + earlier.cacheWrite1h,
  );
  const forAnHour = count(
    objectIn(usage, 'cache_creation').ephemeral_1h_input_tokens,
    earlier.cacheWrite1h,
  );
  const cacheWrite1h = Math.min(forAnHour, written);
  return {
    input: count(usage.input_tokens, earlier.input),
    output: count(usage.output_tokens, earlier.output),
    cacheRead: count(usage.cache_read_input_tokens, earlier.cacheRead),
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    webSearches: count(objectIn(usage, 'server_tool_use').web_search_requests, earlier.webSearches),
  };
}

function count(value: unknown, otherwise: number): number {
  if (typeof value !== 'number' || !(value >= 0)) return otherwise;
  return Math.floor(Math.min(value, tokensMax));
}

const add = (a: TokenCounts, b: TokenCounts): TokenCounts => combine(a, b, (x, y) => x + y);
const largerOf = (a: TokenCounts, b: TokenCounts): TokenCounts => combine(a, b, Math.max);

function combine(
  a: TokenCounts,
  b: TokenCounts,
  of: (x: number, y: number) => number,
): TokenCounts {
  return {
    input: of(a.input, b.input),
    output: of(a.output, b.output),
    cacheRead: of(a.cacheRead, b.cacheRead),
    cacheWrite5m: of(a.cacheWrite5m, b.cacheWrite5m),
    cacheWrite1h: of(a.cacheWrite1h, b.cacheWrite1h),
    webSearches: of(a.webSearches, b.webSearches),
  };
}
