const httpsPort = 443;
const firstUnprivilegedPort = 1024;

/** The parts of a parsed `URL` that the rule reads. */
interface UrlParts {
  protocol: string;
  username: string;
  password: string;
  port: string;
}

/**
 * Why no webhook is sent to this URL, or null. The trigger and every delivery apply this rule. The
 * address of the host is checked separately, because names may resolve differently later.
 */
export function callbackUrlError({ protocol, username, password, port }: UrlParts): string | null {
  if (protocol !== 'https:') return 'must be an https URL';
  if (username !== '' || password !== '') return 'must not contain credentials';
  const number = port === '' ? httpsPort : Number(port);
  const isAllowed = number === httpsPort || number >= firstUnprivilegedPort;
  return isAllowed ? null : 'must use port 443, or 1024 and above';
}
