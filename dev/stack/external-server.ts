import { CannotGoOn } from '../lib/setup-error.ts';
import { answers } from './ports.ts';

/** A part that the reader has: whether somebody listens there is all that is asked of it here. */
export async function checkGiven(variable: string, address: string): Promise<void> {
  const { hostname, port: named } = new URL(address.includes('://') ? address : `tcp://${address}`);
  const port = Number(named || usualPort(address));
  if (hostname === '' || (await answers(port, hostname))) return;
  throw new CannotGoOn(`Nobody answers at ${hostname}:${port} (${variable}).`);
}

function usualPort(address: string): number {
  if (address.startsWith('postgres')) return 5432;
  return address.startsWith('redis') ? 6379 : 7233;
}
