import type { RunFolders } from '../confinement/mounts.ts';

/** What is particular to one sandbox; everything else is the same for all of them. */
export interface SandboxSpec {
  runId: string;
  projectId: string;
  generation: number;
  image: string;
  hostId: string;
  folders: RunFolders;
  memoryBytes: number;
  /** The flow's limit; the boot may take more, see `setCpus`. */
  cpus: number;
  /** When the run is over at the latest, for operators who look at containers. */
  deadline: Date;
}
