/** The host and number of a session's next sandbox, or why it gets none. */
export type SessionSlot =
  | { outcome: 'assigned'; hostId: string; generation: number }
  /** No message is waiting. */
  | { outcome: 'no_work' }
  /** The session is ending: its cause is recorded. */
  | { outcome: 'ended' };

/** `no_capacity`: the session waits until it is assigned a slot. */
export type SessionSlotClaim = SessionSlot | { outcome: 'no_capacity' };
