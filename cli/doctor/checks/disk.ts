import { statfs } from 'node:fs/promises';
import { isShort, leftOn, makeRoom, sizeOf } from '../advice.ts';
import { type Check, notHere, seen } from '../types.ts';

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
    const { bavail, blocks, bsize, files, ffree } = await statfs(config.dataDir);
    const room = { freeBytes: bavail * bsize, freeInodes: files === 0 ? null : ffree };
    const whole = sizeOf(blocks * bsize);
    const said = [`${sizeOf(room.freeBytes)} of ${whole} free in ${config.dataDir}`];
    if (!isShort(room)) return seen(said);
    const what = `The disk of ${config.dataDir} has ${leftOn(room)} left.`;
    return seen(said, { code: 'disk_short', what, advice: makeRoom });
  },
};
