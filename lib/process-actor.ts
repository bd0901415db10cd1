import { hostname, userInfo } from 'node:os';
import type { AuditActor } from '../core/audit/audit-entry.ts';

/** The actor of a change that this process makes without a request. */
export const processActor = (source: Exclude<AuditActor['source'], 'api'>): AuditActor => ({
  source,
  operatorId: null,
  operator: null,
  tokenId: null,
  address: `${userName()}@${hostname()}`,
  requestId: null,
});

/** A container may run as a user ID that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
