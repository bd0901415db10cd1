import { deepFreeze, type Environment, readVariables, variable } from './environment.ts';

export interface HostsConfig {
  /** The name or address by which other hosts reach this machine. */
  name: string;
  /** The published ports of its ingress. */
  ports: { postgres: number; redis: number; temporal: number };
  /** The name of the installation, shared by all of its hosts. */
  project: string;
  publicUrl: string;
}

const variables = {
  FLOWRUN_HOSTS_NAME: variable('a host name or an IPv4 address', (text) =>
    /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) ? text : null,
  ),
  FLOWRUN_HOSTS_POSTGRES_PORT: port().default(5432),
  FLOWRUN_HOSTS_REDIS_PORT: port().default(6380),
  FLOWRUN_HOSTS_TEMPORAL_PORT: port().default(7243),
  COMPOSE_PROJECT_NAME: variable('a name of small letters, digits, dashes', (text) =>
    /^[a-z0-9][a-z0-9_-]*$/.test(text) ? text : null,
  ).default('flowrun'),
  PUBLIC_URL: variable('an http:// or https:// address', (text) =>
    /^https?:/.test(text) && URL.canParse(text) ? text : null,
  ).default('http://127.0.0.1:8080'),
};

/** Settings that the primary machine passes on to other hosts. Throws a ConfigError. */
export function readHostsConfig(env: Environment = process.env): Readonly<HostsConfig> {
  const read = readVariables(env, variables);
  return deepFreeze({
    name: read.FLOWRUN_HOSTS_NAME,
    ports: {
      postgres: read.FLOWRUN_HOSTS_POSTGRES_PORT,
      redis: read.FLOWRUN_HOSTS_REDIS_PORT,
      temporal: read.FLOWRUN_HOSTS_TEMPORAL_PORT,
    },
    project: read.COMPOSE_PROJECT_NAME,
    publicUrl: read.PUBLIC_URL,
  });
}

function port() {
  return variable('a port', (text) => {
    const number = Number(text);
    return /^\d+$/.test(text) && number >= 1 && number <= 65_535 ? number : null;
  });
}
