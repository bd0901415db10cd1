/**
 * How far our clock is ahead of another's (behind: less than 0), which was asked and answered at these
 * moments of ours. Within the time that the question took, nobody can tell.
 */
export function clockAheadMs(
  asked: { atMs: number; answeredAtMs: number },
  theirsMs: number,
): number {
  if (theirsMs < asked.atMs) return Math.round(asked.atMs - theirsMs);
  if (theirsMs > asked.answeredAtMs) return Math.round(asked.answeredAtMs - theirsMs);
  return 0;
}
