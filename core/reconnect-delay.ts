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
  return delayMs({ perMinute, afterMs, random, spreadMs: withoutOverlapMs });
}

/** For one of the readers of a key, if all of their streams should break. */
export function delayWhileOpen(given: {
  perMinute: number;
  readers: number;
  random: number;
}): number {
  const { perMinute, readers, random } = given;
  return delayMs({ perMinute, afterMs: 0, random, spreadMs: readers * reconnectStepMs(perMinute) });
}

interface Delay {
  perMinute: number;
  afterMs: number;
  spreadMs: number;
  /** From 0 up to, not including, 1. */
  random: number;
}

/** The first reader waits for as long as an empty bucket needs for a token. */
function delayMs({ perMinute, afterMs, spreadMs, random }: Delay): number {
  const { reconnectMinMs: minMs, reconnectMaxMs } = limits.stream;
  const jitterMs = random * Math.max(minMs, spreadMs);
  return Math.ceil(
    Math.min(Math.max(minMs, tokenMs(perMinute)) + afterMs + jitterMs, reconnectMaxMs),
  );
}

const tokenMs = (perMinute: number): number => 60_000 / perMinute;
