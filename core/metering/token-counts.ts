/** The tokens and searches of one model call, by kind. Each kind has its own price. */
export interface TokenCounts {
  /** Neither read from the cache nor written to it. */
  input: number;
  output: number;
  cacheRead: number;
  /** Written to the cache for five minutes. */
  cacheWrite5m: number;
  /** Written to the cache for an hour. */
  cacheWrite1h: number;
  /** Searches that the model API made. */
  webSearches: number;
}

export const noTokens: TokenCounts = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  webSearches: 0,
};

/** The size of the prompt, cached or not. */
export function promptTokens({
  input,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
}: TokenCounts): number {
  return input + cacheRead + cacheWrite5m + cacheWrite1h;
}
