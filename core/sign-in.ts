/** An operator's sign-in link. Browsers do not send the part after `#` to a server. */
export function signInLink(publicUrl: string, code: string): string {
  return `${publicUrl}/sign-in#${code}`;
}
