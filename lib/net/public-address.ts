import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * True for global unicast addresses only. A block list would miss IPv6 addresses that embed an IPv4
 * one (mapped, NAT64, 6to4, Teredo), so the rule is a small allow list.
 */
export function isPublicAddress(text: string): boolean {
  if (!isCanonical(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isGlobalUnicastV6(address.toByteArray());
}

/** An IPv4-mapped IPv6 address matches no IPv4 range. */
function isInCidrs(text: string, cidrs: readonly string[]): boolean {
  if (!isCanonical(text)) return false;
  const address = ipaddr.parse(text);
  return cidrs.some((cidr) => {
    const [range, bits] = ipaddr.parseCIDR(cidr);
    return range.kind() === address.kind() && address.match(range, bits);
  });
}

/** Accepts public addresses, and those within the ranges that the operator allows. */
export function createAddressFilter(allowedCidrs: readonly string[]) {
  return (address: string): boolean => isPublicAddress(address) || isInCidrs(address, allowedCidrs);
}

/** Rejects `127.1`, `0x7f000001` and `fe80::1%eth0`, which some parsers accept as addresses. */
function isCanonical(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

function isGlobalUnicastV6(bytes: number[]): boolean {
  return ((bytes[0] ?? 0) & 0xe0) === 0x20;
}
