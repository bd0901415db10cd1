import type { ContainerCreateOptions } from 'dockerode';
import { limits } from '../../../core/limits.ts';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import type { SandboxRuntime } from '../../../core/sandbox/sandbox-runtime.ts';
import { hardenedHostConfig } from '../confinement/hardening.ts';
import { runMounts } from '../confinement/mounts.ts';
import { identityLabels, labelNames } from '../labels.ts';
import type { MountSource } from '../mount-source.ts';
import type { SandboxSpec } from './sandbox-spec.ts';

/** The host's part of a container's specification. */
interface ContainerHost {
  instance: string;
  hostCpus: number;
  runtime: SandboxRuntime;
  mountSource?: MountSource;
}

/**
 * The specification of a sandbox's container. It holds no secrets, because everyone with access to
 * the engine can read it: configuration reaches the sandbox over its socket.
 */
export function containerSpec(
  spec: SandboxSpec,
  { instance, hostCpus, runtime, mountSource }: ContainerHost,
): ContainerCreateOptions {
  return {
    Image: spec.image,
    Labels: {
      ...identityLabels(instance, spec),
      [labelNames.deadline]: spec.deadline.toISOString(),
    },
    Hostname: 'agent',
    User: `${sandboxPaths.uid}:${sandboxPaths.gid}`,
    WorkingDir: sandboxPaths.workspace,
    Entrypoint: [sandboxPaths.entry, `${sandboxPaths.entry}.js`],
    Cmd: [],
    Env: [`HOME=/home/agent`, `TMPDIR=/tmp`],
    ExposedPorts: {},
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    StopTimeout: limits.run.stopGraceDefaultSeconds,
    ...unattached,
    HostConfig: {
      ...hardenedHostConfig(),
      Runtime: runtime,
      Mounts: runMounts(spec.folders, mountSource),
      Memory: spec.memoryBytes,
      MemorySwap: spec.memoryBytes, // equal: no swap
      NanoCpus: nanoCpus(Math.max(spec.cpus, limits.sandbox.startCpus), hostCpus),
    },
  };
}

const unattached = {
  Tty: false,
  OpenStdin: false,
  AttachStdin: false,
  AttachStdout: false,
  AttachStderr: false,
};

/** The engine rejects more processors than the machine has. */
export function nanoCpus(cpus: number, hostCpus: number): number {
  return Math.round(Math.min(cpus, hostCpus) * 1e9);
}
