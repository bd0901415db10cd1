import { dirname, join, relative } from 'node:path/posix';
import type { MountSettings } from 'dockerode';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import type { MountSource } from '../mount-source.ts';

/** The run's folders as the worker sees them, absolute. They exist before the container. */
export interface RunFolders {
  workspace: string;
  spool: string;
  config: string;
  /** Holds the run's socket; a mounted folder lets a restarted host create the socket again. */
  socket: string;
}

interface BindMount extends MountSettings {
  Type: 'bind';
  ReadOnly: boolean;
  BindOptions: { Propagation: 'rprivate' | 'rslave'; NonRecursive: true };
}

/** One folder of a volume. */
interface SubpathMount extends MountSettings {
  Type: 'volume';
  ReadOnly: boolean;
  VolumeOptions: {
    NoCopy: true;
    Subpath: string;
    Labels: Record<string, string>;
    DriverConfig: { Name: ''; Options: Record<string, string> };
  };
}

type SandboxMount = BindMount | SubpathMount;

/** The mounts of a run's folders in its sandbox. */
export function runMounts(
  folders: RunFolders,
  source: MountSource = { kind: 'host-path' },
): SandboxMount[] {
  return [
    mount(folders.workspace, sandboxPaths.workspace, source),
    mount(folders.spool, sandboxPaths.spoolDir, source),
    mount(folders.config, sandboxPaths.configDir, source),
    { ...mount(folders.socket, dirname(sandboxPaths.socket), source), ReadOnly: true },
  ];
}

function mount(folder: string, target: string, source: MountSource): SandboxMount {
  switch (source.kind) {
    case 'host-path':
      return bind(folder, target);
    case 'bind':
      return ownedByEngine(bind(join(source.source, relativeTo(source.dir, folder)), target));
    case 'subpath':
      return subpath(source.volume, relativeTo(source.dir, folder), target);
  }
}

/** Private and non-recursive: later mounts do not propagate in either direction. */
function bind(source: string, target: string): BindMount {
  return {
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: false,
    BindOptions: { Propagation: 'rprivate', NonRecursive: true },
  };
}

/** Engines reject private binds of their data folders, which could then never be unmounted. */
function ownedByEngine(bound: BindMount): BindMount {
  return { ...bound, BindOptions: { ...bound.BindOptions, Propagation: 'rslave' } };
}

/** NoCopy: the image's files are not copied into the folder. */
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

/** Mounting the data folder itself, or one above it, would expose the files of all runs. */
function relativeTo(dir: string, folder: string): string {
  const path = relative(dir, folder);
  if (path !== '' && !path.startsWith('..')) return path;
  throw new Error(`${folder} is not below ${dir}`);
}
