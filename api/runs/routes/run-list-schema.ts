import { z } from 'zod';
import { labelFilter } from '../../schemas/labels.ts';
import { pageQuery } from '../../schemas/page-query.ts';
import { isoTimestamp, uuidLike } from '../../schemas/text.ts';
import { sessionId } from '../../sessions/session-id.ts';
import { runCursor } from '../run-cursor.ts';
import { runRecord } from '../run-schema.ts';

const { status, agentStatus, triggerType } = runRecord.shape;

/** All filters must match. */
export const runListQuery = z.strictObject({
  ...pageQuery,
  cursor: runCursor,
  flowId: uuidLike().optional(),
  status: status.optional(),
  agentStatus: agentStatus.unwrap().optional(),
  triggerType: triggerType.optional(),
  label: labelFilter.optional(),
  sessionId: sessionId.optional(),
  createdAfter: isoTimestamp().optional().meta({ description: 'Created at or after this time.' }),
  createdBefore: isoTimestamp().optional().meta({ description: 'Created before this time.' }),
});

export type RunListQuery = z.infer<typeof runListQuery>;
