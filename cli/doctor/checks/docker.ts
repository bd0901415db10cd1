import { statfs } from 'node:fs/promises';
import { runtimeAdvice, runtimeFaultOf } from '../../../core/sandbox/sandbox-runtime.ts';
import {
  freeDiskSpace,
  freeSpaceOf,
  isShort,
  provideImage,
  sizeOf,
  startEngine,
} from '../advice.ts';
import { type Check, checked, skipped, withoutDocker } from '../types.ts';

export const dockerCheck: Check = {
  name: 'docker',
  needs: [],
  onError: {
    code: 'engine_unreachable',
    message: 'The Docker Engine does not respond',
    advice: startEngine,
  },
  async run(context) {
    if (context.docker === null) return withoutDocker;
    const { version } = await context.docker.version();
    return checked([version]);
  },
};

export const imageCheck: Check = {
  name: 'image',
  needs: ['docker'],
  onError: {
    code: 'image_missing',
    message: 'The Docker Engine does not have the image',
    advice: provideImage,
  },
  async run({ docker, config }) {
    if (docker === null || config.sandboxImage === null)
      return skipped('SANDBOX_IMAGE is not set here');
    await docker.imageId(config.sandboxImage);
    return checked([config.sandboxImage]);
  },
};

export const runtimeCheck: Check = {
  name: 'runtime',
  needs: ['docker'],
  onError: {
    code: 'runtime_unknown',
    message: 'The container runtimes cannot be listed',
    advice: 'Check the log of the Docker Engine.',
  },
  async run({ docker, config }) {
    if (docker === null) return withoutDocker;
    try {
      const used = await docker.findRuntime();
      return checked([`${used} (SANDBOX_RUNTIME=${config.sandboxRuntime})`]);
    } catch (error) {
      const code = runtimeFaultOf(error);
      if (code === null || !(error instanceof Error)) throw error;
      const message = `SANDBOX_RUNTIME=${config.sandboxRuntime} does not work: ${error.message}.`;
      return checked([], { code, message, advice: runtimeAdvice[code] });
    }
  },
};

export const diskCheck: Check = {
  name: 'disk',
  needs: [],
  onError: {
    code: 'data_dir_missing',
    message: 'DATA_DIR cannot be read',
    advice: 'Create the directory that DATA_DIR names, or correct DATA_DIR.',
  },
  async run({ config }) {
    if (config.dataDir === null) return skipped('DATA_DIR is not set here');
    const { bavail, blocks, bsize, files, ffree } = await statfs(config.dataDir);
    const disk = { freeBytes: bavail * bsize, freeInodes: files === 0 ? null : ffree };
    const whole = sizeOf(blocks * bsize);
    const facts = [`${sizeOf(disk.freeBytes)} of ${whole} free in ${config.dataDir}`];
    if (!isShort(disk)) return checked(facts);
    const message = `The disk of ${config.dataDir} has only ${freeSpaceOf(disk)} free.`;
    return checked(facts, { code: 'data_dir_disk_short', message, advice: freeDiskSpace });
  },
};
