import type { FastifyRequest } from 'fastify';
import type {
  AuditLog,
  ChangeStores,
  NewAuditEntry,
} from '../../../systems/postgres/accounts/audit-log.ts';
import { operatorOf } from '../identify-operator.ts';

type Actor = Pick<NewAuditEntry, 'operatorId' | 'operator' | 'tokenId' | 'address' | 'requestId'>;

/** The stores of one change, which is recorded as one of the operator of the request. */
interface RecordedChange extends Omit<ChangeStores, 'record'> {
  record: (entry: Omit<NewAuditEntry, keyof Actor>) => Promise<void>;
}

/** Makes a change and records it in the same transaction. */
export function recordChange<T>(
  { audit }: { audit: Pick<AuditLog, 'change'> },
  request: FastifyRequest,
  work: (on: RecordedChange) => Promise<T>,
): Promise<T> {
  const { operatorId, name: operator, token } = operatorOf(request);
  const tokenId = token?.tokenId ?? null;
  const actor: Actor = {
    operatorId,
    operator,
    tokenId,
    address: request.ip,
    requestId: request.id,
  };
  return audit.change((stores) =>
    work({ ...stores, record: (entry) => stores.record({ ...actor, ...entry }) }),
  );
}
