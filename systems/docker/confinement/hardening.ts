import type { HostConfig } from 'dockerode';
import { limits } from '../../../core/limits.ts';
import { sandboxPaths } from '../../../core/sandbox/sandbox.ts';
import { seccompProfile } from './seccomp.ts';

const miB = 1024 ** 2;

/** Docker's own lists, which ours replace, and the paths that its later versions have added. */
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
 * What holds every sandbox in, whatever runs inside. `nproc` is not among the limits: it counts per
 * user of the whole host, and all sandboxes share one; the limit of processes is the real bound.
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

/** The output is the spool file, so no log; the exit code must survive us, so no automatic removal. */
function resourceLimits() {
  const fileBytes = limits.spoolMaxBytes;
  return {
    PidsLimit: limits.sandboxProcesses,
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
