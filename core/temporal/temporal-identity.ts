/** The Temporal cluster and namespace that hold the workflows of a database. */
export interface TemporalIdentity {
  /** Null if the server does not permit this client to read it. */
  clusterId: string | null;
  namespaceId: string;
  /** The name of the namespace, for messages. */
  namespace: string;
}

/** A cluster ID that only one side has is not compared: namespace IDs are unique. */
export function isSameTemporal(one: TemporalIdentity, other: TemporalIdentity): boolean {
  const isSameCluster =
    one.clusterId === null || other.clusterId === null || one.clusterId === other.clusterId;
  return isSameCluster && one.namespaceId === other.namespaceId;
}

export const describeTemporal = ({ clusterId, namespaceId, namespace }: TemporalIdentity): string =>
  `the namespace ${namespace} (${namespaceId}) of the cluster ${clusterId ?? 'unknown'}`;
