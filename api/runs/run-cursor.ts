import { z } from 'zod';
import type { RunCursor } from '../../systems/postgres/runs/run-list.ts';
import { invalid } from '../errors.ts';
import { decodeCursor, encodeCursor } from '../http/pagination.ts';

// Runs and sessions are listed latest first. A cursor holds the last item of the previous page.

export const encodeRunCursor = ({ createdAt, runId }: RunCursor): string =>
  encodeCursor(`${createdAt.toISOString()}/${runId}`);

export function decodeRunCursor(cursor: string | undefined): RunCursor | undefined {
  const decoded = decodeCursor(cursor);
  if (decoded === undefined) return undefined;
  const parsed = runCursor.safeParse(decoded.split('/'));
  if (!parsed.success) throw invalid('query.cursor: invalid cursor');
  const [createdAt, runId] = parsed.data;
  return { createdAt: new Date(createdAt), runId };
}

const runCursor = z.tuple([z.iso.datetime(), z.uuid()]);
