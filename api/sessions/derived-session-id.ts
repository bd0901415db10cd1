import { createHash } from 'node:crypto';

/**
 * The ID of a session for which the client sends only a key, so that a retry finds the same
 * session.
 */
export function derivedSessionId(
  prefix: 'first' | 'keyed',
  { flowId, key }: { flowId: string; key: string },
): string {
  const digest = createHash('sha256').update(`${flowId}/${key}`).digest('hex');
  return `${prefix}-${digest.slice(0, 40)}`;
}
