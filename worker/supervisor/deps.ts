import type { Logger } from 'pino';
import { limits } from '../../core/limits.ts';
import type { Sandboxes } from '../../systems/docker/sandbox.ts';
import type { BlobStore } from '../../systems/postgres/blob-store.ts';
import type { ConfigStore } from '../../systems/postgres/config-store.ts';
import type { FileStore } from '../../systems/postgres/file-store.ts';
import type { FlowStore } from '../../systems/postgres/flow-store.ts';
import type { FrameStore } from '../../systems/postgres/frame-store.ts';
import type { RunStore } from '../../systems/postgres/run-store.ts';
import type { FrameStream } from '../../systems/redis/frame-stream.ts';
import type { Egress } from '../egress/egress.ts';

export interface SupervisorDeps {
  hostId: string;
  dataDir: string;
  /** For flows that name none. */
  image: string;
  sandboxes: Sandboxes;
  runs: Pick<
    RunStore,
    'find' | 'sandboxPlan' | 'markStarted' | 'recordCause' | 'liveOnHost' | 'recordSnapshot'
  >;
  configs: Pick<ConfigStore, 'read' | 'acknowledge'>;
  flows: Pick<FlowStore, 'readSecrets'>;
  frames: Pick<
    FrameStore,
    'stealLease' | 'renewLease' | 'beginGeneration' | 'append' | 'appendOwn' | 'read'
  >;
  files: Pick<FileStore, 'replaceSnapshot'>;
  blobs: Pick<BlobStore, 'put' | 'has'>;
  frameStream: Pick<FrameStream, 'publish' | 'publishFileTree' | 'expire' | 'wake'>;
  egress: Egress;
  times: { stallTimeoutMs: number; afterResultGraceMs: number; leaseMs: number };
  bounds?: Partial<SupervisorBounds>;
  logger: Logger;
  now(): Date;
  newId(): string;
}

/** What a sandbox may use, and what this process keeps of it at a time. */
export interface SupervisorBounds {
  spoolBytes: number;
  workspaceBytes: number;
  lineBytes: number;
  chunkBytes: number;
  batchLines: number;
  batchBytes: number;
}

export function boundsOf({ bounds }: SupervisorDeps): SupervisorBounds {
  return {
    spoolBytes: limits.spoolMaxBytes,
    workspaceBytes: limits.workspaceMaxBytes,
    lineBytes: limits.agentLineMaxBytes,
    chunkBytes: limits.spoolReadChunkBytes,
    batchLines: 1_000,
    batchBytes: 4 * 1024 ** 2,
    ...bounds,
  };
}
