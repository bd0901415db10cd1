import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * May a callback go to this IP address: one that anybody on the internet may have, or one within
 * the networks that the operator allows besides?
 */
export function mayCallAddress(allowedNetworks: readonly string[]) {
  const networks = allowedNetworks.map((network) => ipaddr.parseCIDR(network));
  return (text: string): boolean => {
    if (isIP(text) === 0) return false;
    const address = ipaddr.parse(text);
    if (address.range() === 'unicast') return true;
    return networks.some(
      ([range, bits]) => range.kind() === address.kind() && address.match(range, bits),
    );
  };
}
