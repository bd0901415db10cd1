// When a reader reconnects to a stream. Each stream request costs a token of the reader's key, and
// an `EventSource` never reconnects after a 429. So readers return more slowly than tokens do.

import { limits } from './limits.ts';

/** Time that one reader needs. The rest of the key's rate is left for its other calls. */
export const reconnectStepMs = (perMinute: number): number =>
  limits.stream.reconnectSpacing * tokenMs(perMinute);

/**
 * For a reader whose stream is closed now, while others may reconnect for `afterMs`. With a step
 * between them, all readers find a token, even if the key's bucket is empty now.
 */
export function delayAtClose(given: {
  perMinute: number;
  afterMs: number;
  random: number;
}): number {
  const { perMinute, afterMs, random } = given;
  const withoutOverlapMs = reconnectStepMs(perMinute) - tokenMs(perMinute);
  return delayMs({ perMinute, leadTokens: 1, afterMs, share: random, spreadMs: withoutOverlapMs });
}

/**
 * For one of the readers of a key, if all of their streams should break at once. The readers of
 * several processes are spread independently. So the first one waits until the bucket has a token
 * for each of some readers that return too early.
 */
export function delayWhileOpen(given: {
  perMinute: number;
  readers: number;
  share: number;
}): number {
  const { perMinute, readers, share } = given;
  const leadTokens = Math.min(readers, limits.stream.reconnectLeadTokens);
  const spreadMs = readers * reconnectStepMs(perMinute);
  return delayMs({ perMinute, leadTokens, afterMs: 0, share, spreadMs });
}

/**
 * A reader's share of the time in which all readers return, by its number. Multiples of the golden
 * ratio spread the readers 0 to n evenly for every n, so no share changes with their number.
 */
export const evenShare = (number: number, offset: number): number =>
  (offset + number * goldenRatio) % 1;

const goldenRatio = (Math.sqrt(5) - 1) / 2;

interface Delay {
  perMinute: number;
  leadTokens: number;
  afterMs: number;
  spreadMs: number;
  /** From 0 up to, not including, 1. */
  share: number;
}

/** The first reader waits for as long as an empty bucket needs for the leading tokens. */
function delayMs({ perMinute, leadTokens, afterMs, spreadMs, share }: Delay): number {
  const { reconnectMinMs: minMs, reconnectMaxMs } = limits.stream;
  const leadMs = Math.max(minMs, leadTokens * tokenMs(perMinute));
  const withinMs = share * Math.max(minMs, spreadMs);
  return Math.ceil(Math.min(leadMs + afterMs + withinMs, reconnectMaxMs));
}

const tokenMs = (perMinute: number): number => 60_000 / perMinute;
