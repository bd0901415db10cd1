import { isDeepStrictEqual } from 'node:util';
import type { ContainerInspectInfo } from 'dockerode';
import type { RunFolders } from '../../../../../systems/docker/confinement/mounts.ts';
import { stackEnv } from '../../../../support/stack-env.ts';

/**
 * Lists the permissions of a container, as the engine describes it, that a sandbox must not have.
 * Written from the security rules, independently of the code that creates containers.
 */
export function weaknesses(container: ContainerInspectInfo, folders: RunFolders): string[] {
  const expected = { ...wantedConfig(), ...wantedHost(), Mounts: wantedMounts(folders) };
  const found: Record<string, unknown> = {
    ...container.HostConfig,
    ...container.Config,
    Mounts: foundMounts(container),
    Seccomp: seccompOf(container),
  };
  const wrong = Object.entries(expected).filter(([name, value]) => !same(found[name], value));
  return wrong.map(([name]) => name);
}

function wantedConfig() {
  return {
    User: '10001:10001',
    WorkingDir: '/workspace',
    Hostname: 'agent',
    Entrypoint: ['/opt/frs/entry', '/opt/frs/entry.js'],
    Cmd: nothing,
    Tty: false,
    OpenStdin: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    Volumes: nothing,
    ExposedPorts: nothing,
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    Env: (env: unknown) =>
      Array.isArray(env) && env.every((line) => /^(HOME|TMPDIR|PATH)=/.test(String(line))),
  };
}

function wantedHost() {
  return {
    NetworkMode: 'none',
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    CgroupnsMode: 'private',
    CgroupParent: '',
    Privileged: false,
    CapAdd: nothing,
    CapDrop: ['ALL'],
    Seccomp: true,
    ReadonlyRootfs: true,
    Devices: nothing,
    DeviceRequests: nothing,
    DeviceCgroupRules: nothing,
    GroupAdd: nothing,
    Binds: nothing,
    VolumesFrom: nothing,
    PortBindings: nothing,
    PublishAllPorts: false,
    ExtraHosts: nothing,
    Sysctls: nothing,
    Links: nothing,
    Memory: 2 * 1024 ** 3,
    MemorySwap: 2 * 1024 ** 3,
    NanoCpus: (cpus: unknown) => Number(cpus) > 0 && Number(cpus) <= 2e9,
    CpuShares: 512,
    PidsLimit: 512,
    OomScoreAdj: 500,
    OomKillDisable: (disabled: unknown) => disabled !== true,
    ShmSize: 64 * 1024 ** 2,
    Ulimits: hasUlimits,
    Init: true,
    AutoRemove: false,
    RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    LogConfig: { Type: 'none', Config: {} },
    Runtime: stackEnv.sandboxRuntime,
    MaskedPaths: includes(masked),
    ReadonlyPaths: includes([
      '/proc/bus',
      '/proc/fs',
      '/proc/irq',
      '/proc/sys',
      '/proc/sysrq-trigger',
    ]),
    Tmpfs: isTight,
  };
}

const masked = [
  ...['acpi', 'asound', 'interrupts', 'kcore', 'keys', 'latency_stats', 'sched_debug', 'scsi'].map(
    (name) => `/proc/${name}`,
  ),
  ...['/proc/timer_list', '/proc/timer_stats', '/sys/devices/virtual/powercap', '/sys/firmware'],
];

function wantedMounts({ workspace, spool, config, socket }: RunFolders) {
  const mount = (source: string, target: string, writable: boolean): string =>
    `bind ${source} -> ${target} ${writable ? 'rw' : 'ro'} rprivate`;
  return [
    mount(config, '/home/agent/.claude', true),
    mount(socket, '/run/egress', false),
    mount(spool, '/spool', true),
    mount(workspace, '/workspace', true),
  ].sort();
}

function foundMounts({ Mounts }: ContainerInspectInfo): string[] {
  const bound = Mounts.filter((mount) => mount.Type !== 'tmpfs');
  return bound
    .map((m) => `${m.Type} ${m.Source} -> ${m.Destination} ${m.RW ? 'rw' : 'ro'} ${m.Propagation}`)
    .sort();
}

/** Exactly two options: no new privileges, and a profile that denies by default. */
function seccompOf({ HostConfig }: ContainerInspectInfo): boolean {
  const options = (HostConfig.SecurityOpt ?? []) as string[]; // the engine's own list of strings
  const profile = options.find((option) => option.startsWith('seccomp={'));
  if (profile === undefined || options.length !== 2) return false;
  if (!options.includes('no-new-privileges:true')) return false;
  return profile.includes('"defaultAction":"SCMP_ACT_ERRNO"') && !profile.includes('io_uring');
}

function hasUlimits(value: unknown): boolean {
  const found = new Set(
    (value as { Name: string; Hard: number }[]).map((u) => `${u.Name} ${u.Hard}`),
  );
  return ['nofile 8192', 'core 0', `fsize ${2 * 1024 ** 3}`].every((limit) => found.has(limit));
}

function isTight(value: unknown): boolean {
  const mounts = value as Record<string, string>;
  const names = Object.keys(mounts).sort();
  const everywhere = Object.values(mounts).every(
    (options) => /\bnosuid\b/.test(options) && /\bnodev\b/.test(options) && /\bsize=/.test(options),
  );
  const runs = /\bnoexec\b/.test(mounts['/run'] ?? '');
  return everywhere && runs && isDeepStrictEqual(names, ['/home/agent', '/run', '/tmp']);
}

function includes(expected: string[]): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && expected.every((item) => value.includes(item));
}

function nothing(value: unknown): boolean {
  return value === null || value === undefined || Object.keys(value).length === 0;
}

function same(found: unknown, expected: unknown): boolean {
  if (typeof expected === 'function') return (expected as (value: unknown) => boolean)(found); // the two kinds above
  return isDeepStrictEqual(found, expected);
}
