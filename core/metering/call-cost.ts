import type { RunSpending } from './ledger-entry.ts';
import type { ModelPrice } from './model-prices.ts';
import { promptTokens, type TokenCounts } from './token-counts.ts';

/** In nano-dollars. */
export function costOf(tokens: TokenCounts, price: ModelPrice): number {
  const rates = ratesFor(price, promptTokens(tokens));
  return (
    tokens.input * rates.input +
    tokens.output * rates.output +
    tokens.cacheRead * rates.cacheRead +
    tokens.cacheWrite5m * rates.cacheWrite5m +
    tokens.cacheWrite1h * rates.cacheWrite1h +
    tokens.webSearches * price.webSearch
  );
}

/** The most that a call can use: every token of its prompt may be written to the cache. */
export interface CallBound {
  promptTokens: number;
  /** The cache is kept for an hour instead of five minutes, which costs more. */
  cachesForAnHour: boolean;
  outputTokens: number;
  webSearches: number;
}

/** The maximum cost of the call. */
export function costBound(bound: CallBound, price: ModelPrice): number {
  const rates = ratesFor(price, bound.promptTokens);
  const forAnHour = bound.cachesForAnHour ? rates.cacheWrite1h : 0;
  const perPromptToken = Math.max(rates.input, rates.cacheWrite5m, forAnHour);
  return (
    bound.promptTokens * perPromptToken +
    bound.outputTokens * rates.output +
    bound.webSearches * price.webSearch
  );
}

function ratesFor({ longPrompt, ...rates }: ModelPrice, prompt: number) {
  return longPrompt !== null && prompt > longPrompt.aboveTokens ? longPrompt : rates;
}

/** Dollars with six decimals. */
export const usdOf = (nanos: number): number => Math.round(nanos / 1_000) / 1e6;

export const nanosOf = (usd: number): number => Math.round(usd * 1e9);

/** The cost as clients see it. Null if it is unknown, and before the first call. */
export const costUsdOf = ({ costNanos }: Pick<RunSpending, 'costNanos'>): number | null =>
  costNanos === null ? null : usdOf(costNanos);
