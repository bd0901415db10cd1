/** The way in for an operator. What follows the `#` is never sent to a server by a browser. */
export function signInLink(publicUrl: string, code: string): string {
  return `${publicUrl}/sign-in#${code}`;
}
