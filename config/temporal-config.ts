import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import { ConfigError } from './config-error.ts';
import type { Environment } from './environment.ts';

export interface TemporalConfig {
  address: string;
  namespace: string;
  /** Address, TLS, key and headers, in the shape that the SDK's connections take. */
  connection: ClientConnectConfig['connectionOptions'];
}

/** Temporal's own variables and its own configuration file, read by its own library. */
export function readTemporalConfig(env: Environment): TemporalConfig {
  const { connectionOptions, namespace } = load(env);
  if (connectionOptions.address === undefined || connectionOptions.address === '') {
    throw new ConfigError('TEMPORAL_ADDRESS is not set: expected host:port of a Temporal server');
  }
  return {
    address: connectionOptions.address,
    namespace: namespace ?? 'default',
    connection: connectionOptions,
  };
}

function load(env: Environment): ClientConnectConfig {
  const set = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
  try {
    return loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(set) });
  } catch (cause) {
    throw new ConfigError('TEMPORAL_… variables, or the file they name, cannot be read', { cause });
  }
}
