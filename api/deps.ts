import type { FastifyBaseLogger } from 'fastify';
import type { Run } from '../core/run.ts';
import type { AdmissionStore } from '../systems/postgres/admission.ts';
import type { BlobStore } from '../systems/postgres/blob-store.ts';
import type { FileStore } from '../systems/postgres/file-store.ts';
import type { FlowStore } from '../systems/postgres/flow-store.ts';
import type { FrameStore } from '../systems/postgres/frame-store.ts';
import type { KeyStore } from '../systems/postgres/key-store.ts';
import type { RunStore } from '../systems/postgres/run-store.ts';
import type { FrameStream } from '../systems/redis/frame-stream.ts';
import type { RateLimiter } from '../systems/redis/rate-limit.ts';
import type { StreamSeats } from '../systems/redis/stream-seats.ts';

/** All that the API needs of the world. */
export interface ApiDeps {
  /** The address by which clients reach the API, without a slash at its end. */
  publicUrl: string;
  /** For flows that set none of their own. */
  runTimeoutMs: number;
  logger: FastifyBaseLogger;

  keys: Pick<KeyStore, 'findByKey' | 'touch'>;
  flows: Pick<FlowStore, 'find' | 'listByProject'>;
  admission: Pick<AdmissionStore, 'admitRun'>;
  runs: Pick<RunStore, 'find' | 'recordCause' | 'markDeleted' | 'markWorkflowStarted'>;
  frames: Pick<FrameStore, 'read' | 'renderedTail' | 'state' | 'states'>;
  files: Pick<FileStore, 'list' | 'find'>;
  blobs: Pick<BlobStore, 'read'>;
  frameStream: Pick<FrameStream, 'read' | 'subscribe' | 'readFileTree' | 'wake'>;
  rateLimiter: RateLimiter;
  seats: StreamSeats;

  startRun: (run: Run) => Promise<'started' | 'already'>;
  signalStop: (workflowId: string, order: { graceMs: number }) => Promise<'signalled' | 'gone'>;
  /** May a callback go to this IP address? */
  mayCall: (address: string) => boolean;
  /** What `/readyz` asks, by name; each throws where it is not ready. */
  checks: Record<string, () => Promise<unknown>>;

  now: () => Date;
  /** Milliseconds since 1970 that only ever go forward. */
  nowMs: () => number;
  newId: () => string;
}
