import { limits } from '../../core/limits.ts';
import { publicPath } from '../public-path.ts';

const name = 'flowrun_operator';

/**
 * The session that a request's cookies name, or null: where two differ, somebody has put one beside
 * the other, and neither is taken.
 */
export function sessionIn(header: string | undefined): string | null {
  const given = (header ?? '').split(';').flatMap((pair) => {
    const [key, value] = pair.split('=', 2).map((part) => part.trim());
    return key === name && value !== undefined ? [value] : [];
  });
  const [session] = given;
  return session !== undefined && given.every((other) => other === session) ? session : null;
}

export function sessionCookie(session: string, publicUrl: string): string {
  return cookie(session, Math.floor(limits.operatorSessionMs / 1_000), publicUrl);
}

export const noSessionCookie = (publicUrl: string): string => cookie('', 0, publicUrl);

/**
 * No script reads it, no other site's page sends it, https keeps it to itself, and what else there is
 * at the same host does not get it.
 */
function cookie(value: string, maxAgeSeconds: number, publicUrl: string): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  const path = publicPath(publicUrl, '/');
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}
