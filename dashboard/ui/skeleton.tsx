/** Keeps the room of something that is read for the first time. */
export function Skeleton({ what }: { what: string }) {
  return (
    <div class="skeleton" role="status" aria-busy="true">
      <span class="hidden">Loading {what} …</span>
    </div>
  );
}
