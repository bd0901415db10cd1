import { expect, test } from 'vitest';
import { seccompProfile } from '../../../../systems/docker/confinement/seccomp.ts';

interface Rule {
  names: string[];
  action: string;
  args?: { index: number; value: number; valueTwo?: number; op: string }[];
  errnoRet?: number;
  includes?: { caps?: string[]; arches?: string[] };
}

const profile = JSON.parse(seccompProfile) as { defaultAction: string; syscalls: Rule[] };

/** Sandboxes have no capabilities, so a rule that requires one never applies. */
const applying = profile.syscalls.filter((rule) => rule.includes?.caps === undefined);
const rulesFor = (name: string): Rule[] => applying.filter((rule) => rule.names.includes(name));

test('blocks unlisted system calls', () => {
  expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
});

test('allows sockets of four families only', () => {
  expect(rulesFor('socket').map((rule) => rule.args)).toEqual(
    [1, 2, 10, 16].map((value) => [{ index: 0, value, op: 'SCMP_CMP_EQ' }]),
  );
  expect(rulesFor('socketcall')).toEqual([]);
});

test.each([
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'bpf',
  'userfaultfd',
  'keyctl',
  'add_key',
  'request_key',
  'unshare',
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'fsopen',
  'open_tree',
  'move_mount',
  'mount_setattr',
  'perf_event_open',
  'process_vm_readv',
  'process_vm_writev',
  'memfd_secret',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'open_by_handle_at',
  'swapon',
  'reboot',
  'settimeofday',
  'clock_settime',
  'syslog',
  'acct',
  'quotactl',
  'nfsservctl',
  'kcmp',
  'pidfd_getfd',
  'chroot',
])('does not allow %s', (name) => {
  expect(rulesFor(name).filter((rule) => rule.action === 'SCMP_ACT_ALLOW')).toEqual([]);
});

test('reports clone3 as missing and lets clone create no namespaces', () => {
  expect(rulesFor('clone3')).toEqual([
    expect.objectContaining({ action: 'SCMP_ACT_ERRNO', errnoRet: 38 }),
  ]);
  for (const rule of rulesFor('clone')) expect(rule.args?.[0]?.op).toBe('SCMP_CMP_MASKED_EQ');
});

test('reports fallocate as unsupported, so that programs write instead', () => {
  expect(rulesFor('fallocate')).toEqual([
    expect.objectContaining({ action: 'SCMP_ACT_ERRNO', errnoRet: 95 }),
  ]);
});

/** The type of a control request is its second byte. */
const isAllowedControl = (type: number): boolean =>
  rulesFor('ioctl').some(({ action, args }) => {
    const [arg] = args ?? [];
    if (arg === undefined) return action === 'SCMP_ACT_ALLOW';
    return arg.index === 1 && ((type << 8) & arg.value) === arg.valueTwo;
  });

test('allows control requests of all types except those that reserve space or leave a quota', () => {
  const types = Array.from({ length: 256 }, (_, type) => type);
  const blocked = types.filter((type) => !isAllowedControl(type));
  expect(blocked.map((type) => String.fromCharCode(type))).toEqual(['X', 'f']);
});
