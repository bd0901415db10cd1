import { z } from 'zod';
import type { RunCursor } from '../../systems/postgres/runs/run-list.ts';
import { invalid } from '../errors.ts';
import { decodeCursor, encodeCursor } from '../http/pagination.ts';

// Runs and sessions are listed from the latest on: a cursor says which one ended the page before.

export const encodeRunCursor = ({ createdAt, runId }: RunCursor): string =>
  encodeCursor(`${createdAt.toISOString()}/${runId}`);

export function decodeRunCursor(cursor: string | undefined): RunCursor | undefined {
  const decoded = decodeCursor(cursor);
  if (decoded === undefined) return undefined;
  const place = runCursor.safeParse(decoded.split('/'));
  if (!place.success) throw invalid('query.cursor: is no cursor of this list');
  const [createdAt, runId] = place.data;
  return { createdAt: new Date(createdAt), runId };
}

const runCursor = z.tuple([z.iso.datetime(), z.uuid()]);
