import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * True for an address that anybody on the internet may have: global unicast, nothing else. A list
 * of what is forbidden would miss the spellings that carry an IPv4 address inside an IPv6 one
 * (mapped, NAT64, 6to4, Teredo); what is allowed is one small set.
 */
export function isPublicAddress(text: string): boolean {
  if (!isCanonical(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isGlobalUnicastV6(address.toByteArray());
}

/** Is the address within one of these ranges? A mapped spelling matches no IPv4 range. */
function isInCidrs(text: string, cidrs: readonly string[]): boolean {
  if (!isCanonical(text)) return false;
  const address = ipaddr.parse(text);
  return cidrs.some((cidr) => {
    const [range, bits] = ipaddr.parseCIDR(cidr);
    return range.kind() === address.kind() && address.match(range, bits);
  });
}

/** Public, or within what the operator allows besides. */
export function createAddressFilter(allowedCidrs: readonly string[]) {
  return (address: string): boolean => isPublicAddress(address) || isInCidrs(address, allowedCidrs);
}

/** `127.1`, `0x7f000001` and `fe80::1%eth0` are addresses to some, and names to us. */
function isCanonical(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

function isGlobalUnicastV6(bytes: number[]): boolean {
  return ((bytes[0] ?? 0) & 0xe0) === 0x20;
}
