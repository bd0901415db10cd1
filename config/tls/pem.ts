import { createPrivateKey, X509Certificate } from 'node:crypto';

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** One or more certificates: a chain, or a bundle of authorities. */
export function areCertificates(text: string): boolean {
  const found = text.match(certificate) ?? [];
  return found.length > 0 && found.every((one) => succeeds(() => new X509Certificate(one)));
}

/** False for a key with a passphrase, because no user is there to enter it. */
export const isPrivateKey = (text: string): boolean => succeeds(() => createPrivateKey(text));

/** Compares the key with the first certificate; the rest of the chain leads to the authority. */
export const isKeyOf = (key: string, certificates: string): boolean =>
  new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key));

/**
 * Why a certificate and a key do not belong together, in terms of their settings; null if they do.
 */
export function pairError(
  { cert, key }: { cert: string | null; key: string | null },
  names: { cert: string; key: string },
): string | null {
  if (cert === null && key === null) return null;
  if (key === null) return `${names.key} is not set: expected the key of ${names.cert}`;
  if (cert === null) return `${names.cert} is not set: expected the certificate of ${names.key}`;
  return isKeyOf(key, cert) ? null : `${names.key} is wrong: expected the key of ${names.cert}`;
}

/** The expected format, in words. */
export const inPem = {
  certificates: 'certificates in PEM',
  key: 'a private key in PEM, without a passphrase',
} as const;

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
