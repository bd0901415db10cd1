import { isIPv6, type LookupFunction } from 'node:net';

/** Returns the checked addresses, without resolving the name again. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = known;
    if (options.all) callback(null, known);
    else if (first) callback(null, first.address, first.family);
    else callback(new Error('no address'), '');
  };
}
