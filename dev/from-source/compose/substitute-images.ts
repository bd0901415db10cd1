// Images under the names and tags of docker-compose.yml, for machines without an image registry.
// They are built from Debian packages and from programs compiled from source, and support only
// those features of the vendors' images that the compose file uses.

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { repository } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { runCommand } from '../../lib/run-command.ts';
import { hasImage } from '../../stack/engine-api.ts';
import { temporalPrograms } from '../../stack/servers/temporal-binary.ts';
import type { Machine } from '../../test-runner/compose/machine.ts';
import { ensureCaddy, ensureTemporalUi } from './programs.ts';

interface SubstituteImage {
  folder: string;
  image: string;
  programs: string[];
}

export async function ensureSubstituteImages(machine: Machine): Promise<void> {
  for (const substitute of await substituteImages()) {
    await step('image', async (progress) => {
      const { image } = substitute;
      if (await hasImage(machine.socket, image)) return { value: null, summary: `${image} exists` };
      progress(`building ${image}`);
      await build(machine, substitute);
      return { value: null, summary: `${image} built` };
    });
  }
}

async function substituteImages(): Promise<SubstituteImage[]> {
  const { cli, server, sqlTool } = await temporalPrograms(() => {});
  const image = imagesOf(readFileSync(join(repository, 'docker-compose.yml'), 'utf8'));
  return [
    { folder: 'postgres', image: image('postgres'), programs: [] },
    { folder: 'redis', image: image('redis'), programs: [] },
    { folder: 'temporal-server', image: image('temporalio/server'), programs: [server] },
    {
      folder: 'temporal-admin-tools',
      image: image('temporalio/admin-tools'),
      programs: [cli, sqlTool],
    },
    { folder: 'temporal-ui', image: image('temporalio/ui'), programs: [await ensureTemporalUi()] },
    { folder: 'caddy', image: image('caddy'), programs: [await ensureCaddy()] },
  ];
}

/** Finds the default tag, behind the variable that overrides it. */
function imagesOf(composeFile: string): (name: string) => string {
  return (name) => {
    const tag = new RegExp(`image: ${name}:\\$\\{[A-Z_]+:-([^}]+)\\}`).exec(composeFile)?.[1];
    if (tag === undefined) throw new Error(`docker-compose.yml has no tag for ${name}`);
    return `${name}:${tag}`;
  };
}

async function build(
  machine: Machine,
  { folder, image, programs }: SubstituteImage,
): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), 'flowrun-image-'));
  try {
    cpSync(join(repository, 'dev/from-source/compose/substitutes', folder), context, {
      recursive: true,
    });
    for (const program of programs) cpSync(program, join(context, basename(program)));
    const [command, ...args] = machine.enter(context);
    const env = { ...process.env, DOCKER_BUILDKIT: '0' };
    await runCommand(command, [...args, 'docker', 'build', '--tag', image, '.'], { env });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}
