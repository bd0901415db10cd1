// breaks: eslint(no-restricted-imports)
import Docker from 'dockerode';

export const docker = new Docker();
