import { dirname, join, relative } from 'node:path/posix';
import type { MountSettings } from 'dockerode';
import { sandboxPaths } from '../../../core/sandbox/sandbox.ts';
import type { MountSource } from '../mount-source.ts';

/** The run's folders as the worker sees them, absolute. They exist before the container is made. */
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
  BindOptions: { Propagation: 'rprivate' | 'rslave'; NonRecursive: true };
}

/** One folder of a volume. */
export interface SubpathMount extends MountSettings {
  Type: 'volume';
  ReadOnly: boolean;
  VolumeOptions: {
    NoCopy: true;
    Subpath: string;
    Labels: Record<string, string>;
    DriverConfig: { Name: ''; Options: Record<string, string> };
  };
}

export type SandboxMount = BindMount | SubpathMount;

/** The one place that knows how a run's folders get into its sandbox. */
export function runMounts(
  folders: RunFolders,
  place: MountSource = { kind: 'host-path' },
): SandboxMount[] {
  return [
    mount(folders.workspace, sandboxPaths.workspace, place),
    mount(folders.spool, sandboxPaths.spoolDir, place),
    mount(folders.config, sandboxPaths.configDir, place),
    { ...mount(folders.socket, dirname(sandboxPaths.socket), place), ReadOnly: true },
  ];
}

function mount(folder: string, target: string, place: MountSource): SandboxMount {
  switch (place.kind) {
    case 'host-path':
      return bind(folder, target);
    case 'bind':
      return ownedByEngine(bind(join(place.source, relativeTo(place.dir, folder)), target));
    case 'subpath':
      return subpath(place.volume, relativeTo(place.dir, folder), target);
  }
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

/** Engines refuse to bind what is theirs privately, lest it stay busy: it must be able to let go. */
function ownedByEngine(made: BindMount): BindMount {
  return { ...made, BindOptions: { ...made.BindOptions, Propagation: 'rslave' } };
}

/** Nothing of the image is copied into it: what is in the folder is what the worker put there. */
function subpath(volume: string, folder: string, target: string): SubpathMount {
  return {
    Type: 'volume',
    Source: volume,
    Target: target,
    ReadOnly: false,
    VolumeOptions: {
      NoCopy: true,
      Subpath: folder,
      Labels: {},
      DriverConfig: { Name: '', Options: {} }, // the volume exists already
    },
  };
}

/** A sandbox that was given the whole folder, or one above it, would see everybody's files. */
function relativeTo(dir: string, folder: string): string {
  const path = relative(dir, folder);
  if (path !== '' && !path.startsWith('..')) return path;
  throw new Error(`${folder} is no folder below ${dir}`);
}
