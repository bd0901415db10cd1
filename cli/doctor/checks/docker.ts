import { statfs } from 'node:fs/promises';
import { runtimeAdvice, runtimeFaultOf } from '../../../core/sandbox/sandbox-runtime.ts';
import { getImage, isShort, leftOn, makeRoom, sizeOf, startEngine } from '../advice.ts';
import { type Check, checked, skipped } from '../types.ts';

export const docker: Check = {
  name: 'docker',
  needs: [],
  ifItFails: {
    code: 'engine_unreachable',
    what: 'The Docker Engine does not answer',
    advice: startEngine,
  },
  async look(parts) {
    if (parts.docker === null) return skipped('neither DOCKER_HOST nor DATA_DIR is set here');
    const { version } = await parts.docker.version();
    return checked([version]);
  },
};

export const image: Check = {
  name: 'image',
  needs: ['docker'],
  ifItFails: {
    code: 'image_missing',
    what: 'The Docker Engine does not have the image',
    advice: getImage,
  },
  async look({ docker, config }) {
    if (docker === null || config.sandboxImage === null)
      return skipped('SANDBOX_IMAGE is not set here');
    await docker.imageId(config.sandboxImage);
    return checked([config.sandboxImage]);
  },
};

export const runtime: Check = {
  name: 'runtime',
  needs: ['docker'],
  ifItFails: {
    code: 'runtime_unknown',
    what: 'What sandboxes run on cannot be asked',
    advice: 'See the log of the Docker Engine.',
  },
  async look({ docker, config }) {
    if (docker === null) return skipped('neither DOCKER_HOST nor DATA_DIR is set here');
    try {
      const used = await docker.findRuntime();
      return checked([`${used}, by SANDBOX_RUNTIME=${config.sandboxRuntime}`]);
    } catch (error) {
      const code = runtimeFaultOf(error);
      if (code === null || !(error instanceof Error)) throw error;
      const what = `Sandboxes cannot run on what SANDBOX_RUNTIME says: ${error.message}.`;
      return checked([], { code, what, advice: runtimeAdvice[code] });
    }
  },
};

export const disk: Check = {
  name: 'disk',
  needs: [],
  ifItFails: {
    code: 'data_folder_missing',
    what: 'The data folder cannot be looked at',
    advice: 'Make the folder that DATA_DIR names, or correct DATA_DIR.',
  },
  async look({ config }) {
    if (config.dataDir === null) return skipped('DATA_DIR is not set here');
    const { bavail, blocks, bsize, files, ffree } = await statfs(config.dataDir);
    const room = { freeBytes: bavail * bsize, freeInodes: files === 0 ? null : ffree };
    const whole = sizeOf(blocks * bsize);
    const said = [`${sizeOf(room.freeBytes)} of ${whole} free in ${config.dataDir}`];
    if (!isShort(room)) return checked(said);
    const what = `The disk of ${config.dataDir} has ${leftOn(room)} left.`;
    return checked(said, { code: 'disk_short', what, advice: makeRoom });
  },
};
