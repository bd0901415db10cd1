import type { RunFolders } from '../confinement/mounts.ts';

/** The properties of one sandbox; all others are the same for every sandbox. */
export interface SandboxSpec {
  runId: string;
  projectId: string;
  generation: number;
  image: string;
  hostId: string;
  folders: RunFolders;
  memoryBytes: number;
  /** The flow's limit; startup may use more, see `setCpus`. */
  cpus: number;
  /** The run's time limit, shown to operators as a label. */
  deadline: Date;
}
