import {
  type ClientConnectConfig,
  loadClientConfigProfile,
  toClientOptions,
} from '@temporalio/envconfig';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';
import { expectedOfTemporalTls } from './temporal-tls.ts';

export interface TemporalConfig {
  address: string;
  namespace: string;
  /** Address, TLS, key and headers, in the shape that the SDK's connections take. */
  connection: ClientConnectConfig['connectionOptions'];
}

/** Temporal's own variables and its own configuration file, read by its own library. */
export function readTemporalConfig(env: Environment): TemporalConfig {
  const found = findTemporalConfig(env);
  if (found !== null) return found;
  throw new ConfigError('TEMPORAL_ADDRESS is not set: expected host:port of a Temporal server');
}

/** Null where nothing says where it is. */
export function findTemporalConfig(env: Environment): TemporalConfig | null {
  const { connectionOptions, namespace } = load(env);
  const { address } = connectionOptions;
  if (address === undefined || address === '') return null;
  return { address, namespace: namespace ?? 'default', connection: connectionOptions };
}

function load(env: Environment): ClientConnectConfig {
  const set = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
  const overrideEnvVars = Object.fromEntries(set);
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars });
    const expected = expectedOfTemporalTls(profile.tls, overrideEnvVars);
    if (expected !== null) throw new ConfigError(expected);
    return toClientOptions(profile);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError('TEMPORAL_… variables, or the file they name, cannot be read', { cause });
  }
}
