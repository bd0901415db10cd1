const httpsPort = 443;
const firstUnprivilegedPort = 1024;

/** Why nothing is ever sent to this address, or null. The address behind its name is judged later. */
export function refusalOf(url: URL): string | null {
  if (url.protocol !== 'https:') return 'it is not https';
  if (url.username !== '' || url.password !== '') return 'it carries credentials';
  const port = url.port === '' ? httpsPort : Number(url.port);
  const allowed = port === httpsPort || port >= firstUnprivilegedPort;
  return allowed ? null : 'its port is neither 443 nor 1024 or above';
}
