import { readFileSync } from 'node:fs';

export type LogLine = Record<string, unknown>;

/** Throws if a line is not JSON. */
export const linesOf = (log: string): LogLine[] =>
  log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);

/** Lines about a run without `requestId`; it is null if no request started the run. */
export const withoutRequest = (lines: LogLine[]): LogLine[] =>
  lines.filter((line) => line['runId'] !== undefined && !('requestId' in line));

/** Skips a last line that is incomplete because the process was killed. */
export function linesIn(file: string): LogLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return linesOf(line);
      } catch {
        return [];
      }
    });
}
