import { startEngine } from '../advice.ts';
import { type Check, notHere, seen } from '../types.ts';

export const docker: Check = {
  name: 'docker',
  needs: [],
  ifItFails: {
    code: 'engine_away',
    what: 'The Docker Engine does not answer',
    advice: startEngine,
  },
  async look(parts) {
    if (parts.docker === null) return notHere('neither DOCKER_HOST nor DATA_DIR is set here');
    const { version } = await parts.docker.version();
    return seen([version]);
  },
};
