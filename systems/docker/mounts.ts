import { dirname } from 'node:path/posix';
import type { MountSettings } from 'dockerode';
import { sandboxPaths } from '../../core/sandbox.ts';

/** The run's folders on the host, absolute. They exist before the container is made. */
export interface RunFolders {
  workspace: string;
  spool: string;
  config: string;
  /** Holds the run's socket, so that a restarted host can make the socket anew. */
  socket: string;
}

export interface BindMount extends MountSettings {
  Type: 'bind';
  ReadOnly: boolean;
  BindOptions: { Propagation: 'rprivate'; NonRecursive: true };
}

/** The one place that knows how a run's folders get into its sandbox. */
export function runMounts(folders: RunFolders): BindMount[] {
  return [
    bind(folders.workspace, sandboxPaths.workspace),
    bind(folders.spool, sandboxPaths.spoolDir),
    bind(folders.config, sandboxPaths.configDir),
    { ...bind(folders.socket, dirname(sandboxPaths.socket)), ReadOnly: true },
  ];
}

/** Private and flat: no mount that the host makes later appears inside, none from inside leaves. */
function bind(source: string, target: string): BindMount {
  return {
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: false,
    BindOptions: { Propagation: 'rprivate', NonRecursive: true },
  };
}
