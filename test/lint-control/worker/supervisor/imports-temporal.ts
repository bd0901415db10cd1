// breaks: eslint(no-restricted-imports)
import { Worker } from '@temporalio/worker';

export const worker = Worker;
