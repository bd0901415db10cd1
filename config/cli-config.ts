import type { Buffer } from 'node:buffer';
import { type Environment, frozen, readVariables } from './environment.ts';
import { serviceVariables } from './variables.ts';

export interface CliConfig {
  databaseUrl: string;
  encryptionKey: Buffer;
}

/** What the command line needs. Apart from the services' so that it starts without their libraries. */
export function readCliConfig(env: Environment = process.env): Readonly<CliConfig> {
  const { DATABASE_URL, ENCRYPTION_KEY } = serviceVariables;
  const read = readVariables(env, { DATABASE_URL, ENCRYPTION_KEY });
  return frozen({ databaseUrl: read.DATABASE_URL, encryptionKey: read.ENCRYPTION_KEY });
}
