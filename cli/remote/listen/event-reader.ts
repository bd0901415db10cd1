import type { Http } from '../../../client/http/http.ts';
import type { WebhookEvent } from '../../../core/webhook.ts';

/** A stored event of an endpoint, without its body. */
interface StoredEvent {
  eventId: string;
  event: WebhookEvent;
  runId: string | null;
  state: string;
  attempts: number;
  lastStatus: number | null;
  createdAt: string;
}

export interface EventReader {
  /** The events that are not marked as read, oldest first. */
  unread(): Promise<StoredEvent[]>;
  markRead(eventId: string): void;
}

const pageSize = 100;

/**
 * Reads the log of an endpoint. An event can become visible after later ones, so the latest page is
 * always read as a whole.
 */
export function createEventReader(http: Http, path: string): EventReader {
  const known = new Set<string>();
  return {
    async unread() {
      const events: StoredEvent[] = [];
      let read = 0;
      for await (const event of http.items<StoredEvent>({ path, query: { limit: pageSize } })) {
        read += 1;
        if (!known.has(event.eventId)) events.push(event);
        else if (read >= pageSize) break;
      }
      return events.reverse();
    },
    markRead: (eventId) => void known.add(eventId),
  };
}
