import { hostname, userInfo } from 'node:os';
import type { AuditActor } from '../core/audit/audit-entry.ts';

/** The actor of a change by this process, which no request asked for. */
export const processActor = (source: Exclude<AuditActor['source'], 'api'>): AuditActor => ({
  source,
  operatorId: null,
  operator: null,
  tokenId: null,
  address: `${userName()}@${hostname()}`,
  requestId: null,
});

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
