/** Every key and channel in Redis, prefixed with the instance of the service that owns it. */
export interface RedisKeys {
  /** Stream of a run's latest frames. Bounded by count and bytes, expires after the run's end. */
  frames: (runId: string) => string;
  /** IDs of the runs and messages accepted last, by time. Bounded by time and count, expires. */
  accepted: string;
  /** Matches `accepted`, and every key of every run. */
  allRuns: string;
  /** Channel that notifies readers of the run. */
  runChannel: (runId: string) => string;
  /** The last file tree of the working directory, JSON text. Expires with the frames. */
  fileTree: (runId: string) => string;
  /** Exists for a while after the run has ended. Late publications then expire soon, too. */
  ended: (runId: string) => string;
  /** When a session's stream last had a reader. */
  presence: (runId: string) => string;
  /** Token bucket of an API key. Expires when it would be full again. */
  bucket: (keyId: string) => string;
  /** Open streams of an API key or a project, by expiry. */
  streamSlots: (scope: 'key' | 'project', id: string) => string;
  /** Until when reconnects of an API key's readers are reserved. Expires then. */
  reconnects: (keyId: string) => string;
  /** Exists while the disk of Postgres is short. Expires. */
  postgresDiskShort: string;
  /** Channel that notifies a process of something to read in Postgres. */
  channel: (name: string) => string;
}

export function redisKeys(instance: string): RedisKeys {
  const prefix = `frs:${instance}`;
  return {
    frames: (runId) => `${prefix}:run:${runId}:frames`,
    accepted: `${prefix}:run:accepted`,
    allRuns: `${prefix}:run:*`,
    runChannel: (runId) => `${prefix}:run:${runId}:channel`,
    fileTree: (runId) => `${prefix}:run:${runId}:filetree`,
    ended: (runId) => `${prefix}:run:${runId}:ended`,
    presence: (runId) => `${prefix}:run:${runId}:presence`,
    bucket: (keyId) => `${prefix}:bucket:${keyId}`,
    streamSlots: (scope, id) => `${prefix}:stream-slots:${scope}:${id}`,
    reconnects: (keyId) => `${prefix}:reconnects:${keyId}`,
    postgresDiskShort: `${prefix}:postgres-disk-short`,
    channel: (name) => `${prefix}:channel:${name}`,
  };
}
