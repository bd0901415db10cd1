import { z } from 'zod';
import type { RunCursor } from '../../systems/postgres/runs/run-list.ts';

// Runs and sessions are listed latest first. A cursor holds the last item of the previous page.

const form = /^(\d{1,15})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

export const runCursor = z
  .string()
  .regex(form, { error: 'invalid cursor' })
  .optional()
  .meta({ description: 'From the `Link` header of the previous page.' });

export const encodeRunCursor = ({ createdAt, runId }: RunCursor): string =>
  `${createdAt.getTime()}_${runId}`;

/** A cursor that `runCursor` has accepted. */
export function decodeRunCursor(cursor: string | undefined): RunCursor | undefined {
  const [, time = '', runId] = form.exec(cursor ?? '') ?? [];
  return runId === undefined ? undefined : { createdAt: new Date(Number(time)), runId };
}
