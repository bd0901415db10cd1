import { getImage } from '../advice.ts';
import { type Check, notHere, seen } from '../types.ts';

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
      return notHere('SANDBOX_IMAGE is not set here');
    await docker.imageId(config.sandboxImage);
    return seen([config.sandboxImage]);
  },
};
