import { createHash } from 'node:crypto';

/** The id of a session that the client names by a key only. A repeat of the request finds the session. */
export function derivedSessionId(
  prefix: 'first' | 'keyed',
  { flowId, key }: { flowId: string; key: string },
): string {
  const digest = createHash('sha256').update(`${flowId}/${key}`).digest('hex');
  return `${prefix}-${digest.slice(0, 40)}`;
}
