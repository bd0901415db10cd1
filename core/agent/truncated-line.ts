import { limits } from '../limits.ts';

/** Replaces a line that is too long to store: an event with the line's length and its start. */
export function truncatedLine(head: string, bytes: number): string {
  return JSON.stringify({
    type: 'line_cut',
    bytes,
    head: head.slice(0, limits.spool.truncatedHeadChars),
  });
}
