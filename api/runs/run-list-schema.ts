import { z } from 'zod';
import { labelFilter } from '../schemas/labels.ts';
import { pageQuery } from '../schemas/page-query.ts';
import { isoTimestamp, uuidLike } from '../schemas/text.ts';
import { sessionId } from '../sessions/session-id.ts';
import { runRecord } from './run-schema.ts';

const { status, agentStatus, triggerType } = runRecord.shape;

/** Each filter narrows the list further. */
export const runListQuery = z.strictObject({
  ...pageQuery,
  flowId: uuidLike().optional(),
  status: status.optional(),
  agentStatus: agentStatus.unwrap().optional(),
  triggerType: triggerType.optional(),
  label: labelFilter.optional(),
  sessionId: sessionId.optional(),
  createdAfter: isoTimestamp().optional().meta({ description: 'Created at this moment or later.' }),
  createdBefore: isoTimestamp().optional().meta({ description: 'Created before this moment.' }),
});

export type RunListQuery = z.infer<typeof runListQuery>;
