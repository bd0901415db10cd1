import type { FastifyRequest } from 'fastify';
import type { AuditActor } from '../../../core/audit/audit-entry.ts';
import type { AuditLog, RecordedChange } from '../../../systems/postgres/accounts/audit-log.ts';
import { operatorOf } from '../identify-operator.ts';

/** Makes a change and records it in the same transaction. */
export const recordChange = <T>(
  { audit }: { audit: Pick<AuditLog, 'changeAs'> },
  request: FastifyRequest,
  work: (on: RecordedChange) => Promise<T>,
): Promise<T> => audit.changeAs(actorOf(request), work);

/** The operator of the request. */
function actorOf(request: FastifyRequest): AuditActor {
  const { operatorId, name: operator, token } = operatorOf(request);
  return {
    source: 'api',
    operatorId,
    operator,
    tokenId: token?.tokenId ?? null,
    address: request.ip,
    requestId: request.id,
  };
}

/** The operator of a request that keys make too; undefined for a key. */
export const authorOf = (request: FastifyRequest): AuditActor | undefined =>
  request.operator === null ? undefined : actorOf(request);
