import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../../../core/limits.ts';
import { stackEnv } from '../../../support/stack-env.ts';
import { createDockerFixture } from './support/docker-fixture.ts';
import { type ShellImage, shellImage } from './support/shell-image.ts';

const fixture = createDockerFixture();
const miB = 1024 ** 2;
let image: ShellImage;

beforeAll(async () => {
  image = await shellImage(fixture.engine);
});
afterAll(async () => {
  await fixture.close();
  await image.remove();
});

function run(script: string, memoryBytes = 256 * miB) {
  return fixture.run(fixture.spec({ image: image.name, memoryBytes }), {
    args: ['bash', '-c', script],
  });
}

const hog = `python3 -c 'a=[bytearray(1<<20) for _ in range(4096)]'`;

test('an agent out of memory exits with 137 and oomKilled', async () => {
  const { untilExited } = await run(`exec ${hog}`);
  expect(await untilExited()).toMatchObject({ exitCode: 137, oomKilled: true });
});

// On gVisor the memory limit applies to the sandbox's kernel, which is killed as a whole.
const childEnds = stackEnv.sandboxRuntime === 'runc' ? { exitCode: 0 } : { exitCode: 137 };

test('an agent survives a child out of memory', async () => {
  const { untilExited, out } = await run(`${hog}; echo "child: $?"; exit 0`);
  expect(await untilExited()).toMatchObject({ ...childEnds, oomKilled: true });
  expect(out()).toBe(childEnds.exitCode === 0 ? 'child: 137\n' : '');
});

test('a fork bomb is contained and can be stopped', async () => {
  const bomb = await run('echo up; bomb() { bomb | bomb & }; bomb; sleep 30');
  await bomb.untilOut('up');
  const latenciesMs: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const start = performance.now();
    await fixture.engine.version();
    latenciesMs.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const stats = await fixture.engine.docker.getContainer(bomb.containerId).stats({ stream: false });
  // gVisor's processes are not processes of the host; only the memory limits them.
  expect(stats.pids_stats?.current ?? 0).toBeLessThanOrEqual(512);
  expect(Math.max(...latenciesMs)).toBeLessThan(limits.engine.callTimeoutMs);
  await fixture.sandboxes.signal(bomb.containerId, 'SIGKILL');
  expect(await bomb.untilExited()).toMatchObject({ status: 'exited' });
});

test('a full /tmp affects only the agent', async () => {
  const { untilExited, err } = await run(
    'dd if=/dev/zero of=/tmp/fill bs=1M count=600; exit 3',
    2048 * miB,
  );
  expect(await untilExited()).toMatchObject({ exitCode: 3 });
  expect(err()).toContain('No space left on device');
});

test('files, including the spool, cannot exceed their limit', async () => {
  const { untilExited } = await run('truncate -s 3G /workspace/file || exit 153');
  expect(await untilExited()).toMatchObject({ exitCode: 153 });
});

test('an orphan is reaped by the init', async () => {
  const script = [
    'for n in $(seq 50); do (sleep 0 & exec true); done',
    'for n in $(seq 100); do ps -eo stat | grep -q Z || break; sleep 0.1; done',
    'ps -eo stat | grep -c Z; exit 0',
  ].join('\n');
  const { untilExited, out } = await run(script);
  await untilExited();
  expect(out()).toBe('0\n');
});

// Both reserve gigabytes without writing them. On gVisor the profile does not apply.
const reserving = [
  'fallocate -l 1G /workspace/reserved; echo "fallocate: $?"',
  `python3 - << 'END'`,
  'import ctypes, fcntl, os, struct',
  "file = os.open('/workspace/reserved', os.O_RDWR | os.O_CREAT)",
  "gigabyte = struct.pack('=hhqqiiiiii', 0, 0, 0, 1 << 30, 0, 0, 0, 0, 0, 0)",
  'for name, command in {"RESVSP": 0x40305828, "RESVSP64": 0x4030582A, "ZERO_RANGE": 0x40305839}.items():',
  '    try:',
  '        fcntl.ioctl(file, command, gigabyte)',
  '        print(name, "reserved")',
  '    except OSError as error:',
  '        print(name, error.strerror)',
  "print('posix_fallocate', os.posix_fallocate(file, 0, 1 << 20), os.stat(file).st_blocks * 512)",
  'END',
].join('\n');

test.runIf(stackEnv.sandboxRuntime === 'runc')(
  'disk space cannot be reserved, only written',
  async () => {
    const { untilExited, out, err } = await run(reserving);
    expect(await untilExited()).toMatchObject({ exitCode: 0 });
    expect(err()).toContain('Operation not supported');
    expect(out().split('\n')).toEqual([
      'fallocate: 1',
      'RESVSP Operation not permitted',
      'RESVSP64 Operation not permitted',
      'ZERO_RANGE Operation not permitted',
      `posix_fallocate None ${1024 ** 2}`,
      '',
    ]);
  },
);
