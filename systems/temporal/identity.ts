import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { TemporalIdentity } from '../../core/temporal/temporal-identity.ts';

/** Both IDs are random, stored by the server, and survive its restarts. */
export async function readIdentity({
  client,
  namespace,
}: {
  client: Client;
  namespace: string;
}): Promise<TemporalIdentity> {
  const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
  const clusterId = await readClusterId(client);
  const namespaceId = namespaceInfo?.id;
  if (!namespaceId) throw new Error(`Temporal reports no ID of the namespace ${namespace}`);
  return { clusterId, namespaceId, namespace };
}

/** A client whose rights end at its namespace may not read it. */
async function readClusterId(client: Client): Promise<string | null> {
  try {
    const { clusterId } = await client.workflowService.getClusterInfo({});
    return clusterId || null;
  } catch (error) {
    if (isGrpcServiceError(error) && withheld.has(error.code)) return null;
    throw error;
  }
}

/** gRPC's status codes PERMISSION_DENIED and UNIMPLEMENTED. */
const withheld = new Set<number>([7, 12]);
