import {
  type ClientConnectConfig,
  loadClientConfigProfile,
  toClientOptions,
} from '@temporalio/envconfig';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';
import { temporalTlsError } from './tls/temporal-tls.ts';

export interface TemporalConfig {
  address: string;
  namespace: string;
  /** Address, TLS, API key and headers, as the SDK's connections expect them. */
  connection: ClientConnectConfig['connectionOptions'];
}

/** Reads Temporal's own variables and configuration file with its own library. */
export function readTemporalConfig(env: Environment): TemporalConfig {
  const found = findTemporalConfig(env);
  if (found !== null) return found;
  throw new ConfigError('TEMPORAL_ADDRESS is not set: expected host:port of a Temporal server');
}

/** Null if no address is configured. */
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
    const message = temporalTlsError(profile.tls, overrideEnvVars);
    if (message !== null) throw new ConfigError(message);
    return toClientOptions(profile);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError('The TEMPORAL_… variables, or a file that they name, cannot be read', {
      cause,
    });
  }
}
