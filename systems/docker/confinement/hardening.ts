import type { HostConfig } from 'dockerode';
import { limits } from '../../../core/limits.ts';
import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import { seccompProfile } from './seccomp.ts';

const miB = 1024 ** 2;

/** Replaces Docker's own lists; includes the paths that later versions of Docker added. */
const maskedPaths = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/**
 * The confinement of every sandbox. `nproc` is not set, because it counts per user of the host and
 * all sandboxes share one user; `PidsLimit` bounds the processes instead.
 */
export function hardenedHostConfig(): HostConfig & { CgroupnsMode: string } {
  return { ...isolation(), ...privileges(), ...resourceLimits(), ...filesystems() };
}

function isolation() {
  return {
    NetworkMode: 'none',
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    CgroupnsMode: 'private',
    Dns: [],
    ExtraHosts: [],
    PublishAllPorts: false,
  };
}

function privileges() {
  return {
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: [],
    GroupAdd: [],
    SecurityOpt: ['no-new-privileges:true', `seccomp=${seccompProfile}`],
    Devices: [],
    DeviceCgroupRules: [],
    DeviceRequests: [],
    MaskedPaths: maskedPaths,
    ReadonlyPaths: readonlyPaths,
  };
}

/**
 * No log, because output goes to the spool file; no AutoRemove, because the exit code is read
 * later.
 */
function resourceLimits() {
  const fileBytes = limits.spool.maxBytes;
  return {
    PidsLimit: limits.sandbox.processes,
    CpuShares: 512,
    OomScoreAdj: 500,
    OomKillDisable: false,
    Ulimits: [
      { Name: 'nofile', Soft: 4096, Hard: 8192 },
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'fsize', Soft: fileBytes, Hard: fileBytes },
    ],
    Init: true,
    AutoRemove: false,
    RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    LogConfig: { Type: 'none', Config: {} },
  };
}

function filesystems() {
  const own = `uid=${sandboxPaths.uid},gid=${sandboxPaths.gid},mode=0700`;
  return {
    ReadonlyRootfs: true,
    ShmSize: 64 * miB,
    Tmpfs: {
      '/tmp': 'rw,nosuid,nodev,exec,size=512m,mode=1777',
      '/home/agent': `rw,nosuid,nodev,exec,size=512m,${own}`,
      '/run': 'rw,nosuid,nodev,noexec,size=8m,mode=0755',
    },
  };
}
