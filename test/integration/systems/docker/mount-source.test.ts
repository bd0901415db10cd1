// The worker runs in a container with its data in a volume. A sandbox sees its own folders only.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunFolders, runMounts } from '../../../../systems/docker/confinement/mounts.ts';
import { type MountSource, supportsSubpath } from '../../../../systems/docker/mount-source.ts';
import { openDocker } from '../../../../systems/docker/open-docker.ts';
import { startFakeEngine } from '../../../support/fake-engine.ts';
import { stackEnv } from '../../../support/stack-env.ts';

const volume = `frs-test-${randomBytes(4).toString('hex')}`;
const dir = '/data';
const data = { dir, volume };
const { engine, mountSource } = openDocker({
  dockerHost: stackEnv.dockerHost,
  instance: volume,
  data,
});
const { apiVersion } = await engine.version();
/** The volume's folder on this machine. */
let mountpoint: string;

beforeAll(async () => {
  await engine.docker.createVolume({ Name: volume });
  mountpoint = (await engine.docker.getVolume(volume).inspect()).Mountpoint;
});
afterAll(() => engine.docker.getVolume(volume).remove());

function foldersOf(run: string): RunFolders {
  const root = join(dir, 'r', run);
  const folders = {
    workspace: join(root, 'workspace'),
    spool: join(root, 'spool'),
    config: join(root, 'config'),
    socket: join(dir, 's', run),
  };
  for (const folder of Object.values(folders)) mkdirSync(seen(folder), { recursive: true });
  return folders;
}

const seen = (path: string): string => join(mountpoint, relative(dir, path));

/** Runs a script with the mounts of this run's sandbox; returns its output. */
async function runIn(folders: RunFolders, source: MountSource, script: string): Promise<string> {
  const container = await engine.docker.createContainer({
    Image: stackEnv.sandboxImage,
    User: '0:0',
    Entrypoint: ['sh', '-c', `{ ${script}; } > /spool/out 2>&1`],
    HostConfig: { NetworkMode: 'none', Mounts: runMounts(folders, source) },
  });
  try {
    await container.start();
    await container.wait();
    return readFileSync(join(seen(folders.spool), 'out'), 'utf8');
  } finally {
    await container.remove({ force: true });
  }
}

async function expectOwnFilesOnly(source: MountSource): Promise<void> {
  const [own, neighbour] = [foldersOf('own'), foldersOf('neighbour')];
  writeFileSync(join(seen(own.workspace), 'file'), 'of mine');
  writeFileSync(join(seen(neighbour.workspace), 'file'), 'of another');
  const output = await runIn(
    own,
    source,
    'cat /workspace/file; echo later > /workspace/made; touch /run/egress/x; grep -r "of another" /workspace /workspace/.. --include=file -s',
  );
  expect(output).toContain('of mine');
  expect(output).not.toContain('of another');
  expect(output).toContain('Read-only file system');
  expect(readFileSync(join(seen(own.workspace), 'made'), 'utf8')).toBe('later\n');
}

test("a sandbox sees its own folders, bound from the volume's folder", async () => {
  await expectOwnFilesOnly({ kind: 'bind', dir, source: mountpoint });
});

test.skipIf(!supportsSubpath(apiVersion))(
  'a sandbox sees its own folders, mounted as subpaths of the volume',
  async () => {
    await expectOwnFilesOnly({ kind: 'subpath', dir, volume });
  },
);

test("the engine's API version decides between the two", async () => {
  const expected: MountSource = supportsSubpath(apiVersion)
    ? { kind: 'subpath', dir, volume }
    : { kind: 'bind', dir, source: mountpoint };
  expect(await mountSource()).toEqual(expected);
  expect(['1.41', '1.44', '1.45', '1.51', '2.0'].map(supportsSubpath)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
});

test("a worker on the engine's machine mounts its folders by path", async () => {
  const local = openDocker({ dockerHost: stackEnv.dockerHost, instance: volume });
  expect(await local.mountSource()).toEqual({ kind: 'host-path' });
});

test('rejects unsupported volume drivers and folders outside of the data folder', async () => {
  const source = { kind: 'subpath', dir, volume } as const;
  const folders = { workspace: '/data', spool: '/data/a', config: '/data/b', socket: '/data/c' };
  expect(() => runMounts(folders, source)).toThrow('/data is not below /data');
  expect(() => runMounts({ ...folders, workspace: '/etc' }, source)).toThrow('/etc is not below');

  // An older engine with a volume of another driver.
  const fake = await startFakeEngine(({ path }) =>
    path.includes('/version') ? { ApiVersion: '1.44' } : { Driver: 'nfs', Mountpoint: '' },
  );
  const { dockerHost } = fake;
  const old = openDocker({ dockerHost, instance: volume, data });
  await expect(old.mountSource()).rejects.toThrow('uses the driver nfs');
  fake.close();
});
