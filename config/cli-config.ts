import type { Buffer } from 'node:buffer';
import type { PriceList } from '../core/metering/model-prices.ts';
import { apiVariables } from './api-variables.ts';
import { ConfigError } from './config-error.ts';
import { deepFreeze, type Environment, readVariables } from './environment.ts';
import { readStackFile } from './local-stack-file.ts';
import { publicUrlOf } from './variable-types.ts';
import { serviceVariables } from './variables.ts';

interface CliConfig {
  databaseUrl: string;
  encryptionKey: Buffer;
  /** The URL of the API, for links. */
  publicUrl: string;
  /** The URL of the API for this process. */
  apiUrl: string;
  /** The name of the first operator. */
  firstOperator: string;
  modelPrices: PriceList;
  /** Private networks that webhooks may be sent to. */
  webhookAllowPrivate: readonly string[];
}

/**
 * Settings of the command line: from the environment or from the local stack, never mixed. Separate
 * from the services' configuration, so that it starts without their libraries.
 */
export function readCliConfig(env: Environment = process.env): Readonly<CliConfig> {
  const { DATABASE_URL, ENCRYPTION_KEY, PUBLIC_URL, API_HOST, API_PORT } = serviceVariables;
  const { MODEL_PRICES, WEBHOOK_ALLOW_PRIVATE } = serviceVariables;
  const { INIT_OPERATOR } = apiVariables;
  const needed = { DATABASE_URL, ENCRYPTION_KEY, PUBLIC_URL, API_HOST, API_PORT };
  const effective = effectiveEnv(env);
  const read = readVariables(effective, {
    ...needed,
    INIT_OPERATOR,
    MODEL_PRICES,
    WEBHOOK_ALLOW_PRIVATE,
  });
  return deepFreeze({
    databaseUrl: read.DATABASE_URL,
    encryptionKey: read.ENCRYPTION_KEY,
    publicUrl: publicUrlOf(read),
    apiUrl: effective.API_PORT ? localUrlOf(read) : publicUrlOf(read),
    firstOperator: read.INIT_OPERATOR,
    modelPrices: read.MODEL_PRICES,
    webhookAllowPrivate: read.WEBHOOK_ALLOW_PRIVATE,
  });
}

/** An address to connect to for each that means all addresses. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * The machine or the container of the API may not reach the public URL. Its environment has the
 * port of the API.
 */
function localUrlOf({ API_HOST, API_PORT }: { API_HOST: string; API_PORT: number }): string {
  const host = loopbackOf[API_HOST] ?? API_HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${API_PORT}`;
}

/** The environment, or the settings of the local stack if no database is configured. */
export function effectiveEnv(env: Environment): Environment {
  if (env.DATABASE_URL || env.DATABASE_URL_FILE) return env;
  const stack = readStackFile(env);
  if (stack === null) throw new ConfigError('No database is configured: DATABASE_URL is not set.');
  return stack;
}
