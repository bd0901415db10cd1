import { randomBytes } from 'node:crypto';
import { createEngine } from '../../systems/docker/engine.ts';
import { stackEnv } from './stack-env.ts';

export interface DerivedImage {
  name: string;
  remove(): Promise<void>;
}

/**
 * Builds an image from the sandbox's image by running a shell script as root, as an operator would.
 */
export async function deriveImage(
  script: string,
  files: Record<string, string>,
): Promise<DerivedImage> {
  const { docker } = createEngine({ dockerHost: stackEnv.dockerHost, instance: 'derived' });
  const image = docker.getImage(stackEnv.sandboxImage);
  const { Config: config } = await image.inspect();
  const writing = Object.entries(files).map(
    ([path, content]) =>
      `mkdir -p "$(dirname ${path})" && echo ${Buffer.from(content).toString('base64')} | base64 -d > ${path}`,
  );
  const container = await docker.createContainer({
    Image: stackEnv.sandboxImage,
    User: '0:0',
    Entrypoint: ['/bin/sh', '-ec'],
    Cmd: [[...writing, script].join('\n')],
    HostConfig: { NetworkMode: 'none' },
  });
  const tag = randomBytes(4).toString('hex');
  const name = `flowrun-sandbox-derived:${tag}`;
  try {
    await container.start();
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number };
    if (code !== 0) throw new Error(`the image's script failed with ${code}`);
    const changes = [
      `USER ${config.User}`,
      `ENTRYPOINT ${JSON.stringify(config.Entrypoint)}`,
      'CMD []',
    ];
    await container.commit({ repo: 'flowrun-sandbox-derived', tag, changes });
  } finally {
    await container.remove({ force: true });
  }
  return { name, remove: async () => void (await docker.getImage(name).remove({ force: true })) };
}
