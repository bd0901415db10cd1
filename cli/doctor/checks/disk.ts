import { statfs } from 'node:fs/promises';
import { isShort, makeRoom, sizeOf } from '../advice.ts';
import { type Check, notHere, seen } from '../check.ts';

export const disk: Check = {
  name: 'disk',
  needs: [],
  ifItFails: {
    code: 'data_folder_missing',
    what: 'The data folder cannot be looked at',
    advice: 'Make the folder that DATA_DIR names, or correct DATA_DIR.',
  },
  async look({ config }) {
    if (config.dataDir === null) return notHere('DATA_DIR is not set here');
    const { bavail, blocks, bsize } = await statfs(config.dataDir);
    const free = bavail * bsize;
    const said = [`${sizeOf(free)} of ${sizeOf(blocks * bsize)} free in ${config.dataDir}`];
    if (!isShort(free)) return seen(said);
    const what = `The disk of ${config.dataDir} has ${sizeOf(free)} left.`;
    return seen(said, { code: 'disk_short', what, advice: makeRoom });
  },
};
