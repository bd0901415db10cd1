// Images of the names and tags that docker-compose.yml asks for, where no registry brings them: of
// Debian's packages and of what was built from sources. They know of the vendors' images what the
// compose file uses of them, and nothing more.

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

interface StandIn {
  folder: string;
  image: string;
  programs: string[];
}

export async function ensureStandIns(machine: Machine): Promise<void> {
  for (const standIn of await standIns()) {
    await step('stand-in', async (progress) => {
      const { image } = standIn;
      if (await hasImage(machine.socket, image))
        return { value: null, summary: `${image} is there` };
      progress(`building ${image}`);
      await build(machine, standIn);
      return { value: null, summary: `${image} built` };
    });
  }
}

async function standIns(): Promise<StandIn[]> {
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

/** The tag that stands in the file, behind the variable that may change it. */
function imagesOf(composeFile: string): (name: string) => string {
  return (name) => {
    const tag = new RegExp(`image: ${name}:\\$\\{[A-Z_]+:-([^}]+)\\}`).exec(composeFile)?.[1];
    if (tag === undefined) throw new Error(`docker-compose.yml names no tag of ${name}`);
    return `${name}:${tag}`;
  };
}

async function build(machine: Machine, { folder, image, programs }: StandIn): Promise<void> {
  const context = mkdtempSync(join(tmpdir(), 'flowrun-stand-in-'));
  try {
    cpSync(join(repository, 'dev/from-source/compose/stand-ins', folder), context, {
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
