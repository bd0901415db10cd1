import { SetupError } from '../lib/setup-error.ts';
import { acceptsConnections } from './ports.ts';

/** Throws if nothing listens at the address of a server that the reader has configured. */
export async function requireReachable(variable: string, address: string): Promise<void> {
  const { hostname, port: explicitPort } = new URL(
    address.includes('://') ? address : `tcp://${address}`,
  );
  const port = Number(explicitPort || defaultPort(address));
  if (hostname === '' || (await acceptsConnections(port, hostname))) return;
  throw new SetupError(`Nothing listens at ${hostname}:${port} (${variable}).`);
}

function defaultPort(address: string): number {
  if (address.startsWith('postgres')) return 5432;
  return address.startsWith('redis') ? 6379 : 7233;
}
