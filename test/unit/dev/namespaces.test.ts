import { expect, test } from 'vitest';
import { namespacesBelow } from '../../../dev/lib/namespaces.ts';

const mounts = [
  'overlay / overlay rw,relatime 0 0',
  'overlay /var/lib/my\\040flows/docker/data/overlay2/a/merged overlay rw 0 0',
  'nsfs /var/lib/my\\040flows/docker/exec/netns/default nsfs rw 0 0',
  'nsfs /var/lib/my\\040flows/docker/exec/netns/1\\134a nsfs rw 0 0',
  'nsfs /var/lib/my\\040flows/docker-other/exec/netns/default nsfs rw 0 0',
  'nsfs /run/docker/netns/default nsfs rw 0 0',
  '',
].join('\n');

test('lists only the namespaces below the folder of an engine', () => {
  const folder = '/var/lib/my flows/docker';
  const left = ['default', '1\\a'].map((name) => `${folder}/exec/netns/${name}`);
  expect(namespacesBelow(folder, mounts)).toEqual(left);
});
