/**
 * How far this clock is ahead of another (negative: behind). The request was sent and answered at
 * the given times of this clock; an offset within the duration of the request cannot be measured,
 * and is 0.
 */
export function clockAheadMs(
  asked: { atMs: number; answeredAtMs: number },
  theirsMs: number,
): number {
  if (theirsMs < asked.atMs) return Math.round(asked.atMs - theirsMs);
  if (theirsMs > asked.answeredAtMs) return Math.round(asked.answeredAtMs - theirsMs);
  return 0;
}
