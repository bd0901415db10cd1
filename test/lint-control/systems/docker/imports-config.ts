// breaks: eslint(no-restricted-imports)
import { readWorkerConfig } from '../../config/config.ts';

export const config = readWorkerConfig;
