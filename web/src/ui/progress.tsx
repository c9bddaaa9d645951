// How far something is. Without a share it only says that it goes on.
import type { Sending } from "../api/upload.ts";

export const Progress = ({ label, share }: { label: string; share: number | undefined }) => (
  <div class="progress">
    <progress aria-label={label} max={1} value={share} />
    <span class="small number">{share === undefined ? "" : `${Math.floor(share * 100)} %`}</span>
  </div>
);

/** How much of an upload has arrived, while there is one. */
export const Sent = ({ by: { share } }: { by: Sending }) => (share.value === undefined ? null : <Progress label="Sent to the server" share={share.value} />);
