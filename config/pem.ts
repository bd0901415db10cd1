import { createPrivateKey, X509Certificate } from 'node:crypto';

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** One or several: a chain, or a bundle of authorities. */
export function areCertificates(text: string): boolean {
  const found = text.match(certificate) ?? [];
  return found.length > 0 && found.every((one) => succeeds(() => new X509Certificate(one)));
}

/** One that asks for a passphrase is none: nobody is there to type it. */
export const isPrivateKey = (text: string): boolean => succeeds(() => createPrivateKey(text));

/** The first certificate is the key's; those that follow lead from it to its authority. */
export const isKeyOf = (key: string, certificates: string): boolean =>
  new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key));

/** What is wrong with the two beside each other, by the names of their settings; null where nothing is. */
export function expectedOfPair(
  { cert, key }: { cert: string | null; key: string | null },
  named: { cert: string; key: string },
): string | null {
  if (cert === null && key === null) return null;
  if (key === null) return `${named.key} is not set: expected the key of ${named.cert}`;
  if (cert === null) return `${named.cert} is not set: expected the certificate of ${named.key}`;
  return isKeyOf(key, cert) ? null : `${named.key} is wrong: expected the key of ${named.cert}`;
}

/** The words in which each is asked for. */
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
