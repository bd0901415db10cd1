import { limits } from '../limits.ts';

/**
 * What stands in the log for a line that was too long to be kept: an event of its own that says how
 * long the line was and how it began.
 */
export function truncatedLine(head: string, bytes: number): string {
  return JSON.stringify({
    type: 'line_cut',
    bytes,
    head: head.slice(0, limits.truncatedLineHeadChars),
  });
}
