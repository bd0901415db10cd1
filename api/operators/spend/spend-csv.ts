import type { SpendQuery } from '../../../systems/postgres/runs/spend-store.ts';
import type { groupView } from './spend-view.ts';

type Row = ReturnType<typeof groupView>;

const sums = [
  'calls',
  'unpricedCalls',
  'inputTokens',
  'outputTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'costUsd',
] as const;

/** CSV as in RFC 4180. The first column is named after the grouping. */
export const spendCsvHead = (by: SpendQuery['by']): string => csvLine([by, 'name', ...sums]);

/** An unknown cost, and the group of calls without a key or label, are empty. */
export const spendCsvRow = (row: Row): string =>
  csvLine([textCell(row.group), textCell(row.name), ...sums.map((name) => row[name] ?? '')]);

const csvLine = (cells: (string | number)[]): string => `${cells.join(',')}\r\n`;

/** Clients choose labels and names. A spreadsheet reads a cell that begins so as a formula. */
function textCell(value: string | null): string {
  if (value === null) return '';
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${inert.replaceAll('"', '""')}"`;
}
