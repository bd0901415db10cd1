import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Engine } from '../../../../../systems/docker/engine.ts';
import { stackEnv } from '../../../../support/stack-env.ts';

/** The sandbox image, whose agent runs the program in its arguments. */
export interface ShellImage {
  name: string;
  remove(): Promise<void>;
}

export async function shellImage({ docker }: Engine): Promise<ShellImage> {
  const name = `flowrun-sandbox-shell:${randomBytes(4).toString('hex')}`;
  const context = mkdtempSync(join(tmpdir(), 'shell-image-'));
  try {
    writeFileSync(join(context, 'agent'), '#!/bin/bash\nexec "$@"\n', { mode: 0o755 });
    const file = `FROM ${stackEnv.sandboxImage}\nCOPY agent /opt/frs/agent\n`;
    writeFileSync(join(context, 'Dockerfile'), file);
    const options = { t: name, networkmode: 'none', rm: true };
    const built = await docker.buildImage({ context, src: ['Dockerfile', 'agent'] }, options);
    const output = await text(built);
    if (output.includes('"error"')) throw new Error(`the shell image was not built: ${output}`);
  } finally {
    rmSync(context, { recursive: true });
  }
  return {
    name,
    remove: () =>
      docker
        .getImage(name)
        .remove()
        .then(() => {}),
  };
}
