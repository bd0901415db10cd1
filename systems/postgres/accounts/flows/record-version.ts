import { flowVersionLimits } from '../../../../core/flows/flow-version.ts';
import type { Db } from '../../client/pool.ts';

interface VersionChange {
  flowId: string;
  /** Null: not known. */
  changedBy: string | null;
  /** The names of the secrets with other values. */
  secrets?: string[];
}

/** Call it in the transaction of the change, after the change. */
export async function recordVersion(
  db: Db,
  { flowId, changedBy, secrets = [] }: VersionChange,
): Promise<void> {
  const { kept, keptFileBytes, keptFiles } = flowVersionLimits;
  const text = 'select record_flow_version($1, $2, $3, $4, $5, $6)';
  await db.query(text, [flowId, changedBy, secrets, kept, keptFileBytes, keptFiles]);
}
