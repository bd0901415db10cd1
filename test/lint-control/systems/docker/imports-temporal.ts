// breaks: eslint(no-restricted-imports)
import { Client } from '@temporalio/client';

export const client = Client;
